"""Archives for tests, and what is put into them."""

from __future__ import annotations

import random
from functools import cache
from typing import TYPE_CHECKING, Final

from clew.store.archive import Archive
from clew.store.archive_footprint import Footprint
from clew.store.archive_restore import restore
from clew.store.files import Store
from clew.store.heads import group_agents
from tests.store.faults.disks import CountingDisk
from tests.store.lines import ONE, lines, put

if TYPE_CHECKING:
    from pathlib import Path

    from clew.store.archive import Added
    from clew.store.archive_restore import Restored
    from clew.store.disk import Disk

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


def get(
    place: Path, to: Path, *, number: int = -1, partly: bool = False, disk: Disk | None = None
) -> Restored:
    """Put back one of the snapshots of an archive."""
    archive = Archive(place)
    snapshot = archive.snapshots().found[number]
    return restore(snapshot, archive.packs(), to=str(to), partly=partly, disk=disk or CountingDisk())


@cache
def noise(seed: int, size: int) -> bytes:
    """Lines of many lengths that no compression makes small."""
    made = random.Random(seed)
    parts: list[bytes] = []
    while size > 0:
        length = min(size, int(made.expovariate(1 / 1500)) + 1)
        parts.append(made.randbytes(length - 1).replace(b"\n", b" ") + b"\n")
        size -= length
    return b"".join(parts)


def drafts(folder: Path) -> list[str]:
    """What was left unfinished in a folder."""
    return [name for name in tree(folder) if name.endswith(".clew")]
