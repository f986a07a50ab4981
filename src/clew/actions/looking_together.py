"""Look at the lines of sessions for secrets in two processes: one begins while this one does something else.

What is seen is the same however it was shared; what the secrets are is found out by `redact.gather` then.
That there are none is found out here: as long as the other process says so, this one need not even know how a
secret looks.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, NamedTuple, Self

import msgspec

from clew.actions.second_process import Meeting, Second
from clew.edit.secret_stretches import Looked, stretches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from types import TracebackType

    from clew.session.session import Session


_FEW: Final = 48
"""Parts that take as long as to load what looks at them."""


class _Unit(NamedTuple):
    """A part of the work: some lines of a session, or none for what is not in its lines."""

    session: int
    first: int = 0
    last: int = 0


class _Seen(msgspec.Struct, array_like=True):
    """What was seen in one part."""

    unit: int
    rows: list[int]
    sights: bytes
    has_secrets: bool


_SEEN = list[_Seen]


class Sight(NamedTuple):
    """What came of a look."""

    looked: list[Looked]
    """What is seen in the lines of each session."""

    has_secrets: bool
    """Whether there is a secret in any of them."""


def can_look() -> bool:
    """Say whether lines can be looked at many at a time here; one by one they are left to who needs them."""
    return find_spec("ahocorasick_rs") is not None


class Look:
    """A look at all lines of some sessions; begun by another process, and done by both."""

    def __init__(self, sessions: Sequence[Session]) -> None:
        self._sessions = sessions
        self._units = [_Unit(at, *one) for at, session in enumerate(sessions) for one in stretches(session)]
        self._units += map(_Unit, range(len(sessions)))
        self._meeting = Meeting(len(self._units))
        self._second = Second(lambda: msgspec.msgpack.encode(list(map(self._see, self._meeting.backwards()))))

    def _see(self, unit: int) -> _Seen:
        # They take as long to load as a short session takes to write.
        from clew.edit.redact import has_beside_rows, has_in_rows
        from clew.edit.secret_rows import look

        at, first, last = self._units[unit]
        session = self._sessions[at]
        if first == last:
            return _Seen(unit, [], b"", has_beside_rows(session))
        sights = bytearray(last)
        rows = look(session, first, last, sights)
        return _Seen(unit, rows, bytes(sights[first:]), bool(rows) and has_in_rows(session, rows))

    def finish(self, advance: Callable[[int], None] | None = None) -> Sight:
        """Help with what is left, and return what is seen; `advance` is told of all bytes."""
        # The other one is nearly done: it is quicker to wait than to learn how a secret looks.
        units = self._meeting.forwards() if self._meeting.left() > _FEW else ()
        seen = {unit: self._tell(self._see(unit), advance) for unit in units}
        told = self._second.result()
        for one in () if told is None else msgspec.msgpack.decode(told, type=_SEEN):
            if one.unit not in seen:
                seen[one.unit] = self._tell(one, advance)
        for unit in range(len(self._units)):
            if unit not in seen:  # the other process was killed
                seen[unit] = self._tell(self._see(unit), advance)
        found = [seen[unit] for unit in range(len(self._units))]
        return Sight(self._put_together(found), any(one.has_secrets for one in found))

    def _tell(self, seen: _Seen, advance: Callable[[int], None] | None) -> _Seen:
        if advance is not None:
            at, first, last = self._units[seen.unit]
            for length in self._sessions[at].table.length[first:last]:
                advance(length)
        return seen

    def _put_together(self, seen: Iterable[_Seen]) -> list[Looked]:
        rows: list[list[int]] = [[] for _ in self._sessions]
        sights = [bytearray() for _ in self._sessions]
        for one in seen:
            at = self._units[one.unit].session
            rows[at] += one.rows
            sights[at] += one.sights
        return list(map(Looked, rows, sights))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._second.close()
