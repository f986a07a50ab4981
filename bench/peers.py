"""The programs clew is measured against, installed when first asked for, below the user's cache folder.

A peer is a row in `PEERS`: how to get it, and how to run each kind of work it can do. Everything is pinned,
and a peer is only used after its own binary has said which version it is: a package that left its binary out,
or a wrapper that quietly ran something else, must not become a figure. For the same reason a peer that builds
something is asked afterwards how much it holds.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from bench.installing import PeerMissingError, by_npm, by_pip, cache_folder, on_path, this_platform
from bench.measure import Command, measure, throwaway_env

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Work = Literal[
    "read",  # every byte
    "usage",  # daily token totals
    "usage-one-thread",
    "usage-built",  # daily token totals, from what `build` made
    "literal",  # finding one word in the files
    "list",  # every session, with title and times
    "page",  # fifty messages of one session
    "build",  # an index of the text, from nothing
    "page of one",  # a session as HTML
    "pages of all",
    "start",
]

UNPLUGGED = {"HTTP_PROXY": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": ""}
"""No measured program is to wait for a server, or to tell one anything."""


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of work to be done by a peer."""

    root: Path
    """The config folder that holds `projects/`."""
    home: Path
    """A throw-away home folder."""
    word: str = ""
    session: str = ""
    """The id of the session that is read."""

    @property
    def projects(self) -> Path:
        return self.root / "projects"


@dataclass(frozen=True, slots=True)
class Holding:
    """What a peer's index came to."""

    documents: int
    unit: str
    size: int
    """In bytes, on the disk."""
    needles: int | None = None
    """How many of the planted words it finds; None where it was not asked."""


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
    holding: Callable[[Path, Job, list[str]], Holding] | None = None
    """What its `build` came to, given some words that are in the corpus."""


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
                env=throwaway_env(home, **UNPLUGGED),
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as problem:
            raise PeerMissingError(f"{name} does not start: {problem}") from problem
        if peer.says not in done.stdout:
            raise PeerMissingError(f"{name} should say {peer.says!r} and says {done.stdout.strip()[:80]!r}")
    return program


