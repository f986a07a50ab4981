"""Ids of traces and spans: always the same for the same work, whenever and from whichever copy it is read.

A trace is named after the uuid of its prompt. The client gives every line a random UUID and keeps it when it
forks or copies a session, and only the session's id is rewritten (2.1.80 and later) or kept on some lines
(2.0.37 to 2.1.45). So a session's id must not go into the id of a trace: a copied turn would get another one
in each copy. Only a uuid that is none, as in files made by hand, is taken together with its session.
Spans are named after the API's ids within their trace. Line numbers, turn numbers and times play no part.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final

from clew.format.fields import mapping, string

if TYPE_CHECKING:
    from clew.format.entry import Entry

_UUID: Final = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE | re.ASCII)


def trace_id(*key: str) -> str:
    """Return the id of a trace by what names it."""
    return _digest("trace", key)[:32]


def span_id(trace: str, *key: str) -> str:
    """Return the id of a span by what names it within its trace."""
    return _digest("span", (trace, *key))[:16]


def prompt_key(entry: Entry, session_id: str) -> tuple[str, ...] | None:
    """Return what names the turn that a prompt starts; None for a prompt without a uuid.

    A fork made by the client's library gives new uuids and tells the old ones in `forkedFrom`.
    """
    fork = mapping(entry.data, "forkedFrom") or {}
    uuid = string(fork, "messageUuid") or entry.uuid
    if not uuid:
        return None
    if _UUID.fullmatch(uuid):
        return ("prompt", uuid.lower())
    return ("prompt", uuid, string(fork, "sessionId") or entry.session_id or session_id)


def copied_from(entry: Entry, session_id: str, *, is_mixed: bool) -> str | None:
    """Return the session that a prompt was copied from, as far as its own line tells; None for an own one.

    `is_mixed` says that other lines of the file are the session's own.
    """
    fork = string(mapping(entry.data, "forkedFrom") or {}, "sessionId")
    named = fork or (entry.session_id if is_mixed else None)
    return named if named and named != session_id else None


def line_key(entry: Entry) -> str:
    """Return what names a line that has no id: its uuid, or what it says, wherever in the file it stands."""
    return f"line {entry.uuid or hashlib.sha256(entry.raw).hexdigest()}"


def _digest(kind: str, key: tuple[str, ...]) -> str:
    made = hashlib.sha256(kind.encode())
    for part in key:
        # With its length before it, so that no two keys run together. Ids of files may hold anything.
        data = part.encode("utf-8", "surrogatepass")
        made.update(len(data).to_bytes(8, "big"))
        made.update(data)
    # A backend refuses an id that is all zero. The digest's beginning will not be, but the promise is cheap.
    found = made.hexdigest()
    return found if found[:16].strip("0") else "1" + found[1:]
