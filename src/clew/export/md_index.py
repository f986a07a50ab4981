"""A list of exported sessions in Markdown, the newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from clew.export import md_escape as gate
from clew.format.times import iso
from clew.view import whole, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clew.export.listed import Listed


def write_index(sessions: Sequence[Listed], /, *, version: str) -> Iterator[bytes]:
    """Give the list."""
    yield f"# {words.count(len(sessions), 'session')}\n\n".encode()
    yield b"| When | Session | Project | Turns | Cost |\n| --- | --- | --- | ---: | ---: |\n"
    for one in sessions:
        head = one.head
        when = (iso(head.started) or words.UNKNOWN)[:10]
        title = gate.inline(head.title) or "(no title)"
        gone = " *(its session is gone)*" if one.is_gone else ""
        project = gate.inline(head.project or "")
        cost = gate.inline(words.money(whole.cost(head)))
        yield (
            f"| {when} | [{title}]({quote(one.name)}){gone} | {project} | {head.turns:,} | {cost} |\n"
        ).encode()
    yield f"\n*Exported by clew {gate.inline(version)}*\n".encode()
