# ruff: noqa: S608
"""The named queries, in the SQL that DuckDB and Spark share.

Both must give the same answer, to the last digit. So: whole numbers are summed as such, money as decimals
with all the digits it is priced with, times are milliseconds, ties are broken, and nulls have their place in
every order. Nothing is used that only one of them has: no date_diff, no quantiles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Named(NamedTuple):
    """A query with a name."""

    name: str
    doc: str
    sql: str


_COST: Final = "CAST(SUM(CAST(cost_usd AS DECIMAL(38, 12))) AS DOUBLE)"


def _sum(column: str) -> str:
    return f"CAST(SUM({column}) AS BIGINT)"


_TOKENS: Final = ", ".join(
    f"{_sum(name)} AS {name}"
    for name in (
        "input_tokens",
        "output_tokens",
        "cache_read_tokens",
        "cache_write_5m_tokens",
        "cache_write_1h_tokens",
    )
)
_ERRORS: Final = "SUM(CASE WHEN is_error THEN 1 ELSE 0 END)"
_COMPACTED: Final = "SUM(CASE WHEN c.compactions > 0 THEN 1 ELSE 0 END)"
_READ: Final = "CAST(SUM(cache_read_tokens) AS DOUBLE)"
_PROMPT: Final = "SUM(input_tokens + cache_read_tokens + cache_write_5m_tokens + cache_write_1h_tokens)"

_ALL: Final = (
    Named(
        "usage-by-team-day",
        "tokens and money of each team on each day",
        f"SELECT team, day, COUNT(*) AS messages, COUNT(DISTINCT developer) AS developers, {_TOKENS}, "
        f"{_COST} AS cost_usd FROM usage GROUP BY team, day ORDER BY team, day NULLS LAST",
    ),
    Named(
        "cost-by-model",
        "tokens and money by model, the dearest first; null where a price is not known",
        f"SELECT model, COUNT(*) AS messages, {_TOKENS}, {_COST} AS cost_usd, "
        "CAST(SUM(CASE WHEN cost_usd IS NULL THEN 1 ELSE 0 END) AS BIGINT) AS unpriced_messages "
        "FROM usage GROUP BY model ORDER BY cost_usd DESC NULLS LAST, messages DESC, model NULLS LAST",
    ),
    Named(
        "tool-error-rates",
        "how often each tool failed",
        f"SELECT name, COUNT(*) AS calls, CAST({_ERRORS} AS BIGINT) AS errors, "
        f"CAST({_ERRORS} AS DOUBLE) / CAST(COUNT(*) AS DOUBLE) AS error_rate "
        "FROM calls GROUP BY name ORDER BY errors DESC, calls DESC, name NULLS LAST",
    ),
    Named(
        "slowest-tools",
        "how long calls of each tool took: the middle, the slowest in twenty, the slowest (ms)",
        "SELECT name, MAX(many) AS calls, "
        "MIN(CASE WHEN place * 2 >= many THEN duration_ms END) AS median_ms, "
        "MIN(CASE WHEN place * 100 >= many * 95 THEN duration_ms END) AS p95_ms, "
        "MAX(duration_ms) AS max_ms FROM (SELECT name, duration_ms, "
        "ROW_NUMBER() OVER (PARTITION BY name ORDER BY duration_ms) AS place, "
        "COUNT(*) OVER (PARTITION BY name) AS many FROM calls "
        "WHERE duration_ms IS NOT NULL AND NOT is_stand_in) ranked "
        "GROUP BY name ORDER BY p95_ms DESC, calls DESC, name NULLS LAST",
    ),
    Named(
        "cache-efficiency",
        "how much of the prompts the cache served, by team and model",
        f"SELECT team, model, COUNT(*) AS messages, {_sum('cache_read_tokens')} AS cache_read_tokens, "
        f"CAST({_PROMPT} AS BIGINT) AS prompt_tokens, "
        f"CASE WHEN {_PROMPT} = 0 THEN NULL ELSE {_READ} / CAST({_PROMPT} AS DOUBLE) END AS served "
        "FROM usage GROUP BY team, model ORDER BY team, messages DESC, model NULLS LAST",
    ),
    Named(
        "session-outcomes",
        "how the last turn of the sessions of each team ended",
        "SELECT team, status, COUNT(*) AS sessions FROM (SELECT team, status, "
        "ROW_NUMBER() OVER (PARTITION BY source ORDER BY turn DESC) AS place FROM turns "
        "WHERE agent_id IS NULL) last_turns WHERE place = 1 GROUP BY team, status "
        "ORDER BY team, sessions DESC, status",
    ),
    Named(
        "most-edited-files",
        "the files that were written most often",
        "SELECT path, COUNT(*) AS writes, COUNT(DISTINCT source) AS sessions, "
        f"COUNT(DISTINCT developer) AS developers, {_sum('added')} AS added, {_sum('removed')} AS removed "
        "FROM files WHERE action IN ('create', 'edit', 'overwrite') AND NOT is_error GROUP BY path "
        "ORDER BY writes DESC, sessions DESC, path LIMIT 100",
    ),
    Named(
        "compaction-rate",
        "how many sessions of each team were compacted, and how often",
        "SELECT s.team, COUNT(*) AS sessions, "
        f"CAST({_COMPACTED} AS BIGINT) AS compacted, "
        "CAST(COALESCE(SUM(c.compactions), 0) AS BIGINT) AS compactions, "
        f"CAST({_COMPACTED} AS DOUBLE) / CAST(COUNT(*) AS DOUBLE) AS rate "
        "FROM sessions s LEFT JOIN (SELECT source, COUNT(*) AS compactions FROM entries "
        "WHERE kind = 'system/compact_boundary' AND agent_id IS NULL GROUP BY source) c "
        "ON c.source = s.source GROUP BY s.team ORDER BY s.team",
    ),
    Named(
        "retention",
        "developers who were active in a week, and how many of them came back in the next",
        "WITH active AS (SELECT DISTINCT team, developer, "
        "CAST(FLOOR((FLOOR(time_ms / 86400000.0) + 3) / 7.0) AS BIGINT) AS week FROM usage "
        "WHERE time_ms IS NOT NULL) "
        "SELECT a.team, (a.week * 7 - 3) * 86400000 AS week_ms, COUNT(*) AS developers, "
        "COUNT(b.developer) AS came_back, "
        "CAST(COUNT(b.developer) AS DOUBLE) / CAST(COUNT(*) AS DOUBLE) AS rate FROM active a "
        "LEFT JOIN active b ON b.team = a.team AND b.developer = a.developer AND b.week = a.week + 1 "
        "GROUP BY a.team, a.week ORDER BY a.team, week_ms",
    ),
)

QUERIES: Final[Mapping[str, Named]] = {one.name: one for one in _ALL}
"""The named queries, in the order they are documented in."""
