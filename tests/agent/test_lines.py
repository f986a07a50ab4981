"""The lines have what the client always writes on them, and are read by our own views."""

from __future__ import annotations

import json
from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from clew.agent import lines
from clew.agent.lines import PROFILE, Answer, Failure, Turn
from clew.format.compose import Envelope, Link
from clew.format.known import is_known_type, kind_of
from tests.agent.told import STORIES, told
from tests.format.samples import recorded

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

LINK = Link("u", "p", "2026-03-04T09:00:00.000Z")
ENVELOPE = Envelope("s", "/a", PROFILE, git_branch="", entrypoint="cli")
TURN = Turn("prompt", 0, 1)


def sort_of(data: Mapping[str, Any]) -> str:
    """Name what a line is, as finely as the client's own writing tells them apart."""
    kind = str(data.get("type"))
    message: Mapping[str, Any] = data.get("message") or {}
    content = message.get("content")
    side = "agent " if data.get("isSidechain") else ""
    if kind == "user":
        if data.get("isCompactSummary"):
            return f"{side}summary"
        if isinstance(content, list) and "tool_result" in json.dumps(content):
            return f"{side}result"
        if data.get("isMeta"):
            return f"{side}meta"
        if data.get("permissionMode"):
            return f"{side}prompt"
        return f"{side}told" if data.get("isSidechain") else "other user"
    if kind == "assistant":
        if data.get("isApiErrorMessage"):
            return f"{side}api error"
        return f"{side}made up" if message.get("model") == "<synthetic>" else f"{side}answer"
    if kind == "system":
        return f"{side}{data.get('subtype')}"
    return f"{kind} {data['operation']}" if kind == "queue-operation" else kind


@cache
def always() -> dict[str, frozenset[str]]:
    """The fields that are on every line of a sort that 2.1.325 wrote, those of its message too."""
    found: dict[str, list[frozenset[str]]] = defaultdict(list)
    for sample in recorded():
        if sample.version == PROFILE and "type" in sample.data:
            found[sort_of(sample.data)].append(fields(sample.data))
    return {sort: each[0].intersection(*each) for sort, each in found.items()}


def fields(data: Mapping[str, Any]) -> frozenset[str]:
    message = data.get("message")
    inner = {f"message.{name}" for name in message} if isinstance(message, dict) else set[str]()  # pyright: ignore[reportUnknownVariableType]
    return frozenset({*data, *inner})


def written(root: Path) -> list[dict[str, Any]]:
    """All lines of all stories, those of sub-agents too."""
    for name in STORIES:
        told(name, root / name)
    found: list[dict[str, Any]] = []
    for path in sorted(root.rglob("*.jsonl")):
        found += [json.loads(raw) for raw in path.read_bytes().splitlines() if raw.endswith(b"}")]
    return found


def test_every_field_the_client_always_writes_is_there(tmp_path: Path) -> None:
    missing: dict[str, frozenset[str]] = {}
    seen: set[str] = set()
    for data in written(tmp_path):
        sort = sort_of(data)
        seen.add(sort)
        wanted = always().get(sort, frozenset())
        if not wanted <= fields(data):
            missing[sort] = wanted - fields(data)
    assert not missing
    # What is not among the recordings: those of the client that were interrupted did not get into them.
    unrecorded = seen - set(always())
    assert unrecorded <= {"other user", "permission-mode", "progress", "agent result", "made up"}, unrecorded
    assert {"prompt", "answer", "result", "api error", "compact_boundary", "summary", "turn_duration"} <= seen
    assert {"agent told", "agent answer", "last-prompt", "custom-title", "file-history-snapshot"} <= seen


def test_the_keys_come_in_the_order_of_the_client(tmp_path: Path) -> None:
    theirs: dict[str, list[list[str]]] = defaultdict(list)
    for sample in recorded():
        if sample.version == PROFILE:
            theirs[sort_of(sample.data)].append(list(sample.data))
    for data in written(tmp_path):
        for other in theirs[sort_of(data)][:20]:
            shared = [name for name in other if name in data]
            assert shared == [name for name in data if name in other], sort_of(data)


def test_no_line_is_of_an_unknown_type(tmp_path: Path) -> None:
    assert all(is_known_type(kind_of(data)) for data in written(tmp_path))


def test_a_prompt_that_a_program_gives_says_so() -> None:
    sdk = Envelope("s", "/a", PROFILE, git_branch="", entrypoint="sdk-cli")
    typed = json.loads(lines.prompt(ENVELOPE, LINK, TURN, "x", permission_mode="default"))
    given = json.loads(lines.prompt(sdk, LINK, TURN, "x", permission_mode="default"))
    assert (typed["promptSource"], typed["turnOrigin"], typed["origin"]) == (
        "typed",
        "human",
        {"kind": "human"},
    )
    assert (given["promptSource"], given["turnOrigin"], "origin" in given) == ("sdk", "sdk", False)


@pytest.mark.parametrize("content", ["", []])
def test_nothing_is_no_prompt(content: Any) -> None:
    with pytest.raises(ValueError, match="words or blocks"):
        lines.prompt(ENVELOPE, LINK, TURN, content, permission_mode="default")


def test_what_nests_too_deep_to_be_read_again_is_not_written() -> None:
    deep: Any = "x"
    for _ in range(400):
        deep = [deep]
    with pytest.raises(ValueError, match="deep"):
        lines.result(ENVELOPE, LINK, TURN, "c", "x", source="u", structured=deep)


def test_half_a_character_never_gets_into_a_line() -> None:
    raw = lines.result(ENVELOPE, LINK, TURN, "c", "a\ud83d", source="u", structured={"k\udc00": 1})
    assert b"\\ud" not in raw
    raw.decode("utf-8")


def test_an_error_of_the_api_says_what_is_known_of_it() -> None:
    why = Failure("rate_limit", 429, "rate_limit_error", "req_1", "429 {}")
    data = json.loads(lines.api_error(ENVELOPE, LINK, "slow down", message_id="m", failure=why))
    named = ("requestId", "error", "errorDetails", "apiErrorStatus", "apiErrorType", "isApiErrorMessage")
    assert [data[name] for name in named] == ["req_1", "rate_limit", "429 {}", 429, "rate_limit_error", True]


def test_an_answer_that_was_broken_off_is_marked() -> None:
    answer = Answer("m", "x", "y", None, "ref")
    data = json.loads(
        lines.block(
            ENVELOPE,
            LINK,
            answer,
            {"type": "text", "text": "It"},
            index=2,
            usage={},
            stop_reason=None,
            is_aborted=True,
        )
    )
    assert data["isAbortedMidStream"] is True
    assert "requestId" not in data
    assert (data["apiBlockIndex"], data["requestedModel"], data["message"]["model"]) == (2, "y", "x")
