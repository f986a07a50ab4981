"""Edits and their undoing: what Doctor offers. Without being told otherwise, an edit is only previewed."""

from __future__ import annotations

import secrets
import time
import uuid
from typing import TYPE_CHECKING

from clew.actions.editing import Wish
from clew.actions.edits import repair_session, trim_session
from clew.actions.redacting import compiled, placeholder_key, redact_session
from clew.errors import UsageError
from clew.faces.web.answers import ReadOnlyError, document
from clew.store import journal
from clew.store.state import state_folder

if TYPE_CHECKING:
    from clew.actions.outcomes import Outcome
    from clew.faces.web.answers import Document
    from clew.faces.web.asking import Asked
    from clew.faces.web.site import Site


def repair(site: Site, asked: Asked) -> Document:
    """Mend what keeps a session from being resumed."""
    _refuse(site)
    with site.edited():
        outcome = repair_session(
            site.store,
            _path(site, asked),
            _wish("repair", asked),
            seed=secrets.token_bytes(32),
            drop_empty_thinking=True if asked.flag("drop_empty_thinking") else None,
        )
    return _told(site, outcome)


def trim(site: Site, asked: Asked) -> Document:
    """Take calls with their results, or whole turns, out of what is sent."""
    _refuse(site)
    tools = asked.texts("tools")
    numbers = [asked.number(name) for name in ("older_than", "larger_than", "keep_turns")]
    if not tools and not asked.flag("results_only") and numbers == [None, None, None]:
        raise UsageError("what is to be trimmed?", hint="results_only and larger_than, for example")
    with site.edited():
        outcome = trim_session(
            site.store,
            _path(site, asked),
            _wish("trim", asked),
            tools=None if not tools else frozenset({"*"}) if "all" in tools else frozenset(tools),
            results_only=asked.flag("results_only"),
            older_than=numbers[0],
            larger_than=numbers[1],
            keep_turns=numbers[2],
        )
    return _told(site, outcome)


def redact(site: Site, asked: Asked) -> Document:
    """Take passwords, keys and tokens out of a session and what belongs to it."""
    _refuse(site)
    wish = _wish("redact", asked)
    with site.edited():
        key = site.key if wish.is_dry else placeholder_key(wish.state, draw=secrets.token_bytes)
        outcome = redact_session(
            site.store, _path(site, asked), wish, key=key, patterns=compiled(asked.texts("patterns"))
        )
    return _told(site, outcome)


def undo(site: Site, asked: Asked) -> Document:
    """Take back an edit, the last one if none is named."""
    _refuse(site)
    with site.edited():
        undone = journal.undo(
            state_folder(), asked.text("id"), now_ms=int(time.time() * 1000), force=asked.flag("force")
        )
    return document(
        {
            "id": undone.id,
            "command": undone.command,
            "files": list(undone.files),
            "trash": list(undone.trash),
        }
    )


def _refuse(site: Site) -> None:
    if site.read_only:
        raise ReadOnlyError("this server changes nothing", hint="start clew web without --read-only")


def _path(site: Site, asked: Asked) -> str:
    # The path is one file for certain, and was found in the list.
    return site.find(asked.text("session") or "")[1].path


def _wish(command: str, asked: Asked) -> Wish:
    return Wish(
        command,
        str(uuid.uuid4()),
        int(time.time() * 1000),
        state_folder(),
        is_dry=asked.flag("dry_run"),
        in_place=asked.flag("in_place"),
        force=asked.flag("force"),
        keep_thinking=asked.flag("keep_thinking"),
    )


def _told(site: Site, outcome: Outcome) -> Document:
    answer = outcome.as_dict()
    if outcome.done is not None:
        answer["key"] = site.shelf().key_of(outcome.path)
    return document(answer)
