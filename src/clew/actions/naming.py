"""Name a session and tag it, as the client itself does: by lines at the end of its file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from clew.actions.editing import Asked, Extra, alive, begin, edit_footprint
from clew.edit.changes import Changes
from clew.errors import UsageError
from clew.format.decode import encode
from clew.store.append import append_lines
from clew.store.commit import NewFile
from clew.store.locks import hold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from clew.actions.editing import Wish
    from clew.actions.footprints import Footprint
    from clew.actions.outcomes import Outcome
    from clew.session.session import Session
    from clew.store.files import Store

_LONGEST = 500
_TITLE_FILE = "custom-title.json"


class Appended(NamedTuple):
    """What was added to a session that somebody is writing."""

    footprint: Footprint
    lines: tuple[bytes, ...]


def rename_session(store: Store, name: str, wish: Wish, *, title: str) -> Outcome | Appended:
    """Give a session a title."""
    title = " ".join(title.split())
    if not title or len(title) > _LONGEST:
        raise UsageError(f"a title has 1 to {_LONGEST} characters")
    footprint = begin(store, name, wish)
    id_ = footprint.file.id
    lines = [
        {"type": "custom-title", "customTitle": title, "sessionId": id_},
        {"type": "agent-name", "agentName": title, "sessionId": id_},
    ]
    beside = os.path.join(footprint.folder, id_, _TITLE_FILE)  # noqa: PTH118
    return _add(footprint, wish, lines, "the new title", {beside: encode({"customTitle": title})})


def tag_session(store: Store, name: str, wish: Wish, *, tag: str | None) -> Outcome | Appended:
    """Tag a session, or with None take its tag away."""
    tag = " ".join((tag or "").split())
    if len(tag) > _LONGEST:
        raise UsageError(f"a tag has at most {_LONGEST} characters")
    footprint = begin(store, name, wish)
    line = {"type": "tag", "tag": tag, "sessionId": footprint.file.id}
    return _add(footprint, wish, [line], "the new tag" if tag else "no tag any more", {})


def _add(
    footprint: Footprint,
    wish: Wish,
    lines: Sequence[Mapping[str, object]],
    reason: str,
    beside: Mapping[str, bytes],
) -> Outcome | Appended:
    if footprint.file.is_agent:
        raise UsageError("a sub-agent has no name of its own", hint="name its session")

    def make(session: Session) -> Changes:
        changes = Changes(session)
        for line in lines:
            changes.add(line, reason)
        return changes

    if alive(footprint, wish).is_live and not wish.is_dry:
        # Whoever writes it goes on in the same file: lines are added, and nothing is replaced.
        data = [encode(line) for line in lines]
        with hold(footprint.file.path, state=wish.state):
            append_lines(footprint.file.path, data)
        return Appended(footprint, tuple(data))
    there = {side.path for side in footprint.sides}
    extra = Extra(
        sides={path: _given(data) for path, data in beside.items() if path in there},
        asides=tuple(NewFile(path, _given(data)) for path, data in beside.items() if path not in there),
    )
    # A name belongs to the session itself, never to a copy of it.
    wish = wish._replace(in_place=True)
    asked = Asked(changes_nothing_sent=True, mends=True, adds_only=True)
    return edit_footprint(footprint, wish, make, asked=asked, also=lambda _: extra)


def _given(data: bytes) -> Callable[[], Iterable[bytes]]:
    return lambda: [data]
