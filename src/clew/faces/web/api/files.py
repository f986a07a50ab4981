"""What sessions did to files: the Files view.

Everything is told from the sessions themselves, but for one thing: blame opens a file on disk, if it is one
that the list of files names, and lies in the folder of a project that a session changed it for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.actions.blaming import blame as blame_on_disk
from clew.actions.blaming import blame_told
from clew.actions.file_changes import follow_opened, list_files, make_patch, restore
from clew.actions.project_files import why_not
from clew.actions.sql import Wish, ask
from clew.actions.version_diffs import version_diff
from clew.errors import ClewError, UsageError
from clew.faces.web.answers import NotFoundError, Raw, document
from clew.format.times import iso
from clew.view.encoding import encode

if TYPE_CHECKING:
    from clew.actions.sql import Row
    from clew.faces.web.answers import Document
    from clew.faces.web.asking import Asked
    from clew.faces.web.site import Site

_SECONDS: Final = 30.0
_MOST: Final = 100_000
_LARGEST: Final = 8 << 20

_ALL: Final = """
SELECT path, count(*), count(DISTINCT session_id), sum(added), sum(removed), max(time_ms)
FROM files WHERE action IN ('create', 'edit', 'overwrite') GROUP BY path
ORDER BY max(time_ms) DESC, path
"""
_ONE: Final = """
SELECT session_id, agent_id, turn, call_id, tool, action, added, removed, time_ms
FROM files WHERE action IN ('create', 'edit', 'overwrite') AND path = {path}
ORDER BY time_ms, session_id, line
"""
_WHERE: Final = "SELECT DISTINCT project FROM sessions WHERE session_id IN ({ids})"


def files(site: Site, asked: Asked) -> Document:
    """List the files that all sessions changed, the one changed last first."""
    site.need_index()
    rows, notes = _asked_for(site, _ALL)
    part = (asked.text("part") or "").casefold()
    fitting = [row for row in rows if part in str(row[0]).casefold()]
    first, limit = asked.count("from"), asked.count("limit")
    return document(
        {
            "files": [
                {
                    "path": path,
                    "changes": changes,
                    "sessions": sessions,
                    "added": added,
                    "removed": removed,
                    "changed": _time(changed),
                }
                for path, changes, sessions, added, removed, changed in fitting[first : first + limit]
            ],
            "from": first,
            "next": first + limit if first + limit < len(fitting) else None,
            "total": len(fitting),
            "notes": notes,
        }
    )


def file_history(site: Site, asked: Asked) -> Document:
    """List every change of one file, in all sessions."""
    site.need_index()
    path = asked.text("path") or ""
    rows, notes = _asked_for(site, _ONE.format(path=_quoted(path)))
    shelf = site.shelf()
    return document(
        {
            "path": path,
            "changes": [
                {
                    "session": shelf.session_key(str(session), ""),
                    "agent_id": agent,
                    "turn": turn,
                    "call": call,
                    "tool": tool,
                    "action": action,
                    "added": added,
                    "removed": removed,
                    "time": _time(time),
                }
                for session, agent, turn, call, tool, action, added, removed, time in rows
            ],
            "notes": notes,
        }
    )


def session_files(site: Site, asked: Asked) -> Document:
    """List the files that a session changed, with every version of each."""
    book = site.book(asked.path["id"])
    with book.lock:
        found = list_files(follow_opened(book.opened))
        return document({"files": [{**one.as_dict(), "shown": one.shown} for one in found]})


def session_file(site: Site, asked: Asked) -> Document:
    """Return a file as it was after a turn, as the session tells it."""
    book = site.book(asked.path["id"])
    path = asked.text("path") or ""
    with book.lock:
        followed = follow_opened(book.opened)
        if path not in followed.paths:
            raise UsageError("this session did not change that file", hint="…/files lists those it did")
        found = restore(followed, path, turn=asked.number("turn"))
    if len(found.data) > _LARGEST:
        raise UsageError(f"the file has {len(found.data):,} bytes", hint="clew restore writes it")
    return document(
        {
            "path": found.path,
            "turn": found.turn,
            "tool": found.tool,
            "time": iso(found.time),
            "bytes": len(found.data),
            "text": found.data.decode("utf-8", "replace"),
            "is_text": b"\0" not in found.data[:8192],
        }
    )


def session_patch(site: Site, asked: Asked) -> Document:
    """Return what a session, or a turn of it, changed, as a patch for each file."""
    book = site.book(asked.path["id"])
    with book.lock:
        found = make_patch(follow_opened(book.opened), turn=asked.number("turn"), full_paths=True)
    return document(found.as_dict())


def session_diff(site: Site, asked: Asked) -> Document:
    """Return what changed in a file between two turns, as a part that the reader draws."""
    book = site.book(asked.path["id"])
    with book.lock:
        found = version_diff(
            follow_opened(book.opened),
            asked.text("path") or "",
            from_turn=asked.number("from_turn"),
            to_turn=asked.number("to_turn"),
        )
    return document(
        {
            "path": found.path,
            "from_turn": found.from_turn,
            "to_turn": found.to_turn,
            "is_text": found.is_text,
            "diff": Raw(encode(found.diff)),
        }
    )


def blame(site: Site, asked: Asked) -> Document:
    """Say who wrote each line of a file: of the one on disk, or else of the last that sessions tell."""
    site.need_index()
    path = asked.text("path") or ""
    rows, notes = _asked_for(site, _ONE.format(path=_quoted(path)))
    if not rows:
        raise NotFoundError("no session changed that file", hint="/api/files lists those that some did")
    ids = {str(row[0]) for row in rows}
    folders, _ = _asked_for(site, _WHERE.format(ids=", ".join(map(_quoted, sorted(ids)))))
    why = why_not(path, [str(folder) for (folder,) in folders])
    if why is None:
        try:
            found = blame_on_disk(site.store, path, known_as=path, among=ids, jobs=site.jobs)
        except ClewError as error:  # it went away, or cannot be read
            found, why = blame_told(site.store, path, among=ids), error.message
    else:
        found = blame_told(site.store, path, among=ids)
    shelf = site.shelf()
    last = found.last
    return document(
        {
            "path": path,
            **found.as_dict(),
            "text": [line.text for line in found.lines],
            "of": "disk" if why is None else "sessions",
            "why": why,
            "last": None
            if last is None
            else {"session": last.session, "turn": last.turn, "time": iso(last.time)},
            "keys": {session: shelf.session_key(session, "") for session in found.sessions},
            "notes": [*notes, *(f"{one.path}: {one.reason}" for one in found.skipped)],
        }
    )


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _asked_for(site: Site, query: str) -> tuple[list[Row], list[str]]:
    wish = Wish(limit=_MOST, seconds=_SECONDS, no_index=not site.index.is_usable, jobs=site.jobs)
    with ask(site.store, query, wish) as answer:
        rows = list(answer.rows())
        notes = [*answer.notes, *([f"only the first {_MOST:,} are told"] if answer.was_cut else [])]
    return rows, notes


def _time(value: object) -> str | None:
    return iso(int(value)) if isinstance(value, int | float) else None
