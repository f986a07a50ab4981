"""Read: show a file to the model, with numbered lines or as the picture or document it is."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from clew.agent import paths
from clew.agent.image_size import image_size
from clew.agent.tool import Outcome, Reach
from clew.agent.tools import notebook, read_image, read_pdf, texts
from clew.agent.tools.granted import Granted
from clew.agent.tools.inputs import Given
from clew.agent.tools.outcomes import failed, missing, refused, size_words, troubled
from clew.errors import ClewError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew.agent.tool import Work

_SCHEMA: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {
        "file_path": {"type": "string", "description": "The file to read, from the root on"},
        "offset": {"type": "integer", "minimum": 0, "description": "The first line to show, from 1"},
        "limit": {"type": "integer", "minimum": 1, "description": "How many lines to show"},
        "pages": {"type": "string", "description": 'Pages of a PDF to show: "3" or "1-5", at most 20'},
        "allow_large": {"type": "boolean", "description": "Show more of a large file than is usual"},
    },
    "required": ["file_path"],
    "additionalProperties": False,
}

_PICTURES: Final = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp"})
_BINARY: Final = frozenset(
    {
        *(
            ".7z",
            ".a",
            ".avi",
            ".bin",
            ".bz2",
            ".class",
            ".dat",
            ".db",
            ".dll",
            ".dmg",
            ".doc",
            ".docx",
            ".dylib",
        ),
        *(
            ".eot",
            ".exe",
            ".flac",
            ".gz",
            ".ico",
            ".iso",
            ".jar",
            ".lib",
            ".mkv",
            ".mov",
            ".mp3",
            ".mp4",
            ".o",
        ),
        *(".odt", ".ogg", ".otf", ".ppt", ".pptx", ".pyc", ".rar", ".so", ".sqlite", ".tar", ".tgz", ".tiff"),
        *(".ttf", ".war", ".wasm", ".wav", ".woff", ".woff2", ".xls", ".xlsx", ".xz", ".zip", ".zst"),
    }
)

_MOST_BYTES: Final = 64 << 20
"""No file larger than this is read, whatever part of it is asked for."""

_MOST_AT_ONCE: Final = 256 << 10
_MOST_LARGE: Final = 4 << 20
"""What is read of a text at once, without and with `allow_large`."""

_MOST_SHOWN: Final = 120_000
_MOST_SHOWN_LARGE: Final = 400_000
"""How many characters are shown: about what 2.1.325 shows, 25,000 tokens, or more if that is asked for."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Which part of a file is asked for."""

    offset: int | None
    limit: int | None
    pages: str
    is_large: bool


class Read:
    """Shows a file."""

    name = "Read"
    description = (
        "Reads a file: text with numbered lines, pictures (PNG, JPEG, GIF, WebP), PDF documents and "
        "Jupyter notebooks. "
        "Give the path from the root on. A long text is best read in parts, with `offset` and `limit`. "
        "Folders cannot "
        "be read. Lines are shown as a number, a tab and the line."
    )
    schema = _SCHEMA

    def __init__(self) -> None:
        self._granted = Granted()

    def is_parallel(self, given: Mapping[str, object]) -> bool:  # noqa: ARG002
        """Reading changes nothing."""
        return True

    def reach(self, given: Mapping[str, object], work: Work) -> Reach:
        """Say which file would be read; none if the input names none."""
        path = given.get("file_path")
        if not isinstance(path, str):
            return Reach()
        try:
            return Reach(reads=(self._granted.ask(path, work),))
        except paths.BadPathError:
            return Reach()

    def run(self, given: Mapping[str, object], work: Work) -> Outcome:
        """Show the file."""
        asked = Given(self.name, given, self.schema)
        path = asked.text("file_path")
        wanted = _Wanted(
            asked.number("offset"),
            asked.number("limit", least=1),
            asked.text("pages", required=False),
            asked.flag("allow_large"),
        )
        if asked.refusal is not None:
            return asked.refusal
        try:
            resolved = self._granted.take(path, work)
        except paths.BadPathError as error:
            return failed(error.message)
        try:
            return _shown(path, resolved, wanted, work)
        except (FileNotFoundError, NotADirectoryError):
            return failed(missing(resolved, work))
        except paths.NotAFileError as error:
            words = troubled(error, path)
            return failed(words) if error.what == "a directory" else refused(words)
        except (OSError, ClewError) as error:
            return failed(troubled(error, path))


