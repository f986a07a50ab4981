"""The tables of a session without its secrets: made of the session that `redacted` gives, row by row.

Secrets are taken out below the tables: what is cut to fit a cell, as a title or a prompt, is cut when they
are gone already, so that no half of one is left. Offsets and lengths are those of the session without them,
and its title is what its own file says. `usage`, and what a session came to, depend on all sessions: they are
asked elsewhere, and what is text in them is cleaned here.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.session.fold import Summary, fold
from clew.session.turns import turns
from clew.session.usage import Folder
from clew.tables.rows import (
    Home,
    call_rows,
    entry_rows,
    file_rows,
    message_rows,
    problem_rows,
    session_row,
    turn_rows,
)
from clew.tables.schema import TABLES
from clew.tables.strings import whole_characters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from clew.actions.redacted import Redacted
    from clew.format.lines import Source
    from clew.session.session import Session
    from clew.session.subagents import Agent

Cells = tuple[object, ...]

SUMS: Final[tuple[str, ...]] = (
    "changed_ms", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_5m_tokens",
    "cache_write_1h_tokens", "cost_usd", "unpriced_messages", "unpriced_models", "agents", "live", "damaged",
)  # fmt: skip
"""The columns of `sessions` that one session alone does not tell."""

USAGE_WORDS: Final[tuple[str, ...]] = (
    "project", "model", "service_tier", "speed", "inference_geo", "git_branch", "calls", "advisers",
)  # fmt: skip
"""The columns of `usage` that are words of a session, each of them whole; the others are ids and numbers."""

_PLACES: Final = tuple(TABLES["usage"].names.index(name) for name in USAGE_WORDS)

_NAMES: Final[Mapping[str, tuple[int, ...]]] = {
    table: tuple(map(TABLES[table].names.index, columns))
    for table, columns in {
        "sessions": ("models", "unpriced_models", "client_versions"),
        "entries": ("kind", "type"),
        "messages": ("model", "service_tier", "speed", "inference_geo", "calls", "advisers", "stop_reason"),
        "calls": ("name",),
        "files": ("tool",),
        "problems": ("detail",),
    }.items()
}
"""Columns with names that a redacted session keeps, as they hold it together; a table can do without."""

_REMEMBERED: Final = 4096
_PIECE: Final = 1 << 20


class TableRow(NamedTuple):
    """A row, and the table it is of."""

    table: str
    cells: Cells


def session_tables(clean: Redacted, *, known: Mapping[str, object] | None = None) -> Iterator[TableRow]:
    """Give the rows of a session and its sub-agents in all tables but `usage`.

    `known` are the values of the columns in `SUMS`; without them those of a session alone.
    """
    name_of = lru_cache(maxsize=_REMEMBERED)(clean.text)
    return (_named(row, name_of) for row in _session_rows(clean, known or {}))


def file_tables(clean: Redacted, home: Home) -> Iterator[TableRow]:
    """Give the rows of a session's own file alone, in the tables that are made file by file."""
    name_of = lru_cache(maxsize=_REMEMBERED)(clean.text)
    opened = clean.opened
    return (_named(row, name_of) for row in _file_rows(opened.session, home, opened.file.path))


def _session_rows(clean: Redacted, known: Mapping[str, object]) -> Iterator[TableRow]:
    file, session = clean.opened.file, clean.opened.session
    home = Home(whole_characters(file.id))
    yield TableRow("sessions", _session(clean, known))
    yield from _file_rows(session, home, file.path)
    for agent in _with_files(clean.agents):
        assert agent.source is not None
        inner = Home(home.session_id, whole_characters(agent.agent_id))
        yield from _file_rows(agent.source.session, inner, agent.source.key)


def _named(row: TableRow, name_of: Callable[[str], str]) -> TableRow:
    """Return a row without secrets in its names."""
    places = _NAMES.get(row.table, ())
    texts = {place: text for place in places if isinstance(text := row.cells[place], str)}
    changed = {place: new for place, text in texts.items() if (new := name_of(text)) != text}
    if not changed:
        return row
    return TableRow(row.table, tuple(changed.get(place, cell) for place, cell in enumerate(row.cells)))


def _file_rows(session: Session, home: Home, path: str) -> Iterator[TableRow]:
    for row in entry_rows(session, home):
        yield TableRow("entries", row)
    used = Folder("calls").file(path, _pieces(session.source), agent=home.agent_id)
    for row in message_rows(used, home, session):
        yield TableRow("messages", row)
    cut = turns(session)
    for name, rows in (("turns", turn_rows), ("calls", call_rows), ("files", file_rows)):
        for row in rows(session, home, found=cut):
            yield TableRow(name, row)
    del cut  # of a session of a million lines that is much
    for row in problem_rows(session, home):
        yield TableRow("problems", row)


def usage_cells(cells: Sequence[object], words: Mapping[str, str]) -> Cells:
    """Return a row of `usage` without secrets; `words` has for each of its words what is left of them."""
    found = list(cells)
    for place in _PLACES:
        value = found[place]
        # What came to the session since it was cleaned is not known to be clean.
        found[place] = words.get(value) if isinstance(value, str) else value
    return tuple(found)


def _session(clean: Redacted, known: Mapping[str, object]) -> Cells:
    file, summary = clean.opened.file, Summary()
    facts = summary.result(fold(clean.opened.session.source, summary))
    row = session_row(
        facts,
        session_id=file.id,
        path=clean.text(file.path),
        folder=clean.text(file.folder),
        changed_ms=file.mtime_ns // 1_000_000,
        agents=sum(1 for _ in _with_files(clean.agents)),
    )
    cells = {name: clean.text(value) if isinstance(value, str) else value for name, value in known.items()}
    return row._replace(**cells)  # pyright: ignore[reportArgumentType]  # what the index says of these columns


def _with_files(agents: Sequence[Agent]) -> Iterator[Agent]:
    """Give the sub-agents that have a file of their own, those of sub-agents too."""
    waiting = list(reversed(agents))
    while waiting:
        agent = waiting.pop()
        waiting += reversed(agent.children)
        if agent.source is not None:
            yield agent


def _pieces(source: Source) -> Iterator[bytes]:
    for at in range(0, source.size, _PIECE):
        yield source.read(at, _PIECE)
