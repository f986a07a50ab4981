"""Settle what depends on several sessions on this machine: by columns, a file of `messages` at a time.

Of all messages only the ids are held at once, and what sums are made of. Nearly all are in one file alone,
and are there what they are in `usage`; the few that several files have, `settling` decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from clew.lake.delta import LakeTable
from clew.lake.files import Shelf
from clew.lake.libraries import arrow, compute
from clew.lake.schemas import COLUMNS, PARTITION, schema
from clew.lake.settling import NEEDED, SUMMED, nothing_used, settled, summed, used_schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from clew.lake.files import Written
    from clew.lake.places import Place


class Question(NamedTuple):
    """What is to be settled."""

    lake: Place
    changed: Sequence[str] | None
    """The sessions that changed since it was settled last; None for all there are."""

    messages: int
    facts: int
    """The versions of the tables it is made from."""

    before: int | None
    """The version of `messages` it was made from last."""

    where: Sequence[tuple[str, str]] = ()
    """The partitions in which those that changed lie, or lay."""


class Settled(NamedTuple):
    """What came of it."""

    touched: Sequence[str] | None
    """The sessions whose rows in `usage` and `sessions` are new; None for all."""

    written: Sequence[Written]


class _Concerned(NamedTuple):
    """What a change concerns, as Arrow arrays."""

    sources: Any
    """The sessions that share a message with one that changed, now or before."""

    ids: Any
    """All messages of those."""

    partitions: frozenset[tuple[str, str]]
    """Where those messages lie, in whatever session, and the sessions that changed."""


def settle_here(question: Question) -> Settled:
    """Make the rows of `usage` and `sessions` that what changed concerns, and write them."""
    messages = LakeTable(question.lake, "messages", question.messages)
    facts = LakeTable(question.lake, "facts", question.facts)
    known = messages.rows(["source", "message_id", *PARTITION])
    concerned = None if question.changed is None else _concerned(question, known)
    shelf = Shelf(question.lake)
    used = _usage(messages, known["message_id"], concerned, shelf)
    _sessions(facts, used, concerned, shelf)
    return Settled(None if concerned is None else concerned.sources.to_pylist(), shelf.close())


def _concerned(question: Question, known: Any) -> _Concerned:
    library = arrow()
    changed = library.array(question.changed, library.string())
    where = frozenset(question.where)
    ids = [known.filter(_is_in(known["source"], changed))["message_id"]]
    if question.before is not None:
        table = LakeTable(question.lake, "messages", question.before)
        before = table.rows(["source", "message_id"], where)
        ids.append(before.filter(_is_in(before["source"], changed))["message_id"])
    sharing = known.filter(_is_in(known["message_id"], _distinct(ids)))["source"]
    touched = _distinct([changed, sharing])
    concerned = _distinct([known.filter(_is_in(known["source"], touched))["message_id"]])
    there = known.filter(_is_in(known["message_id"], concerned))
    partitions = zip(*(there[name].to_pylist() for name in PARTITION), strict=True)
    return _Concerned(touched.sort(), concerned, where | frozenset(partitions))


def _is_in(column: Any, values: Any) -> Any:
    return compute().is_in(column, value_set=values)


def _distinct(columns: Iterable[Any]) -> Any:
    """Return the values of some columns, each once."""
    library = arrow()
    chunks = [
        chunk for one in columns for chunk in (one.chunks if isinstance(one, library.ChunkedArray) else [one])
    ]
    return library.chunked_array(chunks, type=library.string()).unique()


def _usage(messages: LakeTable, ids: Any, concerned: _Concerned | None, shelf: Shelf) -> Any:
    """Write the rows of `usage`; return those of their columns that sessions are summed by."""
    library, made = arrow(), schema("usage")
    counts = ids.value_counts()
    shared = counts.filter(compute().greater(counts.field("counts"), 1)).field("values")
    copies: list[Any] = []
    used: list[Any] = [made.empty_table().select([*SUMMED])]
    partitions = None if concerned is None else concerned.partitions
    for part, rows in messages.read(NEEDED, partitions):
        if concerned is not None:
            rows = rows.filter(_is_in(rows["message_id"], concerned.ids))
        is_shared = _is_in(rows["message_id"], shared)
        copies.append(rows.filter(is_shared))
        found = _mine(rows.filter(compute().invert(is_shared)), concerned).select(made.names).cast(made)
        shelf.add("usage", part.team, part.day, found.drop_columns([*PARTITION]).to_batches())
        used.append(found.select([*SUMMED]))
    if copies:
        together = library.concat_tables(copies).sort_by("message_id").combine_chunks()
        found = library.Table.from_batches([*settled(together.to_batches())], schema=made)
        # What others own, who were not touched, is as it was.
        found = _mine(found, concerned)
        shelf.add_mixed("usage", found)
        used.append(found.select([*SUMMED]))
    return library.concat_tables(used)


def _mine(rows: Any, concerned: _Concerned | None) -> Any:
    return rows if concerned is None else rows.filter(_is_in(rows["source"], concerned.sources))


def _sessions(facts: LakeTable, used: Any, concerned: _Concerned | None, shelf: Shelf) -> None:
    library, made = arrow(), schema("sessions")
    ordered = used.sort_by("source").to_batches()
    sums = library.Table.from_batches([*summed(ordered)], schema=used_schema()).combine_chunks()
    partitions = None if concerned is None else concerned.partitions
    for part, every in facts.read([column.name for column in COLUMNS["facts"]], partitions):
        rows = _mine(every, concerned)
        at = compute().index_in(rows["source"], value_set=sums["source"])
        # Without a price it is null all the same: only who has no sums at all used nothing.
        is_idle = compute().is_null(at)
        for name, nothing in nothing_used().items():
            field = made.field(name)
            told = compute().if_else(is_idle, library.scalar(nothing, field.type), sums[name].take(at))
            rows = rows.set_column(made.get_field_index(name), field, told)
        shelf.add("sessions", part.team, part.day, rows.drop_columns([*PARTITION]).to_batches())
