"""Which sessions of a list are wanted, and in which order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from clew.actions.listing import is_of_project
from clew.errors import UsageError
from clew.format.times import milliseconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from clew.actions.listing import SessionList, SessionRow

Sort = Literal["changed", "started", "ended", "cost", "tokens", "turns", "size", "title"]

_COUNTED: Final = frozenset({"cost", "tokens", "turns"})


class Wanted(NamedTuple):
    """What a session must have; None for whatever."""

    project: str | None = None
    """Its project: a path, or a part of its path or folder."""

    since: float | None = None
    """It was written at or after this moment (seconds since 1970)."""

    until: float | None = None
    """It began before this moment."""

    title: str | None = None
    """A part of its title."""

    git_branch: str | None = None
    """The branch it was on last."""

    model: str | None = None
    """A part of the name of one of its models."""

    has_errors: bool = False
    """Calls of tools failed in it."""

    tool: str | None = None
    """A tool that it, or one of its sub-agents, called."""

    @property
    def counted(self) -> str | None:
        """The first option that only a list with counts can answer."""
        options = {"--model": self.model, "--errors": self.has_errors or None, "--tool": self.tool}
        return next((name for name, value in options.items() if value is not None), None)


def choose(
    found: SessionList,
    rows: Iterable[SessionRow],
    wanted: Wanted,
    *,
    sort: Sort = "changed",
    is_reversed: bool = False,
) -> list[SessionRow]:
    """Return those of the rows of a list that are wanted, in the order wanted: the greatest or newest first.

    Titles go from A to Z. What has no value stands at the end, reversed or not.
    """
    option = wanted.counted or (f"--sort {sort}" if sort in _COUNTED else None)
    if option is not None and not found.is_full:
        raise UsageError(f"{option} needs the counts of every session", hint="clew index rebuild, or --full")
    if wanted.tool is not None and found.callers is None:
        raise UsageError("--tool needs the index", hint="clew index rebuild")
    tests = list(_tests(found, wanted))
    chosen = [row for row in rows if all(test(row) for test in tests)]
    return order(chosen, sort, is_reversed=is_reversed)


def _tests(found: SessionList, wanted: Wanted) -> Iterable[Callable[[SessionRow], bool]]:
    project, since, until, callers = wanted.project, wanted.since, wanted.until, found.callers
    if project is not None:
        yield lambda row: is_of_project(row.project, row.folder, project)
    if since is not None:
        yield lambda row: row.changed >= since
    if until is not None:
        yield lambda row: _began(row) < until
    if wanted.title is not None:
        title = wanted.title.casefold()
        yield lambda row: title in (row.title or "").casefold()
    if wanted.git_branch is not None:
        yield lambda row: row.git_branch == wanted.git_branch
    if wanted.model is not None:
        model = wanted.model.casefold()
        yield lambda row: any(model in name.casefold() for name in row.models)
    if wanted.has_errors:
        yield lambda row: bool(row.failed_calls)
    if wanted.tool is not None and callers is not None:
        yield lambda row: row.path in callers


def _began(row: SessionRow) -> float:
    ms = milliseconds(row.started)
    return row.changed if ms is None else ms / 1000


_KEYS: Final[Mapping[str, Callable[[SessionRow], float | str | None]]] = {
    "started": lambda row: row.started,
    "ended": lambda row: row.ended,
    "cost": lambda row: row.cost_usd,
    "tokens": lambda row: None if row.tokens is None else row.tokens.total,
    "turns": lambda row: row.turns,
    "size": lambda row: row.bytes,
    "title": lambda row: row.title and row.title.casefold(),
}


def order(rows: Iterable[SessionRow], sort: Sort, *, is_reversed: bool = False) -> list[SessionRow]:
    """Return the rows in an order; those that are alike in it stay as they were."""
    found = list(rows)
    key = _KEYS.get(sort)
    if key is None:
        return found[::-1] if is_reversed else found
    told = [(value, row) for row in found if (value := key(row)) is not None]
    # sort() keeps what is alike in its order, in reverse too.
    told.sort(key=lambda one: one[0], reverse=(sort != "title") is not is_reversed)
    return [row for _, row in told] + [row for row in found if key(row) is None]
