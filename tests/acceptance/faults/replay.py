"""Build what a disk may hold after the power was cut, at every moment of a command.

The calls of a run are read from the log. What was written and not waited for may be on the disk wholly, in
part, as zeros or not at all; names that were made, moved or taken away and not waited for may be there up to
any of them, in their order. A file that is waited for keeps its bytes, not its name; a folder that is waited
for keeps the names in it, not its own.
"""

from __future__ import annotations

import itertools
import os
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tests.acceptance.faults.tracing import Call

Part = Literal["full", "none", "half", "zeros"]
PARTS: tuple[Part, ...] = ("full", "none", "half", "zeros")
Contents = tuple[tuple[str, int, bytes | None], ...]
"""By name, in order: which file it is, and what is in it. None for a folder."""


class Write(NamedTuple):
    """Bytes put into a file."""

    file: int
    offset: int
    data: bytes


class Cut(NamedTuple):
    """A file made shorter or longer."""

    file: int
    size: int


class Sync(NamedTuple):
    """A file or folder waited for."""

    file: int


class Names(NamedTuple):
    """Names that change at once: in which folder, which name, for which file. None: the name is gone."""

    changes: tuple[tuple[int, str, int | None], ...]

    def is_in(self, folder: int) -> bool:
        """Say whether it lasts when this folder was waited for: of a move, either of the two."""
        return any(folder == one for one, _, _ in self.changes)


class Told(NamedTuple):
    """The command said what it did."""


Step = Write | Cut | Sync | Names | Told


@dataclass
class _Open:
    file: int
    at: int = 0
    is_append: bool = False


@dataclass
class Film:
    """Everything a command did to the files of a folder, and what was there before."""

    base: Path
    first: dict[int, bytes | None] = field(default_factory=dict[int, "bytes | None"])
    """What was in each file before it. None for a folder."""

    names: dict[int, dict[str, int]] = field(default_factory=dict[int, dict[str, int]])
    """The names in each folder before it."""

    steps: list[Step] = field(default_factory=list[Step])
    times: dict[int, int] = field(default_factory=dict[int, int])
    """When a file was last written, for those that were still there in the end."""

    @classmethod
    def of(cls, base: Path) -> Film:
        """Begin one, before the command is run."""
        film = cls(base)
        film.first[0] = None
        film.names[0] = {}
        known: dict[tuple[int, int], int] = {}
        folders = {base: 0}
        for path in sorted(base.rglob("*")):
            status = path.lstat()
            number = known.setdefault((status.st_dev, status.st_ino), len(film.first))
            film.names[folders[path.parent]][path.name] = number
            if path.is_dir():
                folders[path] = number
                film.first[number], film.names[number] = None, {}
            else:
                film.first[number] = path.read_bytes()
                film.times[number] = status.st_mtime_ns
        return film

    def take(self, calls: Sequence[Call]) -> None:
        """Read what the command did, while what it left is still there."""
        _Taker(self).take(calls)


