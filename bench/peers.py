"""The programs clew is measured against, installed when first asked for, below the user's cache folder.

A peer is a row in `PEERS`: how to get it, and how to run each kind of work it can do. Everything is pinned,
and a peer is only used after its own binary has said which version it is: a package that left its binary out,
or a wrapper that quietly ran something else, must not become a figure.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from bench.measure import Command, throwaway_env

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Work = Literal["read", "usage", "usage-one-thread", "literal", "start"]
"""What is compared: reading every byte, daily token totals, finding one word, starting up."""


class PeerMissingError(Exception):
    """The peer cannot be had on this machine; the rows that need it say so."""


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of work to be done by a peer."""

    root: Path
    """The config folder that holds `projects/`."""
    home: Path
    """A throw-away home folder."""
    word: str = ""

    @property
    def projects(self) -> Path:
        return self.root / "projects"


@dataclass(frozen=True, slots=True)
class Peer:
    """A program, where it comes from and what it can do."""

    name: str
    install: Callable[[Path], Path]
    """Given a folder of its own, returns the program, installing it when it is not there yet."""
    works: Mapping[Work, Callable[[Path, Job], Command]]
    version: tuple[str, ...] = ("--version",)
    says: str = ""
    """What its version output must hold."""


def cache_folder() -> Path:
    """Where peers and corpora are kept between runs."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "clew" / "bench"


def find(name: str, folder: Path | None = None) -> Path:
    """The program of a peer, installed and seen to answer. Raises `PeerMissingError`."""
    peer = PEERS[name]
    own = (folder or cache_folder()) / "peers" / name
    own.mkdir(parents=True, exist_ok=True)
    program = peer.install(own)
    if peer.says:
        home = own / "home"
        home.mkdir(exist_ok=True)
        try:
            done = subprocess.run(
                [str(program), *peer.version],
                env=throwaway_env(home),
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
        except OSError as problem:
            raise PeerMissingError(f"{name} does not start: {problem}") from problem
        if peer.says not in done.stdout:
            raise PeerMissingError(f"{name} should say {peer.says!r} and says {done.stdout.strip()[:80]!r}")
    return program


def _npm(package: str, program: str) -> Callable[[Path], Path]:
    """Install a package that holds only a binary, by name: as an optional dependency it may be left out."""

    def install(folder: Path) -> Path:
        path = folder / "node_modules" / package.rpartition("@")[0] / program
        if not path.exists():
            npm = shutil.which("npm")
            if npm is None:
                raise PeerMissingError("npm is not installed")
            argv = [
                npm,
                "install",
                "--no-audit",
                "--no-fund",
                "--ignore-scripts",
                "--prefix",
                str(folder),
                package,
            ]
            done = subprocess.run(argv, capture_output=True, text=True, timeout=600, check=False)
            if done.returncode or not path.exists():
                raise PeerMissingError(f"npm could not install {package}: {done.stderr.strip()[-200:]}")
        # Some registries hand the binary out without its executable bit.
        path.chmod(0o755)
        return path

    return install


def _on_path(program: str) -> Callable[[Path], Path]:
    def install(_folder: Path) -> Path:
        found = shutil.which(program)
        if found is None:
            raise PeerMissingError(f"{program} is not installed")
        return Path(found)

    return install


def _platform() -> str:
    system = {"darwin": "darwin", "win32": "win32"}.get(sys.platform, "linux")
    return f"{system}-{'arm64' if platform.machine() in ('arm64', 'aarch64') else 'x64'}"


def _ccusage(program: Path, job: Job, *more: str) -> Command:
    argv = (str(program), "claude", "daily", "--json", "--offline", "--timezone", "UTC", *more)
    return Command(argv, throwaway_env(job.home, CLAUDE_CONFIG_DIR=str(job.root)))


def _ripgrep(program: Path, job: Job) -> Command:
    argv = (str(program), "--no-config", "--no-ignore", "--threads=2", "--fixed-strings", "--count", job.word)
    return Command((*argv, str(job.projects)), throwaway_env(job.home))


def _cat(program: Path, job: Job) -> Command:
    # xargs, because four thousand names do not fit every command line; the shell waits for it.
    script = 'find "$1" -name "*.jsonl" -type f -print0 | xargs -0 "$0"'
    return Command(("sh", "-c", script, str(program), str(job.projects)), throwaway_env(job.home))


def _python(program: Path, job: Job) -> Command:
    return Command((str(program), "-c", "pass"), throwaway_env(job.home))


PEERS: dict[str, Peer] = {
    peer.name: peer
    for peer in (
        Peer("cat", _on_path("cat"), {"read": _cat}),
        Peer("python", lambda _folder: Path(sys.executable), {"start": _python}),
        Peer(
            "ccusage",
            _npm(f"@ccusage/ccusage-{_platform()}@20.0.24", "bin/ccusage"),
            {
                "usage": _ccusage,
                "usage-one-thread": lambda program, job: _ccusage(program, job, "--single-thread"),
            },
            says="ccusage 20.0.24",
        ),
        Peer(
            "ripgrep",
            _npm(f"@vscode/ripgrep-{_platform()}@1.18.0", "bin/rg"),
            {"literal": _ripgrep},
            says="ripgrep 15.0.0",
        ),
    )
}
"""To add one, add a row; `run` names the rows it compares with."""
