"""Sessions in which the real client changes files, by a script; and the folder it leaves behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING
from uuid import uuid4

from clew.agent.standin import Reply, StandIn, text, tool_use
from tests.conformance.client import MODEL, environment, run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from clew.agent.standin import Request
    from tests.conformance.client import Client

CLEW = (sys.executable, "-P", "-m", "clew")
TASK = "SUBTASK"
LONGEST = 120

BEFORE = {
    "old.txt": b"one\ntwo\ntwo\nthree",
    "crlf.txt": b"one\r\ntwo\r\nthree\r\n",
    "cut.txt": b"one\ntwo\nthree\n",
    "tabs.c": b"int a;\n\tint b;\n\t\tint c;\n",
    "bom.txt": b"\xef\xbb\xbfone\ntwo\n",
    "shared.txt": b"main\nsub\n",
}
"""What is in the folder before the session."""

BY_BASH_LAST = "last.txt"


class Script:
    """Answers of the model, call by call."""

    def __init__(self, work: Path, agent: str) -> None:
        self._work = work
        self._agent = agent
        self._ids = count(1)

    def call(self, name: str, **given: object) -> Reply:
        block = tool_use(name, given, call_id=f"toolu_{next(self._ids):04}{uuid4().hex[:12]}")
        return Reply((block,), message_id=f"msg_{uuid4().hex}")

    def write(self, name: str, content: str) -> Reply:
        return self.call("Write", file_path=str(self._work / name), content=content)

    def read(self, name: str) -> Reply:
        return self.call("Read", file_path=str(self._work / name))

    def edit(self, name: str, old: str, new: str, *, every: bool = False) -> Reply:
        place = str(self._work / name)
        return self.call("Edit", file_path=place, old_string=old, new_string=new, replace_all=every)

    def bash(self, command: str) -> Reply:
        return self.call("Bash", command=command, description="Change a file")

    def task(self) -> Reply:
        return self.call(self._agent, description="d", prompt=f"{TASK} go", subagent_type="general-purpose")

    def turns(self) -> list[list[Reply]]:
        """What is done in each turn: all that can become of a file."""
        sed = f"sed -i s/two/TWO/ {self._work}/sed.txt"
        last = f"printf 'by bash\\n' >> {self._work}/{BY_BASH_LAST}"
        return [
            [
                self.write("new.txt", "a\nb\nc"),
                self.edit("new.txt", "b", "B"),
                self.write("src/many.py", "".join(f"line {n}\n" for n in range(40))),
                self.edit("src/many.py", "line 3\n", "line three\n"),
                self.edit("src/many.py", "line 30", "line thirty\nand more"),
                self.edit("src/many.py", "line 3\n", "never there"),
                self.write("empty.txt", ""),
            ],
            [
                self.read("old.txt"),
                self.edit("old.txt", "two", "2", every=True),
                self.edit("old.txt", "not there", "x"),
                self.read("crlf.txt"),
                self.edit("crlf.txt", "two", "TWO\nmore"),
                self.read("cut.txt"),
                self.edit("cut.txt", "two", ""),
                self.read("tabs.c"),
                self.edit("tabs.c", "\tint b;", "\tint b = 1;\n\t\tint d;"),
                self.read("bom.txt"),
                self.edit("bom.txt", "two", "2"),
                self.write("sed.txt", "one\ntwo\nthree\n"),
                self.write(BY_BASH_LAST, "by the client\n"),
            ],
            [
                self.bash(sed),
                self.read("sed.txt"),
                self.edit("sed.txt", "three", "3"),
                self.bash(last),
                self.edit("src/many.py", "line 12\n", "line twelve\n"),
                self.read("shared.txt"),
                self.edit("shared.txt", "main", "MAIN"),
            ],
            [self.task()],
            [self.read("new.txt"), self.edit("new.txt", "c", "C\n")],
        ]

    def aside(self) -> list[Reply]:
        """What the sub-agent does."""
        return [
            self.write("sub.txt", "s1\ns2\ns3\n"),
            self.edit("sub.txt", "s2", ""),
            self.read("shared.txt"),
            self.edit("shared.txt", "sub", "SUB"),
            self.edit("shared.txt", "not there", "x"),
        ]


@dataclass(frozen=True, slots=True)
class Scene:
    """What is left of a session."""

    work: Path
    config: Path
    session: Path

    def clew(self, *words: str) -> bytes:
        """Run clew on the session; return what it printed."""
        done = subprocess.run(
            [*CLEW, words[0], str(self.session), *words[1:], "--root", str(self.config)],
            capture_output=True,
            check=False,
            env={**os.environ, "HOME": str(self.config.parent), "CLAUDE_CONFIG_DIR": str(self.config)},
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


def play(client: Client, folder: Path, *, keeps_copies: bool) -> Scene:
    """Have the client play the script, a process for each turn; it may keep copies of the files."""
    home, config, work = folder / "home", folder / "config", folder / "work"
    for place in (home, config, work):
        place.mkdir(parents=True)
    for name, data in BEFORE.items():
        (work / name).write_bytes(data)
    script = Script(work, "Agent" if client.version == "2.1.325" else "Task")
    name = str(uuid4())
    for number, steps in enumerate(script.turns()):
        talk, aside = iter(steps), iter(script.aside())
        with StandIn(default=lambda request, talk=talk, aside=aside: _answer(request, talk, aside)) as api:
            words = [*client.command, "-p", f"PROMPT {number + 1}", "--model", MODEL]
            words += ["--permission-mode", "acceptEdits", "--allowedTools", "Bash", "Task", "Agent"]
            words += ["--resume", name] if number else ["--session-id", name]
            ended = run(words, work, environment(home, config, api.url, keeps_copies=keeps_copies), LONGEST)
            assert ended.code == 0, ended.said
    files = [path for path in config.glob("projects/*/*.jsonl") if not path.name.startswith("agent-")]
    # Some versions go on in a new file that begins with all of the old one.
    return Scene(work, config, max(files, key=lambda path: path.stat().st_size))


def _answer(request: Request, talk: Iterator[Reply], aside: Iterator[Reply]) -> Reply:
    done = Reply((text("Done."),), message_id=f"msg_{uuid4().hex}")
    if not request.is_messages or not request.body.get("tools"):
        return done
    messages = request.body["messages"]
    assert isinstance(messages, list)
    first = json.dumps(messages[0])
    return next(aside if TASK in first and "PROMPT" not in first else talk, done)
