"""The one gate between session text and the terminal, and everything that is written there.

What a session says is untrusted: it holds web pages, tool output and escape sequences. So nothing is
written but through `Screen`, and `Screen` passes every text through `view.plain`. The only escape
sequences that ever leave are our own colours, and the frame of a picture where one was asked for. How wide a
text is and where it is cut is told in `cells`.
"""

from __future__ import annotations

import codecs
import os
import sys
import time
from base64 import b64encode
from contextlib import contextmanager
from copy import copy
from typing import TYPE_CHECKING, Literal, NamedTuple, NoReturn, Protocol

from clew.errors import ClewError
from clew.faces.cli import cells
from clew.view.plain import json_safe, one_line, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping

Style = Literal["bold", "dim", "green", "red", "yellow", "cyan", "reverse"]
ColorChoice = Literal["auto", "always", "never"]

# --- styles -----------------------------------------------------------------------------------------

# The 16-colour set, so that the user's theme applies. Plain blue is unreadable on many dark grounds.
_SGR: dict[Style, str] = {
    "bold": "1",
    "dim": "2",
    "reverse": "7",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "cyan": "36",
}


class Span(NamedTuple):
    """A text and how it is to look. The text is as untrusted as any other."""

    text: str
    styles: tuple[Style, ...] = ()


Part = str | Span


def span(text: str, *styles: Style) -> Span:
    """Give a text a look: `span("1 failed", "red")`."""
    return Span(text, styles)


def _paint(text: str, styles: Iterable[Style]) -> str:
    codes = ";".join(_SGR[style] for style in styles)
    if not codes:
        return text
    # Line by line: a pager that shows the middle of a long text still knows its colour.
    return "\n".join(f"\x1b[{codes}m{line}\x1b[0m" if line else "" for line in text.split("\n"))


def wants_color(choice: ColorChoice, *, is_terminal: bool, env: Mapping[str, str]) -> bool:
    """Whether to colour: the flag first, then CLEW_COLOR, then NO_COLOR, then what the terminal can do."""
    if choice == "auto" and env.get("CLEW_COLOR") in ("always", "never"):
        choice = "always" if env["CLEW_COLOR"] == "always" else "never"
    if choice != "auto":
        return choice == "always"
    return is_terminal and not env.get("NO_COLOR") and env.get("TERM") != "dumb"


# --- ASCII mode -------------------------------------------------------------------------------------

_ASCII_GLYPHS = str.maketrans(
    {
        "●": "*", "✗": "x", "└": "-", "…": "...", "–": "-", "—": "-", "·": "-", "›": ">", "‹": "<", "─": "-",
        "│": "|", "≈": "~", "→": "->", "✓": "+", "█": "#", "▉": "#", "▊": "#", "▋": "#", "▌": "#",
        "▍": ":", "▎": ":", "▏": ".", "−": "-", "“": '"', "”": '"', "‘": "'", "’": "'",
        "×": "x", "\u2421": "^?",
        **{chr(0x2400 + code): f"^{chr(0x40 + code)}" for code in range(0x20)},
    }
)  # fmt: skip


def ascii_glyphs(text: str) -> str:
    """Put plain letters in place of the glyphs clew draws with, where the terminal has no Unicode."""
    return text.translate(_ASCII_GLYPHS)


# --- output -----------------------------------------------------------------------------------------


class Stream(Protocol):
    """As much of a text stream as a screen needs."""

    @property
    def encoding(self) -> str | None: ...  # noqa: D102
    def write(self, text: str, /) -> int: ...  # noqa: D102
    def flush(self) -> None: ...  # noqa: D102
    def isatty(self) -> bool: ...  # noqa: D102
    def fileno(self) -> int: ...  # noqa: D102


class ReaderGone(SystemExit):
    """Whoever read our output has closed it: the program ends quietly, as `clew ls | head` should."""

    def __init__(self) -> None:
        super().__init__(0)


