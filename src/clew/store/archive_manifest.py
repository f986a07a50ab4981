"""What a snapshot says: which files a session had, where they lay, and of which chunks they are made.

A manifest is a JSON file called by the sha256 of its bytes. What is read is not believed: a manifest that was
changed, or that would put a file anywhere but below the folder it is meant for, is refused.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import PureWindowsPath
from typing import TYPE_CHECKING, Final, Literal, cast, get_args

from clew.errors import ClewError

if TYPE_CHECKING:
    from collections.abc import Callable

_MARK: Final = "clew-archive"
FORMAT: Final = 1
"""Raised when an older clew could not read what a newer one writes."""

Kind = Literal["session", "agent", "meta", "tool-result", "title", "file-history", "todo", "task", "other"]
_KINDS: Final = frozenset(get_args(Kind))
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_LONGEST: Final = 4096
_LARGEST: Final = 1 << 62


class BadManifestError(ClewError):
    """A manifest is damaged, of a newer clew, or asks for what no snapshot may ask for."""

    code = "bad-manifest"

    def __init__(self, path: str, cause: str) -> None:
        super().__init__(f"{path} is no snapshot to go by: {cause}")
        self.path = path
        self.cause = cause


@dataclass(frozen=True, slots=True)
class ArchivedFile:
    """One file as it was."""

    place: str
    """Where it lay below its base, with `/` between folders."""

    kind: Kind
    size: int
    mtime_ns: int
    mode: int
    digest: str
    """The sha256 of the whole file, as `sha256sum` prints it."""

    chunks: tuple[bytes, ...]

    @property
    def identity(self) -> tuple[str, int, str, int]:
        """What makes it the same file as another: not its time."""
        return self.place, self.size, self.digest, self.mode


@dataclass(frozen=True, slots=True)
class Manifest:
    """A session as it was at one time, with everything that belonged to it."""

    session: str
    base: str
    """The folder below which the files lay: the config folder, or for a file of no store its own."""

    is_in_store: bool
    """Whether the base is a config folder."""

    folder: str
    """The name of the project folder."""

    archived_ms: int
    files: tuple[ArchivedFile, ...]
    """The session's own file is the last, unless it was gone already."""

    cwd: str | None = None
    title: str | None = None
    started: str | None = None
    ended: str | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        """Which session it is of."""
        return self.base, self.folder, self.session

    @property
    def size(self) -> int:
        """How many bytes its files have."""
        return sum(file.size for file in self.files)

    @property
    def main(self) -> ArchivedFile:
        """The session's own file, or one that was left of it."""
        return self.files[-1]

    def is_same(self, other: Manifest) -> bool:
        """Say whether another one holds the same files, byte for byte."""
        return self.key == other.key and self.identity == other.identity

    @property
    def identity(self) -> tuple[tuple[str, int, str, int], ...]:
        """What makes it the same as another."""
        return tuple(file.identity for file in self.files)


def document(manifest: Manifest, *, chunks: bool = True) -> dict[str, object]:
    """Return what a manifest says, for JSON; without `chunks` where files are not made of any."""
    return {
        "session": manifest.session,
        "base": manifest.base,
        "in_store": manifest.is_in_store,
        "folder": manifest.folder,
        "archived_ms": manifest.archived_ms,
        "cwd": manifest.cwd,
        "title": manifest.title,
        "started": manifest.started,
        "ended": manifest.ended,
        "files": [
            {
                "place": file.place,
                "kind": file.kind,
                "size": file.size,
                "mtime_ns": file.mtime_ns,
                "mode": file.mode,
                "sha256": file.digest,
            }
            | ({"chunks": [chunk.hex() for chunk in file.chunks]} if chunks else {})
            for file in manifest.files
        ],
    }


def encode(manifest: Manifest) -> bytes:
    """Return the bytes of a manifest. Names that are no UTF-8 are kept as they are."""
    whole = {_MARK: FORMAT} | document(manifest)
    return json.dumps(whole, separators=(",", ":")).encode() + b"\n"


