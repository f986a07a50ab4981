"""The settings that count: those of the organisation, of the person, and what is trusted of the project's.

A project may be anybody's. What it forbids always counts; what it would allow, run or set is a `Grant`, and
counts only when the person has said so (`trust`).
"""

# ruff: noqa: PTH118

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, cast

from clew.agent.rules import Rules
from clew.agent.setting_files import Hook, Layer, read_json, read_layer

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

__all__ = ("Counted", "Grant", "Hook", "Layer", "Settings", "load", "rule_grant")

Kind = Literal["allow", "folder", "mode", "hook", "env", "server"]

_NEVER: Final = ("ANTHROPIC_", "CLAUDE_", "CLEW_", "XDG_", "LD_", "DYLD_")
_NEVER_NAMED: Final = frozenset({"HOME", "BASH_ENV", "ENV", "NODE_OPTIONS", "PYTHONSTARTUP"})
"""Variables a project never sets: where the key is sent, what is loaded into every program."""


@dataclass(frozen=True, slots=True)
class Grant:
    """Something a project asks for."""

    kind: Kind
    text: str
    """What the person is shown: all of it."""

    digest: str
    """By which it is known again. Anything else in it makes another."""


@dataclass(frozen=True, slots=True)
class Counted:
    """The settings that count."""

    rules: Rules
    folders: tuple[str, ...]
    """Worked in like the project."""

    mode: str
    forbids_bypass: bool
    hooks: tuple[Hook, ...]
    env: Mapping[str, str]
    model: str | None
    servers: Mapping[str, Mapping[str, object]]
    """Servers of the MCP that the project names."""

    left_out: tuple[Grant, ...]
    """What the project asks for and the person has not allowed."""


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings that were found."""

    layers: tuple[Layer, ...]
    """Those that count most come first."""

    servers: Mapping[str, Mapping[str, object]]
    problems: tuple[str, ...]
    project: str

    def grants(self) -> tuple[Grant, ...]:
        """Return what the project asks for, each once."""
        found = [grant for layer in self.layers if _is_projects(layer) for grant in _granted(layer)]
        found += [_server(name, value) for name, value in self.servers.items()]
        return tuple({grant.digest: grant for grant in found}.values())

    def counted(self, trusted: Collection[str] = ()) -> Counted:
        """Return what counts when grants with these digests are trusted."""

        def counts(layer: Layer, grant: Grant) -> bool:
            return not _is_projects(layer) or grant.digest in trusted

        rules = {
            kind: tuple(
                rule
                for layer in self.layers
                for rule in layer.rules[kind]
                if kind != "allow" or counts(layer, rule_grant(rule.text))
            )
            for kind in ("allow", "deny", "ask")
        }
        modes = [x.mode for x in self.layers if x.mode and counts(x, _mode(x.mode))]
        no_bypass = any(layer.forbids_bypass for layer in self.layers)
        env: dict[str, str] = {}
        for layer in reversed(self.layers):
            env |= {k: v for k, v in layer.env if counts(layer, _variable(k, v))}
        return Counted(
            Rules(rules["allow"], rules["deny"], rules["ask"]),
            tuple(
                os.path.join(self.project, os.path.expanduser(one))  # noqa: PTH111
                for layer in self.layers
                for one in layer.folders
                if counts(layer, _folder(one))
            ),
            next((mode for mode in modes if not (no_bypass and mode == "bypassPermissions")), "default"),
            no_bypass,
            self._hooks(trusted),
            env,
            next((layer.model for layer in self.layers if layer.model), None),
            {name: value for name, value in self.servers.items() if _server(name, value).digest in trusted},
            tuple(grant for grant in self.grants() if grant.digest not in trusted),
        )

    def _hooks(self, trusted: Collection[str]) -> tuple[Hook, ...]:
        if any(layer.has_no_hooks and not _is_projects(layer) for layer in self.layers):
            return ()
        return tuple(
            hook
            for layer in self.layers
            if not (layer.has_no_hooks and _is_projects(layer))
            for hook in layer.hooks
            if not _is_projects(layer) or _hook(hook).digest in trusted
        )


def load(config_folder: Path, project: Path, *, managed: Path | None = None) -> Settings:
    """Read all settings for a project. What is wrong with a file is told in `problems`."""
    told: list[str] = []
    real = os.path.realpath(project)
    own, theirs = str(config_folder), os.path.join(real, ".claude")
    found: list[Layer | None] = []
    if managed is not None:
        found.append(read_layer("managed", str(managed), base="/", told=told))
    if os.path.realpath(own) != os.path.realpath(
        theirs
    ):  # in one's home, the project's settings are one's own
        for name, file in (("local", "settings.local.json"), ("project", "settings.json")):
            layer = read_layer(
                cast("Literal['local', 'project']", name), os.path.join(theirs, file), base=real, told=told
            )
            found.append(_without_dangers(layer, told) if layer else None)
    else:
        found.append(read_layer("user", os.path.join(own, "settings.local.json"), base=own, told=told))
    found.append(read_layer("user", os.path.join(own, "settings.json"), base=own, told=told))
    return Settings(tuple(one for one in found if one), _servers(real, told), tuple(told), real)


def _without_dangers(layer: Layer, told: list[str]) -> Layer:
    """Leave out what a project may never ask for."""
    from dataclasses import replace

    for name, _ in layer.env:
        if _is_never(name):
            told.append(f"{layer.path} sets {name}, which a project may not")
    if layer.mode == "bypassPermissions":
        told.append(f"{layer.path} asks for a mode in which everything is allowed, which a project may not")
        layer = replace(layer, mode=None)
    return replace(layer, env=tuple((name, value) for name, value in layer.env if not _is_never(name)))


def _is_never(name: str) -> bool:
    return name.upper().startswith(_NEVER) or name.upper() in _NEVER_NAMED


def _servers(project: str, told: list[str]) -> dict[str, Mapping[str, object]]:
    path = os.path.join(project, ".mcp.json")
    found, problem = read_json(path)
    if problem:
        told.append(problem)
    listed = cast("dict[str, object]", found).get("mcpServers") if isinstance(found, dict) else None
    if not isinstance(listed, dict):
        return {}
    every = cast("dict[str, object]", listed)
    return {k: cast("dict[str, object]", v) for k, v in every.items() if isinstance(v, dict)}


def _is_projects(layer: Layer) -> bool:
    return layer.name in {"project", "local"}


def _granted(layer: Layer) -> Iterator[Grant]:
    yield from (rule_grant(rule.text) for rule in layer.rules["allow"])
    yield from (_folder(one) for one in layer.folders)
    yield from (_hook(one) for one in layer.hooks)
    yield from (_variable(*one) for one in layer.env)
    if layer.mode is not None:
        yield _mode(layer.mode)


def rule_grant(text: str) -> Grant:
    """Return the grant of a rule that allows: also to trust one that the person has just made."""
    return _grant("allow", f"allow {text}", text)


def _folder(path: str) -> Grant:
    return _grant("folder", f"work in {path} too", path)


def _mode(mode: str) -> Grant:
    return _grant("mode", f"begin in mode {mode}", mode)


def _variable(name: str, value: str) -> Grant:
    return _grant("env", f"set {name}={value}", [name, value])


def _hook(hook: Hook) -> Grant:
    when = f"{hook.event} {hook.matcher}".strip()
    return _grant("hook", f"run at {when}: {hook.command}", [hook.event, hook.matcher, hook.command])


def _server(name: str, value: Mapping[str, object]) -> Grant:
    return _grant("server", f"start the server {name}: {json.dumps(value, sort_keys=True)}", [name, value])


def _grant(kind: Kind, text: str, value: object) -> Grant:
    data = json.dumps([kind, value], sort_keys=True).encode()
    return Grant(kind, text, hashlib.sha256(data).hexdigest())
