"""The client's settings with clew's hooks in them, and without: text in, text out.

What is clew's is known by the command. Everything else is left as it is, to the byte.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from clew.actions import hook_json as texts
from clew.errors import ClewError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clew.actions.hook_json import Node

EVENTS: Final = ("SessionStart", "Stop", "SubagentStop", "SessionEnd")
TIMEOUT: Final = 10
"""Seconds that the client gives a hook, which takes a tenth of one. Its own default was 60, then 600."""

_OURS: Final = re.compile(r"""(?:^|[\s/\\'"])clew(?:\.exe)?['"]?\s+hook\s+run(?:\s+\w+)?\s*$""")
_LINE: Final = re.compile(r"""(?:^|[\s/\\'"])clew(?:\.exe)?['"]?\s+statusline\s*$""")


class ClientSettingsError(ClewError):
    """The settings cannot be changed as they are."""

    code = "client-settings"

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path} {why}", hint="mend it and try again; nothing was changed")
        self.path = path


@dataclass(frozen=True, slots=True)
class Found:
    """What of clew is in some settings."""

    events: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    """Each once."""

    statusline: str | None = None
    """The command of the status line, whoever set it."""

    is_statusline_ours: bool = False
    is_disabled: bool = False
    """Whether all hooks are turned off."""

    plugins: tuple[str, ...] = ()
    """Plugins of that name that are turned on."""


def find(text: str, path: str) -> Found:
    """Return what of clew is in some settings."""
    root = _read(text, path)
    places = [*_ours(root)]
    line = _statusline(root)
    listed = root.member("enabledPlugins")
    plugins = [
        node.key or ""
        for node in (listed.inside if listed else ())
        if (node.key or "").startswith("clew@") and text[node.start : node.end] == "true"
    ]
    off = root.member("disableAllHooks")
    return Found(
        tuple(dict.fromkeys(event for event, *_ in places)),
        tuple(dict.fromkeys(command.text for *_, command in places)),
        line.text if line else None,
        bool(line and _LINE.search(line.text)),
        off is not None and text[off.start : off.end] == "true",
        tuple(plugins),
    )


def installed(text: str, path: str, *, command: str, statusline: str | None = None) -> str:
    """Return settings with clew's hooks, each once, and with its status line if none is set."""
    for event in EVENTS:
        text = _with_hook(text, path, event, f"{command} hook run {event}")
    if statusline is not None:
        root = _read(text, path)
        line = _statusline(root)
        if root.member("statusLine") is None:
            text = texts.add(text, root, {"type": "command", "command": statusline}, key="statusLine")
        elif line is not None and _LINE.search(line.text) and line.text != statusline:
            text = texts.replace(text, line, statusline)
    return text


def _with_hook(text: str, path: str, event: str, command: str) -> str:
    root = _read(text, path)
    mine = [node for name, _, _, node in _ours(root) if name == event]
    if mine:
        stale = [node for node in mine if node.text != command]
        return texts.replace(text, stale[0], command) if stale and len(mine) == 1 else text
    group = {"hooks": [{"type": "command", "command": command, "timeout": TIMEOUT}]}
    hooks = root.member("hooks")
    if hooks is None:
        return texts.add(text, root, {event: [group]}, key="hooks")
    if hooks.kind != "object":
        raise ClientSettingsError(path, 'has "hooks" that are no object')
    groups = hooks.member(event)
    if groups is None:
        return texts.add(text, hooks, [group], key=event)
    if groups.kind != "array":
        raise ClientSettingsError(path, f'has hooks for "{event}" that are no list')
    return texts.add(text, groups, group)


def removed(text: str, path: str) -> str:
    """Return settings without anything of clew's."""
    while True:
        root = _read(text, path)
        place = next(_ours(root), None)
        if place is None:
            break
        event, group, entry, _ = place
        hooks, groups, entries = root.member("hooks"), None, group.member("hooks")
        groups = hooks.member(event) if hooks else None
        if hooks is None or groups is None or entries is None:
            break
        # What is left empty goes too, from the inside out.
        if len(entries.inside) > 1:
            text = texts.remove(text, entries, entry)
        elif len(groups.inside) > 1:
            text = texts.remove(text, groups, group)
        elif len(hooks.inside) > 1:
            text = texts.remove(text, hooks, groups)
        else:
            text = texts.remove(text, root, hooks)
    root = _read(text, path)
    line, whole = _statusline(root), root.member("statusLine")
    if line is not None and whole is not None and _LINE.search(line.text):
        text = texts.remove(text, root, whole)
    return text


def _read(text: str, path: str) -> Node:
    try:
        root = texts.read(text)
    except texts.NotJsonError as error:
        raise ClientSettingsError(path, f"is no valid JSON: {error}") from error
    if root.kind != "object":
        raise ClientSettingsError(path, "holds no object")
    return root


def _ours(root: Node) -> Iterator[tuple[str, Node, Node, Node]]:
    """Give clew's hooks: the event, the group, the entry in it and its command."""
    hooks = root.member("hooks")
    for groups in _inside(hooks, "object"):
        for group in _inside(groups, "array"):
            entries = group.member("hooks") if group.kind == "object" else None
            for entry in _inside(entries, "array"):
                command = entry.member("command") if entry.kind == "object" else None
                if command is not None and command.kind == "text" and _OURS.search(command.text):
                    yield groups.key or "", group, entry, command


def _inside(node: Node | None, kind: str) -> Sequence[Node]:
    return node.inside if node is not None and node.kind == kind else ()


def _statusline(root: Node) -> Node | None:
    """Return the command of the status line."""
    line = root.member("statusLine")
    command = line.member("command") if line is not None and line.kind == "object" else None
    return command if command is not None and command.kind == "text" else None
