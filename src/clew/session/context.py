"""What the model will see: the messages the real client sends when it resumes a session.

`chain` chooses the lines and `drafts` makes messages of them, by the rules of a client version (`eras`).
Here every line that is left out is named with the reason, and what the API would refuse is listed.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from clew.format.decode import encode
from clew.format.entry import as_mapping
from clew.session.api_rules import ApiProblem, api_problems
from clew.session.chain import Chain, chain
from clew.session.drafts import Maker
from clew.session.eras import MODEL, rules
from clew.session.graph import BOUNDARY
from clew.session.ids import NONE, id_hash
from clew.session.session import SALVAGED, SIDECHAIN
from clew.session.token_estimate import estimate_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from clew.session.session import Session

IMAGE_TOKENS: Final = 1500
"""What a picture or a document is taken to be."""

_MESSAGE_TOKENS: Final = 4
_CALL_TOKENS: Final = 8
"""What a call or a result is besides its name, input or content."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A line that is not sent, and why."""

    row: int
    line: int
    uuid: str | None
    type: str
    reason: str


@dataclass(frozen=True, slots=True)
class Context:
    """What the client would send before the next prompt, without its own reminders."""

    client: str
    model: str
    leaf: str | None
    messages: tuple[Mapping[str, Any], ...]
    """Messages of the Messages API: a role and a list of content blocks."""

    rows: tuple[tuple[int, ...], ...]
    """For each message the rows it was made from; none for what the client adds itself."""

    left_out: tuple[LeftOut, ...]
    refused: str | None
    reachable_lines: int
    conversation_lines: int
    tokens_estimate: int
    """About how many tokens the messages are: their words and signs, more for images."""

    api_problems: tuple[ApiProblem, ...]


def context(
    session: Session,
    *,
    client: str | None = None,
    at: str | None = None,
    model: str | None = None,
    is_brief: bool = False,
) -> Context:
    """Return what `client` would send on resume, up to the entry `at` if one is given.

    A brief one is only what is sent: without what is left out, which may be most of a long session, and
    without the estimate.
    """
    era = rules(client)
    path = chain(session, era, at=at)
    maker = Maker(session, era, model or asked_model(session, path.rows))
    drafts = [] if path.refused else maker.drafts(path)
    conversation = _conversation_rows(session)
    left_out = () if is_brief else conversation
    sent = {row for draft in drafts for row in draft.rows}
    messages = tuple({"role": draft.role, "content": draft.blocks} for draft in drafts)
    return Context(
        client=era.version,
        model=maker.model,
        leaf=session.entry(path.leaf).uuid if path.leaf is not None else None,
        messages=messages,
        rows=tuple(tuple(draft.rows) for draft in drafts),
        left_out=tuple(_left_out(session, path, left_out, sent, maker.reason)),
        refused=path.refused,
        reachable_lines=len(sent),
        conversation_lines=len(conversation),
        tokens_estimate=0 if is_brief else _estimate(messages),
        api_problems=api_problems(messages),
    )


def _estimate(messages: Iterable[Mapping[str, Any]]) -> int:
    return sum(_MESSAGE_TOKENS + estimate_tokens(message["content"]) for message in messages)


def estimate_tokens(content: object) -> int:
    """Say about how many tokens content is; measured figures are in the usage of its message."""
    if isinstance(content, str):
        return estimate_text(content)
    if isinstance(content, list):
        return sum(map(_estimate_block, cast("list[object]", content)))
    return _estimate_block(content)


def _estimate_json(value: object) -> int:
    """Say about how many tokens a value is when written; 0 for one that nests too deep to be."""
    try:
        return estimate_text(encode(value).decode("utf-8", "replace"))
    except RecursionError:
        return 0


def _estimate_block(value: object) -> int:
    block = as_mapping(value)
    kind = block.get("type")
    if kind in ("image", "document"):  # a tuple: what is no string may not be hashable
        return IMAGE_TOKENS
    if kind == "tool_use":
        return estimate_text(str(block.get("name") or "")) + _estimate_json(block.get("input")) + _CALL_TOKENS
    if kind == "tool_result":
        inner = block.get("content")
        # Blocks stand in a result, but no results: what nests deeper is not gone into.
        parts = cast("list[object]", inner) if isinstance(inner, list) else [inner]
        texts = (part if isinstance(part, str) else as_mapping(part).get("text") for part in parts)
        images = sum(as_mapping(part).get("type") == "image" for part in parts)
        return sum(estimate_text(str(text)) for text in texts if text) + images * IMAGE_TOKENS + _CALL_TOKENS
    if kind in ("text", "thinking", None):
        return estimate_text(str(block.get("text") or block.get("thinking") or ""))
    return _estimate_json(block) + _CALL_TOKENS


def asked_model(session: Session, rows: Sequence[int]) -> str:
    """Return the model the next request is taken to go to: the one the session last asked for."""
    for row in reversed(rows):
        kind = session.table.kind_of(row)
        if kind == "assistant":
            asked = session.entry(row).text("requestedModel")
        elif kind == "attachment/model":
            identity = as_mapping(session.entry(row).mapping("attachment").get("identity"))
            asked = identity.get("modelId")
        else:
            continue
        if isinstance(asked, str):
            return asked
    return MODEL


def _conversation_rows(session: Session) -> array[int]:
    """Return the rows that carry conversation: user and assistant lines, local commands, compactions."""
    table = session.table
    wanted = [
        kind in {"user", "assistant", "system/local_command"} or kind.startswith("attachment")
        for kind in table.kinds
    ]
    return array("i", (row for row, code in enumerate(table.kind) if wanted[code]))


def _before_cut(session: Session, path: Chain) -> bytearray:
    """Say of each row whether a compaction of the path took it out.

    That is what the client tells, and what the path goes back to over its compactions: what they follow, and
    what is above that.
    """
    table = session.table
    found = bytearray(len(table))
    row = path.rows[0] if path.rows and table.kind_of(path.rows[0]) == BOUNDARY else NONE
    unnamed = {0, id_hash("")}
    while row >= 0 and not found[row]:
        found[row] = 1
        above = table.parent[row]
        if above in unnamed:
            above = id_hash(session.entry(row).logical_parent_uuid)
        row = table.last_of(above)
    for row in path.before_cut:
        found[row] = 1
    return found


def _left_out(
    session: Session,
    path: Chain,
    conversation: Iterable[int],
    sent: set[int],
    reason_of: Callable[[int], str | None],
) -> Iterable[LeftOut]:
    table = session.table
    is_cut = _before_cut(session, path)
    for row in conversation:
        if row in sent:
            continue
        reason = reason_of(row)
        if reason is None:
            if table.flags[row] & SALVAGED:
                reason = "on a damaged line the client does not read"
            elif table.flags[row] & SIDECHAIN:
                reason = "belongs to a sub-agent"
            elif is_cut[row]:
                reason = "before the compaction"
            else:
                reason = "on another branch"
        entry = session.entry(row)
        yield LeftOut(row, table.number[row], entry.uuid, table.kind_of(row), reason)
