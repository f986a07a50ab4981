"""`clew chat` in a real terminal (tmux), with the strict stand-in behind it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any, Self, cast

import pytest

from clew.agent.past import messages_to_send
from clew.agent.standin import Reply, StandIn, text
from clew.faces.cli.chat.questions import SETTLES
from clew.session.check import check
from clew.session.context import context
from clew.session.session import Session
from clew.store.reader import open_session

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from clew.agent.standin import Answer, Request

Message = dict[str, Any]
IN_A_TERMINAL = [pytest.mark.acceptance, pytest.mark.usefixtures("tmux")]
"""The marks of tests that need this."""

SHELL = "$ "
_RULE = "─" * 20


def last_said(request: Request) -> str:
    """What stands in the last message of a request, as text."""
    messages = cast("list[Message]", request.body.get("messages") or [{}])
    return json.dumps(messages[-1].get("content"), ensure_ascii=False)


class Lab:
    """A terminal with a shell in it, in folders of its own."""

    def __init__(
        self,
        folder: Path,
        answer: Callable[[Request], Answer],
        *,
        config: Path | None = None,
        columns: int = 90,
        lines: int = 30,
    ) -> None:
        self.folder, self.home, self.work = folder, folder / "home", folder / "work"
        self.config, self.state = config or self.home / "config", self.home / "state"
        for place in (self.config, self.work):
            place.mkdir(parents=True, exist_ok=True)
        self.api = StandIn(default=lambda request: self._answer(request, answer), strict=True)
        self._size = str(columns), str(lines)
        self._socket = str(folder / "tmux")

    @staticmethod
    def _answer(request: Request, answer: Callable[[Request], Answer]) -> Answer:
        if "FINALLY" in last_said(request):
            return Reply((text("All is well."),))
        return answer(request)

    def __enter__(self) -> Self:
        self.api.__enter__()
        environ = {
            "PATH": os.environ.get("PATH", ""),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "PS1": SHELL,
            "HOME": str(self.home),
            "XDG_STATE_HOME": str(self.state),
            "CLAUDE_CONFIG_DIR": str(self.config),
            "ANTHROPIC_BASE_URL": self.api.url,
            "ANTHROPIC_API_KEY": "test-key",
        }
        shell = ["env", "-i", *(f"{name}={value}" for name, value in environ.items()), "bash", "--norc"]
        columns, lines = self._size
        self.tmux(
            "-f", "/dev/null", "new-session", "-d", "-x", columns, "-y", lines, "-c", str(self.work), *shell
        )
        try:
            self.wait_for(SHELL.strip())
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.tmux("kill-server")
        self.api.__exit__(None, None, None)

    # The terminal -----------------------------------------------------------------------------------

    def tmux(self, *arguments: str) -> str:
        done = subprocess.run(
            ["tmux", "-S", self._socket, *arguments], capture_output=True, text=True, check=False
        )
        return done.stdout

    @property
    def screen(self) -> str:
        return self.tmux("capture-pane", "-p")

    @property
    def everything(self) -> str:
        """The screen and all that has scrolled away."""
        return self.tmux("capture-pane", "-p", "-S", "-", "-E", "-")

    def keys(self, *names: str) -> None:
        self.tmux("send-keys", *names)

    def write(self, words: str) -> None:
        self.tmux("send-keys", "-l", words)

    def enter(self, words: str) -> None:
        """Type a line and send it."""
        self.write(words)
        self.wait_until(lambda: words[-20:] in self.screen, f"{words!r} typed")
        self.keys("Enter")

    def paste(self, words: str) -> None:
        """Paste, marked as such if the program asked for that."""
        self.tmux("set-buffer", "-b", "pasted", words)
        self.tmux("paste-buffer", "-p", "-b", "pasted")

    def clear(self) -> None:
        """Clear the screen of the shell, and wait until it is: what stands there is not what comes next."""
        self.keys("C-l")
        self.wait_until(lambda: self.screen.strip() == SHELL.strip(), "clear screen")

    def wait_for(self, words: str, seconds: float = 12) -> None:
        self.wait_until(lambda: words in self.screen, f"{words!r} on the screen", seconds)

    def wait_until(self, holds: Callable[[], bool], what: str, seconds: float = 12) -> None:
        end = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < end, f"no {what}:\n{self.everything}"
            time.sleep(0.03)

    # The chat ---------------------------------------------------------------------------------------

    def chat(self, *options: str) -> None:
        """Start a chat and wait until it can be typed into."""
        self.start(*options)
        self.wait_for("/help tells")
        self.idle()

    def start(self, *options: str) -> None:
        self.write(" ".join([sys.executable, "-P", "-m", "clew", "chat", *options]))
        self.keys("Enter")

    def idle(self, seconds: float = 12) -> None:
        """Wait until the chat waits for the person."""
        self.wait_until(lambda: self.status.endswith("/help"), "end of the turn", seconds)

    @property
    def status(self) -> str:
        return self.screen.rstrip().rpartition("\n")[2].rstrip()

    @property
    def box(self) -> list[str]:
        """The rows between the rule and the status."""
        rows = self.screen.rstrip().split("\n")
        at = max(number for number, row in enumerate(rows) if row.startswith(_RULE))
        return [row.rstrip() for row in rows[at + 1 : -1]]

    def reply(self, key: str) -> None:
        """Answer the question that is on the screen with a key.

        Its time began before it was drawn: that long after it was seen, a key is an answer.
        """
        time.sleep(SETTLES)
        self.keys(key)

    def say(self, words: str) -> None:
        """Say something and wait for the end of the turn."""
        before = len(self.api.requests)
        self.enter(words)
        self.wait_until(lambda: len(self.api.requests) > before, "request")
        self.idle()

    def leave(self) -> None:
        """End the chat; the terminal is as it was, and the shell goes on."""
        self.keys("C-d")
        self.shell_is_back()

    def shell_is_back(self) -> None:
        self.wait_until(lambda: self.screen.rstrip().endswith(SHELL.strip()), "shell")
        self.write("stty -a | grep -cE -- '-(icanon|echo|isig|icrnl|opost)\\b' | sed 's/^/changed: /'")
        self.keys("Enter")
        self.wait_for("changed: 0")

    # The session ------------------------------------------------------------------------------------

    @property
    def files(self) -> list[Path]:
        return sorted(self.config.glob("projects/*/*.jsonl"), key=lambda path: path.stat().st_mtime_ns)

    @property
    def file(self) -> Path:
        return self.files[-1]

    def sent(self, number: int = -1) -> list[Message]:
        """The messages of a request, without the marks for the cache."""
        asked = [one for one in self.api.requests if one.is_messages]
        return cast("list[Message]", _without_marks(asked[number].body["messages"]))

    def is_valid(self, *known: str) -> None:
        """The file has no problem but those that are known, and nothing was refused."""
        data = self.file.read_bytes()
        found = check(data, refused=context(Session.read(data)).refused).problems
        assert {one.code for one in found} <= {*known}
        assert not self.api.refusals, self.api.refusals[0].refusal

    def agree(self, *known: str, is_resumed: bool = False) -> None:
        """The file is valid, and the next request sends what it says, and what is said then.

        Who resumes a session that ends in a prompt adds, as the client does, that it was not answered.
        """
        self.is_valid(*known)
        session = open_session(self.file)
        found = context(session).messages if is_resumed else messages_to_send(session)
        said = [dict(message) for message in found]
        self.say("FINALLY")
        sent = self.sent()
        words = [{"type": "text", "text": "FINALLY"}]
        if said and said[-1]["role"] == "user":
            expected = [*said[:-1], {"role": "user", "content": [*said[-1]["content"], *words]}]
        else:
            expected = [*said, {"role": "user", "content": words}]
        assert [_joined(one) for one in sent] == [_joined(one) for one in expected]
        self.is_valid(*known)


def _joined(message: Message) -> tuple[str, list[Any]]:
    """A message with neighbouring texts as one: how prompts in a row are joined is the file's business."""
    made: list[Any] = []
    for block in cast("Sequence[Message]", message["content"]):
        if block.get("type") == "text" and made and isinstance(made[-1], str):
            made[-1] += "\n" + str(block["text"])
        else:
            made.append(str(block["text"]) if block.get("type") == "text" else block)
    return str(message["role"]), [one.split() if isinstance(one, str) else one for one in made]


def _without_marks(value: Any) -> Any:
    if isinstance(value, dict):
        found = cast("dict[str, Any]", value)
        return {key: _without_marks(one) for key, one in found.items() if key != "cache_control"}
    if isinstance(value, list):
        return [_without_marks(one) for one in cast("list[Any]", value)]
    return value
