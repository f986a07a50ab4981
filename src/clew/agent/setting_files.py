"""Read one file of settings, and add a rule to the person's own. What counts of them is for `settings`.

A file may hold anything: what is not as it should be is told and left out, never an error.
"""

from __future__ import annotations

import json
import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, cast

from clew.agent.rules import Rule, parse_rule
from clew.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

Name = Literal["managed", "user", "project", "local"]

EVENTS: Final = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "Stop",
    "SubagentStop",
    "SessionEnd",
)
"""When hooks are run."""

DEFAULT_TIMEOUT: Final = 60.0
MOST_BYTES: Final = 4 << 20
_MODES: Final = frozenset({"default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"})


@dataclass(frozen=True, slots=True)
class Hook:
    """A command to be run when something happens."""

    event: str
    command: str
    matcher: str = ""
    timeout: float = DEFAULT_TIMEOUT
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Layer:
    """What one file says."""

    name: Name
    path: str
    rules: Mapping[str, tuple[Rule, ...]]
    """By `allow`, `deny` and `ask`."""

    folders: tuple[str, ...] = ()
    mode: str | None = None
    forbids_bypass: bool = False
    hooks: tuple[Hook, ...] = ()
    has_no_hooks: bool = False
    """Whether all hooks are turned off."""

    env: tuple[tuple[str, str], ...] = ()
    model: str | None = None


def read_json(path: str) -> tuple[object, str | None]:
    """Return what a JSON file holds, and what is wrong with it. A file that is not there holds nothing."""
    try:
        # Not to hang on a pipe that lies in its place.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except (FileNotFoundError, NotADirectoryError):
        return None, None
    except (OSError, ValueError) as error:
        return None, f"{path} cannot be read: {getattr(error, 'strerror', None) or 'not a path'}"
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None, f"{path} is not a file"
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        return None, f"{path} is too large"
    try:
        return json.loads(data.decode("utf-8-sig") or "{}"), None
    except (ValueError, RecursionError) as error:
        what = str(error).split("\n", 1)[0] if isinstance(error, json.JSONDecodeError) else "it is not text"
        return None, f"{path} is not JSON: {what}"


def read_layer(name: Name, path: str, *, base: str, told: list[str]) -> Layer | None:
    """Read a file of settings. Paths with one slash in its rules start from `base`."""
    found, problem = read_json(path)
    if problem:
        told.append(problem)
    if found is None:
        return None
    if not isinstance(found, dict):
        told.append(f"{path} is not an object")
        return None
    top = cast("dict[str, object]", found)
    permissions = _object(top, "permissions", path, told)
    mode = permissions.get("defaultMode")
    if mode is not None and not (isinstance(mode, str) and mode in _MODES):
        told.append(f"{path} has a defaultMode that is not known here: {_shown(mode)}")
        mode = None
    model = top.get("model")
    return Layer(
        name,
        path,
        {kind: _rules(permissions, kind, path, base, told) for kind in ("allow", "deny", "ask")},
        tuple(one for one in _list(permissions, "additionalDirectories", path, told) if isinstance(one, str)),
        mode if isinstance(mode, str) else None,
        permissions.get("disableBypassPermissionsMode") == "disable",
        tuple(_hooks(_object(top, "hooks", path, told), path, told)),
        top.get("disableAllHooks") is True,
        tuple(_env(_object(top, "env", path, told), path, told)),
        model if isinstance(model, str) and model else None,
    )


def _object(holder: Mapping[str, object], key: str, path: str, told: list[str]) -> Mapping[str, object]:
    found = holder.get(key)
    if found is None or isinstance(found, dict):
        return cast("dict[str, object]", found or {})
    told.append(f'{path} has "{key}" that is no object')
    return {}


def _list(holder: Mapping[str, object], key: str, path: str, told: list[str]) -> Sequence[object]:
    found = holder.get(key)
    if found is None or isinstance(found, list):
        return cast("list[object]", found or [])
    told.append(f'{path} has "{key}" that is no list')
    return []