def _shown(path: str, resolved: str, wanted: _Wanted, work: Work) -> Outcome:
    ending = os.path.splitext(resolved)[1].lower()  # noqa: PTH122
    if wanted.pages and ending == ".pdf":
        return read_pdf.pages(path, resolved, wanted.pages, work)
    found = paths.read(resolved, most=_MOST_BYTES)
    work.cancel.check()
    data = found.data
    is_picture = ending in _PICTURES or (b"\0" in data[:64] and image_size(data) is not None)
    if is_picture and data:
        outcome = read_image.shown(path, data)
    elif ending == ".pdf" or data.startswith(b"%PDF-"):
        outcome = read_pdf.whole(path, data)
    elif ending == ".ipynb" and data.strip():
        outcome = notebook.shown(path, data)
    elif ending in _BINARY and not _is_clean(data):
        return _told_binary(ending)
    else:
        return _text(path, resolved, found, wanted, work)
    if not outcome.is_error:
        work.seen.note(resolved, data, found.facts)
    return outcome


def _is_clean(data: bytes) -> bool:
    try:
        texts.decode(data)
    except texts.NotTextError:
        return False
    return True


def _told_binary(ending: str) -> Outcome:
    what = f"a binary {ending} file" if ending else "a binary file"
    return refused(
        f"This tool cannot read binary files. The file appears to be {what}. Use a skill for this file "
        f"type if one is "
        "available, or a shell command or script that can read the format."
    )


def _text(path: str, resolved: str, found: paths.Data, wanted: _Wanted, work: Work) -> Outcome:
    data = found.data
    most = _MOST_LARGE if wanted.is_large else _MOST_AT_ONCE
    if wanted.limit is None and len(data) > most:
        return failed(
            f"File content ({size_words(len(data))}) exceeds maximum allowed size ({size_words(most)}). "
            "Use offset and limit parameters to read specific portions of the file, or search for specific "
            "content "
            "instead of reading the whole file."
        )
    note = ""
    try:
        text = texts.decode(data)
    except texts.NotTextError as error:
        if error.is_binary:
            return _told_binary(os.path.splitext(resolved)[1].lower())  # noqa: PTH122
        text = texts.decode_roughly(data)
        note = (
            "\n\n[This file is not valid UTF-8: it has an older encoding, or it is binary. What could not "
            "be read "
            "shows as U+FFFD. Edit and Write will refuse it.]"
        )
    window = _window(text.plain, wanted)
    is_whole = window.start == 1 and window.count == window.total and not window.is_cut
    work.seen.note(
        resolved,
        data,
        found.facts,
        is_whole=is_whole,
        window=(window.start, None if is_whole else window.count),
    )
    file: dict[str, object] = {
        "filePath": path,
        "content": window.content,
        "numLines": window.count,
        "startLine": window.start,
        "totalLines": window.total,
    }
    if window.is_cut:
        file["truncatedByTokenCap"] = True
        last = window.start + window.count - 1
        note += (
            f"\n\n[Cut here: lines {window.start} to {last} of {window.total} are shown. Go on with offset.]"
        )
    return Outcome(_numbered(window) + note, {"type": "text", "file": file})


@dataclass(frozen=True, slots=True)
class _Window:
    """The lines that are shown."""

    start: int
    count: int
    total: int
    content: str
    is_cut: bool
    """Whether more was asked for than can be shown."""


def _window(plain: str, wanted: _Wanted) -> _Window:
    lines = plain.split("\n")
    start = max(1, wanted.offset or 1)
    most = _MOST_SHOWN_LARGE if wanted.is_large else _MOST_SHOWN
    chosen = lines[start - 1 :] if wanted.limit is None else lines[start - 1 : start - 1 + wanted.limit]
    room = most
    for at, line in enumerate(chosen):
        room -= len(line) + len(str(start + at)) + 2
        if room < 0:
            if at == 0:  # one line longer than everything: its beginning is better than nothing
                return _Window(start, 1, len(lines), line[:most], is_cut=True)
            return _Window(start, at, len(lines), "\n".join(chosen[:at]), is_cut=True)
    return _Window(start, len(chosen), len(lines), "\n".join(chosen), is_cut=False)


def _numbered(window: _Window) -> str:
    if not window.count:
        return (
            "<system-reminder>Warning: the file exists but is shorter than the provided offset "
            f"({window.start}). The file has {window.total} lines.</system-reminder>"
        )
    if not window.content and window.total == 1:
        return "<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>"
    lines = window.content.split("\n")
    return "\n".join(f"{at}\t{line}" for at, line in enumerate(lines, window.start))
