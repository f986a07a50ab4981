"""Keep byte-exact copies of sessions outside the client's folder, so that its clean-up loses nothing.

    archive/packs/*.pack         chunks, each once (`archive_packs`)
    archive/snapshots/*.json     a session as it was at one time (`archive_manifest`)

Chunks are on the disk before the snapshot that names them. So a snapshot that is there is whole, whatever
was cut short and whenever; chunks that no snapshot names yet are found by the next one that needs them.
Nothing that is there is ever changed or removed, and several processes may add at once.
"""

from __future__ import annotations

import os
import sys
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.errors import ChangedOnDiskError, ClewError, UnreadableError
from clew.store.archive_chunks import cut
from clew.store.archive_footprint import Opened
from clew.store.archive_manifest import ArchivedFile, BadManifestError, Manifest, decode, encode, snapshot_id
from clew.store.archive_packs import ENDING as PACK
from clew.store.archive_packs import Damage, Packer, Packs
from clew.store.disk import DISK
from clew.store.drafts import clean, make_folders, put
from clew.store.files import Skipped
from clew.store.source import FileSource, reason
from clew.store.writer import NotWrittenError, TakenError, confirm

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType
    from typing import Self

    from clew.store.archive_footprint import Footprint, Part
    from clew.store.disk import Disk

_ENDING: Final = ".json"
_TRIES: Final = 3
_LARGEST: Final = 256 << 20
"""No manifest is larger: a gigabyte of sessions makes one megabyte."""


def archive_folder(environ: Mapping[str, str] | None = None, *, platform: str = sys.platform) -> Path:
    """Return where the archive is unless another folder is named: in the user's data folder."""
    variables = os.environ if environ is None else environ
    home = Path(variables.get("HOME") or Path("~").expanduser())
    named = variables.get("XDG_DATA_HOME", "")
    if named and Path(named).is_absolute():  # a relative one is to be ignored, says the specification
        base = Path(named)
    elif platform == "win32":
        base = Path(variables.get("LOCALAPPDATA") or home / "AppData" / "Local")
    else:
        base = home / ("Library/Application Support" if platform == "darwin" else ".local/share")
    return base / "clew" / "archive"


class Snapshot(NamedTuple):
    """A session as it was at one time."""

    id: str
    manifest: Manifest


class Snapshots(NamedTuple):
    """What is in an archive: the snapshots, the oldest first, and what is not to be read."""

    found: tuple[Snapshot, ...]
    damage: tuple[Damage, ...]

    def newest(self) -> dict[tuple[str, str, str], Snapshot]:
        """Return the last snapshot of each session."""
        return {snapshot.manifest.key: snapshot for snapshot in self.found}


class Told(NamedTuple):
    """What is noted of a session so that it can be told from others."""

    cwd: str | None = None
    title: str | None = None
    started: str | None = None
    ended: str | None = None


class Added(NamedTuple):
    """What came of adding one session."""

    footprint: Footprint
    snapshot: Snapshot
    is_new: bool
    """Whether there was no snapshot yet that says the same."""

    new_bytes: int
    """How many bytes of it were in no chunk yet."""

    skipped: tuple[Skipped, ...]


class Verified(NamedTuple):
    """What reading everything back has shown."""

    snapshots: int
    chunks: int
    bytes_stored: int
    damage: tuple[Damage, ...]
    lost: tuple[tuple[Snapshot, str], ...]
    """The files that cannot be put back whole, by snapshot and place."""


