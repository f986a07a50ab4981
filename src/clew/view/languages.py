"""The language of a file by its name, under the names that highlighters know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_BY_SUFFIX: Final[Mapping[str, str]] = {
    suffix: language
    for language, suffixes in {
        "bash": "sh bash zsh",
        "c": "c h",
        "cpp": "cc cpp cxx hpp hh",
        "csharp": "cs",
        "css": "css scss less",
        "diff": "diff patch",
        "go": "go",
        "html": "html htm vue svelte",
        "ini": "ini cfg conf",
        "java": "java",
        "javascript": "js mjs cjs jsx",
        "json": "json jsonl ipynb",
        "kotlin": "kt kts",
        "lua": "lua",
        "markdown": "md markdown",
        "perl": "pl pm",
        "php": "php",
        "python": "py pyi",
        "ruby": "rb",
        "rust": "rs",
        "scala": "scala",
        "sql": "sql",
        "swift": "swift",
        "toml": "toml",
        "typescript": "ts tsx mts cts",
        "xml": "xml svg",
        "yaml": "yml yaml",
        "zig": "zig",
    }.items()
    for suffix in suffixes.split()
}
_BY_NAME: Final[Mapping[str, str]] = {"dockerfile": "dockerfile", "makefile": "makefile"}


def language_of(path: str | None) -> str | None:
    """Return the language of a file; None where its name does not tell."""
    if not path:
        return None
    name = path.replace("\\", "/").rpartition("/")[2].lower()
    return _BY_NAME.get(name) or _BY_SUFFIX.get(name.rpartition(".")[2] if "." in name else "")
