"""Look over a whole store: which sessions cannot be resumed and what they need, and what is deleted next."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from clew.actions.archiving import endangered
from clew.actions.checking import check_files
from clew.format.times import iso
from clew.session.problems import KINDS
from clew.store.cleanup import doomed_sides, period
from clew.store.journal import entries

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from clew.actions.archiving import Endangered
    from clew.actions.checking import Checked
    from clew.session.problems import Code
    from clew.store.cleanup import DoomedSide, Period
    from clew.store.files import Skipped, Store

SOON: float = 7
"""Days within which a session that goes is named."""


class Patient(NamedTuple):
    """A session that something is wrong with."""

    checked: Checked
    codes: tuple[tuple[Code, int], ...]
    """What is wrong, and how often; the worst first."""

    needs: str | None
    """The command that mends it; None where nothing does."""

    def as_dict(self) -> dict[str, object]:
        """Return it in the shape of `clew doctor --json`."""
        return {
            "id": self.checked.file.id,
            "path": self.checked.file.path,
            "resumable": self.checked.resumable,
            "problems": [{"code": code, "count": count} for code, count in self.codes],
            "unreadable": self.checked.unreadable,
            "needs": self.needs,
        }


class Diagnosis(NamedTuple):
    """What was found in a store."""

    looked_in: tuple[str, ...]
    sessions: int
    agents: int
    empty: int
    unreadable: int
    patients: tuple[Patient, ...]
    endangered: tuple[Endangered, ...]
    """What goes within a week, the first to go first."""

    sides: tuple[DoomedSide, ...]
    """What sessions lose within a week though they stay themselves."""

    doomed: int
    """How many sessions there are that the client will delete at all, one day."""

    periods: tuple[tuple[str, Period], ...]
    """After how many days each config folder is cleaned up."""

    interrupted: tuple[str, ...]
    """Edits that were begun and not finished."""

    skipped: tuple[Skipped, ...]

    @property
    def bricked(self) -> tuple[Patient, ...]:
        """Those that cannot be resumed."""
        return tuple(one for one in self.patients if not one.checked.resumable)

    def as_dict(self) -> dict[str, object]:
        """Return it in the shape of `clew doctor --json`."""
        return {
            "looked_in": [*self.looked_in],
            "files": self.sessions + self.agents + self.empty + self.unreadable,
            "sessions": self.sessions,
            "agents": self.agents,
            "empty": self.empty,
            "unreadable": self.unreadable,
            "patients": [one.as_dict() for one in self.patients],
            "deleted_next": [
                {
                    "id": one.doomed.file.id,
                    "path": one.doomed.file.path,
                    "after": iso(int(one.doomed.deleted_after * 1000)),
                    "days_left": round(one.doomed.days_left, 2),
                    "archived": one.is_archived,
                }
                for one in self.endangered
            ],
            "side_files_deleted_next": [
                {
                    "session": one.session.id,
                    "path": one.path,
                    "after": iso(int(one.deleted_after * 1000)),
                    "days_left": round(one.days_left, 2),
                }
                for one in self.sides
            ],
            "cleanup": [{"root": root, "days": found.days} for root, found in self.periods],
            "interrupted_edits": [*self.interrupted],
        }


def examine(
    store: Store,
    *,
    now: float,
    state: Path,
    archive: Path | None = None,
    jobs: int | None = None,
    start: Callable[[int], Callable[[], None]] | None = None,
) -> Diagnosis:
    """Check every session and sub-agent; `start` is told how many, and gives what is called for each."""
    listing = store.listing()
    files = [*listing.newest(), *listing.agents]
    advance = None if start is None else start(len(files))
    checked = check_files(files, jobs=jobs, advance=advance)
    going = endangered(store, now=now, archive=archive)
    return Diagnosis(
        store.roots.looked_in,
        sum(one.unreadable is None and not one.is_empty and not one.file.is_agent for one in checked),
        sum(one.unreadable is None and one.file.is_agent for one in checked),
        sum(one.unreadable is None and one.is_empty and not one.file.is_agent for one in checked),
        sum(one.unreadable is not None for one in checked),
        tuple(patient for one in checked if (patient := _patient(one)) is not None),
        tuple(one for one in going if one.doomed.days_left <= SOON),
        tuple(doomed_sides(store, now=now, within_days=SOON)),
        len(going),
        tuple((root, period(root)) for root in store.roots.found),
        tuple(f"{one.command} of {one.session}" for one in entries(state) if one.is_open),
        listing.skipped,
    )


def _patient(checked: Checked) -> Patient | None:
    if checked.unreadable is not None:
        return Patient(checked, (), None)
    report = checked.report
    if report is None:
        return None
    bad: Counter[Code] = Counter(problem.code for problem in report.problems if problem.severity != "info")
    is_bricked = not checked.resumable and not checked.is_empty and not checked.file.is_agent
    if not bad and not is_bricked:
        return None
    can_mend = any(KINDS[code].repair is not None for code in bad)
    codes = sorted(bad.items(), key=lambda one: (KINDS[one[0]].severity != "error", -one[1], one[0]))
    return Patient(checked, tuple(codes), f"clew repair {checked.file.id}" if can_mend else None)


def worst_first(patients: Sequence[Patient]) -> list[Patient]:
    """Put those that cannot be resumed first."""
    return sorted(patients, key=lambda one: (one.checked.resumable, -one.checked.file.mtime_ns))