class Archive:
    """An archive in a folder, which need not be there yet."""

    def __init__(self, path: str | os.PathLike[str], *, disk: Disk = DISK) -> None:
        self.path = os.path.abspath(path)  # noqa: PTH100  # a link to it stays one
        self.disk = disk
        self.packs_folder = os.path.join(self.path, "packs")  # noqa: PTH118
        self.snapshots_folder = os.path.join(self.path, "snapshots")  # noqa: PTH118

    def snapshots(self) -> Snapshots:
        """Read what is there."""
        found: list[Snapshot] = []
        damage: list[Damage] = []
        for name in self._names():
            path = os.path.join(self.snapshots_folder, name)  # noqa: PTH118
            try:
                found.append(_read(path, name.removesuffix(_ENDING)))
            except BadManifestError as error:
                damage.append(Damage(path, None, error.cause))
            except ClewError as error:
                damage.append(Damage(path, None, error.message))
        found.sort(key=lambda snapshot: (snapshot.manifest.archived_ms, snapshot.id))
        return Snapshots(tuple(found), tuple(damage))

    def _names(self) -> list[str]:
        try:
            names = os.listdir(self.snapshots_folder)  # noqa: PTH208
        except FileNotFoundError:
            return []
        except OSError as error:
            raise UnreadableError(self.snapshots_folder, reason(error)) from error
        return sorted(name for name in names if name.endswith(_ENDING) and not name.startswith("."))

    def packs(self) -> Packs:
        """Find the chunks that are there."""
        return Packs(self.packs_folder)

    def adding(self, *, now_ms: int) -> Adding:
        """Begin to add sessions; what was added is sure when the `with` is over."""
        return Adding(self, now_ms=now_ms)

    def verify(self) -> Verified:
        """Read everything back and name what is not as it was."""
        snapshots, packs = self.snapshots(), self.packs()
        damage = [*snapshots.damage, *packs.damage]
        sound: set[bytes] = set()
        chunks = 0
        for block in packs.blocks():
            found = packs.sound(block)
            chunks += len(block.rows)
            sound.update(found)
            damage += [
                Damage(block.pack, block.at, f"chunk {chunk.hex()[:16]} is damaged")
                for chunk, _ in block.rows
                if chunk not in found
            ]
        lost = tuple(
            (snapshot, file.place)
            for snapshot in snapshots.found
            for file in snapshot.manifest.files
            if not sound.issuperset(file.chunks)
        )
        return Verified(len(snapshots.found), chunks, packs.size, tuple(damage), lost)

    def mend(self) -> tuple[str, ...]:
        """Set damaged packs aside, and return what they are called now; what is sound in them stays here.

        The next `add` of a session that is still there puts in again what was lost.
        """
        verified, packs = self.verify(), self.packs()
        damaged = {one.path for one in verified.damage if one.path.endswith(PACK)}
        for folder in (self.packs_folder, self.snapshots_folder):
            clean(folder, disk=self.disk)
        packer = Packer(Packs(self.packs_folder, without=damaged), disk=self.disk)
        try:
            for block in packs.blocks():
                if block.pack in damaged:
                    for chunk, data in packs.sound(block).items():
                        packer.add(chunk, data)
                    if packer.is_full:
                        packer.flush()
            packer.flush()
        finally:
            packer.drop()
        try:
            for pack in sorted(damaged):
                self.disk.replace(pack, f"{pack}.damaged")
        except OSError as error:
            raise NotWrittenError(self.packs_folder, reason(error)) from error
        return tuple(f"{pack}.damaged" for pack in sorted(damaged))


def _read(path: str, name: str) -> Snapshot:
    with FileSource(path) as source:
        if source.size > _LARGEST:
            raise BadManifestError(path, "it is too large")
        data = source.read(0, source.size)
    return Snapshot(name, decode(data, path=path, name=name))


