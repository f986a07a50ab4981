"""Laws that every edit of a session obeys, and a comparer of what is sent that shares no code with clew.

A test calls `check_laws(data, edit)` with the bytes of a session and a function that makes the changes. It
gets back the session as it was and as it is then, to look at what the edit itself was asked for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, cast

from clew.edit.changes import Changes
from clew.edit.plan import Add, Drop, Keep, Patch
from clew.edit.woven import Result
from clew.session.context import Context, context
from clew.session.session import Session

Json = Mapping[str, Any]
Edit = Callable[[Session], Changes]

TARGET = "new.jsonl"
CLIENTS = ("2.1.325", "2.1.150", "2.1.45", "2.0.76")
"""The clients in which a session that could be resumed must stay so."""

EVERY_CLIENT = ("2.1.325", "2.1.220", "2.1.150", "2.1.88", "2.1.80", "2.1.45", "2.0.76", "2.0.42", "1.0.128")

DATA = Path(__file__).resolve().parent.parent / "data"


@lru_cache(maxsize=32)
def sent_by(session: Session, client: str = CLIENTS[0]) -> Context:
    """Return what a client sends; asked for often of the same session."""
    return context(session, client=client)


@cache
def corpus() -> tuple[Path, ...]:
    """Return the files of all sessions that real clients wrote and of all made ones, agents' files too."""
    places = [*DATA.glob("corpus/**/projects/**/*.jsonl"), *DATA.glob("made/**/*.jsonl")]
    places += [*DATA.glob("resume-cases/**/*.jsonl")]
    return tuple(sorted({path for path in places if path.stat().st_size}))


class Edited(NamedTuple):
    """A session before an edit and after it."""

    before: Session
    after: Session
    changes: Changes
    data: bytes
    """The new file."""


def check_laws(data: bytes, edit: Edit, *, clients: Sequence[str] = CLIENTS) -> Edited:
    """Check what holds for every edit: the bytes, doing it twice, and that it still can be resumed."""
    before = Session.read(data)
    changes = edit(before)
    new = check_bytes(data, changes)
    if new == data:
        return Edited(before, before, changes, data)
    after = Session.read(new)
    check_twice(new, edit)
    newest = sent_by(before)
    is_whole = not lacks_lines(data)
    for client in clients:
        old, now = sent_by(before, client), sent_by(after, client)
        # An old client that ends elsewhere, or cuts the history where a line is missing, may meet there what
        # was wrong with the session already.
        is_same_way = client == clients[0] or (is_whole and old.leaf == newest.leaf)
        check_resumable(old, now, codes=is_same_way)
    return Edited(before, after, changes, new)


def lacks_lines(data: bytes) -> bool:
    """Say whether a line follows one that is not there, or cannot be read."""
    lines = [_record(line) for line in data.split(b"\n")]
    uuids = {line.get("uuid") for line in lines}
    return any((line.get("parentUuid") or None) not in {*uuids, None} for line in lines)


def _record(line: bytes) -> Json:
    try:
        found: object = json.loads(line.removeprefix(b"\xef\xbb\xbf"))
    except ValueError:
        return {}
    return cast("Json", found) if isinstance(found, dict) else {}


def check_bytes(data: bytes, changes: Changes) -> bytes:
    """Check that what nobody changed is the very bytes it was, and what is new a whole line."""
    plan = changes.plan(TARGET)
    new = b"".join(plan.pieces())
    at = plan.preamble
    assert new[:at] == data[:at]
    is_changed = False
    for item, step in plan.steps():
        if item is not None and isinstance(step, Keep):
            assert new[at : at + item.end - item.offset] == data[item.offset : item.end]
            at += item.end - item.offset
            continue
        is_changed = True
        match step:
            case Patch(made, reason):
                assert item is not None
                assert reason
                old = data[item.offset : item.offset + item.length]
                assert made != old
                check_record(made, old if item.row is not None else None)
                ending = data[item.offset + item.length : item.end]
                assert new[at : at + len(made) + len(ending)] == made + ending
                at += len(made) + len(ending)
            case Add(made, reason):
                assert reason
                check_record(made, None)
                if not new[at:].startswith(made):
                    assert new[at : at + 1] == b"\n"  # the line before had no ending
                    at += 1
                assert new[at:].startswith(made + b"\n")
                at += len(made) + 1
            case Drop(reason):
                assert reason
            case Keep():
                pass
    assert at == len(new)
    assert is_changed or new == data
    return new