class _Taker:
    """Follows the calls: which file has which name, and which is open as what."""

    def __init__(self, film: Film) -> None:
        self.film = film
        self.base = os.fsencode(film.base)
        self.names = {folder: dict(inside) for folder, inside in film.names.items()}
        self.sizes = {file: len(data) for file, data in film.first.items() if data is not None}
        self.opened: dict[int, _Open] = {}
        self.count = len(film.first)

    def take(self, calls: Sequence[Call]) -> None:
        pids = {call.pid for call in calls if call.is_of(self.base)}
        assert len(pids) == 1, "one process is followed"
        for call in calls:
            if call.pid not in pids:
                continue
            if call.name == "write" and call.descriptor == 1:
                self.film.steps.append(Told())
            elif call.is_of(self.base) and call.result is not None and call.result >= 0:
                self._one(call)
        for path in self.film.base.rglob("*"):
            if path.is_file():
                self.film.times[self._find(os.fsencode(path))] = path.lstat().st_mtime_ns

    def _one(self, call: Call) -> None:
        match call.name:
            case "open" | "openat" | "creat":
                self._open(call)
            case "close":
                self.opened.pop(call.descriptor or 0, None)
            case "fcntl" if "F_DUPFD" in call.arguments:
                raise AssertionError("a second descriptor of a file is not followed")
            case "lseek":
                self._file(call).at = call.result or 0
            case "write" | "pwrite64":
                self._write(call)
            case "ftruncate":
                size = int(call.arguments.split(",")[1].split(")")[0])
                self.sizes[self._file(call).file] = size
                self.film.steps.append(Cut(self._file(call).file, size))
            case "fsync" | "fdatasync":
                self.film.steps.append(Sync(self._file(call).file))
            case "mkdir" | "mkdirat":
                self._put(call.paths[0], self._new(is_folder=True))
            case "link" | "linkat":
                self._put(call.paths[1], self._find(call.paths[0]))
            case "rename" | "renameat" | "renameat2":
                source, target = call.paths
                self._put(target, self._find(source), instead_of=source)
            case "unlink" | "unlinkat" | "rmdir":
                self._put(call.paths[0], None)
            case (
                "utimensat"
                | "fchmod"
                | "fchmodat"
                | "chmod"
                | "fchown"
                | "chown"
                | "lchown"
                | "flock"
                | "fcntl"
            ):
                pass  # neither what is in a file nor its name
            case name:
                raise AssertionError(f"it is not known what {name} does to a file")

    def _open(self, call: Call) -> None:
        place = call.paths[0]
        flags = call.arguments
        file = self._look(place)
        if file is None:
            assert "O_CREAT" in flags, call
            file = self._new(is_folder=False)
            self._put(place, file)
        elif "O_TRUNC" in flags:
            self.sizes[file] = 0
            self.film.steps.append(Cut(file, 0))
        self.opened[call.result or 0] = _Open(file, is_append="O_APPEND" in flags)

    def _write(self, call: Call) -> None:
        opened, data = self._file(call), (call.data or b"")[: call.result]
        assert call.name == "write", "only writing from where a file is at is followed"
        at = self.sizes[opened.file] if opened.is_append else opened.at
        self.film.steps.append(Write(opened.file, at, data))
        opened.at = at + len(data)
        self.sizes[opened.file] = max(self.sizes[opened.file], opened.at)

    def _file(self, call: Call) -> _Open:
        assert call.descriptor is not None
        return self.opened[call.descriptor]

    def _new(self, *, is_folder: bool) -> int:
        number, self.count = self.count, self.count + 1
        self.film.first[number] = None if is_folder else b""
        if is_folder:
            self.names[number] = self.film.names[number] = {}
            self.names[number] = {}
        else:
            self.sizes[number] = 0
        return number

    def _put(self, path: bytes, file: int | None, *, instead_of: bytes | None = None) -> None:
        changes: list[tuple[int, str, int | None]] = []
        if instead_of is not None:
            folder, name = self._place(instead_of)
            changes.append((folder, name, None))
        changes.append((*self._place(path), file))
        _apply(self.names, changes)
        self.film.steps.append(Names(tuple(changes)))

    def _place(self, path: bytes) -> tuple[int, str]:
        above, _, name = os.fsdecode(path).rpartition("/")
        return self._find(os.fsencode(above)), name

    def _find(self, path: bytes) -> int:
        found = self._look(path)
        assert found is not None, path
        return found

    def _look(self, path: bytes) -> int | None:
        at: int | None = 0
        for name in os.fsdecode(path.removeprefix(self.base)).split("/"):
            if name and at is not None:
                at = self.names[at].get(name)
        return at


def _apply(names: dict[int, dict[str, int]], changes: Sequence[tuple[int, str, int | None]]) -> None:
    for folder, name, file in changes:
        if file is None:
            names[folder].pop(name, None)
        else:
            names[folder][name] = file