class Adding:
    """Adds sessions to an archive, one after the other."""

    def __init__(self, archive: Archive, *, now_ms: int) -> None:
        self._archive = archive
        self._now_ms = now_ms
        for folder in (archive.packs_folder, archive.snapshots_folder):
            clean(folder, disk=archive.disk)
        self._packs = archive.packs()
        self._packer = Packer(self._packs, disk=archive.disk)
        self._last = archive.snapshots().newest()
        self._waiting: list[tuple[str, bytes]] = []
        self._has_folders = False
        self._noted = 0
        self.is_lasting = True
        """Whether the disk has confirmed all that is done."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._flush()
        finally:
            self._packer.drop()
            self._waiting.clear()

    @property
    def written(self) -> int:
        """How many bytes went to the disk."""
        return self._packer.written + self._noted

    def add(self, footprint: Footprint, told: Told | None = None) -> Added:
        """Add a session with all that belongs to it, unless it is there as it is."""
        new_bytes = 0
        mains: list[ArchivedFile] = []
        files: list[ArchivedFile] = []
        if footprint.main is not None:
            # First the session, then what its lines speak of: that is written before them.
            main, new = self._add_part(footprint.main)
            mains.append(main)
            new_bytes += new
        parts, skipped = footprint.others()
        for part in parts:
            try:
                file, new = self._add_part(part)
            except NotWrittenError:
                raise
            except ClewError as error:
                skipped.append(Skipped(part.path, error.message))
                continue
            files.append(file)
            new_bytes += new
        if not files and not mains:
            raise UnreadableError(footprint.file.path, "nothing of it is to be read")
        told = told or Told()
        manifest = Manifest(
            footprint.file.id,
            footprint.base,
            footprint.file.root is not None,
            footprint.file.folder,
            self._now_ms,
            (*files, *mains),
            *told,
        )
        before = self._last.get(manifest.key)
        if before is not None and before.manifest.is_same(manifest):
            return Added(footprint, before, False, new_bytes, tuple(skipped))
        data = encode(manifest)
        snapshot = Snapshot(snapshot_id(data), manifest)
        self._last[manifest.key] = snapshot
        self._waiting.append((snapshot.id, data))
        if self._packer.is_full:
            self._flush()
        return Added(footprint, snapshot, True, new_bytes, tuple(skipped))

    def _add_part(self, part: Part) -> tuple[ArchivedFile, int]:
        for left in reversed(range(_TRIES)):
            try:
                return self._add_once(part)
            except ChangedOnDiskError:  # cut or rewritten while it was read: begin again
                if not left:
                    raise
        raise AssertionError  # pragma: no cover

    def _add_once(self, part: Part) -> tuple[ArchivedFile, int]:
        opened = Opened(part, now=self._now_ms / 1000)
        whole = sha256()
        chunks: list[bytes] = []
        new = 0
        with opened.source:
            for data in cut(opened.pieces()):
                whole.update(data)
                chunk = sha256(data).digest()
                chunks.append(chunk)
                if chunk not in self._packs:
                    self._make_folders()
                    new += len(data) if self._packer.add(chunk, data) else 0
                    if self._packer.is_full:
                        self._flush()
        file = ArchivedFile(
            part.place,
            part.kind,
            opened.size,
            opened.source.mtime_ns,
            opened.mode,
            whole.hexdigest(),
            tuple(chunks),
        )
        return file, new

    def _flush(self) -> None:
        """Make sure of the chunks, then of the snapshots that name them."""
        self._packer.flush()
        if not self._waiting:
            return
        self._make_folders()
        folder, disk = self._archive.snapshots_folder, self._archive.disk
        for name, data in self._waiting:
            # By the same name there can only be the same bytes: another process was at it in the same moment.
            path = os.path.join(folder, f"{name}{_ENDING}")  # noqa: PTH118
            if os.path.exists(path):  # noqa: PTH110
                continue
            try:
                put(folder, f"{name}{_ENDING}", (data,), disk=disk)
            except TakenError:
                continue
            self._noted += len(data)
        self._waiting.clear()
        if not confirm(folder, disk=disk):
            self.is_lasting = False

    def _make_folders(self) -> None:
        if self._has_folders:
            return
        for folder in (self._archive.packs_folder, self._archive.snapshots_folder):
            make_folders(folder, disk=self._archive.disk)
        self._has_folders = True


def stored_bytes(archive: Archive) -> int:
    """Return how many bytes an archive takes on the disk."""
    total = 0
    for folder in (archive.packs_folder, archive.snapshots_folder):
        try:
            with os.scandir(folder) as entries:
                total += sum(entry.stat().st_size for entry in entries)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise UnreadableError(folder, reason(error)) from error
    return total
