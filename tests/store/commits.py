"""Edits carried out in tests, on a disk that does not wait."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import TYPE_CHECKING

from clew.store.commit import commit
from tests.store.faults.disks import AT_ONCE, CountingDisk
from tests.store.faults.jobs import NOW_MS

if TYPE_CHECKING:
    from clew.store.carrying import Patience
    from clew.store.commit import Done, Job
    from clew.store.disk import Disk


def do(job: Job, state: Path, disk: Disk | None = None, *, patience: Patience = AT_ONCE) -> Done:
    """Carry out an edit."""
    return commit(job, state=state, now_ms=NOW_MS, disk=disk or CountingDisk(), patience=patience)


def mode(path: str | Path) -> int:
    """Who may read and write a file."""
    return stat.S_IMODE(Path(path).stat().st_mode)
