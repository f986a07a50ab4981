"""Put a session with everything that belongs to it into one file, to be taken to another machine.

What leaves a machine is without its secrets, unless they are asked for: then it is the session byte for byte.
The session itself is only read.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Final, NamedTuple

from clew.actions.editing import Wish
from clew.actions.footprints import insist, open_footprint
from clew.actions.opening import agent_files, find_file
from clew.edit.mapping import first_folder
from clew.edit.woven import Result
from clew.errors import ChangedOnDiskError, UnreadableError, UsageError
from clew.store.archive_footprint import Footprint, Part
from clew.store.archive_manifest import Manifest
from clew.store.bundle import Bundle, Member, member_of
from clew.store.bundle_manifest import belongs, has_place, main_place
from clew.store.commit import copied
from clew.store.disk import DISK
from clew.store.drafts import clean, put, sync_names
from clew.store.files import Skipped
from clew.store.heads import head
from clew.store.live import liveness
from clew.store.slugs import folder_name
from clew.store.source import reason
from clew.store.writer import NotWrittenError, TakenError

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Generator, Iterator, Sequence
    from pathlib import Path

    from clew.actions.editing import Pieces
    from clew.store.archive_manifest import Kind
    from clew.store.bundle_manifest import BundleManifest
    from clew.store.disk import Disk
    from clew.store.files import SessionFile, Store

ENDING: Final = ".clew"
"""What a bundle's name ends in."""

_TRIES: Final = 3
_NO_PLACE: Final = "it has no place in a bundle"


class Bundled(NamedTuple):
    """What came of putting a session into a bundle."""

    file: SessionFile
    out: str | None
    """The file that was written; None for a stream."""

    about: BundleManifest
    bytes_written: int
    notes: tuple[str, ...]
    skipped: tuple[Skipped, ...]
    """What lies beside the session and is no file, or has no place in a bundle."""

    def as_dict(self) -> dict[str, object]:
        """Return it as a document."""
        manifest = self.about.manifest
        return {
            "source": {"id": self.file.id, "path": self.file.path},
            "result": self.out,
            "redacted": self.about.is_redacted,
            "files": [{"place": one.place, "bytes": one.size} for one in manifest.files],
            "bytes_before": manifest.size,
            "bytes_after": self.bytes_written,
            "skipped": [{"path": one.path, "reason": one.reason} for one in self.skipped],
            "notes": [*self.notes],
        }


def bundle(
    store: Store,
    name: str,
    out: str | os.PathLike[str] | IO[bytes],
    *,
    now_ms: int,
    state: Path,
    redact: bool = True,
    patterns: Sequence[re.Pattern[str]] = (),
    force: bool = False,
    progress: Callable[[int], Callable[[int], None]] | None = None,
    disk: Disk = DISK,
) -> Bundled:
    """Write the bundle of a session to a file that is not there yet, or into a stream.

    With `redact` it is what `redact_session` would make of the session, under the id that it has; `patterns`
    are further secrets, `force` takes losses on that redacting would be refused for, and `state` holds the
    key of the placeholders. A session that is being written is taken up to its last whole line; if it is
    rewritten meanwhile, a file is begun anew.
    """
    file = find_file(store, name)
    if file.is_agent:
        raise UsageError("a sub-agent has no session of its own to bundle", hint="name its session")
    asked = _Asked(now_ms, state, redact, patterns, force, progress)
    if not isinstance(out, str | os.PathLike):
        with _made(store, file, asked) as made:
            return made.told(None, _pour(made.bundle, out))
    path = os.path.abspath(os.path.expanduser(out))  # noqa: PTH100, PTH111
    if os.path.lexists(path):
        raise TakenError(path)
    folder, last = os.path.split(path)
    clean(folder, disk=disk)
    for left in reversed(range(_TRIES)):
        try:
            with _made(store, file, asked) as made:
                count = _Count()
                put(folder, last, count.through(made.bundle.pieces()), disk=disk)
                sync_names(folder, disk=disk)
                return made.told(path, count.bytes)
        except ChangedOnDiskError:
            if not left:
                raise
    raise AssertionError  # pragma: no cover


class _Asked(NamedTuple):
    """What is asked of a bundle."""

    now_ms: int
    state: Path
    redact: bool
    patterns: Sequence[re.Pattern[str]]
    force: bool
    progress: Callable[[int], Callable[[int], None]] | None


class _Made(NamedTuple):
    """A bundle to be written, and what is to be told of it."""

    file: SessionFile
    bundle: Bundle
    skipped: tuple[Skipped, ...]
    notes: tuple[str, ...] = ()

    def told(self, out: str | None, count: int) -> Bundled:
        return Bundled(self.file, out, self.bundle.about, count, self.notes, self.skipped)


