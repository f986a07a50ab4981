"""Put clew's hooks into the client's settings, or take them out: one file, changed safely or not at all.

The file as it was is kept. It is also what comes back when the hooks are taken out and nobody has changed the
file since; where somebody has, only what is clew's goes. What is changed is `hook_settings`.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import shlex
import stat
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, cast

from clew.actions import hook_settings as settings
from clew.actions.hook_settings import ClientSettingsError
from clew.errors import ClewError, UnreadableError
from clew.store.disk import DISK
from clew.store.drafts import clean, make_folders, put, sync_names
from clew.store.locks import hold
from clew.store.roots import find_roots
from clew.store.source import FileSource
from clew.store.writer import NotWrittenError, Stamp, confirm, expect, prepare

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Scope = Literal["user", "project", "local"]

_LARGEST: Final = 16 << 20
_WAIT: Final = 5.0
_BACKUPS: Final = 20
"""As many of the files as they were are kept; the oldest go."""


@dataclass(frozen=True, slots=True)
class Change:
    """What was done to a settings file, or would be."""

    path: str
    scope: Scope
    before: str
    after: str
    backup: str | None
    """Where the file as it was is kept."""

    is_done: bool
    notes: tuple[str, ...] = ()

    @property
    def is_needed(self) -> bool:
        """Whether there is anything to change."""
        return self.before != self.after

    @property
    def diff(self) -> list[str]:
        """The change, line by line."""
        lines = difflib.unified_diff(
            self.before.splitlines(), self.after.splitlines(), self.path, self.path, lineterm="", n=2
        )
        return [*lines]

    def as_dict(self) -> dict[str, object]:
        """Return it for JSON."""
        return {
            "path": self.path,
            "scope": self.scope,
            "changed": self.is_needed,
            "written": self.is_done,
            "diff": self.diff,
            "backup": self.backup,
            "notes": [*self.notes],
        }


@dataclass(frozen=True, slots=True)
class _File:
    path: str
    """What a link stands for: the link stays."""

    text: str
    stamp: Stamp | None
    """None if the file is not there."""

    mode: int = 0o600
    owner: tuple[int, int] | None = None


def settings_path(scope: Scope, *, roots: Sequence[Path] = (), folder: Path | None = None) -> Path:
    """Return the settings file of the user, of a project, or of a project for its user alone."""
    if scope == "user":
        return Path(find_roots([str(root) for root in roots]).looked_in[0]) / "settings.json"
    here = Path.cwd() if folder is None else folder
    return here / ".claude" / ("settings.json" if scope == "project" else "settings.local.json")


def this_command(program: str | None = None) -> str:
    """Return the command by which a shell runs the clew that runs now, from any folder."""
    for found in (sys.argv[0] if program is None else program, str(Path(sys.executable).with_name("clew"))):
        name = os.path.basename(found)  # noqa: PTH119
        if name in {"clew", "clew.exe"} and os.path.isabs(found) and os.access(found, os.X_OK):  # noqa: PTH117
            return _quoted(found)
    # Not without -P: the folder it is run in, a project of anybody's, would be looked into for a `clew`.
    return f"{_quoted(sys.executable)} -P -m clew"


def _quoted(word: str) -> str:
    return f'"{word}"' if sys.platform == "win32" else shlex.quote(word)


def install(
    path: Path, scope: Scope, *, state: Path, command: str, statusline: bool = False, dry_run: bool = False
) -> Change:
    """Put the hooks in, each once; with `statusline` the status line too, if there is none."""

    def wanted(file: _File) -> tuple[str, list[str]]:
        line = f"{command} statusline" if statusline else None
        after = settings.installed(file.text or "{}\n", file.path, command=command, statusline=line)
        found = settings.find(after, file.path)
        notes = ["all hooks are turned off in it (disableAllHooks)"] if found.is_disabled else []
        if statusline and not found.is_statusline_ours:
            notes.append(f"a status line is set already and was left: {found.statusline or 'not a command'}")
        return after, notes

    return _change(path, scope, state, wanted, dry_run=dry_run)


def uninstall(path: Path, scope: Scope, *, state: Path, dry_run: bool = False) -> Change:
    """Take out everything that is clew's."""

    def wanted(file: _File) -> tuple[str, list[str]]:
        if file.stamp is None:
            return "", []
        before = _as_it_was(file, state)
        return (settings.removed(file.text, file.path) if before is None else before), []

    return _change(path, scope, state, wanted, dry_run=dry_run)


