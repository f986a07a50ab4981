"""A session with everything that belongs to it in one file: a `tar`, compressed by zstandard.

    manifest.json                               what follows, with sizes and check sums (`bundle_manifest`)
    file-history/…, projects/…/subagents/…      the files, by their places below a config folder
    projects/<folder>/<id>.jsonl                the session's own file, last

So `zstd -dc x.clew | tar t` lists one, and `tar x` in a config folder puts it there without clew. When one is
read here nothing in it is believed: each file must be the one that the manifest tells of in this place, and
all of it is looked at before any of it is used. Nothing is ever held but a few pieces.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable  # noqa: TC003  # what the values are made of is public
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.errors import ChangedOnDiskError, UnreadableError
from clew.store.archive_footprint import Opened
from clew.store.archive_manifest import ArchivedFile
from clew.store.bundle_manifest import (
    LARGEST,
    MOST_FILES,
    NAME,
    BadBundleError,
    BundleManifest,
    UnsafeBundleError,
    decode,
    encode,
)
from clew.store.source import FileSource, reason
from clew.store.squeezing import BadStreamError, Expanding, squeezed
from clew.store.tape import END, BadTapeError, Tape, header, padding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clew.store.archive_footprint import Part
    from clew.store.archive_manifest import Kind, Manifest
    from clew.store.stage import Stage

_STEP: Final = 1 << 20


class Member(NamedTuple):
    """A file that goes into a bundle."""

    place: str
    kind: Kind
    mode: int
    mtime_ns: int
    path: str
    """Where it is, for whoever has to be told."""

    pieces: Callable[[], Iterable[bytes]]
    """Gives its bytes, the same each time."""


def member_of(part: Part, place: str, *, now: float) -> Member:
    """Return a file of a footprint as it is now: of one that is being written, the whole lines."""
    opened = Opened(part, now=now)
    opened.source.close()
    size = opened.size

    def pieces() -> Iterator[bytes]:
        with FileSource(part.path) as source:
            for at in range(0, size, _STEP):
                data = source.read(at, min(_STEP, size - at))
                if len(data) < min(_STEP, size - at):
                    raise ChangedOnDiskError(part.path)
                yield data

    return Member(place, part.kind, opened.mode, opened.source.mtime_ns, part.path, pieces)


class Bundle(NamedTuple):
    """A bundle that is about to be written."""

    about: BundleManifest
    members: tuple[Member, ...]

    @classmethod
    def of(cls, manifest: Manifest, members: Sequence[Member], *, is_redacted: bool, made_by: str) -> Bundle:
        """Look at every file once, for its size and its check sum; the session's own comes last."""
        if len(members) > MOST_FILES:
            raise UnreadableError(members[-1].path, f"it has {len(members):,} files, more than a bundle may")
        files = tuple(map(_measured, members))
        return cls(BundleManifest(replace(manifest, files=files), is_redacted, made_by), tuple(members))

    def pieces(self) -> Iterator[bytes]:
        """Give the bytes of the bundle; raise `ChangedOnDiskError` if a file is not as it was."""
        return squeezed(self._tape())

    def _tape(self) -> Iterator[bytes]:
        manifest = self.about.manifest
        data = encode(self.about)
        yield header(NAME, len(data), mode=0o600, mtime_ns=manifest.archived_ms * 1_000_000)
        yield data + padding(len(data))
        for file, member in zip(manifest.files, self.members, strict=True):
            yield header(file.place, file.size, mode=file.mode, mtime_ns=file.mtime_ns)
            whole, size = sha256(), 0
            for piece in member.pieces():
                whole.update(piece)
                size += len(piece)
                if size > file.size:
                    raise ChangedOnDiskError(member.path)
                yield piece
            if whole.hexdigest() != file.digest:
                raise ChangedOnDiskError(member.path)
            yield padding(file.size)
        yield END


def _measured(member: Member) -> ArchivedFile:
    whole, size = sha256(), 0
    for piece in member.pieces():
        whole.update(piece)
        size += len(piece)
    return ArchivedFile(member.place, member.kind, size, member.mtime_ns, member.mode, whole.hexdigest(), ())


def unpack(
    read: Callable[[int], bytes], stage: Stage, *, path: str, unlimited: bool = False
) -> BundleManifest:
    """Lay out what is in the bundle at `path`, and return what that is; raise if it is not sound and safe.

    `read` gives some bytes of it, none at the end. `unlimited` takes one that grows beyond all measure.
    """

    def some(most: int) -> bytes:
        try:
            return read(most)
        except OSError as error:
            raise UnreadableError(path, reason(error)) from error

    try:
        stream = Expanding(some, unlimited=unlimited)
        return _unpack(stream, stage, path, unlimited=unlimited)
    except (BadTapeError, BadStreamError) as error:
        kind = UnsafeBundleError if error.is_unsafe else BadBundleError
        raise kind(path, error.cause) from error


def _unpack(stream: Expanding, stage: Stage, path: str, *, unlimited: bool) -> BundleManifest:
    tape = Tape(stream.read)
    first = tape.next()
    if first is None or first.name != NAME.encode():
        raise BadBundleError(path, f"it does not begin with {NAME}")
    if first.size > LARGEST:
        raise UnsafeBundleError(path, f"{NAME} has {first.size:,} bytes, the most is {LARGEST:,}")
    about = decode(b"".join(tape.pieces(first)), path=path, unlimited=unlimited)
    _find_room(about.manifest, stage, path)
    done: set[bytes] = set()
    for file in about.manifest.files:
        found = tape.next()
        if found is None:
            raise BadBundleError(path, f"{file.place!r} is missing")
        if found.name != os.fsencode(file.place):
            raise UnsafeBundleError(path, _strange(found.name, about.manifest, done))
        if found.size != file.size:
            raise UnsafeBundleError(
                path, f"{file.place!r} has {found.size:,} bytes, {file.size:,} in the manifest"
            )
        done.add(found.name)
        whole = sha256()
        stage.put(file.place, _noted(tape.pieces(found), whole.update))
        if whole.hexdigest() != file.digest:
            raise BadBundleError(path, f"{file.place!r} is not as it was: its check sum differs")
    extra = tape.next()
    if extra is not None:
        raise UnsafeBundleError(path, _strange(extra.name, about.manifest, done))
    stream.finish()
    return about


def _strange(name: bytes, manifest: Manifest, done: set[bytes]) -> str:
    """Say what is wrong with a file that is not the one that was to come."""
    place = os.fsdecode(name)
    if name in done:
        return f"{place[:200]!r} is in it twice"
    is_known = any(file.place == place for file in manifest.files)
    return f"{place[:200]!r} is {'not in its turn' if is_known else 'not in the manifest'}"


def _noted(pieces: Iterable[bytes], note: Callable[[bytes], None]) -> Iterator[bytes]:
    for piece in pieces:
        note(piece)
        yield piece


def _find_room(manifest: Manifest, stage: Stage, path: str) -> None:
    """Refuse what there is no room for, before the disk is full of it."""
    try:
        status = os.statvfs(stage.folder)
    except (AttributeError, OSError):  # nobody can say
        return
    room = status.f_bavail * status.f_frsize
    if manifest.size > room:
        raise UnsafeBundleError(
            path, f"its files have {manifest.size:,} bytes, and there is room for {room:,}"
        )
