"""What the output of a hook means: it may block, decide about a call, add to what the model is told, or stop.

How hooks are run is for `hooks`. What several say together: whoever forbids wins, then whoever asks.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, cast

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Permission = Literal["deny", "ask", "allow"]

BLOCKS: Final = 2
"""The exit code that means no."""

_SPEAKS: Final = frozenset({"SessionStart", "UserPromptSubmit"})
"""Events at which plain output is told to the model."""

_BLOCKABLE: Final = frozenset({"UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SubagentStop"})
_STRENGTH: Final[Mapping[str, int]] = {"allow": 1, "ask": 2, "deny": 3}
LONGEST: Final = 10_000
"""How much of a hook's words is told on."""


@dataclass(frozen=True, slots=True)
class Output:
    """What a hook left behind."""

    command: str
    code: int | None
    """None if it did not end by itself."""

    out: str = ""
    err: str = ""
    problem: str = ""
    """Why it could not be started, or was ended."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the hooks of an event say, all together."""

    blocked: str | None = None
    """Why it must not go on: the prompt is not sent, the call is not made, the turn is not ended. Of a call
    that was made already, what the model is told of it."""

    permission: Permission | None = None
    permission_reason: str = ""
    updated_input: Mapping[str, object] | None = None
    """Another input for the call. What it would touch must be decided about anew."""

    context: tuple[str, ...] = ()
    """What the model is told in addition."""

    stopped: str | None = None
    """Why everything is to stop, if a hook says so."""

    messages: tuple[str, ...] = ()
    """What the person is told."""

    notes: tuple[str, ...] = field(default=())
    """What went wrong with hooks, for the person."""


def read(event: str, output: Output) -> Answer:
    """Say what the output of one hook means."""
    if output.problem:
        return Answer(notes=(f"the hook {_short(output.command)} {output.problem}",))
    if output.code == BLOCKS:
        words = _cut(output.err.strip()) or "a hook said no, without a reason"
        if event not in _BLOCKABLE:
            return Answer(notes=(words,))
        permission: Permission | None = "deny" if event == "PreToolUse" else None
        return Answer(words, permission, words if permission else "")
    if output.code != 0:
        words = _cut(output.err.strip()).split("\n", 1)[0]
        note = f"the hook {_short(output.command)} failed with code {output.code}"
        return Answer(notes=(f"{note}: {words}" if words else note,))
    text = output.out.strip()
    if not text.startswith("{"):
        return Answer(context=(_cut(text),)) if text and event in _SPEAKS else Answer()
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        if event in _SPEAKS:
            return Answer(context=(_cut(text),))
        return Answer(notes=(f"the hook {_short(output.command)} wrote JSON that is none",))
    return _told(event, cast("dict[str, object]", found)) if isinstance(found, dict) else Answer()


def _told(event: str, said: Mapping[str, object]) -> Answer:
    own = said.get("hookSpecificOutput")
    values = cast("dict[str, object]", own) if isinstance(own, dict) else {}
    if values.get("hookEventName", event) != event:
        values = {}
    reason = _text(said, "reason")
    permission, why = _permission(event, said, values, reason)
    blocked = (reason or "a hook said no, without a reason") if said.get("decision") == "block" else None
    if event not in _BLOCKABLE:
        blocked = None
    elif event == "PreToolUse":
        blocked = why if permission == "deny" else None
    context = _text(values, "additionalContext")
    updated = values.get("updatedInput") if event == "PreToolUse" else None
    stopped = None
    if said.get("continue") is False:
        stopped = _text(said, "stopReason") or "a hook stopped it"
    message = _text(said, "systemMessage")
    return Answer(
        blocked,
        permission,
        why if permission else "",
        cast("dict[str, object]", updated) if isinstance(updated, dict) else None,
        (context,) if context else (),
        stopped,
        (message,) if message else (),
    )


def _permission(
    event: str, said: Mapping[str, object], values: Mapping[str, object], reason: str
) -> tuple[Permission | None, str]:
    if event != "PreToolUse":
        return None, ""
    found = values.get("permissionDecision")
    if found is None:  # the form of older hooks
        found = {"block": "deny", "approve": "allow"}.get(str(said.get("decision")))
    else:
        reason = _text(values, "permissionDecisionReason")
    match found:
        case "deny":
            return "deny", reason or "a hook said no, without a reason"
        case "ask":
            return "ask", reason or "a hook asks for it"
        case "allow":
            return "allow", reason or "a hook allows it"
        case _:
            return None, ""


def together(answers: Iterable[Answer]) -> Answer:
    """Return what several hooks say together."""
    every = [*answers]
    blocked = [one.blocked for one in every if one.blocked is not None]
    strongest = max((_STRENGTH[one.permission] for one in every if one.permission), default=0)
    deciding = [one for one in every if one.permission and _STRENGTH[one.permission] == strongest]
    return Answer(
        "\n".join(blocked) if blocked else None,
        deciding[0].permission if deciding else None,
        "\n".join(one.permission_reason for one in deciding if one.permission_reason),
        next((one.updated_input for one in reversed(every) if one.updated_input is not None), None),
        tuple(text for one in every for text in one.context),
        next((one.stopped for one in every if one.stopped is not None), None),
        tuple(text for one in every for text in one.messages),
        tuple(text for one in every for text in one.notes),
    )


def _text(holder: Mapping[str, object], key: str) -> str:
    found = holder.get(key)
    return _cut(found.strip()) if isinstance(found, str) else ""


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} […]"


def _short(command: str) -> str:
    line = command.strip().split("\n", 1)[0]
    return repr(line if len(line) <= 80 else f"{line[:80]}…")
