"""What a folder of exports holds: which file is which session's, and of what it was made.

It lies in the folder as `.clew-export.jsonl`, a line added for each file, the last of a name being the one
that counts. Whoever can write there can write it, so nothing in it is trusted to name a place elsewhere.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import msgspec

from clew.export.json_bytes import json_text
from clew.format.times import iso
from clew.store.outputs import add_line, read_output, write_output
from clew.view.parts import Head  # noqa: TC001  # the decoder looks for it

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME: Final = ".clew-export.jsonl"
_LARGEST: Final = 256 << 20


class Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One file of the folder."""

    name: str
    source: str
    """The session's own file; empty for an index."""

    format: str
    stamp: str
    """What it was made of, in short; empty while it is being written."""

    size: int = 0
    digest: str = ""
    head: Head | None = None
    redacted: int = 0
    is_redacted: bool = False
    is_damaged: bool = False
    left: int = 0
    """How many secrets stay in it, as they hold the session together."""

    def as_dict(self) -> dict[str, object]:
        """Return it for programs."""
        head = self.head
        return {
            "file": self.name,
            "session": None if head is None else head.session,
            "path": self.source,
            "title": None if head is None else head.title,
            "ended": None if head is None else iso(head.ended),
            "bytes": self.size,
            "redacted": self.redacted if self.is_redacted else None,
            "left": self.left if self.is_redacted else None,
        }


_DECODER: Final = msgspec.json.Decoder(Entry)


def source_name(path: str) -> str:
    """Return a path as the manifest has it: bytes that are no UTF-8 are escapes."""
    return path.encode("utf-8", "backslashreplace").decode("utf-8")


class Manifest:
    """The files of a folder, by their names."""

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(folder, NAME)  # noqa: PTH118
        self._entries: dict[str, Entry] = {}
        self._by_source: dict[tuple[str, str], str] = {}
        """The name by the session and the format."""
        self._names: set[str] = set()
        """All names, as file systems that do not tell case apart have them."""
        self._planned: set[str] = set()
        """Those that were begun, and of which nothing is known."""
        self._is_changed = False

    @classmethod
    def read(cls, folder: str) -> Manifest:
        """Read what is known of a folder; lines that make no sense are passed over."""
        found = cls(folder)
        for line in read_output(found._path, most=_LARGEST).splitlines():
            try:
                entry = _DECODER.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue
            if _is_plain(entry.name):
                found._take(entry)
        return found

    def _take(self, entry: Entry) -> None:
        if entry.digest:
            self._entries[entry.name] = entry
            self._by_source[entry.source, entry.format] = entry.name
            self._names.add(entry.name.casefold())
            self._planned.discard(entry.name)
        else:
            self._planned.add(entry.name)

    def plan(self, name: str, source: str, format_: str) -> None:
        """Say that a file is about to be written."""
        self._add(Entry(name, source, format_, ""))

    def put(self, entry: Entry) -> None:
        """Say that a file is there."""
        self._add(entry)

    def _add(self, entry: Entry) -> None:
        add_line(self._path, _line(entry))
        self._take(entry)
        self._is_changed = True

    def save(self) -> None:
        """Write it anew, a line for each file, if anything changed."""
        if not self._is_changed:
            return
        unknown = [Entry(name, "", "", "") for name in sorted(self._planned - self._entries.keys())]
        lines = [_line(entry) for entry in (*self._entries.values(), *unknown)]
        write_output(self._path, lines, replace=True)
        self._is_changed = False

    def find(self, source: str, format_: str) -> Entry | None:
        """Return the export of a session in a format."""
        name = self._by_source.get((source_name(source), format_))
        return None if name is None else self._entries.get(name)

    def named(self, name: str) -> Entry | None:
        """Return what is known of a file."""
        return self._entries.get(name)

    def of(self, format_: str) -> Iterator[Entry]:
        """Give all exports in a format."""
        return (entry for entry in self._entries.values() if entry.format == format_ and entry.source)

    def is_taken(self, name: str) -> bool:
        """Say whether a session has that name, or one that some file systems take for the same."""
        return name.casefold() in self._names

    def is_planned(self, name: str) -> bool:
        """Say whether a file was begun by us and perhaps never finished."""
        return name in self._planned


def _line(entry: Entry) -> bytes:
    # A title may hold half a character, which no encoder takes.
    return json_text(msgspec.to_builtins(entry)).encode("utf-8") + b"\n"


def _is_plain(name: str) -> bool:
    return bool(name) and name not in {".", "..", NAME} and not set(name) & {"/", "\\", "\0", ":"}
