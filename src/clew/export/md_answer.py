r"""What a model wrote, which is Markdown, within Markdown of ours: it keeps its shape and does nothing else.

HTML is text, headings are smaller than ours, and pictures are text, as are links to anything but a web page
or a file. Only what is surely code is left as it is, and that is: blocks whose fences are written anew,
longer than any inside, and `code` that begins and ends on one line. No other run of backticks or tildes can
begin code, as each is escaped; so what this takes for code is code for any renderer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from clew.view.plain import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

_FENCE: Final = re.compile(r"(\s*)(`{3,}|~{3,})([^`]*)")
_LANGUAGE: Final = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9_+#.-]{0,30})")
_RUNS: Final = re.compile(r"`+")
_CONTAINER: Final = r"(?:\s*(?:>|[-+*]|\d{1,9}[.)])(?=\s|$|>))*\s*"
_HEADING: Final = re.compile(rf"({_CONTAINER})(#{{1,6}})(?=\s|$)")
_UNDERLINE: Final = re.compile(rf"({_CONTAINER})(=+|-+)\s*$")
_DEFINITION: Final = re.compile(rf"({_CONTAINER})\[(?![^\[\]\\]*\]\(|[ xX]\](?=\s))")
"""A bracket that may begin the definition of a link, which may go on on the next lines."""

_LINK: Final = re.compile(
    r"\]\((?:https?://[\w./?=&%#~+,;:@-]+|[\w./-]+(?:#[\w-]*)?|#[\w-]+)(?: \"[^\"<>\\`\[\]]*\")?\)"
)
_TEXT: Final = re.compile(r"<|!\[|\[\^|\]\(|~{3,}")
_SMALLER: Final = 3
_DEEPEST: Final = 6


def answer(text: str) -> str:
    """Return what a model wrote."""
    return "\n".join(_lines(plain(text).split("\n"))).strip("\n")


def _lines(given: list[str]) -> Iterator[str]:
    at = 0
    while at < len(given):
        opening = _FENCE.fullmatch(given[at])
        if opening is None:
            yield _line(given[at])
            at += 1
            continue
        end = _closing(given, at + 1, opening[2])
        yield from _block(opening, given[at + 1 : end])
        at = end + 1


def _closing(given: list[str], start: int, fence: str) -> int:
    for at in range(start, len(given)):
        line = given[at].strip()
        if len(line) >= len(fence) and not line.strip(fence[0]):
            return at
    return len(given)


def _block(opening: re.Match[str], inside: list[str]) -> Iterator[str]:
    """Write a block of code anew, as far in as it was: within a list it stays there.

    Wherever a renderer sees it, in a list or not, it is code: all its lines are as far in, and blank lines
    stand around it, so that no paragraph goes on into it.
    """
    indent = " " * len(opening[1].expandtabs(4).replace("\n", ""))
    longest = max((len(run) for line in inside for run in re.findall(r"`+|~+", line)), default=0)
    ticks = "`" * max(3, longest + 1)
    language = _LANGUAGE.match(opening[3])
    yield ""
    yield f"{indent}{ticks}{language[1] if language else ''}"
    for line in inside:
        yield f"{indent}{_dedented(line, len(indent))}"
    yield f"{indent}{ticks}"
    yield ""


def _dedented(line: str, width: int) -> str:
    blanks = len(line) - len(line.lstrip(" \t"))
    indent = line[:blanks].expandtabs(4)
    return indent[min(width, len(indent)) :] + line[blanks:]


def _line(line: str) -> str:
    heading = _HEADING.match(line)
    if heading is not None:
        level = min(_DEEPEST, len(heading[2]) + _SMALLER)
        return f"{heading[1]}{'#' * level}{_words(line[heading.end() :])}"
    underline = _UNDERLINE.match(line)
    if underline is not None:
        # It would make a heading of the line above it; a rule it may be.
        is_rule = len(underline[2]) >= 3 and underline[2][0] == "-"
        return f"{underline[1]}* * *" if is_rule else f"{underline[1]}\\{underline[2]}"
    definition = _DEFINITION.match(line)
    if definition is not None:
        return f"{definition[1]}\\[{_words(line[definition.end() :])}"
    return _words(line)


def _words(line: str) -> str:
    """Return the words of a line, with code in its place."""
    runs = list(_RUNS.finditer(line))
    told: list[str] = []
    done = at = 0
    while at < len(runs):
        run = runs[at]
        is_code = len(run.group()) <= 2 and not _is_escaped(line, run.start())
        closing = _same(runs, at) if is_code else None
        if closing is None:
            told += (_text(line[done : run.start()]), _ticks(line, run))
            done = run.end()
            at += 1
            continue
        end = runs[closing].end()
        inside = line[run.start() : end]
        # A bar would end the cell of a table, and the code with it.
        told += (_text(line[done : run.start()]), inside.replace("<", "&lt;") if "|" in inside else inside)
        done, at = end, closing + 1
    return "".join((*told, _text(line[done:])))


def _is_escaped(line: str, at: int) -> bool:
    before = line[:at]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _same(runs: list[re.Match[str]], at: int) -> int | None:
    """Return which run closes the code that one opens: the next of its length."""
    length = len(runs[at].group())
    return next((n for n in range(at + 1, len(runs)) if len(runs[n].group()) == length), None)


def _ticks(line: str, run: re.Match[str]) -> str:
    ticks = "\\`" * len(run.group())
    # The first has its backslash already.
    return ticks[1:] if _is_escaped(line, run.start()) else ticks


def _text(text: str) -> str:
    told: list[str] = []
    done = 0
    for found in _TEXT.finditer(text):
        told += (text[done : found.start()], _sign(text, found))
        done = found.end()
    return "".join((*told, text[done:]))


def _sign(text: str, found: re.Match[str]) -> str:
    sign = found.group()
    if sign == "<":
        return "&lt;"
    if sign == "](" and _LINK.match(text, found.start()):
        return sign
    escaped = {"![": "\\!\\[", "[^": "\\[^", "](": "\\]("}.get(sign) or "\\~" * len(sign)
    # One that has its backslash already would lose it to a second one.
    return escaped[1:] if _is_escaped(text, found.start()) else escaped