def _rules(
    holder: Mapping[str, object], kind: str, path: str, base: str, told: list[str]
) -> tuple[Rule, ...]:
    found: list[Rule] = []
    for text in _list(holder, kind, path, told):
        rule = parse_rule(text, origin=path, base=base)
        if rule is None:
            told.append(f"{path} has a rule that is none: {_shown(text)}")
        else:
            found.append(rule)
    return tuple(found)


def _hooks(holder: Mapping[str, object], path: str, told: list[str]) -> list[Hook]:
    found: list[Hook] = []
    for event in holder:
        if event not in EVENTS:
            told.append(f"{path} has hooks for {_shown(event)}, which never happens here")
            continue
        for group in _list(holder, event, path, told):
            values = cast("dict[str, object]", group) if isinstance(group, dict) else {}
            matcher = values.get("matcher", "")
            for one in _list(values, "hooks", path, told):
                hook = _hook(event, matcher, one, path)
                if hook is None:
                    told.append(f"{path} has a hook for {event} that cannot be run here: {_shown(one)}")
                else:
                    found.append(hook)
    return found


def _hook(event: str, matcher: object, value: object, path: str) -> Hook | None:
    given = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    command, limit = given.get("command"), given.get("timeout", DEFAULT_TIMEOUT)
    if (
        given.get("type") != "command"
        or not isinstance(command, str)
        or not command.strip()
        or "\0" in command
    ):
        return None
    if not isinstance(matcher, str):
        return None
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not 0 < limit < 1e6:
        limit = DEFAULT_TIMEOUT
    return Hook(event, command, matcher, float(limit), path)


def _env(holder: Mapping[str, object], path: str, told: list[str]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for name, value in holder.items():
        if isinstance(value, bool):
            text = str(value).lower()
        elif isinstance(value, str | int | float):
            text = str(value)
        else:
            text = "\0"
        if not name or "=" in name or "\0" in name + text or not _is_text(name + text):
            told.append(f"{path} sets a variable that cannot be set: {_shown(name)}")
        else:
            found.append((name, text))
    return found


def _is_text(text: str) -> bool:
    return text.encode("utf-8", "replace").decode() == text


def _shown(value: object) -> str:
    return repr(value)[:100]


def remember(project: Path, rules: Sequence[str]) -> Path:
    """Add rules that allow to the person's own settings of a project, and return the file.

    Everything else in it stays. It is put in place whole, and never through a link: what lies in a project
    may have been put there by anybody.
    """
    from clew.store.disk import DISK
    from clew.store.drafts import sync_names
    from clew.store.writer import prepare

    folder = project / ".claude"
    path = folder / "settings.local.json"
    for place in (folder, path):
        if place.is_symlink():
            raise RefusedError(f"{place} is a link; no rule is written through it", hint=None)
    found, problem = read_json(str(path))
    if problem or not isinstance(found, dict | None):
        raise RefusedError(
            f"{problem or f'{path} is not an object'}; no rule was added", hint="mend it first"
        )
    top = cast("dict[str, object]", found or {})
    permissions = top.setdefault("permissions", {})
    listed: object = None
    if isinstance(permissions, dict):
        listed = cast("dict[str, object]", permissions).setdefault("allow", [])
    if not isinstance(listed, list):
        raise RefusedError(
            f'{path} has "permissions" of another form; no rule was added', hint="mend it first"
        )
    allowed = cast("list[object]", listed)
    allowed += [rule for rule in rules if rule not in allowed]
    folder.mkdir(mode=0o755, exist_ok=True)
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o600
    temporary = str(folder / f".settings.local.json.{os.getpid()}.clew")
    data = json.dumps(top, indent=2, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
    prepare(temporary, [data], target=str(path), mode=mode)
    try:
        DISK.replace(temporary, str(path))
    except OSError:
        DISK.unlink(temporary)
        raise
    sync_names(str(folder), disk=DISK)
    return path
