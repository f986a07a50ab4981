"""Two sessions, or two branches of one, compared turn by turn: what they share, and what each did then."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from itertools import zip_longest
from typing import TYPE_CHECKING

from clew.actions.reading import open_reading, read_turns
from clew.actions.stories import timeline_of
from clew.errors import UsageError
from clew.format.blocks import Text
from clew.format.times import iso
from clew.session.calls import call_block
from clew.session.chain import chain
from clew.session.eras import rules
from clew.session.messages import blocks_of
from clew.session.prompts import read as read_prompt
from clew.session.titles import title
from clew.view.calls import asked_of
from clew.view.changes import CHANGING, change
from clew.view.parts import Answer, Markdown
from clew.view.texts import pretty

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from clew.actions.reading import Opened, Reading
    from clew.session.turns import Turn
    from clew.view.parts import TurnHead
    from clew.view.timeline import Timeline

ACTIVE = "active"
"""The name of the way to where the client would go on."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two that are compared."""

    reading: Reading
    timeline: Timeline
    title: str
    branch: str | None
    """Which branch of its session it is."""

    heads: Sequence[TurnHead]


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines that came and went in a file."""

    added: int = 0
    removed: int = 0


@dataclass(frozen=True, slots=True)
class Pair:
    """A turn of each side in the same place; one side may have none."""

    left: int | None
    right: int | None
    """Places among the turns of each side."""

    is_same_prompt: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two sides and how they differ."""

    left: Side
    right: Side
    common: int
    """How many turns both begin with."""

    pairs: tuple[Pair, ...]
    """The turns after those."""

    files: Mapping[str, tuple[Lines | None, Lines | None]]
    """What each side changed after what they have in common."""


def compare_sessions(roots: Sequence[Path], first: str, second: str) -> Comparison:
    """Compare two sessions, each along its whole history."""
    left, right = (open_reading(roots, name, with_agents=False) for name in (first, second))
    return _compared(_side(left, read_turns(left), None), _side(right, read_turns(right), None))


def compare_branches(roots: Sequence[Path], name: str, first: str, second: str) -> Comparison:
    """Compare two branches of a session, each from the very beginning to its end."""
    opened = open_reading(roots, name, with_agents=False)
    sides = [_side(opened, _branch(opened, branch), branch) for branch in (first, second)]
    return _compared(*sides)


def _branch(opened: Opened, name: str) -> Reading:
    """Read one way: to a branch by its number or id, or to where the client would go on."""
    if name != ACTIVE:
        return read_turns(opened, branch=name)
    session = opened.session
    leaf = chain(session, rules()).leaf
    uuid = None if leaf is None else session.entry(leaf).uuid
    if uuid is None:
        raise UsageError("there is no line the client would go on from", hint="clew tree lists the ends")
    return read_turns(opened, at=uuid)


def _side(opened: Opened, reading: Reading, branch: str | None) -> Side:
    timeline = timeline_of(reading)
    named = title(opened.session)
    return Side(reading, timeline, named.text if named else "", branch, timeline.heads())


def _compared(left: Side, right: Side) -> Comparison:
    ours, theirs = _marks(left.reading), _marks(right.reading)
    common = 0
    while common < min(len(ours), len(theirs)) and ours[common] == theirs[common]:
        common += 1
    pairs: list[Pair] = []
    for one, other in zip_longest(range(common, len(ours)), range(common, len(theirs))):
        is_same = one is not None and other is not None and ours[one][0] == theirs[other][0]
        pairs.append(Pair(one, other, is_same))
    ours_changed, theirs_changed = _files(left.reading, common), _files(right.reading, common)
    paths = sorted({*ours_changed, *theirs_changed})
    files = {path: (ours_changed.get(path), theirs_changed.get(path)) for path in paths}
    return Comparison(left, right, common, tuple(pairs), files)


def _marks(reading: Reading) -> list[tuple[str, bytes]]:
    """Return the prompt of each turn, and a digest of all that was said and called in it.

    By content: a copy of a session has other ids on the same lines.
    """
    return [(_asked(reading, turn), _digest(reading, turn)) for turn in reading.turns]


def _asked(reading: Reading, turn: Turn) -> str:
    row = turn.prompt_row
    return "" if row is None else read_prompt(reading.session.entry(row)).words


def _digest(reading: Reading, turn: Turn) -> bytes:
    session = reading.session
    made = blake2b(_asked(reading, turn).encode("utf-8", "replace"), digest_size=16)
    for message in turn.messages:
        for _, block in blocks_of(session, message):
            if isinstance(block, Text) and block.text.strip():
                made.update(b"\0said\0" + block.text.strip().encode("utf-8", "replace"))
    for call in turn.calls:
        given = pretty([call.name, call_block(session, call).data.get("input")])
        made.update(b"\0called\0" + given.encode("utf-8", "replace"))
    return made.digest()


def _files(reading: Reading, start: int) -> dict[str, Lines]:
    found: dict[str, Lines] = {}
    for turn in reading.turns[start:]:
        for call in turn.calls:
            if call.name in CHANGING and call.result_row is not None and not call.is_error:
                made = change(asked_of(reading.session, call))
                if made is not None:
                    old = found.get(made.path, Lines())
                    found[made.path] = Lines(old.added + made.added, old.removed + made.removed)
    return found


def last_answer(side: Side, place: int) -> str:
    """Return the last words of a turn."""
    for part in side.timeline.flow(place):
        if isinstance(part, Answer) and part.is_last:
            return next((one.text for one in part.parts if isinstance(one, Markdown)), "")
    return ""


# For programs -----------------------------------------------------------------------------------------


def diff_document(found: Comparison) -> dict[str, object]:
    """Return a comparison in the shape of `clew diff --json`."""
    return {
        "left": _side_document(found.left),
        "right": _side_document(found.right),
        "common_turns": found.common,
        "turns": [
            {
                "left": _turn_document(found.left, pair.left),
                "right": _turn_document(found.right, pair.right),
                "is_same_prompt": pair.is_same_prompt,
            }
            for pair in found.pairs
        ],
        "files": [
            {"path": path, "left": _lines(left), "right": _lines(right)}
            for path, (left, right) in found.files.items()
        ],
    }


def cost_of(heads: Sequence[TurnHead]) -> float | None:
    """Return what some turns cost; None when a price is not known."""
    total = 0.0
    for head in heads:
        if head.work.cost_usd is None:
            return None
        total += head.work.cost_usd
    return total


def _side_document(side: Side) -> dict[str, object]:
    file = side.reading.opened.file
    return {
        "session": file.id,
        "path": file.path,
        "branch": side.branch,
        "title": side.title,
        "turns": len(side.heads),
        "cost_usd": cost_of(side.heads),
    }


def _turn_document(side: Side, place: int | None) -> dict[str, object] | None:
    if place is None:
        return None
    head = side.heads[place]
    return {
        "n": head.n,
        "uuid": head.uuid,
        "prompt": _asked(side.reading, side.reading.turns[place]),
        "started": iso(head.started),
        "duration_ms": head.work.duration_ms,
        "calls": head.work.calls,
        "failed": head.work.failed,
        "files": head.work.files,
        "added": head.work.added,
        "removed": head.work.removed,
        "cost_usd": head.work.cost_usd,
        "status": head.status,
    }


def _lines(lines: Lines | None) -> dict[str, int] | None:
    return None if lines is None else {"added": lines.added, "removed": lines.removed}
