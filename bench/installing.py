"""Getting a peer onto this machine: from the path, or by npm or pip into a folder of its own.

Everything is asked for by exact version, and everything lands below the user's cache folder.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PATIENCE = 900
"""Seconds an installation may take."""


class PeerMissingError(Exception):
    """The peer cannot be had on this machine; the rows that need it say so."""


def cache_folder() -> Path:
    """Where peers and corpora are kept between runs."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "clew" / "bench"


def by_npm(package: str, program: str) -> Callable[[Path], Path]:
    """Install a package that holds only a binary, by name: as an optional dependency it may be left out."""

    def install(folder: Path) -> Path:
        path = folder / "node_modules" / package.rpartition("@")[0] / program
        if not path.exists():
            npm = shutil.which("npm")
            if npm is None:
                raise PeerMissingError("npm is not installed")
            options = ("--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder))
            _install((npm, "install", *options, package), package)
        if not path.exists():
            raise PeerMissingError(f"npm installed {package} without {program}")
        # Some registries hand the binary out without its executable bit.
        path.chmod(0o755)
        return path

    return install


def by_pip(
    requirement: str, program: str, *, others: Sequence[str] = (), wheels_only: bool = True
) -> Callable[[Path], Path]:
    """Install a package into an environment of its own, below which the program is, by a pattern.

    Wheels only: a peer that has to be built here would be a figure of this machine's compiler. `others` come
    into the same environment.
    """

    def install(folder: Path) -> Path:
        environment = folder / "venv"
        digest = f"-{crc32(' '.join(others).encode()):08x}" if others else ""
        done = environment / f"{requirement}{digest}.installed"
        if not done.exists():
            shutil.rmtree(environment, ignore_errors=True)
            _install((sys.executable, "-m", "venv", str(environment)), requirement)
            pip = (str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet")
            options = ("--disable-pip-version-check", *(("--only-binary", ":all:") if wheels_only else ()))
            _install((*pip, *options, requirement, *others), requirement)
            done.touch()
        path = next(iter(sorted(environment.glob(program))), None)
        if path is None:
            raise PeerMissingError(f"pip installed {requirement} without {program}")
        if not path.is_symlink():  # as the environment's Python is, which is not ours to change
            path.chmod(0o755)
        return path

    return install


def on_path(program: str) -> Callable[[Path], Path]:
    """A program that is on the machine, or is not."""

    def install(_folder: Path) -> Path:
        found = shutil.which(program)
        if found is None:
            raise PeerMissingError(f"{program} is not installed")
        return Path(found)

    return install


def this_platform() -> str:
    """The system and processor, as packages of native binaries are named."""
    system = {"darwin": "darwin", "win32": "win32"}.get(sys.platform, "linux")
    return f"{system}-{'arm64' if platform.machine() in ('arm64', 'aarch64') else 'x64'}"


def _install(argv: Sequence[str], package: str) -> None:
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired as late:
        raise PeerMissingError(f"{package} was not installed within {PATIENCE} s") from late
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["no message"]
        raise PeerMissingError(f"{package} could not be installed: {said[-1][:200]}")
