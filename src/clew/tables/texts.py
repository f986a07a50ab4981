"""What can be searched in one entry, by field: two roads to the same texts.

`texts` is the exact road, over a decoded entry. `quick_texts` is a typed decoder over the raw line, for the
hundreds of thousands of lines that an index is made from; where a line is of a shape that it was not made for
it refuses. Law: where both give an answer it is the same one.

Searched is what somebody said or a tool gave back, once. Left out are copies of it: `progress` (what the file
of a sub-agent, or the result, holds), `api-request…` and `prompt_snapshot` (what was sent), `last-prompt`,
`toolUseResult` (what the result's own words tell). Left out too are pictures and what is encrypted. Where
the client put a long output into a file of its own, its line has only a note; that file is the caller's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, cast

import msgspec

from clew.format import blocks as views
from clew.format import fields, skim
from clew.format.decode import DecodeError
from clew.format.entry import as_mapping
from clew.format.kinds.titles import FIELDS as TITLES
from clew.session.prompts import HUMAN_KINDS, kind_of, read
from clew.tables.strings import strings, whole_characters, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from clew.format.entry import Entry
    from clew.session.prompts import InputKind

Field = Literal["prompt", "text", "thinking", "tool_input", "tool_result", "summary", "title"]


class Text(NamedTuple):
    """One text of an entry."""

    field: Field
    text: str
    """Never empty. A result of several parts is one text, its parts one to a line, and so is an input."""

    tool: str | None
    """The tool called, for an input. A result does not name its tool; `block` leads to the call's id."""

    block: int
    """Which of the content's blocks it is; 0 where the text is no block."""

    is_error: bool


_TYPED: Final[frozenset[InputKind]] = frozenset({*HUMAN_KINDS, "local_command", "bash_input", "memory"})
"""What a person typed, whether the model or the client itself answered it."""

_BESIDE: Final[frozenset[InputKind]] = frozenset({*_TYPED, "empty"})

_SILENT: Final = frozenset(
    {
        *("progress", "api-request", "api-request-blob", "api-request-shape", "last-prompt"),
        *("file-history-snapshot", "file-history-delta", "cost-state", "tools-used", "atis-latch"),
        *("permission-mode", "mode", "agent-setting", "worktree-state"),
        *("content-replacement", "attribution-snapshot"),
    }
)
"""Types in which nothing is searched: copies, and notes of the client to itself."""

_NOTED: Final = frozenset({"api_error", "stop_hook_summary"})
"""System entries whose words are not in their content."""


# --- the exact road -----------------------------------------------------------------------------------------


def texts(entry: Entry) -> list[Text]:
    """Return what can be searched in an entry, in order. Half a character is U+FFFD in it."""
    try:
        decoded = entry.decoded
    except DecodeError:
        return []
    found = _texts(entry)
    if "lone-surrogate" in decoded.quirks:
        return [
            one._replace(text=whole_characters(one.text), tool=one.tool and whole_characters(one.tool))
            for one in found
        ]
    return found


def _texts(entry: Entry) -> list[Text]:
    role = entry.type
    if role in _SILENT:
        return []
    if role == "assistant":
        return _said(views.blocks(entry.content), None, entry.is_api_error)
    if role in {"user", "queue-operation"} or (role == "system" and entry.subtype == "local_command"):
        return _said(views.blocks(entry.content), read(entry).kind, False)
    if role == "attachment":
        return _attached(entry)
    if role == "summary":
        return _one("summary", entry.text("summary"))
    if role in TITLES:
        return _one("title", entry.text(TITLES[role or ""]))
    if role == "pr-link":
        return _one("text", entry.text("prUrl"))
    found = _said(views.blocks(entry.content), None, entry.text("level") == "error")
    return found + _noted(entry) if role == "system" and entry.subtype in _NOTED else found


def _one(field: Field, text: str | None, *, is_error: bool = False) -> list[Text]:
    return [Text(field, text, None, 0, is_error)] if text else []


def _said(content: Iterable[views.Block], kind: InputKind | None, is_error: bool) -> list[Text]:
    """Return the texts of some blocks; `kind` is what a person's are taken for, None for anyone else's."""
    content = tuple(content)
    field = _field(kind)
    is_alone = sum(isinstance(block, views.Text) for block in content) == 1
    found: list[Text] = []
    for index, block in enumerate(content):
        match block:
            case views.Text():
                if text := block.text:
                    found.append(Text(_field_of(text, field, is_alone), text, None, index, is_error))
            case views.Thinking():
                if text := block.text:
                    found.append(Text("thinking", text, None, index, is_error))
            case views.ToolUse():
                if text := "\n".join(strings(block.data.get("input"))):
                    found.append(Text("tool_input", text, block.name, index, is_error))
            case views.ToolResult():
                if text := _result(block):
                    found.append(Text("tool_result", text, None, index, block.is_error))
            case views.RedactedThinking() | views.Image():
                pass
            case _:
                if text := "\n".join(words(block.raw)):
                    found.append(Text("text", text, None, index, is_error))
    return found


def _result(block: views.ToolResult) -> str:
    if isinstance(block, views.ServerToolResult):
        return "\n".join(words(block.data.get("content")))
    parts: list[str] = []
    for part in block.content:
        if isinstance(part, views.Text):
            parts.append(part.text)
        elif not isinstance(part, views.Image):
            parts += words(part.raw)
    return "\n".join(filter(None, parts))