def folder_size(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _python(program: Path, job: Job) -> Command:
    return Command((str(program), "-c", "pass"), throwaway_env(job.home))


def _cat(program: Path, job: Job) -> Command:
    # xargs, because four thousand names do not fit every command line; the shell waits for it.
    script = 'find "$1" -name "*.jsonl" -type f -print0 | xargs -0 "$0"'
    return Command(("sh", "-c", script, str(program), str(job.projects)), throwaway_env(job.home))


def _ripgrep(program: Path, job: Job) -> Command:
    argv = (str(program), "--no-config", "--no-ignore", "--threads=2", "--fixed-strings", "--count", job.word)
    return Command((*argv, str(job.projects)), throwaway_env(job.home))


def _ccusage(program: Path, job: Job, *more: str) -> Command:
    argv = (str(program), "claude", "daily", "--json", "--offline", "--timezone", "UTC", *more)
    return Command(argv, throwaway_env(job.home, CLAUDE_CONFIG_DIR=str(job.root)))


def _sdk(program: Path, job: Job, *work: str) -> Command:
    env = throwaway_env(job.home, CLAUDE_CONFIG_DIR=str(job.root), **UNPLUGGED)
    return Command((str(program), "-P", str(Path(__file__).with_name("guest.py")), *work), env)


def _aichat(program: Path, job: Job) -> Command:
    argv = (str(program), "build-index", "--claude-home", str(job.root))
    env = throwaway_env(job.home, CLAUDE_CONFIG_DIR=str(job.root), **UNPLUGGED)
    return Command((*argv, "--codex-home", str(job.home / "codex")), env, fresh=job.home)


def _aichat_holding(program: Path, job: Job, words: list[str]) -> Holding:
    index = job.home / ".cctools" / "search-index"
    listed = job.home / "words.json"
    listed.write_text(json.dumps(words), encoding="utf-8")
    guest = (str(Path(__file__).with_name("guest.py")), "aichat-needles", str(index), str(listed))
    command = Command((str(program.with_name("python")), "-P", *guest), throwaway_env(job.home))
    run = measure(command, keep_output=True)
    if run.error is not None:
        return Holding(0, "sessions", 0)
    said = json.loads(run.output)
    return Holding(said["documents"], "sessions", folder_size(index), said["found"])


def _agentsview(program: Path, job: Job, *arguments: str, fresh: bool = False) -> Command:
    more = {
        "AGENTSVIEW_DATA_DIR": str(job.home / "agentsview"),
        "AGENTSVIEW_NO_DAEMON": "1",
        "AGENTSVIEW_TELEMETRY_ENABLED": "0",
        "CLAUDE_PROJECTS_DIR": str(job.projects),
        "DO_NOT_TRACK": "1",
    }
    env = throwaway_env(job.home, **more, **UNPLUGGED)
    return Command((str(program), *arguments), env, fresh=job.home if fresh else None)


def _agentsview_holding(_program: Path, job: Job, _words: list[str]) -> Holding:
    path = job.home / "agentsview" / "sessions.db"
    if not path.exists():
        return Holding(0, "messages", 0)
    with sqlite3.connect(path) as database:
        (messages,) = database.execute("SELECT count(*) FROM messages").fetchone()
    database.close()
    return Holding(messages, "messages", sum(one.stat().st_size for one in path.parent.glob(f"{path.name}*")))


def _transcripts(program: Path, job: Job, *arguments: str) -> Command:
    out = job.home / "transcripts"
    env = throwaway_env(job.home, CLAUDE_CONFIG_DIR=str(job.root), **UNPLUGGED)
    return Command((str(program), *arguments, "-o", str(out)), env, fresh=out)


DAYS = ("usage", "daily", "--all", "--json", "--offline", "--no-sync", "--timezone", "UTC")

PEERS: dict[str, Peer] = {
    peer.name: peer
    for peer in (
        Peer("cat", on_path("cat"), {"read": _cat}),
        Peer("python", lambda _folder: Path(sys.executable), {"start": _python}),
        Peer(
            "ccusage",
            by_npm(f"@ccusage/ccusage-{this_platform()}@20.0.24", "bin/ccusage"),
            {
                "usage": _ccusage,
                "usage-one-thread": lambda program, job: _ccusage(program, job, "--single-thread"),
            },
            says="ccusage 20.0.24",
        ),
        Peer(
            "ripgrep",
            by_npm(f"@vscode/ripgrep-{this_platform()}@1.18.0", "bin/rg"),
            {"literal": _ripgrep},
            says="ripgrep 15.0.0",
        ),
        Peer(
            "sdk",
            by_pip("claude-agent-sdk==0.2.182", "bin/python"),
            {
                "list": lambda program, job: _sdk(program, job, "sdk-list"),
                "page": lambda program, job: _sdk(program, job, "sdk-page", job.session),
            },
            version=("-c", "import claude_agent_sdk as sdk; print('claude-agent-sdk', sdk.__version__)"),
            says="claude-agent-sdk 0.2.182",
        ),
        Peer(
            "aichat",
            by_pip("claude-code-tools==1.30.2", "bin/aichat"),
            {"build": _aichat},
            says="aichat, version 1.30.2",
            holding=_aichat_holding,
        ),
        Peer(
            "agentsview",
            # The binary itself: the wheel's own command starts a Python first.
            by_pip("agentsview==0.46.1", "lib/python*/site-packages/agentsview/bin/agentsview"),
            {
                "build": lambda program, job: _agentsview(program, job, "sync", fresh=True),
                "usage-built": lambda program, job: _agentsview(program, job, *DAYS),
            },
            says="agentsview v0.46.1",
            holding=_agentsview_holding,
        ),
        Peer(
            "transcripts",
            by_pip("claude-code-transcripts==0.6", "bin/claude-code-transcripts"),
            {
                "page of one": lambda program, job: _transcripts(program, job, "json", job.session),
                "pages of all": lambda program, job: _transcripts(
                    program, job, "all", "--source", str(job.projects), "--quiet"
                ),
            },
            says="version 0.6",
        ),
    )
}
"""To add one, add a row; the modules that measure name the rows they compare with."""
