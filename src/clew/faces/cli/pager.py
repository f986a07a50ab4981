"""Long texts go through the person's pager: what fits on the screen is written as it is.

`PAGER` and `LESS` are heeded; without a `PAGER` it is `less`. It runs without a shell, and `less` in its
secure mode: what it shows is not ours, and a key pressed in it must not start anything.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Final

from clew.faces.cli.terminal import ReaderGone

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from clew.faces.cli.terminal import Screen, Stream

TURNS: Final = r"^[^ 0-9A-Za-z]+ [0-9]+ [^ 0-9A-Za-z]+ "
"""What a turn begins with, as `less` searches for it: `n` and `N` go from turn to turn."""


def command_of(env: Mapping[str, str]) -> list[str] | None:
    """Return the pager to run, be it there or not; None for none."""
    asked = env.get("PAGER")
    if asked is not None:
        try:
            words = shlex.split(asked)
        except ValueError:
            return None
        return None if not words or words[0] == "cat" else words
    return ["less"]


def arguments(
    command: list[str], env: Mapping[str, str], pattern: str | None
) -> tuple[list[str], dict[str, str]]:
    """Return the whole command and its environment; only `less` is told more than the person told it."""
    around = dict(env)
    if os.path.basename(command[0]) != "less":  # noqa: PTH119  # a word of a command, not a path that is opened
        return command, around
    around["LESSSECURE"] = "1"
    around.setdefault("LESS", "FX")
    around.setdefault("LESSCHARSET", "utf-8")
    extra = ["-R"]
    if pattern is not None:
        # Search, then go back to the beginning; only the hit one is at is marked.
        extra += ["-g", f"+/{pattern}\ng"]
    return [*command, *extra], around


class Paged:
    """A stream that holds what fits on the screen, and hands it to a pager when there is more."""

    def __init__(self, under: Stream, height: int, command: list[str], env: dict[str, str]) -> None:
        self._under = under
        self._height = height
        self._command = command
        self._env = env
        self._held: list[str] = []
        self._lines = 0
        self._process: subprocess.Popen[str] | None = None

    @property
    def is_running(self) -> bool:
        """Whether the pager was needed."""
        return self._process is not None

    @property
    def encoding(self) -> str | None:
        """That of the stream below."""
        return self._under.encoding

    def isatty(self) -> bool:
        """Say that a person looks at it."""
        return True

    def fileno(self) -> int:
        """Return the terminal's own, to be asked how wide it is."""
        return self._under.fileno()

    def write(self, text: str, /) -> int:
        """Take a text."""
        if self._process is None:
            self._held.append(text)
            self._lines += text.count("\n")
            if self._lines < self._height:
                return len(text)
            text = self._start()
        self._give(text)
        return len(text)

    def flush(self) -> None:
        """Do nothing: the pager is written to as it reads."""

    def _start(self) -> str:
        text, self._held = "".join(self._held), []
        try:
            self._process = subprocess.Popen(  # noqa: S603  # the person's own pager
                self._command, stdin=subprocess.PIPE, env=self._env, encoding=self.encoding or "utf-8",
                errors="replace",
            )  # fmt: skip
        except OSError:
            # A pager that cannot be started: the terminal has its own way back.
            self._height = 1 << 60
        return text

    def _give(self, text: str) -> None:
        if self._process is None:
            self._under.write(text)
            return
        pipe: IO[str] | None = self._process.stdin
        assert pipe is not None
        try:
            pipe.write(text)
            pipe.flush()
        except (BrokenPipeError, ValueError) as error:
            raise ReaderGone from error

    def close(self) -> None:
        """Write what was held, or wait until the person has read."""
        process = self._process
        if process is None:
            self._under.write("".join(self._held))
            self._held = []
            self._under.flush()
            return
        assert process.stdin is not None
        with suppress(OSError):
            process.stdin.close()
        while process.poll() is None:
            try:
                process.wait()
            except KeyboardInterrupt:
                continue  # it is for the pager, which has the keyboard


@contextmanager
def paged(screen: Screen, *, wanted: bool, pattern: str | None = None) -> Generator[Screen]:
    """Give a screen whose data goes through a pager where a person looks and the text is long."""
    command = command_of(screen.env) if wanted and screen.is_terminal else None
    height = screen.height
    if command is None or height is None or screen.env.get("TERM") == "dumb":
        yield screen
        return
    whole, env = arguments(command, screen.env, pattern)
    screen.flush()
    stream = Paged(screen.stream, height, whole, env)
    try:
        yield screen.onto(stream)
    except (ReaderGone, KeyboardInterrupt):
        if not stream.is_running:
            raise
    finally:
        stream.close()
