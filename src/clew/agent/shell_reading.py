"""Know the commands that only look: which of their options are harmless, and which of their words are paths.

Only options listed here are taken for harmless. An option that is not might write a file or start a program
(`sort -o`, `rg --pre`, `git grep -O`), and programs take long ones shortened, so that a list of bad ones
would never be whole.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.agent.shell_words import Word

Kind = Literal["paths", "texts", "pattern", "none", "one"]
"""What words beside options are: paths; texts only printed; a pattern, then paths; none may be there;
at most one path, for a second would be written to."""


@dataclass(frozen=True, slots=True)
class Looks:
    """What a command that only looks would look at."""

    paths: tuple[Word, ...] = ()
    is_searching: bool = False
    """Whether it shows what is in files that are not named: all those in a folder, or in a repository."""

    is_git: bool = False
    needs_files: bool = False
    """Whether it would follow links inside a folder."""

    moves_to: Word | None = None
    """The folder that a `cd` goes to."""


@dataclass(frozen=True, slots=True)
class _Form:
    short: str
    """Letters, those with a value followed by a colon."""

    long: frozenset[str]
    kind: Kind
    takes_number: bool = False
    """Whether `-5` is an option."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _form(short: str, long: str = "", kind: Kind = "paths", *, takes_number: bool = False) -> _Form:
    return _Form(short, _names(long), kind, takes_number)


_GREP: Final = _form(
    "EFGPiviwxcLlqsohHnTzaA:B:C:m:re:",
    "extended-regexp fixed-strings basic-regexp perl-regexp ignore-case no-ignore-case invert-match "
    "word-regexp "
    "line-regexp count color colour files-without-match files-with-matches max-count only-matching "
    "quiet silent "
    "no-messages with-filename no-filename line-number initial-tab null after-context before-context "
    "context "
    "text include exclude exclude-dir recursive",
    "pattern",
    takes_number=True,
)

