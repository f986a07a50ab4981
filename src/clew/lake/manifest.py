"""What a lake holds already: by session the files its rows were made from, and where those rows lie."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from clew.lake.schemas import Rows
from clew.tables.strings import whole_characters

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from clew.lake.delta import LakeTable
    from clew.lake.layout import Group
    from clew.lake.tasks import Done

_COLUMNS: Final = [
    "source", "team", "session_day", "session_id", "stamp", "terms", "build", "files", "damaged",
]  # fmt: skip


class Known(Struct, frozen=True):
    """One session that is in the lake."""

    source: str
    team: str
    day: str
    session: str
    stamp: str
    terms: str
    build: int
    files: str
    damaged: int

    def is_current(self, stamp: str, terms: str) -> bool:
        """Say whether its rows are those of its files as they are now."""
        return self.stamp == stamp and self.terms == terms


def read_manifest(table: LakeTable) -> dict[str, Known]:
    """Read what is known, by source."""
    found: dict[str, Known] = {}
    for _, rows in table.read(_COLUMNS):
        for values in zip(*(rows.column(name).to_pylist() for name in _COLUMNS), strict=True):
            found[values[0]] = Known(*values)
    return found


def told_ids(known: Iterable[Known]) -> Mapping[tuple[str, str], str]:
    """Return what sub-agents told before about whose they are, by key and etag."""
    found: dict[tuple[str, str], str] = {}
    for one in known:
        # Few have such files: no need to take the others apart.
        if '"\n' in one.files or not one.files.endswith(",null]]"):
            found |= {(key, etag): ids for key, etag, _, ids in json.loads(one.files) if ids is not None}
    return found


def known_of(group: Group, done: Done, *, build: int, terms: str) -> Known:
    """Return what is known of a session whose rows were made."""
    files = [[one.found.key, one.found.etag, one.found.size, one.ids] for one in group.members]
    return Known(
        group.source,
        group.team,
        done.day,
        whole_characters(group.session),
        # What could be read only in part is tried again.
        group.stamp if done.problem is None else "",
        terms,
        build,
        whole_characters(json.dumps(files, separators=(",", ":"))),
        done.damaged,
    )


def manifest_row(group: Group, done: Done, *, build: int, terms: str) -> Rows:
    """Make the row of a session whose rows were made."""
    known = known_of(group, done, build=build, terms=terms)
    row = (
        known.session,
        known.stamp,
        known.files,
        group.size,
        build,
        done.damaged,
        done.secrets,
        terms,
    )
    return Rows(done.day, group.developer, group.source, [row])
