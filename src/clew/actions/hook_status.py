"""Whether clew's hooks are in place, what waits to be sent, and how the last worker fared."""

from __future__ import annotations

import json
import os
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from clew.actions import hook_intents as intents
from clew.actions import hook_settings as settings
from clew.actions.hook_install import settings_path
from clew.actions.hook_spool import Spool
from clew.errors import ClewError
from clew.format.times import iso
from clew.store.source import FileSource

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from clew.actions.hook_install import Scope
    from clew.actions.hook_settings import Found

_SCOPES: Final[tuple[Scope, ...]] = ("user", "project", "local")
_LARGEST: Final = 16 << 20


@dataclass(frozen=True, slots=True)
class Settings:
    """What one settings file has of clew."""

    scope: Scope
    path: str
    found: Found | None
    """None if the file is not there, or cannot be read."""

    problem: str | None = None
    missing: tuple[str, ...] = ()
    """Commands whose program is no more."""

    def as_dict(self) -> dict[str, object]:
        """Return it for JSON."""
        found = self.found or settings.Found()
        return {
            "scope": self.scope,
            "path": self.path,
            "events": [*found.events],
            "commands": [*found.commands],
            "missing_commands": [*self.missing],
            "statusline": found.is_statusline_ours,
            "disabled": found.is_disabled,
            "plugins": [*found.plugins],
            "problem": self.problem,
        }


@dataclass(frozen=True, slots=True)
class Ran:
    """How a worker fared."""

    started_ms: int
    ended_ms: int
    transcripts: int
    turns_sent: int
    errors: tuple[str, ...]

    def as_dict(self) -> dict[str, object]:
        """Return it for JSON."""
        return {
            "started": iso(self.started_ms),
            "ended": iso(self.ended_ms),
            "transcripts": self.transcripts,
            "turns_sent": self.turns_sent,
            "errors": [*self.errors],
        }


@dataclass(frozen=True, slots=True)
class Status:
    """All of that."""

    settings: tuple[Settings, ...]
    endpoints: tuple[str, ...]
    notes: tuple[str, ...]
    """What is wrong with the configuration of endpoints."""

    waiting: int
    last: Ran | None
    last_line: str | None
    """The last line of the log."""

    log: str

    @property
    def is_installed(self) -> bool:
        """Whether the client will run clew's hooks."""
        found = [one.found for one in self.settings if one.found]
        return any(one.events or one.plugins for one in found) and not any(one.is_disabled for one in found)

    def as_dict(self) -> dict[str, object]:
        """Return it for JSON."""
        return {
            "installed": self.is_installed,
            "settings": [one.as_dict() for one in self.settings],
            "endpoints": [*self.endpoints],
            "notes": [*self.notes],
            "waiting": self.waiting,
            "last_run": self.last.as_dict() if self.last else None,
            "last_error": self.last_line,
            "log": self.log,
        }


def hook_status(
    environ: Mapping[str, str], *, state: Path, roots: Sequence[Path] = (), folder: Path | None = None
) -> Status:
    """Look at everything; change nothing."""
    endpoints, notes = hook_endpoints(environ)
    spools = _spools(str(state / "trace"))
    runs = [run for spool in spools if (run := _last(spool)) is not None]
    log = Spool(str(state / "trace")).log
    return Status(
        tuple(_settings(scope, settings_path(scope, roots=roots, folder=folder)) for scope in _SCOPES),
        endpoints,
        notes,
        sum(len(intents.waiting(spool)) for spool in spools),
        max(runs, key=lambda run: run.ended_ms, default=None),
        _last_line(log),
        log,
    )


def _settings(scope: Scope, path: Path) -> Settings:
    if not path.exists():
        return Settings(scope, str(path), None)
    try:
        with FileSource(str(path)) as source:
            text = source.read(0, _LARGEST).decode("utf-8", "replace")
        found = settings.find(text, str(path))
    except ClewError as error:
        return Settings(scope, str(path), None, error.message)
    missing = tuple(command for command in found.commands if not _exists(command))
    return Settings(scope, str(path), found, None, missing)


def _exists(command: str) -> bool:
    try:
        program = shlex.split(command)[0]
    except (ValueError, IndexError):
        return False
    return os.access(program, os.X_OK) if os.path.isabs(program) else True  # noqa: PTH117


def hook_endpoints(environ: Mapping[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return those that hooks know of, and what a person should know."""
    from clew.trace.settings import read_settings, settings_path

    # 2.1.325 takes these out of the environment of what it starts: they are for its own telemetry.
    passed = {name: value for name, value in environ.items() if not name.startswith("OTEL_")}
    try:
        found, here = read_settings(passed), read_settings(environ)
    except ClewError as error:
        return (), (error.message,)
    notes = [*found.notes]
    known = {endpoint.label for endpoint in found.endpoints}
    notes += [
        f"{endpoint.label} is named by an OTEL_… variable, which the client keeps from its hooks; "
        f"put it into {settings_path(passed)}"
        for endpoint in here.endpoints
        if endpoint.label not in known
    ]
    return tuple(endpoint.label for endpoint in found.endpoints), tuple(notes)


def _spools(folder: str) -> list[Spool]:
    """Return the spools there are, of this environment and of others."""
    try:
        names = os.listdir(folder)  # noqa: PTH208
    except OSError:
        return []
    marks = {
        name.partition(".")[0].partition("-")[2]
        for name in names
        if name.startswith(("intents", "pending", "worker", "last"))
    }
    return [Spool(folder, mark) for mark in sorted(marks)]


def _last(spool: Spool) -> Ran | None:
    try:
        with FileSource(spool.last) as source:
            found: object = json.loads(source.read(0, _LARGEST))
    except (ClewError, ValueError, RecursionError):
        return None
    facts = cast("dict[str, object]", found) if isinstance(found, dict) else {}
    told = [facts.get(name) for name in ("failed", "errors")]
    errors = [
        str(each) for listed in told if isinstance(listed, list) for each in cast("list[object]", listed)
    ]
    return Ran(
        _count(facts.get("started_ms")),
        _count(facts.get("ended_ms")),
        _count(facts.get("transcripts")),
        _count(facts.get("turns_sent")),
        tuple(errors),
    )


def _count(value: object) -> int:
    return value if isinstance(value, int) and 0 <= value < 1 << 50 else 0


def _last_line(log: str) -> str | None:
    try:
        with FileSource(log) as source:
            start = max(0, source.size - 4096)
            lines = source.read(start, 4096).decode("utf-8", "replace").splitlines()
    except ClewError:
        return None
    return lines[-1] if lines else None
