"""What a session holds when it is taken up again: what the model knows, and how things stood.

The messages are those of `session.context`, by the rules of the newest client measured. Where a crash cut the
last turn, what that client makes up to be able to go on is told here too, so that whoever continues writes it
down: calls that never got a result, and a prompt that was never answered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from clew.agent.earlier_files import FileSeen, files_seen
from clew.errors import UsageError
from clew.format.entry import as_mapping
from clew.session.chain import chain
from clew.session.context import context
from clew.session.drafts import NO_RESPONSE, SESSION_ENDED
from clew.session.eras import rules
from clew.session.prompts import read
from clew.session.session import HUMAN, NO_TIME, SIDECHAIN, SYNTHETIC
from clew.session.titles import title
from clew.store.reader import open_session

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence

    from clew.format.entry import Entry
    from clew.session.context import Context
    from clew.session.session import Session

_LAST_TIME: Final = 253_370_764_800_000
"""The year 9999: a line later than that leaves no time for another."""

_COUNTS: Final = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")


class OpenCall(NamedTuple):
    """A call whose result was never written."""

    id: str
    name: str | None
    line: str | None
    """The uuid of its line."""


@dataclass(frozen=True, slots=True)
class Past:
    """What a session holds up to the line it is continued from."""

    session_id: str
    leaf: str | None
    """The line the next one hangs on."""

    messages: tuple[Mapping[str, Any], ...]
    """What the model is sent before the next prompt."""

    refused: str | None
    """Why the client would not go on with it, in its own words."""

    open_calls: tuple[OpenCall, ...]
    """Calls cut off at the end; the messages have a result for each that says so."""

    needs_answer: bool
    """Whether the last prompt or result was never answered; the messages end in words that stand for that."""

    model: str | None
    """The model that was asked last."""

    permission_mode: str | None
    cwd: str | None
    git_branch: str | None
    slug: str | None
    title: str | None
    tokens: int
    """How many tokens the last request and its answer were; 0 if nothing tells."""

    files: tuple[FileSeen, ...]
    """The files the model has seen, each as it was when it last saw it."""

    last_prompt: str | None
    last_time: int | None
    """The time of the latest line, in milliseconds."""

    turns: int
    """How many prompts a person gave."""

    lines: int
    """How many lines the messages are made of."""

    @classmethod
    def read(cls, path: str | os.PathLike[str], *, at: str | None = None, model: str | None = None) -> Past:
        """Read a session file: up to where it ends, or up to the line `at`."""
        session = open_session(path)
        try:
            return cls.of(session, at=at, model=model)
        finally:
            close = getattr(session.source, "close", None)
            if close is not None:
                close()

    @classmethod
    def of(cls, session: Session, *, at: str | None = None, model: str | None = None) -> Past:
        """Return what a session holds; `model` will be asked, where that is not the last one."""
        if at is not None and session.row(at) is None:
            raise UsageError(f"no line of the session is called {at!r}", hint="clew tree shows its lines")
        last_model = _model(session)
        found = context(session, at=at, model=model or last_model)
        rows = sorted({row for message in found.rows for row in message})
        named = title(session)
        latest = _Latest(session, rows)
        return cls(
            session_id=session.name or "",
            leaf=_end(session, at) or found.leaf,
            messages=found.messages,
            refused=found.refused,
            open_calls=tuple(_open_calls(session, found, rows)),
            needs_answer=_is_made_up(found, len(found.messages) - 1),
            model=last_model,
            permission_mode=_permission_mode(session, latest),
            cwd=latest.text("cwd"),
            git_branch=latest.text("gitBranch"),
            slug=latest.text("slug"),
            title=None if named is None or named.source == "prompt" else named.text,
            tokens=_tokens(session, rows),
            files=files_seen(session, rows),
            last_prompt=_last_prompt(session, rows),
            last_time=_last_time(session),
            turns=sum(1 for flags in session.table.flags if flags & HUMAN and not flags & SIDECHAIN),
            lines=len(rows),
        )


def messages_to_send(session: Session, *, model: str | None = None) -> tuple[Mapping[str, Any], ...]:
    """Return what is sent to have a session's end answered: without the words that stand for no answer."""
    found = context(session, model=model)
    last = len(found.messages) - 1
    return found.messages[:last] if _is_made_up(found, last) else found.messages


