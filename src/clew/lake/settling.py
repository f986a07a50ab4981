"""What depends on several sessions: whose a message is that many files have, and what each session used.

Plain functions over sorted Arrow batches: DuckDB sorts them on one machine, a shuffle on a cluster. The rule
is that of `session.ledger`: a message belongs to the session whose oldest line is oldest, and its usage is
that of the copy with the greatest output.
"""

from __future__ import annotations

import json
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, cast

from clew.format.times import iso
from clew.lake.libraries import arrow, compute
from clew.lake.schemas import COLUMNS, WHOSE, schema
from clew.session.accounts import Question, account
from clew.session.ledger import Ledger, best_usage
from clew.session.pricing import Tokens, price
from clew.session.usage import FileUsage
from clew.tables.cells import Home, json_list
from clew.tables.message_rows import usage_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from clew.session.usage import Row, Terms

_ROWS: Final = 20_000
_NEVER: Final = 1 << 62
_TOKENS: Final = (
    "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_5m_tokens", "cache_write_1h_tokens",
)  # fmt: skip

Copy = dict[str, Any]
"""One row of `messages`."""

USED: Final = (*_TOKENS, "cost_usd", "unpriced_messages", "unpriced_models")
"""The columns of `sessions` that are settled here."""

_USAGE: Final = tuple(column.name for column in COLUMNS["usage"])
NEEDED: Final = tuple(
    column.name for column in COLUMNS["messages"] if column.name not in {"stop_reason", "lines"}
)
"""The columns of `messages` that are needed to settle them."""

SUMMED: Final = (
    *("source", "message_id", "time_ms", *_TOKENS, "model"),
    *("service_tier", "speed", "inference_geo", "web_searches", "web_fetches", "advisers"),
)
"""The columns of `usage` that tell what a session used."""

_NOWHERE: Final = ("", None, None)


# --- each message once --------------------------------------------------------------------------------------


def settled(batches: Iterable[Any]) -> Iterator[Any]:
    """Make the rows of `usage` from rows of `messages` that come sorted by message."""
    library = arrow()
    made = schema("usage")
    waiting: Any = None
    for batch in batches:
        table = library.Table.from_batches([batch])
        if waiting is not None:
            table = library.concat_tables([waiting, table])
        # The last message may go on in the next batch.
        ids = table["message_id"]
        is_last = compute().equal(ids, ids[-1])
        waiting, table = table.filter(is_last), table.filter(compute().invert(is_last))
        if table.num_rows:
            yield from _settled(table, made)
    if waiting is not None and waiting.num_rows:
        yield from _settled(waiting, made)


def _settled(table: Any, made: Any) -> Iterator[Any]:
    library = arrow()
    counts = table["message_id"].value_counts()
    many = counts.filter(compute().greater(counts.field("counts"), 1)).field("values")
    is_shared = compute().is_in(table["message_id"], value_set=many)
    # Nearly all are in one file alone, and are what they are there.
    yield from table.filter(compute().invert(is_shared)).select([*_USAGE]).cast(made).to_batches()
    rows = table.filter(is_shared).to_pylist()
    found = [_one(list(copies)) for _, copies in groupby(rows, key=itemgetter("message_id"))]
    if found:
        yield from library.Table.from_pylist(found, schema=made).to_batches()


def _one(copies: list[Copy]) -> Copy:
    """Make one row of a message's copies: its owner says when and where, the best usage how much."""
    owner = min(copies, key=_order)
    best = best_usage([_row(copy) for copy in sorted(copies, key=_order)])
    row: Row = (iso(owner["time_ms"]), *best[1:8], ("", owner["agent_id"], owner["git_branch"]), best[9])
    home = Home(owner["session_id"], owner["agent_id"])
    made = usage_row(owner["message_id"], row, home, project=owner["project"])._asdict()
    # A time that cannot be written as text and read again is as the owner has it.
    made |= {"day": owner["day"], "time_ms": owner["time_ms"], "session_id": owner["session_id"]}
    return {name: owner[name] for name in _USAGE[: len(WHOSE)]} | made


def _order(copy: Copy) -> tuple[int, str, str, int, str]:
    oldest, time = copy["owner_oldest_ms"], copy["time_ms"]
    return (
        _NEVER if oldest is None else oldest,
        copy["owner_name"],
        copy["owner_path"],
        _NEVER if time is None else time,
        copy["file"],
    )


def _row(copy: Copy) -> Row:
    given, output, *cached = (copy[name] for name in _TOKENS)
    cache_read, short, long = cached
    place = (copy["file"], copy["agent_id"], copy["git_branch"])
    calls = tuple(cast("list[str]", json.loads(copy["calls"])))
    return (
        iso(copy["time_ms"]),
        output,
        given,
        cache_read,
        short,
        long,
        copy["model"],
        _terms(copy),
        place,
        calls,
    )


def _terms(copy: Copy) -> Terms:
    return (
        copy["service_tier"],
        copy["speed"],
        copy["inference_geo"],
        copy["web_searches"],
        copy["web_fetches"],
        _advisers(copy["advisers"]),
    )


def _advisers(text: str) -> tuple[tuple[str, Tokens], ...]:
    if text == "[]":
        return ()
    return tuple((str(one["model"]), Tokens(*(one[name] for name in _TOKENS))) for one in json.loads(text))


# --- what sessions used -------------------------------------------------------------------------------------


def used_schema() -> Any:
    """Return the Arrow schema of what sessions used."""
    whole = schema("sessions")
    return arrow().schema([whole.field("source"), *(whole.field(name) for name in USED)])


def summed(batches: Iterable[Any]) -> Iterator[Any]:
    """Add up rows of `usage` that come sorted by source: what each session used."""
    library, made = arrow(), used_schema()
    found: list[dict[str, object]] = []
    columns = (batch.select([*SUMMED]).columns for batch in batches)
    rows = (row for each in columns for row in zip(*(one.to_pylist() for one in each), strict=True))
    for source, used in groupby(rows, key=itemgetter(0)):
        found.append({"source": source, **_sum(used)})
        if len(found) >= _ROWS:
            yield from library.Table.from_pylist(found, schema=made).to_batches()
            found = []
    if found:
        yield from library.Table.from_pylist(found, schema=made).to_batches()


def nothing_used() -> Mapping[str, object]:
    """Return what a session used that has no messages of its own."""
    return _sum(())


def _sum(rows: Iterable[tuple[Any, ...]]) -> dict[str, object]:
    file = FileUsage("")
    for _, message, time, given, output, cached, short, long, model, *terms in rows:
        *words, searches, fetches, advisers = terms
        told: Terms = (*words, searches, fetches, _advisers(advisers))
        # Whose it is, is settled, and what it called costs nothing.
        file.rows[message] = (iso(time), output, given, cached, short, long, model, told, _NOWHERE, ())
    ledger = Ledger()
    ledger.add(file)
    total = account(ledger, Question("session")).total
    tokens = total.tokens
    counts = (tokens.input, tokens.output, tokens.cache_read, tokens.cache_write_5m, tokens.cache_write_1h)
    return {
        **dict(zip(_TOKENS, counts, strict=True)),
        "cost_usd": total.cost_usd,
        "unpriced_messages": total.unpriced,
        "unpriced_models": json_list(model for model in total.models if price(model) is None),
    }
