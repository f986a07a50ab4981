"""List the files of a source: a folder through `store`, an object store by its own listing.

What changes is told by what the listing says of a file; nothing is opened but sub-agents of old clients,
whose place does not say whose they are, and those only when they are new.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.errors import ClewError
from clew.lake.layout import Found, Group, groups, placed, unplaced
from clew.lake.places import PlaceError
from clew.store.files import Skipped, Store
from clew.store.heads import session_ids

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from clew.lake.places import Place

_DEEPEST: Final = 3
"""How many folders may lie above a config folder: a team, a developer, `.claude`."""

_BESIDE: Final = ("file-history", "tasks", "todos")
_DEEPEST_SIDE: Final = 8
_AT_ONCE: Final = 16


class Listed(NamedTuple):
    """What a source holds."""

    groups: list[Group]
    skipped: list[Skipped]


def list_source(
    src: Place, known: Mapping[tuple[str, str], str], *, tell: Callable[[int], object] = lambda _many: None
) -> Listed:
    """Find all sessions of a source.

    `known` are, by key and etag, the session ids that sub-agents told before, one a line. `tell` is told how
    many files were found since it was told last.
    """
    skipped: list[Skipped] = []
    files: list[Found] = []
    for one in _local(src, skipped) if src.is_local else _remote(src):
        files.append(one)
        if not len(files) % 1000:
            tell(1000)
    tell(len(files) % 1000)
    return Listed(groups(files, _ids(src, unplaced(files), known, skipped)), skipped)


def _remote(src: Place) -> Iterable[Found]:
    return (Found(*one) for one in src.objects())


def _local(src: Place, skipped: list[Skipped]) -> Iterable[Found]:
    top = Path(src.url)
    if not top.is_dir():
        raise PlaceError(src.url, "there is no such folder", hint="clew lake build SRC DST")
    for root in _roots(top):
        listing = Store.at([str(root)]).listing()
        skipped += listing.skipped
        for file in (*listing.sessions, *listing.agents):
            yield _found(top, file.path, file.size, file.mtime_ns, file.inode)
        yield from _beside(top, root)


def _beside(top: Path, root: Path) -> Iterator[Found]:
    """Find what lies beside the sessions, where secrets may be told: what `store.sides` finds for each."""
    for project in _folders(root / "projects"):
        for session in _folders(project):
            yield from _sides(top, session, 0)
    for name in _BESIDE:
        yield from _sides(top, root / name, 0)


def _sides(top: Path, folder: Path, depth: int) -> Iterator[Found]:
    try:
        with os.scandir(folder) as entries:
            inside = sorted(entries, key=lambda entry: entry.name)
        for entry in inside:
            if entry.is_dir(follow_symlinks=False):
                if depth < _DEEPEST_SIDE:
                    yield from _sides(top, Path(entry.path), depth + 1)
            elif entry.is_file(follow_symlinks=False):
                status = entry.stat(follow_symlinks=False)
                found = _found(top, entry.path, status.st_size, status.st_mtime_ns, status.st_ino)
                where = placed(found.key)
                if where is not None and where.kind == "side":
                    yield found
    except OSError:
        return  # gone since, or not ours to look into: then it is in no row either


def _found(top: Path, path: str, size: int, mtime_ns: int, inode: int) -> Found:
    key = os.path.relpath(path, top).replace(os.sep, "/")
    return Found(key, f"{inode:x}-{mtime_ns:x}-{size:x}", size, mtime_ns // 1_000_000)


def _roots(top: Path) -> list[Path]:
    """Return the config folders below a folder, itself included; links are not followed."""
    found: list[Path] = []
    level = [top]
    for _ in range(_DEEPEST + 1):
        below: list[Path] = []
        for folder in level:
            if (folder / "projects").is_dir() and not (folder == top and _holds_roots(folder / "projects")):
                found.append(folder)
            else:
                below += _folders(folder)
        level = below
    return sorted(found)


def _holds_roots(projects: Path) -> bool:
    """Say whether a folder called `projects` is no config folder's, but a team of that name."""
    return any((one / "projects").is_dir() for one in _folders(projects))


def _folders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return sorted(Path(one.path) for one in entries if one.is_dir(follow_symlinks=False))
    except OSError:
        return []


def _ids(
    src: Place, agents: list[Found], known: Mapping[tuple[str, str], str], skipped: list[Skipped]
) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    todo: list[Found] = []
    for one in agents:
        before = known.get((one.key, one.etag))
        if before is None:
            todo.append(one)
        else:
            found[one.key] = tuple(before.split("\n"))
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for one, told in zip(todo, pool.map(partial(_told, src), todo), strict=True):
            if isinstance(told, Skipped):
                skipped.append(told)
            else:
                found[one.key] = told
    return found


def _told(src: Place, agent: Found) -> tuple[str, ...] | Skipped:
    try:
        with src.opened(agent) as source:
            return session_ids(source)
    except ClewError as error:
        return Skipped(src.shown(agent.key), error.message)
