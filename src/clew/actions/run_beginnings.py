"""Settle what a session begins with: where it is kept and works, its id, and what may be done in it."""

from __future__ import annotations

import os
import platform
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from clew.agent.permissions import MODES
from clew.agent.rules import parse_rule
from clew.errors import UsageError
from clew.store.roots import find_roots
from clew.store.slugs import folder_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew.actions.run_requests import RunRequest
    from clew.agent.settings import Counted
    from clew.store.files import SessionFile

_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)


def config_folder(request: RunRequest, environ: Mapping[str, str]) -> str:
    """Return the folder in which a new session is kept."""
    roots = find_roots([str(root) for root in request.roots], environ=environ)
    return (roots.found or roots.looked_in)[0]


def working_folder(request: RunRequest, file: SessionFile | None) -> str:
    """Return where a session works: where it did, if the person does not fork it to where they are."""
    here = os.path.realpath(request.cwd)
    if file is None or request.fork or Path(file.path).parent.name == folder_name(here):
        return here
    from clew.agent.past import Past

    there = Past.read(file.path).cwd
    if there is not None and Path(there).is_dir():
        return os.path.realpath(there)
    raise UsageError(
        f"the session works in {there or 'a folder it does not name'}, which is not there",
        hint="--fork goes on with a copy in this folder; clew mv moves sessions to where their project went",
    )


def checked_id(given: str | None) -> str | None:
    """Return the id for a new session; it becomes the name of a file, and the client takes up no other."""
    if given is None or _UUID.fullmatch(given):
        return given
    raise UsageError(f"{given!r} is no id for a session", hint=f"an id looks like {uuid4()}")


def mode_of(request: RunRequest, before: str | None, counted: Counted) -> str:
    """Return what may be done without asking. A session never brings back the mode that allows everything."""
    if request.permission_mode is not None:
        return request.permission_mode
    # Other programs write modes of their own.
    return counted.mode if before not in MODES or before == "bypassPermissions" else before


def with_options(counted: Counted, request: RunRequest) -> Counted:
    """Add the rules that the person gave with the command."""
    made: dict[str, tuple[Any, ...]] = {"allow": counted.rules.allow, "deny": counted.rules.deny}
    for kind, texts in (("allow", request.allow), ("deny", request.deny)):
        for text in texts:
            rule = parse_rule(text, origin="the command line")
            if rule is None:
                raise UsageError(f"{text!r} is no rule", hint="a rule looks like Bash(npm test:*) or Edit")
            made[kind] = (*made[kind], rule)
    rules = replace(counted.rules, allow=made["allow"], deny=made["deny"])
    return replace(counted, rules=rules, folders=(*counted.folders, *request.folders))


def git_branch(folder: Path) -> str | None:
    """Return the branch that is checked out, without starting git."""
    for place in (folder, *folder.parents):
        head = place / ".git"
        try:
            if head.is_file():  # a work tree elsewhere
                head = Path(place, head.read_text(encoding="utf-8").partition("gitdir:")[2].strip())
            text = (head / "HEAD").read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            continue
        return text.removeprefix("ref: refs/heads/") if text.startswith("ref: ") else "HEAD"
    return None


def platform_words() -> str:
    """Name the system, as the model is told it."""
    return f"{platform.system()} {platform.release()}"
