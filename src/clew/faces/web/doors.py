"""What is kept of the door of a server: for a browser that is to be let in, and for a page that comes back.

The code that lets a browser in must not stand in the list of processes, where every user of the machine can
read what a program was started with. So the browser is given a file to open that only its owner can read, and
that leads on to the address.

A server on a port of a person's choice lets a page that is still open come back after a restart: the digest
of its cookie is kept for some hours. Not so on a port that was free by chance: another program may listen
there meanwhile, and browsers send cookies to whoever listens.
"""

from __future__ import annotations

import time
from html import escape
from typing import TYPE_CHECKING, Final

import msgspec

from clew.store.private_notes import drop_note, read_note, write_note

if TYPE_CHECKING:
    from pathlib import Path

KEPT: Final = 12 * 3600
"""Seconds for which a page may come back."""

_FOLDER: Final = "web"
_DIGEST: Final = 32


class _Given(msgspec.Struct):
    """A cookie that was given."""

    digest: str
    given: float
    """When, in seconds."""


def recall(state: Path, port: int, *, now: float | None = None) -> bytes | None:
    """Return the digest of the cookie that the server on a port gave last, if that is not long ago."""
    data = read_note(state / _FOLDER, _name(port))
    if data is None:
        return None
    now = time.time() if now is None else now
    try:
        found = msgspec.json.decode(data, type=_Given)
        digest = bytes.fromhex(found.digest)
    except ValueError:
        return None
    return digest if 0 <= now - found.given < KEPT and len(digest) == _DIGEST else None


def remember(state: Path, port: int, digest: bytes, *, now: float | None = None) -> None:
    """Keep the digest of the cookie that was given."""
    given = time.time() if now is None else now
    write_note(state / _FOLDER, _name(port), msgspec.json.encode(_Given(digest.hex(), given)))


def write_way_in(state: Path, port: int, url: str) -> Path:
    """Write a page that leads to an address, for the owner's eyes only."""
    there = escape(url, quote=True)
    page = (
        '<!doctype html>\n<meta charset="utf-8">\n<meta name="referrer" content="no-referrer">\n'
        f'<meta http-equiv="refresh" content="0;url={there}">\n<title>clew</title>\n'
        f'<p><a href="{there}">Open clew</a></p>\n'
    )
    return write_note(state / _FOLDER, _way_in(port), page.encode())


def drop_way_in(state: Path, port: int) -> None:
    """Take the page away: its code is used, or the server is gone."""
    drop_note(state / _FOLDER, _way_in(port))


def _name(port: int) -> str:
    return f"port-{port}.json"


def _way_in(port: int) -> str:
    return f"open-{port}.html"
