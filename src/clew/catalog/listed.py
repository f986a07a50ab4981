"""What the catalog knows of every session, for a list: few bytes to load and one query to ask."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.catalog.place import SHARDS, path_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from clew.catalog.database import Database


class Listed(NamedTuple):
    """One session file. Lists are JSON texts."""

    path: str
    slug: str | None
    title: str | None
    title_source: str | None
    session_ids: str
    lines: int
    first_prompt: str | None
    started_ms: int | None
    ended_ms: int | None
    turns: int
    messages: int
    tool_calls: int
    failed_calls: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_5m_tokens: int
    cache_write_1h_tokens: int
    cost_usd: float | None
    models: str
    git_branch: str | None
    client_versions: str
    agents: int
    kind: str
    damaged: int
    is_unfinished: int
    prs: str
    unpriced_messages: int
    unpriced_models: str
    cwd: str | None


class Outline(NamedTuple):
    """The least of one session file."""

    path: str
    kind: str
    cwd: str | None
    damaged: int
    is_unfinished: int
    cost_usd: float | None
    unpriced_models: str


_COLUMNS: Final = ", ".join(f"x.{name}" for name in Listed._fields[1:])
_LISTED: Final = " UNION ALL ".join(
    f"SELECT f.path, {_COLUMNS} FROM s{number}.source f JOIN s{number}.session x ON x.source = f.id "  # noqa: S608
    "WHERE f.kind = 0"
    for number in range(SHARDS)
)
_OUTLINE: Final = " UNION ALL ".join(
    "SELECT f.path, x.kind, x.cwd, x.damaged, x.is_unfinished, x.cost_usd, x.unpriced_models "  # noqa: S608
    f"FROM s{number}.source f JOIN s{number}.session x ON x.source = f.id WHERE f.kind = 0"
    for number in range(SHARDS)
)
_AGENTS: Final = " UNION ALL ".join(
    f"SELECT f.path, x.is_unfinished, x.damaged FROM s{number}.source f "  # noqa: S608
    f"JOIN s{number}.session x ON x.source = f.id WHERE f.kind = 1 AND x.damaged > 0"
    for number in range(SHARDS)
)
_CALLS: Final = (
    "SELECT DISTINCT f.owner FROM {s}.message x JOIN {s}.source f ON f.id = x.source "
    "WHERE x.calls IN (SELECT n.id FROM {s}.name n, json_each(n.text) c "
    "WHERE n.id IN (SELECT DISTINCT calls FROM {s}.message) AND lower(c.value) = lower(?))"
)


def read_listed(database: Database) -> Mapping[str, Listed]:
    """Return what is known of every session, by the path of its own file."""
    make = Listed._make
    return {_path(row[0]): make(row) for row in database.execute(_LISTED)}


def read_outlines(database: Database) -> Mapping[str, Outline]:
    """Return the least of every session, by the path of its own file: what totals are made of."""
    make = Outline._make
    return {_path(row[0]): make(row) for row in database.execute(_OUTLINE)}


def read_some(database: Database, paths: Sequence[str]) -> Mapping[str, Listed]:
    """Return what is known of some sessions."""
    make = Listed._make
    query = _LISTED.replace("WHERE", f"WHERE f.path IN ({', '.join('?' * len(paths))}) AND")
    values = [path_value(path) for path in paths] * SHARDS
    return {_path(row[0]): make(row) for row in database.execute(query, values)}


def damaged_agents(database: Database) -> Iterator[tuple[str, bool, int]]:
    """Give the files of sub-agents that are damaged: path, whether the end is unfinished, how many lines."""
    for path, is_unfinished, damaged in database.execute(_AGENTS):
        yield _path(path), bool(is_unfinished), damaged


def callers(database: Database, tool: str) -> set[str]:
    """Return the sessions that called a tool, themselves or by a sub-agent: the paths of their own files."""
    found: set[str] = set()
    for number in range(SHARDS):
        rows = database.execute(_CALLS.replace("{s}", f"s{number}"), (tool,))
        found.update(_path(owner) for (owner,) in rows)
    return found


def _path(value: str | bytes) -> str:
    return os.fsdecode(value) if isinstance(value, bytes) else value
