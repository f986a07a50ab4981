"""The one gate through which a session's text gets into Markdown: what was text stays text.

Any renderer may read it, one that passes HTML on too. So nothing here relies on the renderer to clean up:
every character that could begin markup is escaped, and code stands in fences longer than any inside.
"""

from __future__ import annotations

import html
import re
from typing import Final

from clew.view.plain import one_line as on_one_line
from clew.view.plain import plain

_SIGNS: Final = re.compile(r"[\\`*_\[\]<|~$&]|(?<=:)/(?=/)|(?<=\bwww)\.", re.IGNORECASE)
_START: Final = re.compile(r"[#+=:>-]|\d{1,9}(?=[.)])")
"""What begins a heading, a list, a quotation, a line under a heading or a block, where a line begins."""

_BLANKS: Final = re.compile(r"[ \t]+")
_RUNS: Final = re.compile(r"`+")
_TILDES: Final = re.compile(r"^\s*(~{3,}|`{3,})", re.MULTILINE)
_LANGUAGE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_+#.-]{0,30}")


def line(text: str) -> str:
    """Return a text on one line, as text, to begin a line with."""
    return _escaped(on_one_line(text))


def inline(text: str) -> str:
    """Return a text on one line, as text, behind something else."""
    return _signs(on_one_line(text))


def lines(text: str) -> list[str]:
    """Return a text line by line, as text; its indents stay."""
    return [_with_indent(one) for one in plain(text).split("\n")]


def quote(text: str) -> str:
    """Return a text as a quotation, with its lines as they are."""
    found = lines(text.strip("\n"))
    # A backslash before the end of a line breaks it; a last one would be seen.
    body = [
        f"> {one}\\" if one and at + 1 < len(found) and found[at + 1] else f"> {one}".rstrip()
        for at, one in enumerate(found)
    ]
    return "\n".join(body)


def code(text: str) -> str:
    """Return a text as code within a line."""
    told = on_one_line(text)
    if not told:
        return ""
    ticks = "`" * (max((len(run) for run in _RUNS.findall(told)), default=0) + 1)
    return f"{ticks} {told} {ticks}" if told[0] == "`" or told[-1] == "`" else f"{ticks}{told}{ticks}"


def fence(text: str, language: str | None = None) -> str:
    """Return lines as a block of code."""
    told = plain(text).strip("\n")
    # Only what begins a line could end the block; of both sorts, as a renderer may take one for the other.
    longest = max((len(run) for run in _TILDES.findall(told)), default=0)
    ticks = "`" * max(3, longest + 1)
    name = language if language is not None and _LANGUAGE.fullmatch(language) else ""
    return f"{ticks}{name}\n{told}\n{ticks}"


def cell(text: str) -> str:
    """Return a text for a cell of a table."""
    return "<br>".join(inline(one) for one in text.strip("\n").split("\n"))


def label(text: str) -> str:
    """Return a text on one line for a label in HTML of ours, on a line that is HTML."""
    return html.escape(on_one_line(text))


def _with_indent(text: str) -> str:
    blanks = _BLANKS.match(text)
    if blanks is None or blanks.end() == len(text):
        return _escaped(text.strip())
    width = len(blanks.group().expandtabs(4))
    return "&nbsp;" * min(width, 80) + _escaped(text[blanks.end() :])


def _escaped(text: str) -> str:
    start = _START.match(text)
    head = ""
    if start is not None:
        # Of a number it is the sign behind it that makes a list.
        sign = text[start.end()] if start.group().isdigit() else start.group()
        head = f"{start.group() if start.group().isdigit() else ''}\\{sign}"
        text = text[start.end() + start.group().isdigit() :]
    return head + _signs(text)


def _signs(text: str) -> str:
    return _SIGNS.sub(lambda found: f"\\{found.group()}", text)