_FORMS: Final = {
    "cat": _form("AbeEnstTuv", "number show-all number-nonblank show-ends squeeze-blank show-tabs"),
    "head": _form("n:c:qvz", "lines bytes quiet silent verbose", takes_number=True),
    "tail": _form("n:c:qvzfF", "lines bytes quiet silent verbose follow", takes_number=True),
    "wc": _form("clmwL", "bytes chars lines words max-line-length"),
    "nl": _form("b:n:w:s:v:i:"),
    "tac": _form(""),
    "rev": _form(""),
    "cut": _form(
        "b:c:d:f:nsz", "bytes characters delimiter fields only-delimited complement output-delimiter"
    ),
    "paste": _form("d:sz", "delimiters serial"),
    "uniq": _form("cdDiuzf:s:w:", "count repeated unique ignore-case skip-fields", "one"),
    "sort": _form(
        "bdfghiMnRrVcCmsuzk:t:", "numeric-sort reverse unique key field-separator human-numeric-sort"
    ),
    "comm": _form("123z", "check-order nocheck-order"),
    "cmp": _form("bln:s", "print-bytes verbose quiet silent"),
    "diff": _form("uU:cC:qsiwbBEyNW:p", "unified context brief side-by-side color ignore-all-space"),
    "file": _form("bikhNrs", "brief mime mime-type mime-encoding"),
    "stat": _form("Lfc:t", "format dereference terse printf"),
    "ls": _form(
        "aAbBcCdfFgGhiklmnNopqQrRsStuUvxX1Z",
        "all almost-all color human-readable directory recursive reverse sort time time-style full-"
        "time inode size "
        "group-directories-first classify file-type ignore format numeric-uid-gid",
    ),
    "tree": _form("adfiL:P:I:shCnDFpugv", "dirsfirst noreport du filelimit prune gitignore"),
    "du": _form("abchkmsSx0d:", "all apparent-size bytes human-readable max-depth summarize total exclude"),
    "df": _form("ahHikmlPT", "all human-readable inodes local total portability print-type"),
    "md5sum": _form("bt", "binary text tag"),
    "sha1sum": _form("bt", "binary text tag"),
    "sha256sum": _form("bt", "binary text tag"),
    "sha512sum": _form("bt", "binary text tag"),
    "cksum": _form(""),
    "strings": _form("an:t:e:", "all bytes radix encoding"),
    "hexdump": _form("bcCdoxn:s:v"),
    "od": _form("A:t:N:j:vcxbd"),
    "xxd": _form("bc:g:l:s:pui", "", "one"),
    "realpath": _form("emsLPqz", "relative-to canonicalize-missing canonicalize-existing no-symlinks"),
    "readlink": _form("efmnz", "canonicalize canonicalize-missing canonicalize-existing"),
    "column": _form("ts:o:nxc:", "table separator output-separator"),
    "fold": _form("bsw:", "bytes spaces width"),
    "expand": _form("it:"),
    "grep": _GREP,
    "egrep": _GREP,
    "fgrep": _GREP,
    "rg": _form(
        "iSsFwxvclnNoUuPpqHIA:B:C:e:g:t:T:m:M:d:",
        "ignore-case smart-case case-sensitive fixed-strings word-regexp line-regexp invert-match count "
        "files-with-matches files-without-match line-number no-line-number only-matching multiline "
        "hidden no-ignore "
        "pcre2 pretty quiet with-filename no-filename after-context before-context context regexp "
        "glob iglob type "
        "type-not max-count max-columns max-depth files color heading no-heading sort sortr json "
        "stats column trim",
        "pattern",
    ),
    "echo": _form("neE", "", "texts"),
    "printf": _form("", "", "texts"),
    "seq": _form("ws:f:", "separator equal-width format", "texts"),
    "expr": _form("", "", "texts"),
    "basename": _form("as:z", "multiple suffix", "texts"),
    "dirname": _form("z", "", "texts"),
    "tr": _form("cCdst", "complement delete squeeze-repeats", "texts"),
    "which": _form("a", "all", "texts"),
    "type": _form("afptP", "", "texts"),
    "sleep": _form("", "", "texts"),
    "true": _form("", "", "texts"),
    "false": _form("", "", "texts"),
    ":": _form("", "", "texts"),
    "pwd": _form("LP", "", "none"),
    "whoami": _form("", "", "none"),
    "id": _form("ugGnr", "user group groups name", "none"),
    "uname": _form("asnrvmpio", "all kernel-name kernel-release machine", "none"),
    "hostname": _form("", "", "none"),
    "nproc": _form("", "all", "none"),
    "arch": _form("", "", "none"),
    "uptime": _form("ps", "pretty since", "none"),
    "date": _form("uRId:", "utc iso-8601 rfc-3339 date rfc-email", "texts"),
}