def _end(session: Session, at: str | None) -> str | None:
    """Return the line to go on behind, if that is not the very one the conversation ends in.

    The client's own lines that hang behind a message, the output of a command for example, are sent as well.
    """
    path = chain(session, rules(), at=at)
    if path.leaf is None or not path.rows or path.rows[-1] == path.leaf:
        return None
    # It must lead to the leaf: a record that names the leaf as the end would else win over what comes next.
    table, row, seen = session.table, path.rows[-1], set[int]()
    while row >= 0 and row not in seen:
        if row == path.leaf:
            return session.entry(path.rows[-1]).uuid
        seen.add(row)
        row = table.last_of(table.parent[row])
    return None


def _is_made_up(found: Context, at: int) -> bool:
    """Say whether a message is the answer that nobody gave."""
    if at < 0 or found.rows[at]:
        return False
    message = found.messages[at]
    return message["role"] == "assistant" and message["content"] == [{"type": "text", "text": NO_RESPONSE}]


def _open_calls(session: Session, found: Context, rows: Sequence[int]) -> Iterator[OpenCall]:
    """Give the calls at the end that were given a result which stands in no line."""
    answered: set[object] = set()
    calls: dict[object, OpenCall] = {}
    for row in rows:
        entry = session.entry(row)
        for block in _blocks(entry.content):
            if block.get("type") == "tool_result":
                answered.add(block.get("tool_use_id"))
            elif block.get("type") == "tool_use" and isinstance(block.get("id"), str):
                call, name = cast("str", block["id"]), block.get("name")
                calls[call] = OpenCall(call, name if isinstance(name, str) else None, entry.uuid)
    for message in found.messages[-2:]:
        for block in _blocks(message["content"]):
            call = block.get("tool_use_id")
            is_made = block.get("type") == "tool_result" and block.get("content") == SESSION_ENDED
            if is_made and isinstance(call, str) and call not in answered:
                yield calls.get(call) or OpenCall(call, None, None)


def _blocks(content: object) -> list[Mapping[str, Any]]:
    items = cast("list[object]", content) if isinstance(content, list) else []
    return [as_mapping(item) for item in items]


def _model(session: Session) -> str | None:
    """Return the model asked last; of a session that does not say, the one that answered last."""
    table = session.table
    for row in range(len(table) - 1, -1, -1):
        if table.kind_of(row) != "assistant" or table.flags[row] & (SYNTHETIC | SIDECHAIN):
            continue
        entry = session.entry(row)
        found = entry.text("requestedModel") or entry.model
        if found:
            return found
    return None


class _Latest:
    """The lines of the conversation from the end: what the latest says that says anything."""

    def __init__(self, session: Session, rows: Sequence[int]) -> None:
        self._session = session
        self._rows = rows

    def entries(self) -> Iterator[tuple[int, Entry]]:
        return ((row, self._session.entry(row)) for row in reversed(self._rows))

    def text(self, name: str) -> str | None:
        return next((found for _, entry in self.entries() if (found := entry.text(name))), None)


def _permission_mode(session: Session, latest: _Latest) -> str | None:
    """Return the mode of the last prompt, or the one that was set after it."""
    at, mode = -1, None
    for row, entry in latest.entries():
        mode = entry.text("permissionMode")
        if mode:
            at = row
            break
    table = session.table
    for row in range(len(table) - 1, at, -1):
        if table.kind_of(row) == "permission-mode":
            return session.entry(row).text("permissionMode") or mode
    return mode


def _tokens(session: Session, rows: Sequence[int]) -> int:
    table = session.table
    for row in reversed(rows):
        if table.kind_of(row) == "assistant" and not table.flags[row] & SYNTHETIC:
            usage = session.entry(row).usage
            counts = [usage.get(name) for name in _COUNTS]
            return sum(n for n in counts if isinstance(n, int) and not isinstance(n, bool) and n > 0)
    return 0


def _last_prompt(session: Session, rows: Sequence[int]) -> str | None:
    for row in reversed(rows):
        if session.table.flags[row] & HUMAN:
            return read(session.entry(row)).words or None
    return None


def _last_time(session: Session) -> int | None:
    times = (time for time in session.table.time if time != NO_TIME and time < _LAST_TIME)
    return max(times, default=None)
