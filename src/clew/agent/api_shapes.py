"""What a request to the Messages API is made of, and what is refused for its form alone.

The blocks of a request with where they stand, messages of one role in a row put together, and the types every
field must have. What the pieces mean together is for `api_checks`; where the wording is from is said there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn, cast

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ID: Final = re.compile(r"[a-zA-Z0-9_-]+")

_KINDS: Final = (
    *("advisor_tool_result", "bash_code_execution_tool_result", "code_execution_tool_result", "compaction"),
    *("container_upload", "document", "image", "mcp_tool_result", "mcp_tool_use", "mid_conv_system"),
    *("redacted_thinking", "search_result", "server_tool_use", "text"),
    *("text_editor_code_execution_tool_result", "thinking", "tool_result", "tool_search_tool_result"),
    *("tool_use", "web_fetch_tool_result", "web_search_tool_result"),
)
_KINDS_IN_RESULTS: Final = ("document", "image", "search_result", "text", "tool_reference")

_FIELDS: Final[Mapping[str, frozenset[str]]] = {
    "text": frozenset({"type", "text", "citations", "cache_control"}),
    "tool_use": frozenset({"type", "id", "name", "input", "caller", "cache_control"}),
    "tool_result": frozenset({"type", "tool_use_id", "content", "is_error", "cache_control"}),
    "thinking": frozenset({"type", "thinking", "signature"}),
    "redacted_thinking": frozenset({"type", "data"}),
    "image": frozenset({"type", "source", "cache_control"}),
}
"""All the fields a kind of block may have, for the kinds that stand in sessions."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer that is an error."""

    status: int
    kind: str
    message: str


class Placed(NamedTuple):
    """A block and where it stands."""

    message: int
    block: int
    value: Mapping[str, object]

    @property
    def kind(self) -> str:
        """Its type."""
        return str(self.value.get("type"))

    @property
    def path(self) -> str:
        """Where it stands, as the API writes it."""
        return f"messages.{self.message}.content.{self.block}"


class Run(NamedTuple):
    """Messages of one role in a row, which the API takes as one."""

    role: str
    blocks: list[Placed]


class RefusedError(Exception):
    """Carries a refusal out of the checks."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


def invalid(message: str) -> Refusal:
    """Make the refusal that nearly all are: status 400."""
    return Refusal(400, "invalid_request_error", message)


def refuse(message: str) -> NoReturn:
    """End the checks with a refusal."""
    raise RefusedError(invalid(message))


def content(message: Mapping[str, object]) -> Sequence[object]:
    """Give the blocks of a message; a text alone is one block."""
    found = message.get("content")
    if isinstance(found, str):
        return [{"type": "text", "text": found}] if found else []
    return cast("Sequence[object]", found) if isinstance(found, list | tuple) else []


def runs(messages: Sequence[Mapping[str, object]]) -> list[Run]:
    """Put messages of one role in a row together, and leave out what the system says in between."""
    found: list[Run] = []
    for at, message in enumerate(messages):
        role = str(message.get("role"))
        if role == "system":
            continue
        if not found or found[-1].role != role:
            found.append(Run(role, []))
        placed = (
            Placed(at, n, cast("Mapping[str, object]", b))
            for n, b in enumerate(content(message))
            if isinstance(b, Mapping)
        )
        found[-1].blocks.extend(placed)
    return found


def all_blocks(messages: Sequence[Mapping[str, object]]) -> Iterator[Placed]:
    """Give every block of every message, not those inside results."""
    for at, message in enumerate(messages):
        for n, block in enumerate(content(message)):
            yield Placed(at, n, cast("Mapping[str, object]", block))


def inner_blocks(block: Placed) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Give a block, or what is in it when it is a result, each with its place."""
    if block.kind != "tool_result":
        yield f"{block.path}.{block.kind}", block.value
        return
    for n, part in enumerate(content(block.value)):
        value = cast("Mapping[str, object]", part)
        yield f"{block.path}.tool_result.content.{n}.{value.get('type')}", value