def _attached(entry: Entry) -> list[Text]:
    part = as_mapping(entry.data.get("attachment"))
    name = part.get("type")
    if name == "queued_command":
        return _said(views.blocks(part.get("prompt")), read(entry).kind, False)
    if name == "prompt_snapshot":
        return []
    is_error = isinstance(name, str) and name.endswith("_error")
    return _one("text", "\n".join(words(part)), is_error=is_error)


def _noted(entry: Entry) -> list[Text]:
    """Return what went wrong, of a request that failed and of hooks."""
    errors = list(fields.strings(entry.data, "hookErrors"))
    todo: list[Mapping[str, object]] = [entry.mapping("error")]
    while todo:
        # One inside the other: the client's error holds the API's answer, and that the API's error.
        error = todo.pop()
        message = error.get("message")
        if isinstance(message, str) and message not in errors:
            errors.append(message)
        todo += [inner for key in ("error", "cause") if (inner := fields.mapping(error, key))]
    return _one("text", "\n".join(errors), is_error=True)


def _field(kind: InputKind | None) -> Field:
    if kind is None:
        return "text"
    return "prompt" if kind in _TYPED else "summary" if kind == "compact_summary" else "text"


def _field_of(text: str, field: Field, is_alone: bool) -> Field:
    """Return the field of one text among several: beside what a person said the client puts reminders."""
    if is_alone or field != "prompt" or kind_of(skim.Skim(type="user", content=text)) in _BESIDE:
        return field
    return "text"


# --- the quick road -----------------------------------------------------------------------------------------


class _Part(msgspec.Struct, gc=False):
    type: str | None = None
    text: str | None = None


class _Block(skim.Block, gc=False):
    thinking: str | None = None
    input: Any = None
    content: str | list[_Part] | None = None


class _Message(skim.Message, gc=False):
    content: str | list[_Block] | None = None  # pyright: ignore[reportIncompatibleVariableOverride]  # the decoder makes it, no one assigns another


class _Line(skim.Skim, rename="camel", gc=False):
    message: _Message | None = None  # pyright: ignore[reportIncompatibleVariableOverride]  # as above
    level: str | None = None


_DECODER: Final = msgspec.json.Decoder(_Line)
_NOTES: Final = frozenset({"system", "queue-operation"})


def quick_texts(raw: bytes) -> list[Text] | None:
    """Return what can be searched in the line `raw`, or None if only the exact road can tell."""
    try:
        line = _DECODER.decode(raw)
    except (ValueError, RecursionError):  # msgspec's errors are ValueErrors; so is bad UTF-8
        return None
    message = line.message
    role = line.type or (message.role if message is not None else None)
    if role in _SILENT:
        return []
    content = message.content if message is not None else None
    if role == "user" or role == "assistant":
        if isinstance(content, list):
            return _quickly(content, line, role)
    elif content is not None or role not in _NOTES or line.subtype in _NOTED:
        return None
    if content is None:
        content = line.content
    if content is None:
        return []
    if not isinstance(content, str):
        return None
    if role == "assistant":
        return _one("text", content, is_error=line.is_api_error_message is True)
    if role == "system" and line.subtype != "local_command":
        return _one("text", content, is_error=line.level == "error")
    return _one(_field(kind_of(line)), content)


def _quickly(content: list[_Block], line: _Line, role: str) -> list[Text] | None:
    """Do for blocks what `_said` does; the frequent ones first."""
    is_error = role == "assistant" and line.is_api_error_message is True
    found: list[Text] = []
    for index, block in enumerate(content):
        kind = block.type
        if kind == "tool_result":
            inner = block.content
            if inner is not None and not isinstance(inner, str):
                inner = _parts(inner)
                if inner is None:
                    return None
            if inner:
                found.append(Text("tool_result", inner, None, index, block.is_error is True))
        elif kind == "text":
            if text := block.text:
                field: Field = "text"
                if role == "user":
                    is_alone = len(content) == 1 or sum(one.type == "text" for one in content) == 1
                    field = _field_of(text, _field(kind_of(line)), is_alone)
                found.append(Text(field, text, None, index, is_error))
        elif kind == "tool_use":
            if text := _given(block.input):
                found.append(Text("tool_input", text, block.name, index, is_error))
        elif kind == "thinking":
            if text := block.thinking:
                found.append(Text("thinking", text, None, index, is_error))
        elif kind != "redacted_thinking" and kind != "image":
            return None
    return found


def _parts(parts: list[_Part]) -> str | None:
    """Return the words of a result of several parts, None where there are others than texts and pictures."""
    if any(part.type != "text" and part.type != "image" for part in parts):
        return None
    return "\n".join(part.text for part in parts if part.text and part.type == "text")


def _given(value: object) -> str:
    if not isinstance(value, dict):
        return "\n".join(strings(value))
    found: list[str] = []
    for inner in cast("dict[str, object]", value).values():
        # Nearly all inputs are flat.
        if type(inner) is str:
            if inner:
                found.append(inner)
        elif type(inner) is dict or type(inner) is list:
            found += strings(cast("object", inner))
    return "\n".join(found)
