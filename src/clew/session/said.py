"""What was said and what was called, gathered at once: each line is read and decoded one time for both."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from clew.session.calls import Pairing, Pairs
from clew.session.messages import Gathering, Message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.session.session import Session


class Said(NamedTuple):
    """The messages on some rows, and the calls with their results."""

    messages: tuple[Message, ...]
    pairs: Pairs


def said(session: Session, rows: Sequence[int] | None = None) -> Said:
    """Gather what `messages` and `pairs` do of a session, or of `rows`; of all lines it is done once."""
    return session.once(_all) if rows is None or rows == range(len(session)) else _gathered(session, rows)


def _all(session: Session) -> Said:
    return _gathered(session, range(len(session)))


def _gathered(session: Session, rows: Sequence[int]) -> Said:
    gathering, pairing = Gathering(session), Pairing(session)
    for row in rows:
        is_answer = gathering.wants(row)
        has_call = pairing.wants(row)
        if is_answer or has_call:
            entry = session.entry(row)
            if is_answer:
                gathering.add(row, entry)
            if has_call:
                pairing.add(row, entry)
    return Said(gathering.finish(), pairing.finish())
