"""What an API says is understood, whatever it says it in."""

from __future__ import annotations

import json

import pytest

from clew.agent.api_errors import (
    AGAIN,
    ApiBusyError,
    ApiRefusedError,
    KeyRefusedError,
    Refusal,
    TooLongError,
    masked,
    refusal_of,
    refusal_of_kind,
    retry_after,
)
from clew.errors import ClewError


def body(kind: str, words: str) -> bytes:
    return json.dumps({"type": "error", "error": {"type": kind, "message": words}}).encode()


def test_only_some_answers_are_worth_another_try() -> None:
    passing = {status for status in range(300, 600) if refusal_of(status, {}, b"").is_passing}
    assert passing == AGAIN == {408, 409, 429, 500, 502, 503, 504, 529}


@pytest.mark.parametrize(("said", "passes"), [("true", True), ("false", False), ("TRUE ", True), ("x", None)])
def test_what_the_api_says_about_another_try_counts(said: str, passes: bool | None) -> None:
    for status in (400, 529):
        found = refusal_of(status, {"x-should-retry": said}, b"")
        assert found.is_passing == ((status == 529) if passes is None else passes)


def test_every_status_is_an_error_somebody_can_show() -> None:
    for status in range(300, 600):
        error = refusal_of(status, {}, b"").error(tries=3)
        assert isinstance(error, ClewError)
        assert (error.exit_code, error.status) == (1, status)
        assert str(status) in error.message


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, ApiRefusedError), (401, KeyRefusedError), (402, ApiRefusedError), (403, KeyRefusedError),
     (404, ApiRefusedError), (413, TooLongError), (422, ApiRefusedError), (429, ApiBusyError),
     (500, ApiBusyError), (501, ApiBusyError), (529, ApiBusyError)],
)  # fmt: skip
def test_the_status_tells_the_kind(status: int, kind: type) -> None:
    assert type(refusal_of(status, {}, b"").error()) is kind


@pytest.mark.parametrize(
    "words",
    [
        "prompt is too long: 213462 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000",
        "Input is too long for requested model.",
        "context_length_exceeded",
        "The request exceeds the model's maximum context length",
    ],
)
def test_a_conversation_that_is_too_long_is_told_from_a_wrong_one(words: str) -> None:
    assert type(refusal_of(400, {}, body("invalid_request_error", words)).error()) is TooLongError
    assert type(refusal_of(500, {}, body("api_error", words)).error()) is ApiBusyError


@pytest.mark.parametrize(
    ("sent", "headers", "words"),
    [
        (body("x", "a  \n b"), {}, "a b"),
        (b'{"error": "plain"}', {}, "plain"),
        (b'{"detail": "of a gateway"}', {}, "of a gateway"),
        (b'{"message": "at the top"}', {}, "at the top"),
        (b"some words", {"content-type": "text/plain; charset=utf-8"}, "some words"),
        (b"<html>", {"content-type": "text/html"}, "it answered with a page for people"),
        (b"\xff\x00", {"content-type": "application/json"}, ""),
        (b"[" * 100_000, {}, ""),
        (b'{"error": {"message": 5, "type": []}}', {}, ""),
        (b"null", {}, ""),
    ],
)
def test_the_words_are_found_in_whatever_form(sent: bytes, headers: dict[str, str], words: str) -> None:
    assert refusal_of(400, headers, sent).words.startswith(words)
    assert bool(refusal_of(400, headers, sent).words) == bool(words)


def test_long_words_are_cut_and_secrets_are_taken_out_before_that() -> None:
    secret = "sk-" + "s" * 40
    words = masked("a" * 590 + secret, [secret])
    assert "sk-" not in words
    assert len(masked("a" * 5000, [])) == 601
    assert masked("abc", ["a", ""]) == "abc"  # too short to be a secret


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "120"}, 120.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "x", "retry-after": "9"}, 9.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT"}, 40.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:10 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "\u0665"}, None),
        ({"retry-after": "9" * 400}, 86_400.0 * 366),
    ],
)
def test_how_long_to_wait_is_told_in_many_ways(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, now=60.0) == seconds


def test_the_id_of_a_request_is_kept() -> None:
    assert refusal_of(400, {"request-id": "req_1"}, b"").error().request_id == "req_1"
    assert refusal_of(400, {}, b'{"request_id": "req_2"}').error().request_id == "req_2"


def test_in_a_stream_the_kind_tells_the_status() -> None:
    assert refusal_of_kind("overloaded_error", "x") == Refusal(529, "overloaded_error", "x")
    assert refusal_of_kind("invalid_request_error", "x").status == 400
    assert refusal_of_kind("never heard of", "x").is_passing