class _Channel:
    """One stream with its encoding, its colours and whether a person looks at it."""

    def __init__(self, stream: Stream, *, color: ColorChoice, env: Mapping[str, str]) -> None:
        self.stream = stream
        self.is_terminal = _is_terminal(stream)
        self.color = wants_color(color, is_terminal=self.is_terminal, env=env)
        self.encoding = _encoding(stream)
        self.unicode = self.encoding.startswith("utf") and not env.get("CLEW_ASCII")

    def render(self, parts: Iterable[Part]) -> str:
        out: list[str] = []
        for part in parts:
            text, styles = (part, ()) if isinstance(part, str) else (part.text, part.styles)
            safe = plain(text)
            if not self.unicode:
                safe = ascii_glyphs(safe)
            out.append(_paint(safe, styles) if self.color and styles else safe)
        return "".join(out)

    def write(self, text: str) -> None:
        if not self.encoding.startswith("utf"):
            text = text.encode(self.encoding, "backslashreplace").decode(self.encoding)
        try:
            self.stream.write(text)
        except OSError as error:
            self._fail(error)

    def write_bytes(self, data: bytes) -> None:
        """Write bytes as they are, where the stream takes them."""
        below = getattr(self.stream, "buffer", None)
        if below is None:
            self.write(data.decode("utf-8", "replace"))
            return
        try:
            self.stream.flush()
            below.write(data)
        except OSError as error:
            self._fail(error)

    def flush(self) -> None:
        try:
            self.stream.flush()
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> NoReturn:
        # The interpreter flushes once more when it ends; let that go nowhere instead of printing a traceback.
        try:
            sink = os.open(os.devnull, os.O_WRONLY)
            os.dup2(sink, self.stream.fileno())
            os.close(sink)
        except (OSError, ValueError):
            pass
        if isinstance(error, BrokenPipeError):
            raise ReaderGone from error
        raise ClewError(f"the output cannot be written: {error.strerror or error}") from error


def _is_terminal(stream: Stream) -> bool:
    try:
        return stream.isatty()
    except ValueError:  # a stream that was closed before we came
        return False


def _encoding(stream: Stream) -> str:
    try:
        return codecs.lookup(stream.encoding or "utf-8").name
    except LookupError:
        return "ascii"


class PictureSequence(NamedTuple):
    """A picture in the protocol of a terminal that can draw it. Only its bytes come from a session."""

    kind: Literal["kitty", "iterm2"]
    data: bytes

    def framed(self) -> str:
        """Return it as it is written: our own head, and base64 made here."""
        text = b64encode(self.data).decode("ascii")
        if self.kind == "iterm2":
            return f"\x1b]1337;File=inline=1;size={len(self.data)};width=auto;height=auto:{text}\x07"
        pieces = [text[at : at + 4096] for at in range(0, len(text), 4096)]
        out: list[str] = []
        for at, piece in enumerate(pieces):
            more = int(at < len(pieces) - 1)
            head = f"a=T,f=100,q=2,m={more}" if not at else f"m={more}"
            out.append(f"\x1b_G{head};{piece}\x1b\\")
        return "".join(out)


