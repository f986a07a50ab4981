"""Events are the same however the bytes are cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.agent.sse import EventCutter, EventTooLongError, ServerEvent


def cut(*pieces: bytes) -> list[ServerEvent]:
    cutter = EventCutter()
    return [event for piece in pieces for event in cutter.feed(piece)]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"event: a\ndata: 1\n\n", [("a", "1")]),
        (b"event: a\r\ndata: 1\r\n\r\n", [("a", "1")]),
        (b"event: a\rdata: 1\r\r", [("a", "1")]),
        (b"\xef\xbb\xbfdata: 1\n\n", [("", "1")]),
        (b"data:1\ndata:  2\n\n", [("", "1\n 2")]),
        (b": a comment\n\ndata: 1\n\n", [("", "1")]),
        (b"event: a\n\ndata: 1\n\n", [("", "1")]),
        (b"id: 7\nretry: 9\nnonsense\ndata: 1\n\n", [("", "1")]),
        (b"data\n\n", [("", "")]),
        (b"data: 1\n", []),
        (b"data: 1", []),
        (b"data: \xff\n\n", [("", "\ufffd")]),
        (b"data: a\xe2\x80\xa8b\n\n", [("", "a\u2028b")]),
        (b"", []),
    ],
)
def test_what_is_cut(data: bytes, told: list[tuple[str, str]]) -> None:
    assert [(event.name, event.data) for event in cut(data)] == told
    assert cut(*(bytes([byte]) for byte in data)) == cut(data)


STREAM = st.lists(
    st.sampled_from([b"data: x", b"event: \xc3\xa9", b"\n", b"\r", b"\r\n", b":", b"data", b"\xef\xbb\xbf"])
)


@given(STREAM, st.data())
def test_however_it_is_cut_the_events_are_the_same(parts: list[bytes], draw: st.DataObject) -> None:
    data = b"".join(parts)
    places = sorted(draw.draw(st.lists(st.integers(0, len(data)))))
    pieces = [data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True)]
    assert cut(*pieces) == cut(data)


@given(STREAM)
def test_lines_are_those_of_another_reader(parts: list[bytes]) -> None:
    """The whole text cut by Python's own rules for universal line ends."""
    data = b"".join(parts)
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    expected: list[str] = []
    lines: list[str] = []
    for line in text.split("\n")[:-1]:
        if line:
            name, _, value = line.partition(":")
            lines += [value.removeprefix(" ")] if name == "data" else []
        elif lines:
            expected.append("\n".join(lines))
            lines = []
        else:
            lines = []
    assert [event.data for event in cut(data)] == expected


@pytest.mark.parametrize("line", [b"data: x\n", b"x"])
def test_an_event_that_never_ends_is_refused(line: bytes) -> None:
    cutter = EventCutter(most=1000)
    with pytest.raises(EventTooLongError):
        _ = [list(cutter.feed(line)) for _ in range(2000)]


def test_a_long_line_in_small_pieces_is_read_in_time() -> None:
    cutter = EventCutter()
    found = list(cutter.feed(b"data: "))
    for _ in range(40_000):
        found += cutter.feed(b"0123456789")
    found += cutter.feed(b"\n\n")
    assert len(found[0].data) == 400_000
