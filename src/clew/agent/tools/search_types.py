"""The sorts of files a search can be limited to, by the names ripgrep has for them.

Ripgrep knows many more; these are the ones models ask for. Both searches go by this list for what is in it,
so that they do not differ from one ripgrep to the next.
"""

from __future__ import annotations

from typing import Final

_MARKDOWN: Final = "*.markdown *.md *.mdown *.mdwn *.mdx *.mkd *.mkdn"
_TYPESCRIPT: Final = "*.cts *.mts *.ts *.tsx"

_LISTED: Final = {
    "bat": "*.bat",
    "c": "*.[chH] *.[chH].in *.cats",
    "clojure": "*.clj *.cljc *.cljs *.cljx",
    "cmake": "*.cmake CMakeLists.txt",
    "config": "*.cfg *.conf *.config *.ini",
    "cpp": "*.[ChH] *.[ChH].in *.[ch]pp *.[ch]pp.in *.[ch]xx *.[ch]xx.in *.cc *.cc.in *.hh *.hh.in *.inl",
    "cs": "*.cs",
    "csharp": "*.cs",
    "css": "*.css *.scss",
    "csv": "*.csv",
    "dart": "*.dart",
    "docker": "*Dockerfile*",
    "elixir": "*.eex *.ex *.exs *.heex *.leex *.livemd",
    "erlang": "*.erl *.hrl",
    "fsharp": "*.fs *.fsi *.fsx",
    "go": "*.go",
    "graphql": "*.graphql *.graphqls",
    "groovy": "*.gradle *.groovy",
    "h": "*.h *.hh *.hpp",
    "haskell": "*.c2hs *.cpphs *.hs *.hsc *.lhs",
    "html": "*.ejs *.htm *.html",
    "java": "*.java *.jsp *.jspx *.properties",
    "js": "*.cjs *.js *.jsx *.mjs *.vue",
    "json": "*.json *.sarif composer.lock",
    "jsonl": "*.jsonl",
    "julia": "*.jl",
    "kotlin": "*.kt *.kts",
    "less": "*.less",
    "lua": "*.lua",
    "markdown": _MARKDOWN,
    "md": _MARKDOWN,
    "nix": "*.nix",
    "objc": "*.h *.m",
    "ocaml": "*.ml *.mli *.mll *.mly",
    "perl": "*.PL *.perl *.pl *.plh *.plx *.pm *.t",
    "php": "*.php *.php3 *.php4 *.php5 *.php7 *.php8 *.pht *.phtml",
    "protobuf": "*.proto",
    "py": "*.py *.pyi",
    "python": "*.py *.pyi",
    "r": "*.R *.Rmd *.Rnw *.r",
    "rst": "*.rst",
    "ruby": "*.gemspec *.rb *.rbw .irbrc Gemfile Rakefile config.ru",
    "rust": "*.rs",
    "sass": "*.sass *.scss",
    "scala": "*.sbt *.scala",
    "sh": "*.bash *.bashrc *.csh *.cshrc *.ksh *.kshrc *.sh *.tcsh *.zsh .bashrc .profile .zshrc bashrc",
    "sql": "*.psql *.sql",
    "svelte": "*.svelte",
    "svg": "*.svg",
    "swift": "*.swift",
    "tex": "*.bib *.cls *.dtx *.ins *.ltx *.sty *.tex",
    "toml": "*.toml Cargo.lock",
    "ts": _TYPESCRIPT,
    "txt": "*.txt",
    "typescript": _TYPESCRIPT,
    "vim": "*.vim .gvimrc .vimrc _gvimrc _vimrc gvimrc vimrc",
    "vue": "*.vue",
    "xml": "*.dtd *.rng *.sch *.xhtml *.xjb *.xml *.xml.dist *.xsd *.xsl *.xslt",
    "yaml": "*.yaml *.yml",
    "zig": "*.zig",
}

TYPES: Final = {name: tuple(names.split()) for name, names in _LISTED.items()}
"""The patterns of each sort, for the names of files."""
