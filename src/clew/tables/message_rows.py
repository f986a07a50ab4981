"""Make the rows of messages, and of usage, from what `session.usage` folds.

Which of a message's copies its usage row is made from, `session.ledger` settles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.format.times import milliseconds
from clew.session.messages import messages
from clew.session.pricing import Tokens, Usage, cost_of
from clew.tables.cells import clean, counts, day_of, json_list
from clew.tables.row_types import MessageRow, UsageRow
from clew.tables.strings import whole_characters

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clew.session.messages import Message
    from clew.session.session import Session
    from clew.session.usage import FileUsage, Row, Terms
    from clew.tables.cells import Home
    from clew.tables.shared import Shared


def message_row(key: str, row: Row, home: Home, message: Message | None = None) -> MessageRow:
    """Make the row of a message from its row in a `FileUsage`; `message` tells what is not in that."""
    time, output, given, cached, short, long, model, terms, (_, agent, branch), calls = row
    ms = milliseconds(time)
    return MessageRow(
        whole_characters(key),
        home.session_id,
        clean(agent) or home.agent_id,
        clean(model),
        day_of(ms),
        ms,
        given,
        output,
        cached,
        short,
        long,
        terms[3],
        terms[4],
        clean(terms[0]),
        clean(terms[1]),
        clean(terms[2]),
        clean(branch),
        json_list(calls),
        _advisers(terms),
        None if message is None else clean(message.stop_reason),
        None if message is None else len(message.rows),
    )


def message_rows(
    usage: FileUsage, home: Home, session: Session | None = None, *, shared: Shared | None = None
) -> Iterator[MessageRow]:
    """Make the rows of a file's messages; from its session also how they ended, and on how many lines.

    `usage` is to be folded at the depth `calls`, else branches and calls are missing; `shared` is what was
    made of the session already.
    """
    said: dict[str, Message] = {}
    if session is not None:
        found = messages(session) if shared is None else shared.messages
        said = {_key(session, one): one for one in found}
    for key, row in usage.rows.items():
        yield message_row(key, row, home, said.get(key))


def _key(session: Session, message: Message) -> str:
    """Name a message as `session.usage` does."""
    if message.id:
        return message.id
    if message.request_id:
        return f"request {message.request_id}"
    return f"line {session.entry(message.row).uuid}"


def _advisers(terms: Terms) -> str:
    return json_list(
        {"model": clean(model), **dict(zip(_COUNTS, counts(tokens), strict=True))}
        for model, tokens in terms[5]
    )


_COUNTS: Final = (
    "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_5m_tokens", "cache_write_1h_tokens",
)  # fmt: skip


def usage_row(key: str, row: Row, home: Home, *, project: str) -> UsageRow:
    """Make the row of a message that was settled by `ledger.Owners`; `home` and `project` are the owner's."""
    made = message_row(key, row, home)
    return UsageRow(
        made.message_id,
        made.session_id,
        whole_characters(project),
        *made[2:14],
        message_cost(row),
        *made[14:19],
    )


def message_cost(row: Row) -> float | None:
    """Return what a message cost, its advisers included; None when a price is not known."""
    time, output, given, cached, short, long, model, terms = row[:8]
    tokens = Tokens(given, output, cached, short, long)
    used = Usage(tokens, terms[3], terms[4], *terms[:3], terms[5])
    cost = cost_of(model, used, time_ms=milliseconds(time))
    if cost is None and not tokens.total and not terms[3] and not terms[5]:
        return 0.0  # nothing costs nothing, whatever the model
    return cost
