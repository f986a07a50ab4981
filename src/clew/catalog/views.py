# ruff: noqa: S608
"""The documented tables as views over all shards, made from their compact rows.

Every statement here is made of our own names, and of nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.catalog.place import SHARDS
from clew.catalog.schema import DETAILS
from clew.tables.schema import TABLES as DOCUMENTED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew.tables.schema import Table


def _uuid(column: str) -> str:
    parts = "||'-'||".join(f"substr(hex({column}),{at},{many})" for at, many in _UUID_PARTS)
    return f"CASE typeof({column}) WHEN 'blob' THEN lower({parts}) ELSE {column} END"


_UUID_PARTS: Final = ((1, 8), (9, 4), (13, 4), (17, 4), (21, 12))
_DAY: Final = "date({} / 1000.0, 'unixepoch')"


def _shown(column: str) -> str:
    """Return a path as text; what is no UTF-8 is kept as bytes."""
    return f"CASE typeof({column}) WHEN 'blob' THEN clew_text({column}) ELSE {column} END"


_PROJECT: Final = f"coalesce(nullif(x.cwd, ''), {_shown('f.folder')})"

_SESSIONS: Final[Mapping[str, str]] = {
    "session_id": "f.session",
    "path": _shown("f.path"),
    "project": _PROJECT,
    "folder": _shown("f.folder"),
    "day": _DAY.format("x.started_ms"),
    "changed_ms": "f.mtime_ns / 1000000",
    "live": "clew_live(f.session, f.mtime_ns)",
    # The unfinished end of a live session is being written, not damaged.
    "damaged": "x.damaged - (x.is_unfinished AND clew_live(f.session, f.mtime_ns))",
}

_ENTRIES: Final[Mapping[str, str]] = {
    "session_id": "f.session",
    "agent_id": "k.agent_id",
    "uuid": _uuid("x.uuid"),
    "parent_uuid": "CASE typeof(x.parent) WHEN 'integer' THEN "
    f"(SELECT {_uuid('p.uuid')} FROM {{s}}.entry p WHERE p.id = x.id - x.parent) "
    f"ELSE {_uuid('x.parent')} END",
    "day": _DAY.format("x.time_ms"),
    **{name: f"k.{name}" for name in ("kind", "type", "role", "is_sidechain", "is_meta")},
    "input_kind": "i.text ->> 0",
    "round": "i.text ->> 1",
}

_MESSAGES: Final[Mapping[str, str]] = {
    "message_id": "x.key",
    "session_id": "f.session",
    "agent_id": "a.text",
    "model": "m.text",
    "day": _DAY.format("x.time_ms"),
    "input_tokens": "x.input",
    "output_tokens": "x.output",
    "cache_read_tokens": "x.cache_read",
    "cache_write_5m_tokens": "x.cache_5m",
    "cache_write_1h_tokens": "x.cache_1h",
    "service_tier": "t.text ->> 0",
    "speed": "t.text ->> 1",
    "inference_geo": "t.text ->> 2",
    "web_searches": "t.text ->> 3",
    "web_fetches": "t.text ->> 4",
    "advisers": "t.text -> 5",
    "git_branch": "b.text",
    "calls": "coalesce(c.text, '[]')",
    "stop_reason": "e.text",
}

_MESSAGE_JOINS: Final = (
    "FROM {s}.message x JOIN {s}.source f ON f.id = x.source JOIN {s}.name t ON t.id = x.terms "
    "LEFT JOIN {s}.name m ON m.id = x.model LEFT JOIN {s}.name a ON a.id = x.agent "
    "LEFT JOIN {s}.name b ON b.id = x.branch LEFT JOIN {s}.name c ON c.id = x.calls "
    "LEFT JOIN {s}.name e ON e.id = x.stop WHERE x.marks & 1"
)


def _columns(table: Table, special: Mapping[str, str]) -> str:
    return ", ".join(f"{special.get(name, f'x.{name}')} AS {name}" for name in table.names)


def _united(name: str, select: str) -> str:
    parts = " UNION ALL ".join(select.replace("{s}", f"s{number}") for number in range(SHARDS))
    return f"CREATE TEMP VIEW {name} AS {parts};\n"


def views() -> str:
    """Return the statements that make the documented tables, and the physical ones of all shards, as views.

    Of the physical ones each row begins with the number of its shard: `shard`, then the columns.
    """
    sessions, entries, messages = (DOCUMENTED[name] for name in ("sessions", "entries", "messages"))
    found = [
        _united(
            "sessions",
            f"SELECT {_columns(sessions, _SESSIONS)} FROM {{s}}.session x "
            "JOIN {s}.source f ON f.id = x.source WHERE f.kind = 0",
        ),
        _united(
            "entries",
            f"SELECT {_columns(entries, _ENTRIES)} FROM {{s}}.entry x "
            "JOIN {s}.source f ON f.id = x.source JOIN {s}.sort k ON k.id = x.sort "
            "LEFT JOIN {s}.name i ON i.id = x.input WHERE f.kind < 2",
        ),
        _united("messages", f"SELECT {_columns(messages, _MESSAGES)} {_MESSAGE_JOINS}"),
    ]
    found += [
        _united(
            name,
            f"SELECT {_columns(DOCUMENTED[name], {'session_id': 'f.session'})} FROM {{s}}.{name}_of x "
            "JOIN {s}.source f ON f.id = x.source",
        )
        for name in DETAILS
    ]
    found.append(_usage())
    found += [
        "CREATE TEMP VIEW all_{} AS {};\n".format(
            name,
            " UNION ALL ".join(
                f"SELECT {number} AS shard, x.* FROM s{number}.{name} x" for number in range(SHARDS)
            ),
        )
        for name in ("source", "session", "entry", "message", "rollup", "name", "span")
    ]
    return "".join(found)


_COPY: Final = (
    "SELECT x.key, f.session, f.owner, f.path, x.time_ms, a.text AS agent, b.text AS branch, "
    "m.text AS model, "
    "x.input, x.output, x.cache_read, x.cache_5m, x.cache_1h, t.text AS terms, "
    f"coalesce(c.text, '[]') AS calls, x.shared {_MESSAGE_JOINS}"
)

_USAGE: Final[Mapping[str, str]] = {
    "message_id": "o.key",
    "session_id": "o.session",
    "project": "w.project",
    "agent_id": "o.agent",
    "model": "u.model",
    "day": _DAY.format("o.time_ms"),
    "time_ms": "o.time_ms",
    "input_tokens": "u.input",
    "output_tokens": "u.output",
    "cache_read_tokens": "u.cache_read",
    "cache_write_5m_tokens": "u.cache_5m",
    "cache_write_1h_tokens": "u.cache_1h",
    "service_tier": "u.terms ->> 0",
    "speed": "u.terms ->> 1",
    "inference_geo": "u.terms ->> 2",
    "web_searches": "u.terms ->> 3",
    "web_fetches": "u.terms ->> 4",
    "advisers": "u.terms -> 5",
    "cost_usd": "clew_cost(u.model, o.time_ms, u.terms, u.input, u.output, u.cache_read, u.cache_5m, "
    "u.cache_1h)",
    "git_branch": "o.branch",
    "calls": "c.calls",
}


def _usage() -> str:
    """Return the views of what was paid for: each message once, as its owner has it.

    The copies of one message are few, and marked: who owns it is worked out for those alone. `Owners` in
    `session.ledger` is the same rule.
    """
    owners = (
        f"SELECT f.path, f.name, x.oldest_ms, {_PROJECT} AS project "
        "FROM {s}.session x JOIN {s}.source f ON f.id = x.source"
    )
    columns = ", ".join(f"{_USAGE[name]} AS {name}" for name in DOCUMENTED["usage"].names)
    ranked = (
        "SELECT y.*, row_number() OVER (PARTITION BY y.key ORDER BY w.oldest_ms IS NULL, w.oldest_ms, "
        "w.name, w.path, y.time_ms IS NULL, y.time_ms, y.path) AS by_age, "
        "row_number() OVER (PARTITION BY y.key ORDER BY y.output DESC, y.input DESC, y.cache_read DESC, "
        "y.cache_5m DESC, y.cache_1h DESC, coalesce(y.model, '') DESC, y.terms DESC) AS by_use, "
        "row_number() OVER (PARTITION BY y.key ORDER BY json_array_length(y.calls) DESC, y.calls DESC) "
        "AS by_calls "
        "FROM message_copies y JOIN owner_files w ON w.path = y.owner WHERE y.shared"
    )
    alone = columns.replace("u.", "o.").replace("c.calls", "o.calls")
    return (
        _united("owner_files", owners)
        + _united("message_copies", _COPY)
        + f"CREATE TEMP VIEW shared_messages AS {ranked};\n"
        f"CREATE TEMP VIEW usage AS SELECT {alone} FROM message_copies o "
        "JOIN owner_files w ON w.path = o.owner "
        f"WHERE NOT o.shared UNION ALL SELECT {columns} FROM shared_messages o "
        "JOIN shared_messages u ON u.key = o.key JOIN shared_messages c ON c.key = o.key "
        "JOIN owner_files w ON w.path = o.owner WHERE o.by_age = 1 AND u.by_use = 1 AND c.by_calls = 1;\n"
    )
