"""Bring messages into one comparable form, and write them short for people.

The client adds reminders of its own to what it sends: the date, the tools, the skills. They tell of the
run and not of the session, so both sides of a comparison lose them here. Everything else stays: whole
texts, whole blocks, ids, errors.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, TypeAlias, cast

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Message: TypeAlias = dict[str, Json]

_REMINDER = re.compile(r"(?s)<system-reminder>.*?</system-reminder>\s*")


def met_reminders(messages: Sequence[Mapping[str, object]]) -> frozenset[str]:
    """Return the calls in whose results a reminder stands: the client cuts the blanks before it."""
    found: set[str] = set()
    for message in cast("Sequence[Message]", messages):
        content = message.get("content")
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and "<system-reminder>" in str(block.get("content")):
                found.add(str(block.get("tool_use_id")))
    return frozenset(found)


def normal(messages: Sequence[Mapping[str, object]], *, cut: frozenset[str] = frozenset()) -> list[Message]:
    """Write messages in the form in which two sides are compared.

    Of the results of the calls in `cut`, blanks at the end do not count.

    A string is the same as one text block. Reminders and cache marks are taken out; a block or a message
    of which nothing else is left goes too, and the next message is not joined to the one before it. Line
    ends at the end of a text do not count: the client adds some where a text meets another, also where it
    meets a reminder.
    """
    out: list[Message] = []
    for message in cast("Sequence[Message]", messages):
        content = message.get("content")
        whole: list[Json] = [{"type": "text", "text": content}] if isinstance(content, str) else []
        blocks: list[Json] = []
        for block in content if isinstance(content, list) else whole:
            kept = _block(block) if isinstance(block, dict) else block
            if isinstance(kept, dict) and kept.get("tool_use_id") in cut:
                words = kept.get("content")
                kept = {**kept, "content": words.rstrip() if isinstance(words, str) else words}
            if kept is not None:
                blocks.append(kept)
        if blocks:
            out.append({"role": message.get("role"), "content": blocks})
    return out


def _block(block: dict[str, Json]) -> dict[str, Json] | None:
    """One block without reminders and cache marks; None when it held nothing else."""
    kept = {key: value for key, value in block.items() if key != "cache_control"}
    text = kept.get("text")
    if kept.get("type") == "text" and isinstance(text, str):
        rest = _REMINDER.sub("", text)
        if rest != text and not rest.strip():
            return None
        return {**kept, "text": rest.rstrip("\n")}
    if kept.get("type") == "tool_result":
        content = kept.get("content")
        if isinstance(content, str):
            return {**kept, "content": _REMINDER.sub("", content).rstrip("\n")}
        if isinstance(content, list):
            inner = [_block(part) if isinstance(part, dict) else part for part in content]
            return {**kept, "content": [part for part in inner if part is not None]}
    return kept


def without_prompt(messages: Sequence[Mapping[str, object]], prompt: str) -> list[Message]:
    """What was sent, in normal form, without the prompt the client was resumed with."""
    out = normal(messages)
    if out and out[-1]["role"] == "user":
        content = out[-1]["content"]
        if isinstance(content, list) and content and content[-1] == {"type": "text", "text": prompt}:
            if len(content) == 1:
                return out[:-1]
            return [*out[:-1], {"role": "user", "content": content[:-1]}]
    return out


def short(messages: Sequence[Mapping[str, object]]) -> list[str]:
    """Write messages short, one line each: `U[T:words | TR:id:content]`, `A[TH:… | TU:name:id]`."""
    return [
        f"{str(message.get('role'))[:1].upper()}[{' | '.join(_short(b) for b in _blocks(message))}]"
        for message in normal(messages)
    ]


def _blocks(message: Message) -> list[dict[str, Json]]:
    content = message["content"]
    return [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []


def _short(block: dict[str, Json]) -> str:
    match block.get("type"):
        case "text":
            return f"T:{_flat(str(block.get('text')))[:60]}"
        case "thinking":
            return f"TH:{_flat(str(block.get('thinking')))[:10]}"
        case "tool_use":
            return f"TU:{block.get('name')}:{block.get('id')}"
        case "tool_result":
            content = block.get("content")
            words = content if isinstance(content, str) else json.dumps(content)
            mark = "!" if block.get("is_error") else ""
            return f"TR:{block.get('tool_use_id')}{mark}:{_flat(words)[:44]}"
        case kind:
            return str(kind)


def _flat(words: str) -> str:
    return re.sub(r"\s+", " ", words).strip()
