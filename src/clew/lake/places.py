"""Where the sessions come from and where the lake lies: a folder, or a bucket of an object store.

Folders are read through `store`, as all sessions are; objects by obstore, which knows S3, Google's and
Azure's stores. What a store needs to be told (keys, an endpoint) it takes from the environment, or from
options that go to it as they are.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from clew.errors import ClewError, UsageError
from clew.lake.libraries import obstore
from clew.store.source import FileSource

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from clew.format.lines import Source
    from clew.lake.layout import Found

_SCHEMES: Final = ("s3://", "s3a://", "gs://", "az://", "abfs://", "abfss://")
_WHOLE: Final = 32 << 20
"""Objects up to so many bytes are fetched at once."""

_WINDOW: Final = 8 << 20
_WINDOWS: Final = 4
_PIECE: Final = 1 << 20


_AGAIN: Final = "run the command again: what was done is not done again"


class PlaceError(ClewError):
    """An object store, or a folder, did not do what was asked of it."""

    code = "store"

    def __init__(self, place: str, cause: str, *, hint: str = _AGAIN) -> None:
        super().__init__(f"{place}: {cause}", hint=hint)
        self.place = place


class Place(Struct, frozen=True, array_like=True):
    """A folder or a prefix in an object store. Plain values, so that it can go to another machine."""

    url: str
    """The absolute path of a folder, or an address."""

    options: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, text: str, options: Iterable[str] = ()) -> Place:
        """Read a place as a person writes it; `options` are `key=value`."""
        if not text:
            raise UsageError("an empty path is no place", hint="give a folder, or s3://bucket/prefix")
        told: list[tuple[str, str]] = []
        for option in options:
            name, equals, value = option.partition("=")
            if not equals or not name:
                raise UsageError(f"{option!r} is no option", hint="--storage-option aws_region=eu-central-1")
            told.append((name, value))
        if "://" in text and not text.startswith("file://"):
            if not text.startswith(_SCHEMES):
                scheme = text.partition("://")[0]
                raise UsageError(
                    f"{scheme}:// is no store that is known", hint="a folder, s3://, gs:// or az://"
                )
            return cls(text.rstrip("/"), tuple(told))
        return cls(os.path.abspath(text.removeprefix("file://")), tuple(told))  # noqa: PTH100

    @property
    def is_local(self) -> bool:
        """Whether it is a folder of this machine."""
        return "://" not in self.url

    def below(self, *parts: str) -> Place:
        """Return a place inside."""
        return Place("/".join((self.url, *parts)), self.options)

    def shown(self, key: str) -> str:
        """Return the path or address of a file."""
        return f"{self.url}/{key}" if key else self.url

    @property
    def environment(self) -> dict[str, str]:
        """The options by name, as deltalake takes them."""
        return dict(self.options)

    # --- files ----------------------------------------------------------------------------------------------

    def put(self, key: str, data: Any, *, only_new: bool = False) -> bool:
        """Write a file whole; with `only_new` say whether there was none."""
        library = obstore()
        with translated(self.shown(key)):
            try:
                library.put(_store(self), key, data, mode="create" if only_new else "overwrite")
            except library.exceptions.AlreadyExistsError:
                return False
        return True

    def put_unnamed(self, key: str, data: Any) -> None:
        """Write a file of a name that nobody knows before this is done, and that nobody else can have."""
        if not self.is_local:
            self.put(key, bytes(data))
            return
        # Nobody can see half of it, so it need not be put in its place by a rename: that took a millisecond.
        path = Path(self.shown(key))
        try:
            try:
                path.write_bytes(data)
            except FileNotFoundError:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
        except OSError as error:
            raise PlaceError(str(path), error.strerror or str(error)) from error

    def get(self, key: str) -> bytes:
        """Read a file whole."""
        with translated(self.shown(key)):
            return bytes(obstore().get(_store(self), key).bytes())

    def keys(self, prefix: str = "") -> list[str]:
        """List the files below a prefix."""
        if self.is_local and not Path(self.url).is_dir():
            return []
        with translated(self.shown(prefix)):
            found = obstore().list(_store(self), prefix or None)
            return sorted(one["path"] for batch in found for one in batch)

    def objects(self) -> Iterator[tuple[str, str, int, int]]:
        """Give every object: key, etag, size, when it was written."""
        with translated(self.url):
            for batch in obstore().list(_store(self), chunk_size=1000):
                for one in batch:
                    changed = int(one["last_modified"].timestamp() * 1000)
                    yield one["path"], one.get("e_tag") or f"{changed}-{one['size']}", one["size"], changed

    @contextmanager
    def opened(self, found: Found) -> Generator[Source]:
        """Open a session file."""
        if self.is_local:
            with FileSource(self.shown(found.key)) as source:
                yield source
            return
        yield ObjectSource(self, found)

    def pieces(self, found: Found) -> Iterator[bytes]:
        """Give the bytes of a file in pieces."""
        with self.opened(found) as source:
            at = 0
            while piece := source.read(at, _PIECE):
                yield piece
                at += len(piece)


@lru_cache(maxsize=64)
def _store(place: Place) -> Any:
    stores = obstore().store
    with translated(place.url):
        if place.is_local:
            return stores.LocalStore(place.url, mkdir=True)
        own = {name: value for name, value in place.options if not _is_for_client(name)}
        client = {
            name.lower().removeprefix("aws_"): _told(value)
            for name, value in place.options
            if _is_for_client(name)
        }
        return stores.from_url(place.url, config=own or None, client_options=client or None)


def _is_for_client(name: str) -> bool:
    return name.lower().removeprefix("aws_") in {"allow_http", "timeout", "connect_timeout", "proxy_url"}


def _told(value: str) -> object:
    return value.lower() == "true" if value.lower() in {"true", "false"} else value


@contextmanager
def translated(place: str) -> Generator[None]:
    """Make errors of an object store ours, with the part of their text that says something."""
    try:
        yield
    except obstore().exceptions.BaseError as error:
        raise PlaceError(place, _reason(error)) from error
    except FileNotFoundError as error:
        raise PlaceError(place, "it is not there") from error


def _reason(error: BaseException) -> str:
    first = str(error).strip().partition("\n")[0]
    return first[:300] or type(error).__name__


class ObjectSource:
    """The bytes of one object: a small one fetched at once, a large one in windows, of which few are held."""

    def __init__(self, place: Place, found: Found) -> None:
        self._place = place
        self._found = found
        self._held: dict[int, bytes] = {}
        self._window = max(found.size, 1) if found.size <= _WHOLE else _WINDOW

    @property
    def size(self) -> int:
        """How many bytes there are."""
        return self._found.size

    def read(self, offset: int, length: int) -> bytes:
        """Return up to `length` bytes from `offset`."""
        end = min(self.size, offset + length)
        if offset >= end:
            return b""
        first, last = offset // self._window, (end - 1) // self._window
        data = b"".join(map(self._fetched, range(first, last + 1)))
        start = offset - first * self._window
        return data[start : start + end - offset] if start or len(data) != end - offset else data

    def _fetched(self, number: int) -> bytes:
        held = self._held.get(number)
        if held is None:
            while len(self._held) >= _WINDOWS:
                self._held.pop(next(iter(self._held)))
            held = self._held[number] = self._fetch(number * self._window)
        return held

    def _fetch(self, start: int) -> bytes:
        found, library = self._found, obstore()
        end = min(found.size, start + self._window)
        with translated(self._place.shown(found.key)):
            # Whoever writes it meanwhile makes another object of it: half of each would be no session.
            options = {"range": (start, end), "if_match": found.etag}
            data = bytes(library.get(_store(self._place), found.key, options=options).bytes())
        if len(data) != end - start:
            raise PlaceError(self._place.shown(found.key), "it changed while it was read")
        return data
