"""Archives for tests, and disks that fail or die at a call of the test's choosing."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Final

from clew.store.archive import Archive
from clew.store.archive_footprint import Footprint
from clew.store.disk import Disk
from clew.store.files import Store
from clew.store.heads import group_agents
from tests.store.lines import ONE, lines, put

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from clew.store.archive import Added

NOW: Final = 1_790_000_000_000


def session(root: Path, data: bytes | None = None) -> Path:
    """A session with everything that can belong to one; return its own file."""
    project = root / "projects" / "-home-ada-lighthouse"
    put(project / ONE / "subagents" / "agent-a1.jsonl", lines(3, session=ONE))
    put(project / ONE / "subagents" / "agent-a1.meta.json", b'{"agentType":"keeper"}')
    put(project / ONE / "tool-results" / "toolu_1.txt", b"long\n" * 9000)
    put(project / ONE / "custom-title.json", b'{"customTitle":"Lamp"}')
    put(root / "file-history" / ONE / "0123456789abcdef@v1", bytes(range(256)) * 40)
    put(root / "todos" / f"{ONE}-agent-{ONE}.json", b"[]")
    put(root / "tasks" / ONE / "1.json", b"")
    return put(project / f"{ONE}.jsonl", lines(700) if data is None else data)


def add(root: Path, archive: Path, *, now_ms: int = NOW, disk: Disk | None = None) -> list[Added]:
    """Add every session of a store."""
    listing = Store.at([str(root)]).listing()
    agents = group_agents(listing)
    with Archive(archive, disk=disk or CountingDisk()).adding(now_ms=now_ms) as adding:
        return [adding.add(Footprint.of(file, agents.of(file))) for file in listing.sessions]


def tree(folder: Path, *, times: bool = False) -> dict[str, object]:
    """All files of a folder with their bytes, or with their times."""
    paths = sorted(folder.rglob("*"))
    if times:
        return {str(path.relative_to(folder)): path.lstat().st_mtime_ns for path in paths}
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths if path.is_file()}


class CountingDisk(Disk):
    """Calls `at_call` with the number and name of each thing that is done to the disk, before it is done."""

    def __init__(self, at_call: Callable[[int, str], None] | None = None) -> None:
        self.at_call = at_call
        self.calls: list[str] = []

    def _count(self, name: str) -> None:
        self.calls.append(name)
        if self.at_call is not None:
            self.at_call(len(self.calls) - 1, name)

    def create(self, path: str, *, mode: int = 0o600) -> int:
        self._count("create")
        return super().create(path, mode=mode)

    def write(self, descriptor: int, data: bytes) -> None:
        half = len(data) // 2
        super().write(descriptor, data[:half])  # a part of it is there when it fails
        self._count("write")
        super().write(descriptor, data[half:])

    def sync(self, descriptor: int) -> None:  # noqa: ARG002
        self._count("sync")  # not done: no power fails here, and each would take as long as all the rest

    def link(self, source: str, target: str) -> None:
        self._count("link")
        super().link(source, target)

    def replace(self, source: str, target: str) -> None:
        self._count("replace")
        super().replace(source, target)

    def unlink(self, path: str) -> None:
        self._count("unlink")
        super().unlink(path)

    def make_folder(self, path: str) -> None:
        self._count("make_folder")
        super().make_folder(path)

    def sync_folder(self, path: str) -> None:  # noqa: ARG002
        self._count("sync_folder")


def failing(at: int, error: int, *, for_ever: bool = False) -> CountingDisk:
    """A disk that fails at one of its calls, once or from then on."""

    def at_call(number: int, _name: str) -> None:
        if number == at or (for_ever and number > at):
            raise OSError(error, os.strerror(error))

    return CountingDisk(at_call)


def dying(at: int) -> CountingDisk:
    """A disk at one of whose calls the process is killed."""

    def at_call(number: int, _name: str) -> None:
        if number == at:
            os.kill(os.getpid(), signal.SIGKILL)

    return CountingDisk(at_call)


def without_links(error: int) -> CountingDisk:
    """A disk that knows no second names."""

    def at_call(_number: int, name: str) -> None:
        if name == "link":
            raise OSError(error, os.strerror(error))

    return CountingDisk(at_call)
