"""Mistakes that a writer can make, planted into clew's disk, to see whether they are found."""

from __future__ import annotations

import os
from pathlib import Path

from clew.store.disk import DISK, Disk


class NoSync(Disk):
    """What was written is not waited for."""

    def sync(self, descriptor: int) -> None:
        """Do nothing."""


class NoFolderSync(Disk):
    """Names are not waited for."""

    def sync_folder(self, path: str) -> None:
        """Do nothing."""


class Careless(Disk):
    """A file is put in the place of another byte by byte, into the old one."""

    def replace(self, source: str, target: str) -> None:
        """Write over what is there."""
        data = Path(source).read_bytes()
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        self.write(descriptor, data)
        self.sync(descriptor)
        self.close(descriptor)
        self.unlink(source)


BUGS = {"no-sync": NoSync, "in-place": Careless, "no-folder-sync": NoFolderSync}


def plant(bug: str) -> None:
    """Let the disk make a mistake from now on, in this process."""
    DISK.__class__ = BUGS[bug]
