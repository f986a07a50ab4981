"""Changes to one part of a session whose other part is written elsewhere.

Lines that are left to the other part are not gone: those that stay may go on naming them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.edit.changes import Changes, with_value
from clew.edit.plan import KEEP, Drop, FilePlan, Patch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from clew.edit.plan import Step
    from clew.session.session import Session

LOGICAL: Final = ("logicalParentUuid",)
"""Where a line says what it followed without hanging on it. Clients read it nowhere but on compactions."""


class Apart(Changes):
    """Changes by which lines are left to another file, and others say what they hung on there."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.left: dict[int, str] = {}
        """The reason by the row."""
        self._noted: dict[int, str] = {}

    def __bool__(self) -> bool:
        return bool(self.left or self._noted) or super().__bool__()

    def leave(self, row: int, reason: str) -> None:
        """Leave a line to the other file."""
        self.left[row] = reason

    def note(self, row: int, uuid: str) -> None:
        """Say on a line which one it hung on."""
        self._noted[row] = uuid

    def copy(self) -> Apart:
        """Return the same changes, to be added to."""
        other = Apart(self.session)
        other.__dict__.update(super().copy().__dict__)
        other.left, other._noted = dict(self.left), dict(self._noted)
        return other

    def plan(self, target: str) -> FilePlan:
        """Return what becomes of the file."""
        plain = super().plan(target)
        return FilePlan(
            self.session,
            target,
            decide=_Deciding(self.session, plain.decide, self.left, self._noted),
            damage=plain.damage,
            before=plain.before,
            at_end=plain.at_end,
        )


class _Deciding:
    def __init__(
        self,
        session: Session,
        decide: Callable[[int], Step],
        left: Mapping[int, str],
        noted: Mapping[int, str],
    ) -> None:
        self._session = session
        self._decide = decide
        self._left = left
        self._noted = noted

    def __call__(self, row: int) -> Step:
        reason = self._left.get(row)
        if reason is not None:
            return Drop(reason)
        step = self._decide(row)
        uuid = self._noted.get(row)
        if uuid is None or isinstance(step, Drop):
            return step
        table = self._session.table
        old = self._session.source.read(table.offset[row], table.length[row])
        raw = with_value(step.data if isinstance(step, Patch) else old, LOGICAL, uuid)
        return KEEP if raw == old else Patch(raw, "what it followed is in the other part")