def checked_messages(value: object) -> Sequence[Mapping[str, object]]:
    """Return the messages, every field of which has its type, or refuse them."""
    if not isinstance(value, list | tuple):
        refuse("messages: Input should be a valid list")
    messages = cast("Sequence[object]", value)
    for at, found in enumerate(messages):
        path = f"messages.{at}"
        if not isinstance(found, Mapping):
            refuse(f"{path}: Input should be a valid dictionary")
        message = cast("Mapping[str, object]", found)
        # A tuple: what is no string may not be hashable.
        if message.get("role") not in ("user", "assistant", "system"):
            refuse(f"{path}.role: Input should be 'user' or 'assistant'")
        if "content" not in message:
            refuse(f"{path}.content: Field required")
        # What is set for one turn stands beside the content; newer clients send it with the system's words.
        _no_extras(message, frozenset({"role", "content", "output_config"}), path)
        if not isinstance(message["content"], str):
            _blocks_shape(message["content"], f"{path}.content", _KINDS)
    return cast("Sequence[Mapping[str, object]]", messages)


def _blocks_shape(value: object, path: str, kinds: tuple[str, ...]) -> None:
    if not isinstance(value, list | tuple):
        refuse(f"{path}: Input should be a valid list")
    for n, found in enumerate(cast("Sequence[object]", value)):
        here = f"{path}.{n}"
        if not isinstance(found, Mapping):
            refuse(f"{here}: Input should be a valid dictionary")
        block = cast("Mapping[str, object]", found)
        kind = block.get("type")
        if not isinstance(kind, str):
            refuse(f"{here}: Unable to extract tag using discriminator 'type'")
        if kind not in kinds:
            expected = ", ".join(f"'{each}'" for each in kinds)
            refuse(
                f"{here}: Input tag '{kind}' found using 'type' does not match any of the expected tags: "
                f"{expected}"
            )
        _block_shape(block, kind, f"{here}.{kind}")


def _block_shape(block: Mapping[str, object], kind: str, path: str) -> None:
    match kind:
        case "text":
            need_string(block, "text", path)
        case "tool_use":
            _id(block, "id", path)
            need_string(block, "name", path)
            if not _field(block, "name", path):
                refuse(f"{path}.name: String should have at least 1 character")
            if not isinstance(_field(block, "input", path), Mapping):
                refuse(f"{path}.input: Input should be a valid dictionary")
        case "tool_result":
            _id(block, "tool_use_id", path)
            inner = block.get("content")
            if inner is not None and not isinstance(inner, str):
                _blocks_shape(inner, f"{path}.content", _KINDS_IN_RESULTS)
        case "thinking":
            need_string(block, "thinking", path)
            need_string(block, "signature", path)
        case "redacted_thinking":
            need_string(block, "data", path)
        case "image":
            if not isinstance(_field(block, "source", path), Mapping):
                refuse(f"{path}.source: Input should be a valid dictionary")
        case _:
            return  # kinds that come from the server: what they hold is its own
    _no_extras(block, _FIELDS[kind], path)


def _field(block: Mapping[str, object], name: str, path: str) -> object:
    if name not in block:
        refuse(f"{path}.{name}: Field required")
    return block[name]


def need_string(block: Mapping[str, object], name: str, path: str) -> None:
    """Refuse a block without this field, or with another type in it."""
    if not isinstance(_field(block, name, path), str):
        refuse(f"{path}.{name}: Input should be a valid string")


def _id(block: Mapping[str, object], name: str, path: str) -> None:
    need_string(block, name, path)
    if not _ID.fullmatch(str(block[name])):
        refuse(f"{path}.{name}: String should match pattern '^[a-zA-Z0-9_-]+$'")


def _no_extras(value: Mapping[str, object], fields: frozenset[str], path: str) -> None:
    for name in value:
        if name not in fields:
            refuse(f"{path}.{name}: Extra inputs are not permitted")