def snapshot_id(data: bytes) -> str:
    """Return what the snapshot with these bytes is called."""
    return sha256(data).hexdigest()


def decode(data: bytes, *, path: str, name: str) -> Manifest:
    """Return what the manifest called `name` says, or raise `BadManifestError`."""
    if snapshot_id(data) != name:
        raise BadManifestError(path, "it is not as it was written")
    return Reading(_MARK, FORMAT, partial(BadManifestError, path)).read(data)


def is_safe(place: str, *, on_windows: bool = os.name == "nt") -> bool:
    """Say whether a place stays below its base."""
    if on_windows and ("\\" in place or ":" in place or PureWindowsPath(place).is_reserved()):
        return False
    return (
        len(place) <= _LONGEST
        and "\0" not in place
        and all(part not in {"", ".", ".."} for part in place.split("/"))
    )


class Reading:
    """Takes the bytes of a manifest apart. Whatever is not as it should be is an error that names it."""

    def __init__(
        self,
        mark: str,
        known: int,
        refused: Callable[[str], ClewError],
        *,
        unsafe: Callable[[str], ClewError] | None = None,
        chunks: bool = True,
    ) -> None:
        """`mark` is the field that tells the format, `known` the newest that can be read.

        The errors are made by `refused`, and by `unsafe` for what nobody writes by mistake.
        """
        self._mark, self._known, self._chunks = mark, known, chunks
        self._refused, self._unsafe = refused, unsafe or refused
        self.document: dict[str, object] = {}
        """All that was read."""

    def read(self, data: bytes) -> Manifest:
        """Return what a manifest says."""
        try:
            found: object = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise self._refused("it is no JSON") from error
        try:
            self.document = _mapping(found)
            return self._manifest(self.document)
        except (KeyError, TypeError, ValueError) as error:
            what = error.args[0] if error.args else "something"
            raise self._refused(f"{what!r} is not as it should be") from error

    def _manifest(self, document: dict[str, object]) -> Manifest:
        version = document[self._mark]
        if version != self._known:
            raise self._refused(f"it is of format {version!r}, this clew knows {self._known}")
        files = tuple(self._file(_mapping(one)) for one in _list(document["files"]))
        if not files:
            raise ValueError("files")
        seen: set[str] = set()
        for file in files:
            if file.place in seen:
                raise self._unsafe(f"{file.place[:200]!r} is in it twice")
            seen.add(file.place)
        return Manifest(
            _text(document["session"]),
            _text(document["base"]),
            document["in_store"] is True,
            _text(document["folder"]),
            _number(document["archived_ms"]),
            files,
            _text_or_none(document.get("cwd")),
            _text_or_none(document.get("title")),
            _text_or_none(document.get("started")),
            _text_or_none(document.get("ended")),
        )

    def _file(self, one: dict[str, object]) -> ArchivedFile:
        place = _text(one["place"])
        if not is_safe(place):
            raise self._unsafe(f"the place {place[:200]!r} leads elsewhere")
        kind = _text(one["kind"])
        mode, size = _number(one["mode"]), _number(one["size"])
        digest = _text(one["sha256"])
        if kind not in _KINDS:
            raise self._refused(f"{place[:200]!r} is of the unknown kind {kind[:40]!r}")
        if not 0 <= mode <= 0o777 or size < 0 or not _DIGEST.fullmatch(digest):
            raise ValueError(place)
        chunks = tuple(_chunk(chunk) for chunk in _list(one["chunks"])) if self._chunks else ()
        return ArchivedFile(place, cast("Kind", kind), size, _number(one["mtime_ns"]), mode, digest, chunks)


def _mapping(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise TypeError("it")
    return cast("dict[str, object]", value)


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError("a list")
    return cast("list[object]", value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("a text")
    return value


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: object) -> int:
    # A file of before 1970 has a time below zero.
    if type(value) is not int or abs(value) > _LARGEST:
        raise ValueError("a number")
    return value


def _chunk(value: object) -> bytes:
    if not isinstance(value, str) or not _DIGEST.fullmatch(value):
        raise ValueError("a chunk")
    return bytes.fromhex(value)
