"""What the sessions of a store hold that clew does not know: types, fields and blocks, by client version.

Nothing of it is an error: unknown things are kept and shown like any other. It tells what the client has
begun to write, and where to look at an example.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from clew.actions.passes import Pass, sweep
from clew.errors import ClewError
from clew.format.known import VERSIONS, unknown_in
from clew.format.records import Record
from clew.store.files import Skipped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from clew.format.known import What
    from clew.store.files import SessionFile, Store

NO_VERSION: Final = "unknown"
"""The version of lines in files that name none."""

_MOST: Final = 1000
_LONGEST: Final = 200


@dataclass(slots=True)
class Stranger:
    """Something clew does not know."""

    what: What
    name: str
    path: str
    line: int
    offset: int
    """Where the first one met is."""

    versions: Counter[str] = field(default_factory=Counter[str])
    """Lines by the client version that wrote them."""

    @property
    def count(self) -> int:
        """How many lines have it."""
        return self.versions.total()

    def as_dict(self) -> dict[str, object]:
        """Return it in the shape of `clew drift --json`."""
        return {
            "what": self.what,
            "name": self.name,
            "count": self.count,
            "versions": {version: self.versions[version] for version in sorted(self.versions, key=rank)},
            "example": {"path": self.path, "line": self.line, "offset": self.offset},
        }


@dataclass(frozen=True, slots=True)
class Drift:
    """What was found in a store."""

    strangers: tuple[Stranger, ...]
    """The most frequent first."""

    files: int
    lines: int
    versions: Counter[str]
    """All lines, by client version."""

    damaged: int
    skipped: tuple[Skipped, ...]
    was_cut: tuple[str, ...]
    looked_in: tuple[str, ...]

    @property
    def newer(self) -> dict[str, int]:
        """Client versions newer than any that clew was measured with, and their lines."""
        newest = rank(VERSIONS[-1])
        return {
            version: self.versions[version]
            for version in sorted(self.versions, key=rank)
            if rank(version) > newest
        }

    def as_dict(self) -> dict[str, object]:
        """Return it in the shape of `clew drift --json`."""
        return {
            "files": self.files,
            "lines": self.lines,
            "known_versions": list(VERSIONS),
            "newer_versions": self.newer,
            "unknown": [stranger.as_dict() for stranger in self.strangers],
            "damaged": self.damaged,
        }


@dataclass(slots=True)
class FileDrift:
    """What was found in one file."""

    strangers: dict[tuple[What, str], Stranger] = field(default_factory=dict[tuple["What", str], Stranger])
    lines: int = 0
    versions: Counter[str] = field(default_factory=Counter[str])
    damaged: int = 0
    was_cut: bool = False


def look_over(file: SessionFile) -> FileDrift | Skipped:
    """Go through one file and gather what is unknown."""
    found = FileDrift()
    version = NO_VERSION
    try:
        one = Pass(file.path)
        for item in one.items():
            if not isinstance(item, Record):
                found.damaged += not item.is_last
                continue
            version = (item.facts.version or version)[:_LONGEST]
            if version in found.versions or len(found.versions) < _MOST:
                found.versions[version] += 1
            # A line may hold the same unknown block many times; it is one line with it.
            for what, name in set(unknown_in(item.decoded().data)):
                key = (what, name[:_LONGEST])
                stranger = found.strangers.get(key)
                if stranger is None:
                    if len(found.strangers) >= _MOST:
                        continue
                    stranger = Stranger(*key, file.path, item.number, item.offset)
                    found.strangers[key] = stranger
                stranger.versions[version] += 1
    except ClewError as error:
        return Skipped(file.path, error.message)
    found.lines, found.was_cut = one.extent.lines, one.was_cut
    return found


def drift(
    store: Store,
    *,
    jobs: int | None = None,
    start: Callable[[int], Callable[[], None]] | None = None,
) -> Drift:
    """Look over every file of a store, sub-agents' too; `start` as for `list_sessions`."""
    listing = store.listing()
    files = [*listing.newest(), *listing.agents]
    advance = None if start is None else start(len(files))
    results = sweep(look_over, files, jobs=jobs, advance=advance)
    read = [result for result in results if isinstance(result, FileDrift)]
    versions: Counter[str] = Counter()
    for one in read:
        versions.update(one.versions)
    return Drift(
        tuple(sorted(_together(read), key=lambda one: (-one.count, one.what, one.name))),
        len(read),
        sum(one.lines for one in read),
        versions,
        sum(one.damaged for one in read),
        (*listing.skipped, *(result for result in results if isinstance(result, Skipped))),
        tuple(
            file.path
            for file, result in zip(files, results, strict=True)
            if isinstance(result, FileDrift) and result.was_cut
        ),
        store.roots.looked_in,
    )


def _together(files: Iterable[FileDrift]) -> list[Stranger]:
    """Add up what is the same in several files; the example is of the first, the newest session."""
    strangers: dict[tuple[What, str], Stranger] = {}
    for file in files:
        for key, stranger in file.strangers.items():
            known = strangers.get(key)
            if known is None:
                strangers[key] = stranger
            else:
                known.versions.update(stranger.versions)
    return list(strangers.values())


def rank(version: str) -> tuple[int, ...]:
    """Order client versions by their numbers; what is none comes first."""
    parts = version.split(".")
    return tuple(int(part) for part in parts) if all(_is_number(part) for part in parts) else ()


def _is_number(part: str) -> bool:
    return part.isascii() and part.isdigit() and len(part) < 10
