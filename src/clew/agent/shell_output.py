"""What a command prints: its beginning in memory, all of it in a file when it is long.

A program prints whatever it likes: colours, half characters, bells, endless lines. What the model and the
screen get is plain text; the file keeps the bytes as they came. Neither grows without end.
"""

from __future__ import annotations

import codecs
import hashlib
import os
import re
import threading
from typing import TYPE_CHECKING, Final

from clew.agent.tools.outcomes import size_words

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_INLINE: Final = 30_000
"""Characters of an output that go into the line of its result; a longer one goes to a file."""

MOST_KEPT: Final = 64 << 20
"""Bytes of an output that are kept at all: a program left alone would fill the disk."""

_PREVIEW: Final = 2000
_LONGEST_LINE: Final = 2000
"""Characters of one line that are told while the command runs."""

_ESCAPES: Final = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, moves
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # titles, links
    r"|\x1b[PX^_][^\x1b]*\x1b\\"  # strings for the terminal itself
    r"|\x1b[ -/]*[0-~]"  # the rest of two signs or three
)
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def plain(text: str) -> str:
    """Return a text without what would move a cursor, ring a bell or end a string."""
    # A lone carriage return writes a line anew on a screen; as an own line nothing of it is lost or hidden.
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROLS.sub("", _ESCAPES.sub("", text)) if _CONTROLS.search(text) else text


def preview(text: str) -> str:
    """Return the beginning of a text, cut at the end of a line when there is one near."""
    if len(text) <= _PREVIEW:
        return text
    cut = text.rfind("\n", 0, _PREVIEW)
    return text[: cut if cut > _PREVIEW // 2 else _PREVIEW]


def persisted(text: str, path: str, size: int) -> str:
    """Say, as 2.1.325 does, that a result is in a file, and how it begins."""
    shown = preview(text)
    return (
        f"<persisted-output>\nOutput too large ({size_words(size)}). Full output saved to: {path}\n\n"
        f"Preview (first 2KB):\n{shown}\n...\n</persisted-output>"
    )


def file_name(call_id: str) -> str:
    """Return the name of the file for the output of a call; an id that is no name is told by its digest."""
    if re.fullmatch(r"[A-Za-z0-9_-]{1,200}", call_id):
        return f"{call_id}.txt"
    return f"call-{hashlib.sha256(call_id.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}.txt"


def create(folder: str, name: str) -> tuple[int, str]:
    """Make a new file for an output, readable by its owner alone; return its descriptor and path."""
    os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103  # paths are strings here
    stem, dot, ending = name.rpartition(".")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    for count in range(1, 100):
        path = os.path.join(folder, name if count == 1 else f"{stem}-{count}{dot}{ending}")  # noqa: PTH118
        try:
            return os.open(path, flags, 0o600), path
        except FileExistsError:
            continue
    raise FileExistsError(f"there are a hundred files called {name}")


def save(folder: str, name: str, data: bytes) -> str:
    """Keep something too long for a line in a file of its own; return its path."""
    file, path = create(folder, name)
    with os.fdopen(file, "wb") as opened:
        opened.write(data)
    return path


class Captured:
    """Takes in an output piece by piece. Several threads may look while one feeds."""

    def __init__(
        self,
        folder: str,
        name: str,
        *,
        report: Callable[[str], None] | None = None,
        always_in_file: bool = False,
        most: int = MOST_KEPT,
    ) -> None:
        self._folder, self._name, self._most = folder, name, most
        self._report = report
        self._lock = threading.Lock()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._head: list[str] = []
        self._line = ""
        self._early = bytearray()
        """The bytes so far, until it is known whether they go to a file."""
        self._file: int | None = None
        self.path: str | None = None
        """The file that holds the output, if there is one."""
        self.size = 0
        """How many bytes came."""
        self.characters = 0
        self.trouble: str | None = None
        """Why there is no whole file."""
        if always_in_file:
            self._spill()

    @property
    def is_long(self) -> bool:
        """Whether it is too long for a line."""
        return self.characters > MOST_INLINE

    @property
    def text(self) -> str:
        """The output as plain text, or its beginning when it is long."""
        with self._lock:
            text = "".join(self._head)[:MOST_INLINE]
        return plain(text)

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        with self._lock:
            self._keep(data)
            text = self._decoder.decode(data)
            self._count(text)
        self._tell(text)

    def end(self) -> None:
        """Take that there is no more."""
        with self._lock:
            text = self._decoder.decode(b"", final=True)
            self._count(text)
            if self._file is not None:
                os.close(self._file)
                self._file = None
            self._early.clear()
        self._tell(text, is_last=True)

    def _count(self, text: str) -> None:
        if self.characters < MOST_INLINE:
            self._head.append(text)
        self.characters += len(text)
        if self.is_long and self.path is None and self.trouble is None:
            self._spill()

    def _keep(self, data: bytes) -> None:
        room = max(0, self._most - self.size)
        self.size += len(data)
        if len(data) > room:
            data = data[:room]
            self.trouble = f"only the first {size_words(self._most)} were kept"
        if self._file is None:
            if self.path is None and self.trouble is None:
                self._early += data
            return
        try:
            _write(self._file, data)
        except OSError as error:
            self._give_up(error)

    def _spill(self) -> None:
        try:
            self._file, self.path = create(self._folder, self._name)
            _write(self._file, bytes(self._early))
        except OSError as error:
            self._give_up(error)
        self._early.clear()

    def _give_up(self, error: OSError) -> None:
        """Go on without the file: a full disk is no reason to lose what the command does."""
        self.trouble = f"the output could not be saved: {error.strerror or error}"
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _tell(self, text: str, *, is_last: bool = False) -> None:
        if self._report is None:
            return
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            self._report(plain(line.rstrip("\r")[:_LONGEST_LINE]))
        if len(self._line) > _LONGEST_LINE:
            # Of a line that never ends only the beginning is told.
            self._line = self._line[: _LONGEST_LINE + 1]
        if is_last and self._line:
            self._report(plain(self._line[:_LONGEST_LINE]))
            self._line = ""


def _write(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]
