"""Results of the tools that read, find and change files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from clew.format import fields
from clew.format.blocks import image_size
from clew.format.results_base import Result

if TYPE_CHECKING:
    from collections.abc import Mapping

_EMPTY: Final[Mapping[str, object]] = {}


@dataclass(frozen=True, slots=True)
class Hunk:
    """One changed stretch of a file. Its lines begin with a space, `-` or `+`."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: tuple[str, ...]

    @property
    def added(self) -> int:
        """How many lines came in."""
        return sum(line.startswith("+") for line in self.lines)

    @property
    def removed(self) -> int:
        """How many lines went out."""
        return sum(line.startswith("-") for line in self.lines)


def _hunks(data: Mapping[str, object]) -> tuple[Hunk, ...]:
    return tuple(
        Hunk(
            fields.integer(hunk, "oldStart") or 0,
            fields.integer(hunk, "oldLines") or 0,
            fields.integer(hunk, "newStart") or 0,
            fields.integer(hunk, "newLines") or 0,
            fields.strings(hunk, "lines"),
        )
        for hunk in fields.mappings(data, "structuredPatch")
    )


class Read(Result):
    """A file that was read: text, a picture, a notebook, a PDF."""

    __slots__ = ()

    @property
    def type(self) -> str | None:
        """What sort of file it was: `text`, `image` and others."""
        return fields.string(self.data, "type")

    @property
    def file(self) -> Mapping[str, object]:
        """The details; empty where `file` is only a string."""
        return fields.mapping(self.data, "file") or _EMPTY

    @property
    def path(self) -> str | None:
        """The file."""
        return fields.string(self.file, "filePath")

    @property
    def content(self) -> str | None:
        """The text that was read. An old form has it as `file` itself."""
        return fields.string(self.file, "content") or fields.string(self.data, "file")

    @property
    def start_line(self) -> int | None:
        """The first line that was read, from 1."""
        return fields.integer(self.file, "startLine")

    @property
    def num_lines(self) -> int | None:
        """How many lines were read."""
        return fields.integer(self.file, "numLines")

    @property
    def total_lines(self) -> int | None:
        """How many lines the file has."""
        return fields.integer(self.file, "totalLines")

    @property
    def base64(self) -> str | None:
        """The bytes of a picture or PDF."""
        return fields.string(self.file, "base64")

    @property
    def media_type(self) -> str | None:
        """For example `image/png`."""
        return fields.string(self.file, "type")

    @property
    def size(self) -> tuple[int, int] | None:
        """Width and height of a picture, as noted or as its header says."""
        noted = fields.mapping(self.file, "dimensions") or _EMPTY
        width, height = fields.integer(noted, "originalWidth"), fields.integer(noted, "originalHeight")
        if width is not None and height is not None:
            return width, height
        return None if self.base64 is None else image_size(self.base64)


class Glob(Result):
    """Files found by name."""

    __slots__ = ()

    @property
    def filenames(self) -> tuple[str, ...]:
        """The files."""
        return fields.strings(self.data, "filenames")

    @property
    def num_files(self) -> int | None:
        """How many there are."""
        return fields.integer(self.data, "numFiles")

    @property
    def truncated(self) -> bool | None:
        """Whether there were more."""
        return fields.flag(self.data, "truncated")


class Grep(Glob):
    """Files or lines found by content."""

    __slots__ = ()

    @property
    def mode(self) -> str | None:
        """`files_with_matches`, `content` or `count`; absent in 1.0.35."""
        return fields.string(self.data, "mode")

    @property
    def content(self) -> str | None:
        """The lines that matched."""
        return fields.string(self.data, "content")

    @property
    def num_lines(self) -> int | None:
        """How many lines matched."""
        return fields.integer(self.data, "numLines")

    @property
    def applied_limit(self) -> int | None:
        """The limit that cut the list."""
        return fields.integer(self.data, "appliedLimit")


class Change(Result):
    """What the tools that change a file have in common."""

    __slots__ = ()

    @property
    def path(self) -> str | None:
        """The file."""
        return fields.string(self.data, "filePath")

    @property
    def hunks(self) -> tuple[Hunk, ...]:
        """What changed; nothing for a new file."""
        return _hunks(self.data)

    @property
    def original(self) -> str | None:
        """The whole file as it was before; none for a new file, and not noted by old clients' Write."""
        return fields.string(self.data, "originalFile")

    @property
    def user_modified(self) -> bool | None:
        """Whether the person changed the edit before accepting it."""
        return fields.flag(self.data, "userModified")


class Write(Change):
    """A whole file that was written."""

    __slots__ = ()

    @property
    def action(self) -> str | None:
        """`create` or `update`."""
        return fields.string(self.data, "type")

    @property
    def content(self) -> str | None:
        """The file as it was written."""
        return fields.string(self.data, "content")


class Edit(Change):
    """A piece of a file that was replaced."""

    __slots__ = ()

    @property
    def old(self) -> str | None:
        """The piece before."""
        return fields.string(self.data, "oldString")

    @property
    def new(self) -> str | None:
        """The piece after."""
        return fields.string(self.data, "newString")

    @property
    def replace_all(self) -> bool | None:
        """Whether every occurrence was replaced."""
        return fields.flag(self.data, "replaceAll")


class MultiEdit(Change):
    """Several pieces of a file that were replaced, one after the other."""

    __slots__ = ()

    @property
    def edits(self) -> tuple[tuple[str, str], ...]:
        """The pieces before and after."""
        return tuple(
            (fields.string(edit, "old_string") or "", fields.string(edit, "new_string") or "")
            for edit in fields.mappings(self.data, "edits")
        )

    @property
    def original(self) -> str | None:
        """The whole file as it was before."""
        return fields.string(self.data, "originalFileContents")


class NotebookEdit(Result):
    """A cell of a notebook that was replaced, inserted or deleted."""

    __slots__ = ()

    @property
    def path(self) -> str | None:
        """The notebook."""
        return fields.string(self.data, "notebook_path")

    @property
    def cell_id(self) -> str | None:
        """The cell."""
        return fields.string(self.data, "cell_id")

    @property
    def cell_type(self) -> str | None:
        """`code` or `markdown`."""
        return fields.string(self.data, "cell_type")

    @property
    def mode(self) -> str | None:
        """`replace`, `insert` or `delete`."""
        return fields.string(self.data, "edit_mode")

    @property
    def new_source(self) -> str | None:
        """The cell as it was written."""
        return fields.string(self.data, "new_source")

    @property
    def original(self) -> str | None:
        """The whole notebook as it was before."""
        return fields.string(self.data, "original_file")

    @property
    def updated(self) -> str | None:
        """The whole notebook as it is now."""
        return fields.string(self.data, "updated_file")

    @property
    def error(self) -> str | None:
        """What went wrong."""
        return fields.string(self.data, "error") or None
