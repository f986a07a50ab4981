"""What the API would refuse of the messages that are sent."""

from __future__ import annotations

from typing import Any

import pytest

from clew.session.api_rules import api_problems

ASK: dict[str, Any] = {"role": "user", "content": "words"}
CALL: dict[str, Any] = {"type": "tool_use", "id": "t1", "name": "Read", "input": {}}
RESULT: dict[str, Any] = {"type": "tool_result", "tool_use_id": "t1", "content": "done"}
TEXT = {"type": "text", "text": "words"}


def says(*blocks: object) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def asks(*blocks: object) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


CASES: list[tuple[list[dict[str, Any]], list[tuple[str, int]]]] = [
    ([ASK, says(TEXT, CALL), asks(RESULT, TEXT), says(TEXT)], []),
    ([asks()], [("empty-message", 0)]),
    ([{"role": "user"}], [("empty-message", 0)]),
    ([{"role": "user", "content": " \n"}], [("empty-text", 0)]),
    ([ASK, says({"type": "text"})], [("empty-text", 1)]),
    ([ASK, says(CALL)], [("unpaired-call", 1)]),
    ([ASK, says(CALL), asks(TEXT)], [("unpaired-call", 1)]),
    ([ASK, says(CALL, CALL), asks(RESULT)], [("repeated-call", 1)]),
    ([asks(RESULT)], [("unpaired-result", 0)]),
    ([ASK, says(CALL), asks(RESULT, RESULT)], [("repeated-result", 2)]),
    ([ASK, says(CALL), asks(TEXT, RESULT)], [("result-order", 2)]),
    ([ASK, says({"type": "thinking", "thinking": "hm"})], [("unsigned-thinking", 1)]),
    ([ASK, says({"type": "thinking", "thinking": "", "signature": "s"})], [("empty-thinking", 1)]),
    ([ASK, says({"type": "thinking", "thinking": "hm", "signature": "s"})], []),
    ([asks({"type": "text", "text": "a\ud800b"})], [("lone-surrogate", 0)]),
    # What goes by no name at all goes by how it looks.
    ([ASK, says({**CALL, "id": 7}), asks({**RESULT, "tool_use_id": 7})], []),
    ([ASK, says({**CALL, "id": 7}), asks(TEXT)], [("unpaired-call", 1)]),
]  # fmt: skip


@pytest.mark.parametrize(("messages", "expected"), CASES)
def test_each_problem_is_named_with_its_message(
    messages: list[dict[str, Any]], expected: list[tuple[str, int]]
) -> None:
    assert [(one.code, one.message) for one in api_problems(messages)] == expected


def picture(data: str) -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


@pytest.mark.parametrize("where", ["a message", "a result"])
def test_a_picture_of_more_than_five_megabytes_is_too_large(where: str) -> None:
    huge, small = picture("A" * (5 * 1024 * 1024 + 4)), picture("AAAA")
    inner = [huge, small] if where == "a message" else [{**RESULT, "content": [huge, small]}]
    found = api_problems(
        [ASK, says(CALL), {"role": "user", "content": [*inner, *([RESULT] * (where == "a message"))]}]
    )
    assert [one.code for one in found if "image" in one.code] == ["image-too-large"]
    assert "5,242,884 bytes" in next(one.detail for one in found if "image" in one.code)
