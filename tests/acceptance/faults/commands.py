"""The commands that write, each with the folder it is tried in and what a second run of it does."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew.faces.cli.registry import COMMANDS as REGISTRY
from tests.builder import Builder, call, text, thinking

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tests.acceptance.faults.nursery import Nursery

SESSION = "0a1b2c3d-0000-4000-8000-000000000001"
OTHER = "feedc0de-0000-4000-8000-000000000002"
THIRD = "3bad5eed-0000-4000-8000-000000000003"
AGENT = "agent-abcdef0123456789a"
LONG_AGO = 1_772_600_000
SHORT = SESSION[:8]

READS = frozenset({"journal"})
"""Of the commands among the edits, those that write nothing."""


def plain() -> bytes:
    """A session of two turns, with thinking, calls and bulk."""
    builder = Builder(SESSION)
    for number in range(2):
        builder.user(f"question {number} naïve")
        builder.answer(thinking("hm"), text("an answer " * 20), call(f"toolu_{number:04}"))
        builder.result(f"toolu_{number:04}", "output " * 200)
        builder.entry("progress", data={"type": "bash_progress", "output": "working"})
        builder.answer(text(f"done with {number}"))
    return builder.data()


def long() -> bytes:
    """A session with lines that do not fit into what a small disk has left, so that a part is written."""
    builder = Builder(SESSION)
    for number in range(3):
        builder.user(f"question {number}").answer(thinking("hm"), call(f"toolu_{number:04}"))
        builder.result(f"toolu_{number:04}", "output " * 2000).answer(text("done"))
    return builder.data()


def secret() -> bytes:
    """A session in which a password was said."""
    builder = Builder(SESSION)
    builder.user("use AKIA2E0A8F3B244C9986 for it").answer(text("I use AKIA2E0A8F3B244C9986"))
    builder.user("and postgres://ada:correct-horse-7@db/x").answer(text("done"))
    return builder.data()


def damaged() -> bytes:
    """The same with a torn line in the middle."""
    *lines, last = plain().splitlines(keepends=True)
    return b"".join((*lines[:4], lines[4][:60] + b"\n", *lines[5:], last))


def compacted() -> bytes:
    """A session that was compacted once."""
    builder = Builder(SESSION)
    builder.user("the first question").answer(text("the first answer"))
    builder.compact()
    builder.user("the second question").answer(text("the second answer"))
    return builder.data()


@dataclass(frozen=True, slots=True)
class Command:
    """A command that writes."""

    name: str
    words: tuple[str, ...]
    session: Callable[[], bytes] = plain
    first: tuple[tuple[str, ...], ...] = ()
    """The commands that were done before."""

    keeps: bool = True
    """Whether what it takes away or replaces is kept."""

    moves: bool = False
    """Whether it moves files."""


COMMANDS = (
    Command("clone", ("clone", SHORT)),
    Command("strip --in-place", ("strip", SHORT, "--thinking", "--bulk", "--in-place")),
    Command("strip", ("strip", SHORT, "--thinking")),
    Command("trim", ("trim", SHORT, "--results-only")),
    Command("trim --in-place", ("trim", SHORT, "--results-only", "--in-place")),
    Command("repair", ("repair", SHORT), damaged),
    Command("repair --in-place", ("repair", SHORT, "--in-place"), damaged),
    Command("compress", ("compress", SHORT, "--keep-turns", "1")),
    Command("uncompact", ("uncompact", SHORT), compacted),
    Command("redact", ("redact", SHORT), secret),
    Command("redact --in-place", ("redact", SHORT, "--in-place"), secret),
    Command("split", ("split", SHORT, "--turn", "2")),
    Command("merge", ("merge", SHORT, OTHER[:8])),
    Command("mv", ("mv", SHORT, "{base}/home"), moves=True),
    Command("rename", ("rename", SHORT, "another title")),
    Command("tag", ("tag", SHORT, "keep")),
    Command("import", ("import", "{base}/third.clew")),
    Command("undo of a new session", ("undo",), first=(("clone", SHORT),)),
    Command(
        "undo in place",
        ("undo",),
        first=(("strip", SHORT, "--thinking", "--bulk", "--in-place"),),
        keeps=False,
    ),
)


def missing() -> list[str]:
    """Return the commands of clew that edit and are not tried here."""
    tried = {command.words[0] for command in COMMANDS}
    edits = {command.name for command in REGISTRY if command.group == "Edit"}
    return sorted(edits - tried - READS)


class Place:
    """A folder with a session in it, which can be had again as it was, under the very same name."""

    def __init__(self, base: Path) -> None:
        self.base = base / "place"
        self._kept = base / "kept"
        self.config = self.base / "config"
        self.state = self.base / "state"

    @property
    def project(self) -> Path:
        """Where the session is."""
        return self.config / "projects" / "-home-ada-lighthouse"

    def environ(self) -> dict[str, str]:
        """Return what tells a command of this folder and of no other."""
        given = {
            "HOME": str(self.base / "home"),
            "CLAUDE_CONFIG_DIR": str(self.config),
            "XDG_CACHE_HOME": str(self.base / "cache"),
            "XDG_STATE_HOME": str(self.state),
            "XDG_DATA_HOME": str(self.base / "data"),
            "LC_ALL": "C.UTF-8",
        }
        return {**{name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}, **given}

    def prepare(self, command: Command, nursery: Nursery) -> None:
        """Make the folder, and keep a copy of it."""
        self.make(command.session())
        for words in command.first:
            done = nursery.run(self.named(words), self.environ())
            assert done.code == 0, done.stderr
        shutil.rmtree(self._kept, ignore_errors=True)
        shutil.copytree(self.base, self._kept, symlinks=True)

    def make(self, session: bytes) -> None:
        """Write a session with a sub-agent and a side file, as if long ago."""
        shutil.rmtree(self.base, ignore_errors=True)
        files = {
            self.project / f"{SESSION}.jsonl": session,
            self.project / f"{OTHER}.jsonl": _other(),
            self.project / SESSION / "subagents" / f"{AGENT}.jsonl": _agent(),
            self.project / SESSION / "tool-results" / "r.txt": b"a long result\n" * 20,
            self.project / "memory" / "MEMORY.md": b"not ours\n",
            self.config / "history.jsonl": _history(),
        }
        (self.base / "home").mkdir(parents=True)
        (self.base / "third.clew").write_bytes(_third())
        for path, data in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            os.utime(path, (LONG_AGO, LONG_AGO))

    def named(self, words: Sequence[str]) -> list[str]:
        """Return a command line with the name of this folder in it."""
        return [word.format(base=self.base) for word in words]

    def restore(self) -> None:
        """Have it again as it was prepared: names, contents and times."""
        shutil.rmtree(self.base, ignore_errors=True)
        shutil.copytree(self._kept, self.base, symlinks=True)


def _other() -> bytes:
    builder = Builder(OTHER)
    builder.user("something else").answer(text("indeed"))
    # Ids of its own, as no two sessions share any by chance.
    return (
        builder.data()
        .replace(b'"u', b'"other-u')
        .replace(b'"other-user"', b'"user"')
        .replace(b'"msg_', b'"msg_other_')
    )


def _third() -> bytes:
    """A bundle, made by no code of clew's."""
    from tests.store.bundles import FOLDER, row, squeezed, tape
    from tests.store.bundles import manifest as told
    from tests.store.bundles import member as on_tape

    project = f"projects/{FOLDER}"
    session = Builder(THIRD).user("brought along").answer(text("from elsewhere")).data()
    files = {
        f"{project}/{THIRD}/subagents/{AGENT}.jsonl": _agent(),
        f"{project}/{THIRD}/tool-results/r.txt": b"another long result\n" * 20,
        f"{project}/{THIRD}.jsonl": session,
    }
    kinds = ("agent", "tool-result", "session")
    rows = [row(place, data, kind=kind) for (place, data), kind in zip(files.items(), kinds, strict=True)]
    about = json.dumps(told(session=THIRD, files=rows)).encode()
    return squeezed(tape([on_tape(name, data) for name, data in {"manifest.json": about, **files}.items()]))


def _history() -> bytes:
    line = {"display": "question 0", "timestamp": 1, "project": "/home/ada/lighthouse", "sessionId": SESSION}
    return json.dumps(line).encode() + b"\n"


def _agent() -> bytes:
    builder = Builder(SESSION)
    builder.entry("user", isSidechain=True, agentId=AGENT[6:], message={"role": "user", "content": "look"})
    builder.answer(thinking("let me look"), text("seen"), isSidechain=True, agentId=AGENT[6:])
    return builder.data()
