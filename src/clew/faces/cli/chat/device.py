"""The terminal itself: key by key instead of line by line, and always given back as it was."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from typing import TYPE_CHECKING, Final

from clew.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import FrameType, TracebackType
    from typing import Any, Self

_BEGIN: Final = "\x1b[?2004h"
"""Have what is pasted marked as such."""

_END: Final = "\x1b[?2004l\x1b[?7h\x1b[?25h"
_SIGNALS: Final = tuple(
    getattr(signal, name)
    for name in ("SIGWINCH", "SIGTERM", "SIGHUP", "SIGTSTP", "SIGCONT", "SIGINT")
    if hasattr(signal, name)
)
_HINT: Final = 'clew run "what does this project do?" asks without one'


def check_terminal(environ: Mapping[str, str]) -> None:
    """Raise where nobody sits at a terminal that can be drawn on."""
    if os.name != "posix":
        raise UsageError("clew chat needs a terminal of a POSIX system", hint=_HINT)
    for stream, name in ((sys.stdin, "input"), (sys.stdout, "output")):
        try:
            is_terminal = stream is not None and stream.isatty()
        except ValueError:  # closed before we came
            is_terminal = False
        if not is_terminal:
            raise UsageError(f"clew chat needs a terminal, and standard {name} is none", hint=_HINT)
    if environ.get("TERM", "dumb") in ("dumb", "unknown", ""):
        raise UsageError("clew chat needs a terminal that can move its cursor (TERM is dumb)", hint=_HINT)


class Device:
    """The terminal on standard input and output, while the context is open in a state of our own."""

    def __init__(self, *, encoding: str) -> None:
        self._in, self._out = sys.stdin.fileno(), sys.stdout.fileno()
        self._encoding = encoding
        self._saved: list[Any] | None = None
        self._heard: list[int] = []
        self._before: dict[int, Any] = {}
        self._wakes, self._waker = os.pipe()
        self.is_gone = False
        """Whether nobody can see what is written any more."""

    @property
    def input(self) -> int:
        """Where keys come from."""
        return self._in

    @property
    def wakes(self) -> int:
        """Can be read from when `wake` was called or a signal came."""
        return self._wakes

    def __enter__(self) -> Self:
        os.set_blocking(self._wakes, False)
        os.set_blocking(self._waker, False)
        # Told beside the waker's own bytes, which are zeros.
        self._wakeup_before = signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        for number in _SIGNALS:
            self._before[number] = signal.signal(number, self._hear)
        try:
            self.take()
        except BaseException:
            self._let_go()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.give_back()
        self._let_go()

    def _let_go(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._wakeup_before)
        os.close(self._waker)
        os.close(self._wakes)

    # Its state --------------------------------------------------------------------------------------

    def take(self) -> None:
        """Have keys as they are pressed, without being shown; again, where somebody else changed that."""
        import termios

        if self._saved is None:
            self._saved = termios.tcgetattr(self._in)
        mode = termios.tcgetattr(self._in)
        mode[0] &= ~(termios.BRKINT | termios.ICRNL | termios.INPCK | termios.ISTRIP | termios.IXON)
        mode[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN | termios.ISIG)
        mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0
        termios.tcsetattr(self._in, termios.TCSADRAIN, mode)
        self.write(_BEGIN)

    def give_back(self) -> None:
        """Put the terminal back as it was."""
        if self._saved is None:
            return
        import termios

        self.write(_END)
        saved, self._saved = self._saved, None
        with contextlib.suppress(termios.error, OSError):
            # What was typed ahead is the next program's.
            termios.tcsetattr(self._in, termios.TCSADRAIN, saved)

    def suspend(self) -> None:
        """Stop as Ctrl-Z stops any program; return when it goes on, with the terminal taken again."""
        self.give_back()
        before = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        # The whole group, as the terminal would; where no shell could wake it, the system does not stop it.
        os.kill(0, signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, before)
        self._heard = [number for number in self._heard if number != signal.SIGCONT]
        self.take()

    # Reading and writing ----------------------------------------------------------------------------

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows."""
        try:
            found = os.get_terminal_size(self._out)
        except OSError:
            return 80, 24
        return max(20, found.columns or 80), max(4, found.lines or 24)

    def write(self, text: str) -> None:
        """Write; a terminal that is gone is no error here."""
        data = text.encode(self._encoding, "backslashreplace")
        try:
            while data and not self.is_gone:
                data = data[os.write(self._out, data) :]
        except OSError:
            self.is_gone = True

    def read(self) -> bytes:
        """Return what was typed; nothing when the terminal is gone."""
        try:
            return os.read(self._in, 1 << 16)
        except OSError:
            return b""

    def wake(self) -> None:
        """Wake whoever waits for `wakes`, from any thread."""
        with contextlib.suppress(OSError):  # full: it is awake; closed: nobody waits
            os.write(self._waker, b"\0")

    def heard(self) -> list[int]:
        """Return the signals that came since."""
        with contextlib.suppress(BlockingIOError):
            while os.read(self._wakes, 1 << 12):
                pass
        heard = self._heard[:]
        del self._heard[: len(heard)]
        return heard

    def _hear(self, number: int, _frame: FrameType | None) -> None:
        self._heard.append(number)
