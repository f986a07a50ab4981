"""Bytes are cut into lines and put back together; a line too long to hold is abridged in passing."""

from __future__ import annotations

import io
import json
import re
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.format import lines
from clew.format.decode import DecodeError, decode
from clew.format.lines import (
    LONG,
    Abridger,
    BytesSource,
    LongLine,
    join,
    readline_from,
    split,
    stream,
    stretches,
)
from tests.format.samples import json_values
from tests.fuzz.lines import files


@given(st.binary(), st.integers(0, 1 << 40))
def test_any_bytes_survive_a_round_trip(data: bytes, start: int) -> None:
    found = list(split(data, start=start))
    assert join(found) == data
    assert [line.offset for line in found] == [
        start + at for at in range(len(data)) if at == 0 or data[at - 1] == 0x0A
    ]


def test_every_sample_survives_a_round_trip() -> None:
    for path in files():
        data = path.read_bytes()
        assert join(split(data)) == data, path


def test_only_a_newline_ends_a_line() -> None:
    data = '{"a":"x\u2028y\u0085z\x0b\x0c\r"}\n'.encode()
    assert [line.raw for line in split(data)] == [data]


def test_a_line_knows_its_length_and_whether_it_is_finished() -> None:
    first, last = split(b"one\ntwo")
    assert (first.length, first.is_terminated) == (4, True)
    assert (last.length, last.is_terminated) == (3, False)


@given(st.binary(max_size=400), st.integers(1, 60), st.integers(1, 30), st.data())
def test_a_stream_has_the_lines_of_a_split_and_long_ones_in_their_places(
    data: bytes, long: int, chunk: int, picks: st.DataObject
) -> None:
    data = data.replace(b"\x07", b"\n")
    start = picks.draw(st.integers(0, len(data)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "LONG", long)
        patch.setattr(lines, "_CHUNK", chunk)
        found = list(stream(readline_from(BytesSource(data), start=start), start=start))
        from_file = list(stream(io.BytesIO(data[start:]).readline, start=start))
    assert found == from_file
    for one, line in zip(found, split(data[start:], start=start), strict=True):
        if isinstance(one, LongLine):
            assert (one.offset, one.length, one.is_terminated) == (
                line.offset,
                line.length,
                line.is_terminated,
            )
            assert line.length >= long
        else:
            assert one == line.raw


def test_reading_can_stop_before_the_end() -> None:
    readline = readline_from(BytesSource(b"one\ntwo\nthree\n"), start=4, end=10)
    assert [readline(100), readline(100), readline(100)] == [b"two\n", b"th", b""]


def test_a_source_over_bytes_gives_what_there_is() -> None:
    source = BytesSource(b"abcdef")
    assert (source.size, source.read(4, 10), source.read(9, 1)) == (6, b"ef", b"")


def abridged(raw: bytes, *, keep: int, step: int, most: int = 1 << 20) -> bytes | None:
    abridger = Abridger(keep=keep, most=most)
    for at in range(0, len(raw), step):
        abridger.feed(raw[at : at + step])
    return abridger.finish()


@given(json_values, st.integers(8, 40), st.integers(1, 50), st.booleans())
def test_what_is_abridged_decodes_like_the_line_with_its_long_strings_cut(
    value: object, keep: int, step: int, ascii_only: bool
) -> None:
    raw = json.dumps({"k": value}, ensure_ascii=ascii_only).encode("utf-8", "backslashreplace")
    brief = abridged(raw, keep=keep, step=step)
    assert brief is not None
    if max((len(text) for text in re.findall(rb'"(?:[^"\\]|\\.)*"', raw)), default=0) - 2 <= keep:
        assert brief == raw
    assert _shape(brief) == _shape(raw)


def _shape(raw: bytes) -> str:
    """The record with every string left out, keys too: they may have been cut, and may look alike then."""
    return re.sub(
        r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", "_", repr(json.loads(raw, object_pairs_hook=list))
    )


@given(st.text(alphabet='aé漢🚀\\"\n', min_size=1), st.integers(1, 40), st.integers(1, 9), st.booleans())
def test_a_cut_never_leaves_half_a_character(text: str, keep: int, step: int, ascii_only: bool) -> None:
    raw = json.dumps({"text": text}, ensure_ascii=ascii_only).encode()
    brief = abridged(raw, keep=max(keep, 4), step=step)
    assert brief is not None
    decoded = decode(brief)
    assert not decoded.quirks
    assert text.startswith(decoded.data["text"])
    assert len(brief) <= len(raw)


@given(st.text(max_size=30), st.sampled_from([b"\\q", b"\\u12x4", b"\0", b"\x1f", b"\\"]), st.integers(1, 9))
def test_what_is_no_json_is_none_after_the_cut_either(text: str, bad: bytes, step: int) -> None:
    body = json.dumps("x" * 20 + text)[1:-1].encode()
    raw = b'{"type":"user","text":"' + body + bad + b'q0000","uuid":"u"}'
    brief = abridged(raw, keep=6, step=step)
    assert brief is not None
    for one in (raw, brief):
        with pytest.raises(DecodeError):
            decode(one)


def test_a_line_without_long_strings_may_be_too_long_all_the_same() -> None:
    assert abridged(b"[" + b"1," * 5000 + b"1]", keep=10, step=100, most=2000) is None


def test_two_hundred_megabytes_of_one_string_become_a_few_kilobytes_in_no_time() -> None:
    abridger = Abridger()
    started = process_time()
    abridger.feed(b'{"type":"user","text":"')
    megabyte = rb"a line of output, as tools print it, with \"quotes\"\n" * 20_000
    for _ in range(200):
        abridger.feed(megabyte)
    abridger.feed(b'","uuid":"u"}\n')
    brief = abridger.finish()
    assert process_time() - started < 10
    assert brief is not None
    assert len(brief) < 5000
    assert decode(brief.strip()).data["uuid"] == "u"


def test_a_line_of_exactly_the_longest_length_is_held() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "LONG", 8)
        found = list(stream(io.BytesIO(b'{"a":1}\n{"ab":1}\n').readline))
    assert [type(one) for one in found] == [bytes, LongLine]


@given(st.lists(st.binary(max_size=40).map(lambda data: data.replace(b"a", b"\n")), max_size=20))
def test_stretches_are_whole_lines_that_join_to_what_was_cut(pieces: list[bytes]) -> None:
    found = [data[start:end] for data, start, end in stretches(pieces)]
    assert b"".join(found) == b"".join(pieces)
    assert all(part.endswith(b"\n") for part in found[:-1])
    assert all(found)


def test_a_stretch_holds_no_line_that_is_too_long() -> None:
    long = b'{"a":"' + b"x" * (LONG + 5) + b'"}\n'
    data = b'{"b":1}\n' + long + b'{"c":2}\n' + long[:-3]
    found = [
        part[start:end]
        for part, start, end in stretches(data[at : at + 77_777] for at in range(0, len(data), 77_777))
    ]
    assert b"".join(found[:1]) == b'{"b":1}\n'
    assert any(part.startswith(b'{"a":"xxx') and part.endswith(b'x"}\n') for part in found)
    assert b'{"c":2}\n' in found
    assert max(map(len, found)) < 100_000
