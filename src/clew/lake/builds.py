"""Which versions of the tables belong together: small files, numbered, of which none is ever changed.

A build commits table by table, so between two commits the newest versions do not fit together. When they do,
one file says so, with the version of each table: a checkpoint. Those of unfinished builds are for whoever
goes on with them. Readers take the last one that is finished, and the versions it names, whatever is written
meanwhile.

To write a checkpoint is one step, and fails where the number was taken: two builds at once cannot both go on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import msgspec
from msgspec import Struct

from clew.errors import ClewError
from clew.lake.places import PlaceError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew.lake.places import Place

State = Literal["part", "done"]

FORM: Final = 1
"""Goes up when an older clew could no longer read the lake."""

_FOLDER: Final = "builds"


class NoLakeError(ClewError):
    """There is no lake, or none that was ever finished."""

    code = "no-lake"

    def __init__(self, place: str) -> None:
        super().__init__(f"there is no finished lake in {place}", hint="clew lake build SRC DST makes one")


class Checkpoint(Struct, frozen=True):
    """The versions of the tables that belong together."""

    number: int
    state: State
    versions: dict[str, int]
    terms: str
    """By which version of the tables, and whether without secrets."""

    at_ms: int
    sessions: int = 0
    form: int = FORM


def checkpoints(lake: Place) -> list[int]:
    """Return the numbers of the checkpoints there are, the oldest first."""
    found = [key.rpartition("/")[2].removesuffix(".json") for key in lake.keys(f"{_FOLDER}/")]
    return sorted(int(name) for name in found if name.isdigit())


def read_checkpoint(lake: Place, number: int) -> Checkpoint:
    """Read one."""
    try:
        found = msgspec.json.decode(lake.get(_key(number)), type=Checkpoint)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise PlaceError(lake.shown(_key(number)), f"it is no checkpoint: {error}") from error
    if found.form > FORM:
        raise ClewError(f"the lake in {lake.url} was made by a newer clew", hint="install that one")
    return found


def last(lake: Place, *, is_done: bool) -> Checkpoint | None:
    """Return the last checkpoint, or with `is_done` the last of a finished build."""
    for number in reversed(checkpoints(lake)):
        found = read_checkpoint(lake, number)
        if found.state == "done" or not is_done:
            return found
    return None


def visible(lake: Place) -> Checkpoint:
    """Return what readers see."""
    found = last(lake, is_done=True)
    if found is None:
        raise NoLakeError(lake.url)
    return found


def write_checkpoint(lake: Place, checkpoint: Checkpoint) -> None:
    """Write one; another one with its number is an error."""
    data, key = msgspec.json.encode(checkpoint), _key(checkpoint.number)
    # One that was written though its answer was lost is there when it is tried again, and is ours.
    if not lake.put(key, data, only_new=True) and lake.get(key) != data:
        raise PlaceError(lake.url, "another build writes into this lake at the same time")


def needed(lake: Place) -> Mapping[str, list[int]]:
    """Return by table the versions that readers or an unfinished build still need."""
    found: dict[str, list[int]] = {}
    for one in (last(lake, is_done=True), last(lake, is_done=False)):
        for table, version in one.versions.items() if one is not None else ():
            found.setdefault(table, []).append(version)
    return found


def _key(number: int) -> str:
    return f"{_FOLDER}/{number:010d}.json"