def check_record(made: bytes, old: bytes | None) -> None:
    """Check that a line is one record on one line, and if it was changed still the same one."""
    assert b"\n" not in made
    record: Json = json.loads(made)
    assert isinstance(record, dict)
    if old is None:
        return
    was: Json = json.loads(old.removeprefix(b"\xef\xbb\xbf"))
    for name in ("uuid", "type", "subtype", "timestamp", "sessionId", "isSidechain", "version"):
        assert record.get(name) == was.get(name)


def check_twice(new: bytes, edit: Edit) -> None:
    """Check that doing it once more changes nothing."""
    steps = [step for _, step in edit(Session.read(new)).plan(TARGET).steps() if not isinstance(step, Keep)]
    assert not steps, steps[:3]


def check_resumable(before: Context, after: Context, *, codes: bool = True) -> None:
    """Check that what could be resumed still can, and that the API has no more to say against it."""
    if before.refused is not None:
        return
    assert after.refused is None, (after.client, after.refused)
    if not codes:
        return
    new = {problem.code for problem in after.api_problems} - {problem.code for problem in before.api_problems}
    assert not new, (after.client, new)


def check_nothing_else_is_sent(edited: Edited, clients: Iterable[str] = EVERY_CLIENT) -> None:
    """Check that every client sends what it did."""
    for client in clients:
        before, after = sent_by(edited.before, client), sent_by(edited.after, client)
        assert (before.refused, before.messages) == (after.refused, after.messages), client


def reasons(changes: Changes) -> list[str]:
    """Return why lines do not just stay, in their order."""
    return [step.reason for _, step in changes.plan(TARGET).steps() if not isinstance(step, Keep)]


def result_of(changes: Changes) -> Session:
    """Return what changes make of their session, without writing it out."""
    return Result(changes.plan(TARGET)).session


# What is sent ------------------------------------------------------------------------------------


class Said(NamedTuple):
    """One block that is sent, in a form that does not depend on what stands around it."""

    role: str
    kind: str
    value: str


MADE = ("No response requested.", "Continue from where you left off.", "(no content)", "[Tool ", "[Orphaned ")
"""How texts begin that the client makes up by itself."""


def sent(messages: Iterable[Json]) -> list[Said]:
    """Return what messages say, block by block in order.

    Where lines meet the client puts a newline between their texts, it moves calls behind what an answer says,
    it sends texts of white space or leaves them out, and it makes up texts where something is missing. None
    of that is what somebody said, so it is not told.
    """
    found: list[Said] = []
    for message in messages:
        blocks = [_said(str(message["role"]), block) for block in _blocks(message["content"])]
        blocks = [block for block in blocks if block is not None]
        found += [block for block in blocks if block.kind != "tool_use"]
        found += [block for block in blocks if block.kind == "tool_use"]
    return found


def texts(messages: Iterable[Json]) -> list[Said]:
    """Return the words among what is sent."""
    return [one for one in sent(messages) if one.kind == "text"]


def said(session: Session, *, client: str | None = None) -> list[str]:
    """Return what a client would send of a session, without who says it."""
    return [one.value for one in sent(context(session, client=client).messages)]


def is_within(some: Sequence[Said], others: Sequence[Said]) -> bool:
    """Say whether `some` occur among `others`, in the same order."""
    rest = iter(others)
    return all(one in rest for one in some)


def _said(role: str, block: Json) -> Said | None:
    kind = str(block.get("type"))
    if kind == "text":
        words = str(block.get("text", "")).rstrip("\n")
        return None if not words.strip() or words.startswith(MADE) else Said(role, kind, words)
    if kind == "tool_result" and str(block.get("content")).startswith(MADE):
        return None
    return Said(role, kind, json.dumps(block, sort_keys=True))


def _blocks(content: object) -> Iterator[Json]:
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    elif isinstance(content, list):
        for block in cast("list[object]", content):
            if isinstance(block, dict):
                yield cast("Json", block)