_GIT_SHOWING: Final = (
    "stat shortstat numstat name-only name-status oneline graph decorate no-decorate all patch no-"
    "patch raw summary "
    "abbrev-commit format pretty date since until after before author committer grep max-count skip "
    "reverse "
    "follow merges no-merges first-parent word-diff color no-color cached staged unified ignore-all-space "
    "ignore-space-change find-renames no-renames diff-filter relative minimal check topo-order left-right "
    "cherry-pick merge-base no-ext-diff no-textconv invert-grep regexp-ignore-case branches tags remotes"
)
_GIT: Final = {
    "status": _form("sbuvz", "short branch porcelain long untracked-files ignored verbose show-stash column"),
    "diff": _form("puswbU:MCS:G:azR", _GIT_SHOWING, takes_number=True),
    "log": _form("puswbU:MCS:G:n:azicgm", _GIT_SHOWING, takes_number=True),
    "show": _form("puswbU:MCS:G:n:azm", _GIT_SHOWING, takes_number=True),
    "blame": _form("L:wMCesltcbp", "porcelain line-porcelain show-email show-name show-number date", "paths"),
    "ls-files": _form(
        "cdmouszt", "cached deleted modified others stage exclude-standard error-unmatch full-name"
    ),
    "ls-tree": _form("drtlz", "name-only name-status long full-name full-tree"),
    "rev-parse": _form(
        "q",
        "abbrev-ref short verify show-toplevel show-prefix git-dir is-inside-work-tree symbolic-full-"
        "name all",
    ),
    "rev-list": _form(
        "n:", "count all max-count since until first-parent merges no-merges", takes_number=True
    ),
    "merge-base": _form("a", "all is-ancestor fork-point"),
    "describe": _form("", "tags all always long dirty abbrev exact-match match contains first-parent"),
    "shortlog": _form("sneg", "summary numbered email all since until no-merges"),
    "cat-file": _form("ptse", ""),
    "count-objects": _form("vH", "verbose human-readable", "none"),
    "grep": _form(
        "iIwvlLcnohHEFGPpWe:A:B:C:",
        "ignore-case word-regexp invert-match files-with-matches count line-number only-matching "
        "cached untracked "
        "fixed-strings extended-regexp perl-regexp heading break show-function function-context",
        "pattern",
    ),
    "branch": _form(
        "arv", "all remotes list verbose show-current no-color contains merged no-merged sort", "none"
    ),
    "remote": _form("v", "verbose", "none"),
    "tag": _form("ln", "list sort", "none"),
    "for-each-ref": _form("", "format count sort"),
}
_GIT_WORDS: Final = {("stash", "list"), ("worktree", "list"), ("reflog", "show"), ("submodule", "status")}
_GIT_CONTENT: Final = frozenset({"diff", "log", "show", "blame", "cat-file", "grep"})

_FIND_TESTS: Final = _names(
    "name iname path ipath wholename iwholename type size empty mtime mmin atime amin ctime cmin "
    "maxdepth mindepth "
    "perm user group newer regex iregex regextype links inum not and or a o prune print print0 ls "
    "printf depth mount "
    "xdev quit true false executable readable writable samefile daystart P"
)
_FIND_WITH_VALUE: Final = _names(
    "name iname path ipath wholename iwholename type size mtime mmin atime amin ctime cmin maxdepth "
    "mindepth perm user "
    "group newer regex iregex regextype links inum printf samefile"
)
_SED: Final = re.compile(r"(?:[0-9]+|\$)(?:,(?:[0-9]+|\$))?p(?:;(?:[0-9]+|\$)(?:,(?:[0-9]+|\$))?p)*")
_PRINTABLE: Final = frozenset({"command", "status"})
"""What may be put into a text that is only printed: a command in it is judged for itself."""


def looks(words: Sequence[Word]) -> Looks | None:
    """Say what a command looks at, or None if it may do more than look."""
    name = words[0].text if words and words[0].is_literal else ""
    rest = words[1:]
    match name:
        case "find":
            return _find(rest)
        case "sed":
            return _sed(rest)
        case "git":
            return _git(rest)
        case "test" | "[":
            return _test(rest)
        case "cd":
            return Looks(moves_to=rest[0]) if len(rest) == 1 and not rest[0].text.startswith("-") else None
        case "command":
            return Looks() if len(rest) == 2 and rest[0].text in {"-v", "-V"} and rest[1].is_literal else None
        case "date" if any(not word.text.startswith(("+", "-")) for word in rest) and not _has_date(rest):
            return None  # a bare number sets the clock
        case _:
            form = _FORMS.get(name)
    found = _operands(form, rest) if form else None
    if form is None or found is None:
        return None
    is_searching = name == "rg" or (form is _GREP and any(_is_recursive(word) for word in rest))
    return Looks(found, is_searching=is_searching, needs_files=name == "diff")


def _has_date(rest: Sequence[Word]) -> bool:
    return (
        len(rest) >= 2 and rest[0].text in {"-d", "--date"} and all(w.text.startswith("+") for w in rest[2:])
    )


def _is_recursive(word: Word) -> bool:
    text = word.text
    return text == "--recursive" or (text.startswith("-") and not text.startswith("--") and "r" in text)