class Screen:
    """Where a command writes: data to standard output, everything else to standard error."""

    def __init__(
        self,
        stdout: Stream | None = None,
        stderr: Stream | None = None,
        *,
        color: ColorChoice = "auto",
        width: int | None = None,
        quiet: bool = False,
        env: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        env = os.environ if env is None else env
        self._out = _Channel(stdout or sys.stdout, color=color, env=env)
        self._err = _Channel(stderr or sys.stderr, color=color, env=env)
        self._columns = width
        self._env = env
        self._clock = clock
        self._quiet = quiet
        self._progress: Progress | None = None

    @property
    def is_terminal(self) -> bool:
        """Whether a person looks at standard output. If not: no cuts, no footers."""
        return self._out.is_terminal

    @property
    def has_color(self) -> bool:
        """Whether standard output is coloured."""
        return self._out.color

    @property
    def is_ascii(self) -> bool:
        """Whether standard output can show ASCII only."""
        return not self._out.unicode

    @property
    def width(self) -> int | None:
        """The cells in a line of standard output; None when it is not a terminal and nothing is cut."""
        return self._cells_of(self._out) if self._out.is_terminal else None

    @property
    def height(self) -> int | None:
        """The lines of the terminal; None when standard output is none."""
        if not self._out.is_terminal:
            return None
        lines = self._env.get("LINES", "")
        if lines.isascii() and lines.isdigit() and int(lines) > 0:
            return int(lines)
        try:
            return os.get_terminal_size(self._out.stream.fileno()).lines or None
        except (OSError, ValueError):
            return None

    @property
    def stream(self) -> Stream:
        """Where data is written; for a pager in between, and for nothing else."""
        return self._out.stream

    @property
    def env(self) -> Mapping[str, str]:
        """The environment that was looked at."""
        return self._env

    def _cells_of(self, channel: _Channel) -> int:
        if self._columns is not None:
            return self._columns
        columns = self._env.get("COLUMNS", "")
        if columns.isascii() and columns.isdigit() and int(columns) > 0:
            return int(columns)
        try:
            return os.get_terminal_size(channel.stream.fileno()).columns or 80
        except (OSError, ValueError):
            return 80

    def onto(self, stream: Stream) -> Screen:
        """Return a screen like this one whose data goes to `stream`, such as a pager."""
        other = copy(self)
        other._out = channel = copy(self._out)  # noqa: SLF001  # a screen too
        channel.stream = stream
        return other

    def picture(self, sequence: PictureSequence) -> None:
        """Write a picture that the terminal draws itself: base64, and our own frame around it."""
        self._erase()
        self._out.write(sequence.framed() + "\n")

    def print(self, *parts: Part) -> None:
        """Write one line of data to standard output."""
        self._erase()
        self._out.write(self._out.render(parts) + "\n")

    def lines(self, lines: Iterable[Iterable[Part]]) -> None:
        """Write lines of data, as a table makes them, to standard output."""
        for line in lines:
            self.print(*line)

    def json(self, document: str) -> None:
        """Write a JSON document (or a line of NDJSON) to standard output, escaped where it would act."""
        self._erase()
        self._out.write(json_safe(document.rstrip("\n")) + "\n")

    def document(self, pieces: Iterable[bytes]) -> None:
        """Write a whole document in UTF-8: to a terminal through the gate, anywhere else as it is."""
        self._erase()
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        for piece in pieces:
            if self._out.is_terminal:
                self._out.write(self._out.render([decode(piece)]))
            else:
                self._out.write_bytes(piece)

    def note(self, *parts: Part) -> None:
        """Tell the person something that is not data, on standard error; silent with `-q`."""
        if not self._quiet:
            self._tell(parts)

    def error(self, message: str, *, hint: str | None = None) -> None:
        """Say what failed and one thing to try next, on standard error."""
        self._tell((Span("error: ", ("red", "bold")), message))
        if hint:
            self._tell((Span("try: ", ("dim",)), hint))

    def _tell(self, parts: Iterable[Part]) -> None:
        self._erase()
        self._out.flush()  # so that the two streams keep their order where they share a terminal
        self._err.write(self._err.render(parts) + "\n")
        self._err.flush()

    def flush(self) -> None:
        """Write out what is held back; call it last, while a full disk can still be reported."""
        self._erase()
        self._out.flush()
        self._err.flush()

    @contextmanager
    def progress(
        self, total: int | None, label: str = "Reading", what: str = "sessions"
    ) -> Generator[Progress]:
        """Show "Reading 96 of 134 sessions" on standard error once 300 ms have passed; erased at the end."""
        shows = self._err.is_terminal and self._env.get("TERM") != "dumb" and not self._quiet
        progress = Progress(total, label, what, draw=self._draw if shows else None, clock=self._clock)
        self._progress = progress
        try:
            yield progress
        finally:
            self._erase()
            self._progress = None

    def _draw(self, text: str, drawn: int) -> int:
        """Write the progress line over the `drawn` cells of the one before; return how many it has."""
        text = self._err.render((one_line(text),))
        mark = "…" if self._err.unicode else "..."
        text = cells.cut_end(text, max(1, self._cells_of(self._err) - 1), mark=mark)
        cells_now = cells.width(text)
        # Spaces and returns only: the one escape sequence that leaves here is colour.
        self._err.write("\r" + text + " " * max(0, drawn - cells_now) + ("\r" if not text else ""))
        self._err.flush()
        return cells_now

    def _erase(self) -> None:
        if self._progress is not None:
            self._progress.erase()


class Progress:
    """How far a long piece of work has come. Cheap enough to call for every file."""

    WAIT = 0.3
    EVERY = 0.1

    def __init__(
        self,
        total: int | None,
        label: str,
        what: str,
        *,
        draw: Callable[[str, int], int] | None,
        clock: Callable[[], float],
    ) -> None:
        self.total = total
        self.done = 0
        self._label = label
        self._what = what
        self._draw = draw
        self._clock = clock
        self._cells = 0
        self._next = clock() + self.WAIT

    def advance(self, by: int = 1) -> None:
        """Count what was done, and redraw the line if it is time to."""
        self.done += by
        if self._draw is None:
            return
        now = self._clock()
        if now >= self._next:
            self._next = now + self.EVERY
            of = f" of {self.total:,}" if self.total is not None else ""
            self._cells = self._draw(f"{self._label} {self.done:,}{of} {self._what}", self._cells)

    def erase(self) -> None:
        """Take the line away, if it was ever drawn."""
        if self._draw is not None and self._cells:
            self._cells = self._draw("", self._cells)