def _change(
    path: Path,
    scope: Scope,
    state: Path,
    wanted: Callable[[_File], tuple[str, list[str]]],
    *,
    dry_run: bool,
) -> Change:
    real = os.path.realpath(path)
    if dry_run:
        file = _read(real)
        after, notes = wanted(file)
        return Change(str(path), scope, file.text, after, None, False, tuple(notes))
    with hold(real, state=state, wait=_WAIT):
        file = _read(real)
        after, notes = wanted(file)
        if after == file.text:
            return Change(str(path), scope, file.text, after, None, False, tuple(notes))
        backup = _back_up(file, state)
        _write(file, after)
        _remember(file, after, backup, state)
    return Change(str(path), scope, file.text, after, backup, True, tuple(notes))


def _read(path: str) -> _File:
    try:
        with FileSource(path) as source:
            if source.size > _LARGEST:
                raise ClientSettingsError(path, "is too large to be settings")
            data = source.read(0, source.size)
            stamp = Stamp.of(source)
    except UnreadableError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return _File(path, "", None)
        raise
    status = os.stat(path)  # noqa: PTH116
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise ClientSettingsError(path, f"is no valid JSON: not UTF-8 at byte {error.start}") from error
    is_others = hasattr(os, "geteuid") and os.geteuid() == 0 and status.st_uid != 0
    owner = (status.st_uid, status.st_gid) if is_others else None
    return _File(path, text, stamp, stat.S_IMODE(status.st_mode), owner)


def _write(file: _File, text: str) -> None:
    """Put the new text in the place of the old, at once; an empty one takes the file away."""
    folder, name = os.path.split(file.path)
    make_folders(folder)
    clean(folder)
    if file.stamp is not None:
        expect(file.path, file.stamp)
    try:
        if not text:
            DISK.unlink(file.path)
        else:
            temporary = os.path.join(folder, f".{name}.{os.getpid()}-0.clew")  # noqa: PTH118
            prepare(temporary, [text.encode()], target=file.path, mode=file.mode, owner=file.owner)
            DISK.replace(temporary, file.path)
    except OSError as error:
        raise NotWrittenError(file.path, error.strerror or str(error)) from error
    confirm(folder, disk=DISK)


def _back_up(file: _File, state: Path) -> str | None:
    """Keep a file as it is, among the few before it."""
    if file.stamp is None:
        return None
    folder = str(state / "hook" / "backups")
    make_folders(folder)
    when = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    kept = put(folder, f"{when}-{time.time_ns() % 10**9:09}-settings.json", [file.text.encode()])
    sync_names(folder)
    used = {facts.get("before") for facts in _records(state).values()}
    names = sorted(name for name in os.listdir(folder) if name.endswith("-settings.json"))  # noqa: PTH208
    for name in names[:-_BACKUPS]:
        old = os.path.join(folder, name)  # noqa: PTH118
        if old not in used:
            DISK.unlink(old)
    return kept


def _records(state: Path) -> dict[str, dict[str, object]]:
    """Return by file what it was before clew came to it, and how clew left it."""
    try:
        with FileSource(str(state / "hook" / "installed.json")) as source:
            found: object = json.loads(source.read(0, _LARGEST))
    except (ClewError, ValueError, RecursionError):
        return {}
    listed = cast("dict[str, object]", found) if isinstance(found, dict) else {}
    return {
        path: cast("dict[str, object]", facts) for path, facts in listed.items() if isinstance(facts, dict)
    }


def _as_it_was(file: _File, state: Path) -> str | None:
    """Return what a file held before clew came to it, if it is still as clew left it. None if not known."""
    facts = _records(state).get(file.path, {})
    if facts.get("after") != _digest(file.text):
        return None
    before = facts.get("before")
    if before is None:
        return ""
    try:
        text = _read(str(before)).text
        return text if not settings.find(text, str(before)).events else None
    except ClewError:
        return None


def _remember(file: _File, after: str, backup: str | None, state: Path) -> None:
    """Write down how a file was and is, for the day the hooks are taken out."""
    records = _records(state)
    known = records.pop(file.path, {})
    found = settings.find(after, file.path) if after else settings.Found()
    if found.events or found.is_statusline_ours:
        # Changed a second time, and by nobody else between: what it was before the first time counts.
        first = known["before"] if known.get("after") == _digest(file.text) and "before" in known else backup
        records[file.path] = {"before": first, "after": _digest(after)}
    folder = state / "hook"
    make_folders(str(folder))
    path = str(folder / "installed.json")
    temporary = f"{path}.new"
    if os.path.lexists(temporary):
        DISK.unlink(temporary)
    prepare(temporary, [json.dumps(records, indent=1).encode()], target=path)
    DISK.replace(temporary, path)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