def _operands(form: _Form, rest: Sequence[Word]) -> tuple[Word, ...] | None:
    """Return the words that are paths, or None if one is an option that is not known for harmless."""
    operands: list[Word] = []
    has_pattern = False
    at, is_over = 0, False
    while at < len(rest):
        word = rest[at]
        at += 1
        if form.kind == "texts" and _is_printed(word):
            continue
        if word.needs - {"glob", "tilde"}:
            return None
        text = word.text
        if is_over or not text.startswith("-") or text == "-":
            operands.append(word)
        elif text == "--":
            is_over = True
        elif not word.is_literal:
            return None
        elif text.startswith("--"):
            if text[2:].partition("=")[0] not in form.long:
                return None
            has_pattern = has_pattern or text == "--files" or text.startswith("--regexp=")
        elif not (form.takes_number and text[1:].isdigit()):
            taken = _letters(form.short, text[1:])
            if taken is None:
                return None
            has_pattern = has_pattern or "e" in text
            if taken == "next":
                if at < len(rest) and rest[at].needs:  # it may become several words
                    return None
                at += 1
    return _by_kind(form.kind, operands, has_pattern=has_pattern)


def _is_printed(word: Word) -> bool:
    return bool(word.needs) and word.needs <= _PRINTABLE and not word.text.startswith("-")


def _by_kind(kind: Kind, operands: list[Word], *, has_pattern: bool) -> tuple[Word, ...] | None:
    match kind:
        case "texts":
            return () if all(word.is_literal for word in operands) else None
        case "none":
            return None if operands else ()
        case "one" if len(operands) > 1:
            return None
        case "pattern" if not has_pattern:
            operands = operands[1:]
        case _:
            pass
    return tuple(word for word in operands if word.text != "-")  # that is the standard input


def _letters(short: str, letters: str) -> Literal["next", "here"] | None:
    """Say whether a cluster of letters is known, and whether the value of the last one is the next word."""
    for number, letter in enumerate(letters):
        at = short.find(letter)
        if at < 0 or letter == ":":
            return None
        if short[at + 1 : at + 2] == ":":
            return "here" if letters[number + 1 :] else "next"
    return "here"


def _find(rest: Sequence[Word]) -> Looks | None:
    paths: list[Word] = []
    at = 0
    while at < len(rest):
        word = rest[at]
        at += 1
        if word.needs - {"tilde", "glob"}:
            return None
        text = word.text
        if text in {"(", ")", "!", ","}:
            continue
        if not text.startswith("-"):
            paths.append(word)
            continue
        if not word.is_literal or text[1:] not in _FIND_TESTS:
            return None
        if text[1:] in _FIND_WITH_VALUE:
            if at < len(rest) and rest[at].needs:
                return None
            if text in {"-newer", "-samefile"} and at < len(rest):
                paths.append(rest[at])
            at += 1
    return Looks(tuple(paths))


def _sed(rest: Sequence[Word]) -> Looks | None:
    if len(rest) < 2 or rest[0].text != "-n" or not rest[1].is_literal or not _SED.fullmatch(rest[1].text):
        return None
    if any(word.needs - {"glob", "tilde"} or word.text.startswith("-") for word in rest[2:]):
        return None
    return Looks(tuple(rest[2:]))


def _test(rest: Sequence[Word]) -> Looks | None:
    # `test -v 'a[$(…)]'` runs what is in the bracket.
    words = [word for word in rest if word.text != "]"]
    if any(word.needs - {"status"} or "[" in word.text or word.text in {"-v", "-R"} for word in words):
        return None
    return Looks()


def _git(rest: Sequence[Word]) -> Looks | None:
    while rest and rest[0].text in {"--no-pager", "-P"}:
        rest = rest[1:]
    if not rest or not all(word.is_literal or word.needs <= {"glob"} for word in rest):
        return None
    name = rest[0].text
    if len(rest) == 2 and (name, rest[1].text) in _GIT_WORDS:
        return Looks(is_git=True)
    form = _GIT.get(name)
    found = _operands(form, rest[1:]) if form else None
    if found is None:
        return None
    return Looks(found, is_searching=name in _GIT_CONTENT, is_git=True)
