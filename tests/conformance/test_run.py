"""Keeping what the client did, and holding clew against it; without the client."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.conformance.client import slug
from tests.conformance.compare import judge
from tests.conformance.run import Outcome, load, save, span

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conformance.notation import Message

LINES: list[dict[str, object]] = [
    {
        "type": "user",
        "uuid": "q",
        "parentUuid": None,
        "timestamp": "2026-03-01T10:00:00.000Z",
        "message": {"role": "user", "content": "hi"},
    },
    {
        "type": "assistant",
        "uuid": "a",
        "parentUuid": "q",
        "timestamp": "2026-03-01T10:00:01.000Z",
        "message": {"id": "m", "role": "assistant", "content": [{"type": "text", "text": "ho"}]},
    },
]

KNOWN = Outcome(
    seed=7,
    data=b"".join(json.dumps(line).encode() + b"\n" for line in LINES),
    features=("torn",),
    messages=[
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "ho"}]},
    ],
    refused=None,
)


def test_an_outcome_is_read_back_as_it_was_kept(tmp_path: Path) -> None:
    odd = replace(KNOWN, data=b"\xff\x00 no text", messages=None, refused="No conversation found")
    for outcome in (KNOWN, odd):
        save(outcome, tmp_path / "7.json")
        assert load(tmp_path / "7.json") == outcome
    assert [file.name for file in tmp_path.iterdir()] == ["7.json"]


@pytest.mark.parametrize(("words", "seeds"), [("7", [7]), ("3-5", [3, 4, 5])])
def test_a_span_of_seeds_holds_both_ends(words: str, seeds: list[int]) -> None:
    assert list(span(words)) == seeds


def test_agreement_is_no_difference() -> None:
    assert judge(KNOWN) is None


def test_a_difference_shows_where_the_two_part() -> None:
    other = replace(KNOWN, messages=[{"role": "user", "content": [{"type": "text", "text": "other"}]}])
    found = judge(other)
    assert found is not None
    assert found.client == ("U[T:other]",)
    assert found.clew == ("U[T:hi]", "A[T:ho]")
    assert "-U[T:other]" in found.detail
    assert "+U[T:hi]" in found.detail


def test_a_difference_the_short_notation_hides_is_told_in_full() -> None:
    long = "x" * 80
    data = KNOWN.data.replace(b'"hi"', json.dumps(f"{long}1").encode())
    first: Message = {"role": "user", "content": [{"type": "text", "text": f"{long}2"}]}
    found = judge(replace(KNOWN, data=data, messages=[first, *(KNOWN.messages or [])[1:]]))
    assert found is not None
    assert f"{long}1" in found.detail
    assert f"{long}2" in found.detail


def test_a_refusal_agrees_only_with_a_refusal() -> None:
    assert judge(replace(KNOWN, messages=None, refused="No conversation found")) is not None
    assert judge(Outcome(7, b"", (), None, "No conversation found")) is None


def test_an_emoji_is_two_dashes_in_a_slug() -> None:
    assert slug("/home/my_proj.x🧶") == "-home-my-proj-x--"
