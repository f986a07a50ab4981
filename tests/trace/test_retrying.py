"""Which answers are tried again, and after how long."""

from __future__ import annotations

import pytest

from clew.net.line import Answer
from clew.trace.retrying import Waits, judge, retry_after


def test_only_some_answers_are_tried_again() -> None:
    verdicts = {status: judge(Answer(status, {})) for status in range(200, 600)}
    assert {status for status, verdict in verdicts.items() if verdict == "again"} == {429, 502, 503, 504}
    assert {status for status, verdict in verdicts.items() if verdict == "accepted"} == set(range(200, 300))
    assert verdicts[413] == "too_large"
    assert verdicts[401] == verdicts[404] == verdicts[301] == "hopeless"
    assert verdicts[500] == "failed"


@pytest.mark.parametrize(
    ("told", "seconds"),
    [
        ("120", 120.0),
        ("0", 0.0),
        ("Thu, 01 Jan 1970 00:01:40 GMT", 40.0),
        ("Thu, 01 Jan 1970 00:00:10 GMT", 0.0),
        ("soon", None),
        ("-5", None),
        ("", None),
        ("9" * 400, 86_400.0 * 366),
    ],
)
def test_how_long_to_wait_is_told_in_seconds_or_as_a_date(told: str, seconds: float | None) -> None:
    assert retry_after(Answer(429, {"retry-after": told}), now=60.0) == seconds


def test_waits_grow_and_never_fall_below_what_was_told() -> None:
    waits = Waits(first=1.0, draw=lambda: 0.5)
    assert [waits.next() for _ in range(7)] == [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]
    assert waits.next(100.0) >= 100.0
    waits.reset()
    assert waits.next() == 1.0