class State(NamedTuple):
    """What the disk may hold after a power cut."""

    contents: Contents
    is_told: bool
    """Whether the command had said by then what it did."""

    after: int
    """How many steps were done."""


def states(film: Film) -> Iterator[State]:
    """Give everything that the disk may hold after a power cut at any moment, each once."""
    seen: set[tuple[Contents, bool]] = set()
    for end in range(len(film.steps) + 1):
        for contents in _after(film, film.steps[:end]):
            is_told = Told() in film.steps[:end]
            if (contents, is_told) not in seen:
                seen.add((contents, is_told))
                yield State(contents, is_told, end)


def _after(film: Film, steps: Sequence[Step]) -> Iterator[Contents]:
    waits: dict[int, list[Write | Cut]] = {}
    safe = dict(film.first)
    changes: list[tuple[Names, bool]] = []
    for step in steps:
        match step:
            case Write() | Cut():
                waits.setdefault(step.file, []).append(step)
            case Sync(file):
                data = safe[file]
                if data is not None:
                    safe[file] = _partly(data, waits.pop(file, []), "full")
                else:
                    changes = [(one, is_safe or one.is_in(file)) for one, is_safe in changes]
            case Names():
                changes.append((step, False))
            case Told():
                pass
    loose = sum(not is_safe for _, is_safe in changes)
    for kept in range(loose + 1):
        names = {folder: dict(inside) for folder, inside in film.names.items()}
        left = kept
        for one, is_safe in changes:
            if is_safe or left:
                left -= not is_safe
                _apply(names, one.changes)
        for parts in _parts(waits):
            data = {
                file: _partly(whole, waits[file], parts[file]) if file in parts else whole
                for file, whole in safe.items()
                if whole is not None
            }
            yield tuple(_walk(names, data, 0, ""))


def _parts(waits: dict[int, list[Write | Cut]]) -> Iterator[dict[int, Part]]:
    """Give what may be there of each file: all ways together, or one way for all if they are many."""
    files = sorted(waits)
    if len(files) <= 2:
        for ways in itertools.product(PARTS, repeat=len(files)):
            yield dict(zip(files, ways, strict=True))
        return
    for part in PARTS:
        yield dict.fromkeys(files, part)
        for file in files:
            yield {**dict.fromkeys(files, "full"), file: part}


def _partly(data: bytes, waits: Sequence[Write | Cut], part: Part) -> bytes:
    if part == "none":
        return data
    held = bytearray(data)
    left = sum(len(one.data) for one in waits if isinstance(one, Write)) // (2 if part == "half" else 1)
    for one in waits:
        match one:
            case Cut(_, size):
                held[size:] = bytes(max(0, size - len(held)))
            case Write(_, offset, written):
                put = written[:left]
                left -= len(put)
                held.extend(bytes(max(0, offset - len(held))))
                held[offset : offset + len(put)] = bytes(len(put)) if part == "zeros" else put
    return bytes(held)


def _walk(
    names: dict[int, dict[str, int]], data: dict[int, bytes], folder: int, above: str
) -> Iterator[tuple[str, int, bytes | None]]:
    for name, file in sorted(names[folder].items()):
        if file in names:
            yield above + name, file, None
            yield from _walk(names, data, file, f"{above}{name}/")
        else:
            yield above + name, file, data[file]


def build(film: Film, contents: Contents) -> None:
    """Put this on the real disk, in the place of what is there."""
    shutil.rmtree(film.base, ignore_errors=True)
    film.base.mkdir(parents=True)
    there: dict[int, Path] = {}
    for name, file, data in contents:
        path = film.base / name
        if data is None:
            path.mkdir()
        elif file in there:
            os.link(there[file], path)
        else:
            path.write_bytes(data)
            time = film.times.get(file)
            if time is not None:
                os.utime(path, ns=(time, time))
            there[file] = path