class _Count:
    """Counts bytes as they pass."""

    def __init__(self) -> None:
        self.bytes = 0

    def through(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            self.bytes += len(piece)
            yield piece


def _pour(bundle: Bundle, out: IO[bytes]) -> int:
    count = _Count()
    for piece in count.through(bundle.pieces()):
        try:
            out.write(piece)
        except BrokenPipeError:
            raise  # whoever read it has enough
        except OSError as error:
            raise NotWrittenError("the stream", reason(error)) from error
    return count.bytes


@contextmanager
def _made(store: Store, file: SessionFile, asked: _Asked) -> Generator[_Made]:
    """Give the bundle, to be read while this lasts."""
    if asked.redact:
        with _cleaned(store, file, asked) as made:
            yield made
    else:
        yield _whole(store, file, asked)


def _whole(store: Store, file: SessionFile, asked: _Asked) -> _Made:
    """Return the bundle of a session as it is."""
    now = asked.now_ms / 1000
    found = head(file)
    places = _Places.of(file, None if isinstance(found, Skipped) else found.cwd)
    # The session first, then what its lines speak of: that is written before them.
    main = member_of(Part(places.main, file.path, "session", file), places.main, now=now)
    footprint = Footprint.of(file, agent_files(store, file)).looked_up()
    parts, skipped = footprint.others()
    insist(skipped)
    members: list[Member] = []
    for part in parts:
        place = places.of_path(part.path)
        if place is None:
            skipped.append(Skipped(part.path, _NO_PLACE))
        else:
            members.append(member_of(part, place, now=now))
    return _Made(file, places.bundle((*members, main), asked), tuple(skipped))


@contextmanager
def _cleaned(store: Store, file: SessionFile, asked: _Asked) -> Generator[_Made]:
    """Give the bundle of a session without its secrets."""
    from clew.actions.redacting import redacted

    is_live = liveness(file, now=asked.now_ms / 1000).is_live
    footprint = open_footprint(store, file.path, whole_lines=is_live)
    skipped = [*footprint.skipped]
    wish = Wish("export", file.id, asked.now_ms, asked.state, is_dry=True, force=asked.force)
    with redacted(footprint, wish, key=_key(asked), patterns=asked.patterns, progress=asked.progress) as made:
        *agents, main = made.plan.files
        (plan,) = main.plans
        places = _Places.of(file, first_folder(Result(plan).session))
        files: list[tuple[str, Kind, Pieces]] = [
            (side.path, side.kind, made.sides.get(side.path) or copied(side.path)) for side in footprint.sides
        ]
        for (agent, _), new in zip(footprint.agents, agents, strict=True):
            files.append((agent.path, "agent", new.pieces))
        members: list[Member] = []
        for path, kind, pieces in files:
            place = places.of_path(path)
            if place is None:
                skipped.append(Skipped(path, _NO_PLACE))
            else:
                members.append(_member(path, place, kind, pieces))
        members.sort(key=lambda member: member.place)
        members.append(_member(file.path, places.main, "session", main.pieces))
        yield _Made(file, places.bundle(members, asked), tuple(skipped), made.notes)


def _member(path: str, place: str, kind: Kind, pieces: Pieces) -> Member:
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError as error:
        raise UnreadableError(path, reason(error)) from error
    return Member(place, kind, status.st_mode & 0o777, status.st_mtime_ns, path, pieces)


class _Places(NamedTuple):
    """Where the files of a session go in a bundle: as below a config folder, wherever they are."""

    file: SessionFile
    folder: str
    """The name of the project's folder."""

    cwd: str | None

    @classmethod
    def of(cls, file: SessionFile, cwd: str | None) -> _Places:
        is_in_project = file.root is not None and file.folder
        folder = file.folder if is_in_project else folder_name(cwd or os.path.dirname(file.path))  # noqa: PTH120
        if not has_place(file.id) or not has_place(folder):
            raise UsageError(f"{file.path} is called as no session can be", hint="give it another name")
        return cls(file, folder, cwd)

    @property
    def main(self) -> str:
        """Where the session's own file goes."""
        return main_place(self.folder, self.file.id)

    def of_path(self, path: str) -> str | None:
        """Return where another file goes; None if it has no place in a bundle."""
        project = os.path.dirname(self.file.path)  # noqa: PTH120
        if path.startswith(project + os.sep):
            place = f"projects/{self.folder}/{_relative(path, project)}"
        elif self.file.root is not None:
            place = _relative(path, self.file.root)
        else:
            return None
        return place if has_place(place) and belongs(place, self.folder, self.file.id) else None

    def bundle(self, members: Sequence[Member], asked: _Asked) -> Bundle:
        """Return the bundle of some files, of which the session's own is the last."""
        import clew

        file = self.file
        base = file.root or os.path.dirname(file.path)  # noqa: PTH120
        manifest = Manifest(file.id, base, file.root is not None, self.folder, asked.now_ms, (), cwd=self.cwd)
        made_by = f"clew {clew.__version__}"
        return Bundle.of(manifest, members, is_redacted=asked.redact, made_by=made_by)


def _relative(path: str, folder: str) -> str:
    return os.path.relpath(path, folder).replace(os.sep, "/")


def _key(asked: _Asked) -> bytes:
    import secrets

    from clew.actions.redacting import placeholder_key

    return placeholder_key(asked.state, draw=secrets.token_bytes)
