"""Going through a file once gives its records with their facts, and names every byte that is none."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from clew.format import lines
from clew.format.entry import Entry
from clew.format.lines import BytesSource
from clew.format.records import Fragment, Record, scan
from clew.format.skim import skim_entry
from tests.fuzz.laws import conserved, every_good_line_is_read
from tests.fuzz.lines import corpus, files
from tests.fuzz.mutate import damaged_file

A = b'{"type":"user","uuid":"a"}'
B = b'{"type":"assistant","uuid":"b"}'


def told(data: bytes) -> list[tuple[object, ...]]:
    """What there is in a file: line, offset, length, and the type or the damage."""
    return [
        (one.number, one.offset, one.length, one.facts.type if isinstance(one, Record) else one.damage)
        for one in scan(BytesSource(data))
    ]


def test_every_byte_of_every_sample_belongs_to_one_record_or_fragment() -> None:
    for path in files():
        data = path.read_bytes()
        found = list(scan(BytesSource(data)))
        conserved(data, found)
        every_good_line_is_read(data, found)


@given(
    st.binary(max_size=300)
    | st.lists(st.sampled_from([A, B, b"\n", b"\r\n", b"\0", b'{"', b" ", b"\xef\xbb\xbf"])).map(b"".join)
)
def test_every_byte_of_anything_belongs_to_one_record_fragment_or_blank(data: bytes) -> None:
    found = list(scan(BytesSource(data)))
    conserved(data, found)
    every_good_line_is_read(data, found)


@given(st.integers(0, 1 << 30), st.integers(20, 3000), st.integers(64, 512))
def test_every_byte_is_accounted_for_when_lines_are_too_long_to_hold(
    seed: int, long: int, chunk: int
) -> None:
    data = damaged_file(Random(seed))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "LONG", long)
        patch.setattr(lines, "_CHUNK", chunk)
        conserved(data, list(scan(BytesSource(data))))


@pytest.mark.parametrize("long", [300, 2000])
def test_the_facts_of_a_line_too_long_to_hold_are_those_of_the_whole_line(long: int) -> None:
    compared = 0
    for raw in corpus()[::2]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lines, "LONG", long)
            (found,) = scan(BytesSource(raw + b"\n"))
        assert isinstance(found, Record)
        whole = skim_entry(Entry(raw))
        compared += found.is_abridged
        assert found.facts.kind == whole.kind
        assert json.dumps(_short(found.facts), default=repr) == json.dumps(_short(whole), default=repr)
    assert compared > 50


def _short(facts: Any) -> object:
    """The facts, their texts cut to what is kept of a long line."""
    if isinstance(facts, str):
        return facts[:1000]
    if isinstance(facts, list):
        return [_short(one) for one in facts]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(facts, dict):
        return {key: _short(one) for key, one in facts.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(facts, Struct):
        return {name: _short(getattr(facts, name)) for name in facts.__struct_fields__}
    return facts


def test_a_healthy_record_has_its_line_ending_with_it() -> None:
    assert told(A + b"\n" + B + b"\r\n") == [(1, 0, 27, "user"), (2, 27, 33, "assistant")]


def test_a_damaged_line_does_not_shift_the_numbers_after_it() -> None:
    data = A + b"\n" + B[:9] + b"\n\n" + B + b"\n"
    assert told(data) == [(1, 0, 27, "user"), (2, 27, 9, "torn"), (4, 38, 32, "assistant")]


def test_reading_can_start_in_the_middle() -> None:
    data = A + b"\n" + B + b"\n"
    (only,) = scan(BytesSource(data), start=27, number=2)
    assert (only.number, only.offset) == (2, 27)


def test_two_records_on_one_line_are_two_with_the_same_number() -> None:
    first, second = scan(BytesSource(A + B + b"\n"))
    assert (first.number, second.number, second.offset) == (1, 1, len(A))
    assert isinstance(first, Record)
    assert not first.is_whole
    assert first.decoded().uuid == "a"
    assert not first.decoded().is_plain_json


def test_the_unfinished_end_of_a_file_is_told_from_a_torn_line_before_it() -> None:
    found = [
        one
        for one in scan(BytesSource(A[:9] + b"\n" + A + b"\n" + B[:9] + b" "))
        if isinstance(one, Fragment)
    ]
    assert [one.is_last for one in found] == [False, True]


@pytest.mark.parametrize("raw", [A, b'{"type":"user","x":"\\ud800"}'])
def test_a_record_knows_whether_its_newline_is_there(raw: bytes) -> None:
    first, second = scan(BytesSource(raw + b"\n" + raw))
    assert isinstance(first, Record)
    assert isinstance(second, Record)
    assert (first.is_terminated, second.is_terminated) == (True, False)


def test_a_record_knows_of_the_byte_order_mark_before_it() -> None:
    first, second = scan(BytesSource(b"\xef\xbb\xbf" + A + b"\n" + B + b"\n"))
    assert isinstance(first, Record)
    assert isinstance(second, Record)
    assert (first.has_bom, first.offset, first.is_whole) == (True, 3, True)
    assert not second.has_bom


def test_a_record_is_decoded_once() -> None:
    (only,) = scan(BytesSource(A + b"  \r\n"))
    assert isinstance(only, Record)
    assert only.decoded() is only.decoded()
    assert only.decoded().raw == A


def long_lines(data: bytes) -> list[Record | Fragment]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "LONG", 64)
        return list(scan(BytesSource(data)))


def test_a_long_line_is_a_record_with_its_true_length() -> None:
    raw = b'{"type":"user","uuid":"a","x":"' + b"y" * 9000 + b'"}\n'
    (only,) = long_lines(b"\xef\xbb\xbf" + raw)
    assert isinstance(only, Record)
    assert (only.offset, only.length, only.is_abridged, only.has_bom) == (3, len(raw), True, True)
    assert only.is_terminated
    assert only.facts.uuid == "a"
    assert len(only.decoded().data["x"]) == 4096
    (cut,) = long_lines(raw.rstrip())
    assert isinstance(cut, Record)
    assert not cut.is_terminated


@pytest.mark.parametrize(
    ("raw", "damage"),
    [
        (b'{"type":"user","x":"' + b"y" * 9000, "torn"),
        (b'{"type":"user","x":"' + b"y" * 9000 + b'\0\0"}', "torn"),
        (b'{"type":"user","x":"' + b"y" * 9000 + A, "garbage"),
        (A * 9, "spliced"),
        (b"[" + b"1," * 90 + b"1]", "not-a-record"),
        (b"[" * 3000, "too-deep"),
        (b"\0" * 3000, "nul"),
        (b"x" * 3000, "garbage"),
    ],
)
def test_a_long_line_that_is_no_record_is_one_fragment(raw: bytes, damage: str) -> None:
    (only,) = long_lines(raw + b"\n")
    assert isinstance(only, Fragment)
    assert (only.offset, only.length, only.damage, only.is_last) == (0, len(raw) + 1, damage, False)


def test_a_line_that_even_abridged_is_too_long_is_passed_over() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "LONG", 64)
        patch.setattr(lines.Abridger.__init__, "__kwdefaults__", {"keep": 8, "most": 500})
        data = b'{"a":[' + b"1," * 900 + b"1]}\n" + A + b"\n"
        first, second = scan(BytesSource(data))
    assert isinstance(first, Fragment)
    assert (first.damage, first.length) == ("too-long", len(data) - 27)
    assert (second.number, second.offset) == (2, first.length)
