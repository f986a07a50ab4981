"""A damaged line is taken apart into whole records and fragments, and nothing is made up."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.format.salvage import is_envelope, pieces

A = b'{"type":"user","uuid":"a","message":{"role":"user","content":"hello"}}'
B = b'{"type":"assistant","uuid":"b","parentUuid":"a","message":{"content":[{"type":"text","text":"hi"}]}}'
NESTED = b'{"type":"progress","uuid":"p","data":{"type":"agent_progress","message":' + A + b"}}"


def taken(raw: bytes) -> list[tuple[str, bytes]]:
    """The pieces of a line: `record`, or the damage, and the bytes; blanks left out."""
    found = pieces(raw)
    assert b"".join(raw[one.start : one.end] for one in found) == raw
    return [(one.damage or one.kind, raw[one.start : one.end]) for one in found if one.kind != "blank"]


def test_a_healthy_line_is_one_record_and_its_ending() -> None:
    assert [(one.kind, one.start, one.end) for one in pieces(A + b"\r\n")] == [
        ("record", 0, len(A)),
        ("blank", len(A), len(A) + 2),
    ]


def test_a_blank_line_is_blank() -> None:
    assert taken(b" \t\r\n") == []
    assert pieces(b"") == ()


def test_a_byte_order_mark_is_blank_at_the_start_of_the_file_only() -> None:
    found = pieces(b"\xef\xbb\xbf" + A, at_file_start=True)
    assert [(one.kind, one.start, one.end) for one in found] == [("blank", 0, 3), ("record", 3, 3 + len(A))]
    assert [one.kind for one in pieces(b"\xef\xbb\xbf", at_file_start=True)] == ["blank"]
    assert taken(b"\xef\xbb\xbf" + A) == [("spliced", b"\xef\xbb\xbf"), ("record", A)]


@pytest.mark.parametrize("cut", range(1, len(A)))
def test_a_record_spliced_onto_a_torn_one_is_recovered_wherever_the_tear_is(cut: int) -> None:
    found = taken(A[:cut] + B)
    if A[:cut].endswith(b":"):
        # Torn where a value is due, the next record reads as that value: it is flagged, not taken.
        assert [kind for kind, _ in found] == ["torn"]
        assert pieces(A[:cut] + B)[0].is_probable
    else:
        assert found == [("spliced", A[:cut]), ("record", B)]


@pytest.mark.parametrize("cut", range(1, len(NESTED)))
def test_a_torn_record_never_yields_the_envelope_nested_in_it(cut: int) -> None:
    assert [kind for kind, _ in taken(NESTED[:cut])] == ["torn"]


@pytest.mark.parametrize("cut", range(1, len(NESTED)))
def test_a_record_without_its_head_never_yields_the_envelope_nested_in_it(cut: int) -> None:
    assert all(kind != "record" for kind, _ in taken(NESTED[cut:]))


@pytest.mark.parametrize("cut", range(2, len(NESTED)))
def test_a_record_behind_a_headless_one_is_recovered(cut: int) -> None:
    assert taken(NESTED[cut:] + B)[-1] == ("record", B)


def test_an_envelope_that_a_torn_record_ends_in_is_flagged() -> None:
    torn = NESTED[: NESTED.index(A) + len(A)]
    (only,) = pieces(torn)
    assert (only.kind, only.damage, only.is_probable) == ("fragment", "torn", True)
    assert not pieces(NESTED[:-1])[0].is_probable
    assert [one.is_probable for one in pieces(torn + b"\0")] == [True, False]
    assert [one.is_probable for one in pieces(torn + b"{")] == [True]
    assert [one.is_probable for one in pieces(torn + b"{\0")] == [True, False]
    assert [one.is_probable for one in pieces(torn + b'{"')] == [True, False]


def test_glued_records_are_taken_one_by_one() -> None:
    assert taken(A + B + A) == [("record", A), ("record", B), ("record", A)]
    assert taken(A + b" " + B) == [("record", A), ("record", B)]
    loose = b'{"message":{"role":"user","content":"hi"}}'
    assert taken(loose + A) == [("record", loose), ("record", A)]


def test_records_longer_than_the_window_they_are_read_through_are_found() -> None:
    long = b'{"type":"user","uuid":"l","x":"' + b"y" * 90_000 + b'"}'
    wide = b'{"type":"user","uuid":"w","x":[' + b"1," * 50_000 + b"1]}"
    assert taken(long + wide) == [("record", long), ("record", wide)]
    for torn in (long[:70_000], wide[:70_000]):
        assert taken(torn + B) == [("spliced", torn), ("record", B)]
    assert taken(wide[:70_000]) == [("torn", wide[:70_000])]


def test_a_run_of_nuls_is_cut_out() -> None:
    nuls = b"\0" * 300
    assert taken(nuls) == [("nul", nuls)]
    assert taken(nuls + A) == [("nul", nuls), ("record", A)]
    assert taken(A + nuls) == [("record", A), ("nul", nuls)]
    assert taken(A[:30] + nuls + B) == [("torn", A[:30]), ("nul", nuls), ("record", B)]
    assert taken(b'{"a":"\\' + nuls + B) == [("torn", b'{"a":"\\'), ("nul", nuls), ("record", B)]


def test_a_record_torn_at_its_first_byte_is_told_from_the_one_behind_it() -> None:
    assert taken(b"{" + A + b"{") == [("spliced", b"{"), ("record", A), ("torn", b"{")]


def test_words_behind_the_first_record_of_a_line_do_not_hide_it() -> None:
    assert taken(A + b' tail of another"}') == [("record", A), ("garbage", b'tail of another"}')]
    assert taken(A + b"]}") == [("garbage", A + b"]}")]
    assert taken(b'{"a":1} words') == [("garbage", b'{"a":1} words')]


def test_objects_out_of_somebodys_text_are_no_records() -> None:
    assert all(kind != "record" for kind, _ in taken(b'{"a":1}{"b":2}'))
    assert all(kind != "record" for kind, _ in taken(b'{ }{ } and so on", "x":1}'))


def test_beside_a_fragment_only_an_envelope_is_a_record() -> None:
    assert [kind for kind, _ in taken(b'{"type":"use{"type":"text"}')] == ["spliced", "garbage"]
    assert taken(b"\0" + b'{"type":"text","text":"x"}')[1][0] == "garbage"


def test_what_is_foreign_is_garbage() -> None:
    assert taken(b"var hljs = (function () {})") == [("garbage", b"var hljs = (function () {})")]
    assert taken(b'words {"') == [("spliced", b"words "), ("torn", b'{"')]
    assert taken(b'more words, then "}' + A) == [("garbage", b'more words, then "}'), ("record", A)]
    assert taken(b"many words then\0" + A) == [("garbage", b"many words then"), ("nul", b"\0"), ("record", A)]


def test_what_is_json_but_no_object_is_named_so() -> None:
    assert taken(b"[1,2]\n") == [("not-a-record", b"[1,2]")]
    assert taken(b"null") == [("not-a-record", b"null")]


def test_what_is_nested_too_deep_is_named_so() -> None:
    assert taken(b'{"a":' * 5000) == [("too-deep", b'{"a":' * 5000)]
    assert taken(b"x" + b'{"a":' * 5000)[-1][0] in {"too-deep", "garbage"}
    assert [kind for kind, _ in taken(A + b'{"a":' * 5000)] == ["record", "too-deep"]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"type": "user", "uuid": "a"}, True),
        ({"type": "summary", "leafUuid": "a"}, True),
        ({"type": "file-history-snapshot", "messageId": "a"}, True),
        ({"type": "x", "sessionId": "a"}, True),
        ({"type": "text", "text": "a"}, False),
        ({"type": 5, "uuid": "a"}, False),
        ({"uuid": "a"}, False),
        ({"message": {"role": "user"}}, True),
        ({"message": {"type": "user"}}, False),
        ({"message": "role"}, False),
    ],
)
def test_an_envelope_has_a_type_and_an_id(data: dict[str, object], expected: bool) -> None:
    assert is_envelope(data) is expected


scraps = st.sampled_from([A, B, NESTED, b'{"', b"}", b"{", b'"', b"\\", b"\0", b" ", b","])


@given(st.binary(max_size=200) | st.lists(scraps).map(b"".join))
def test_the_pieces_of_a_line_are_all_of_it(raw: bytes) -> None:
    found = pieces(raw, at_file_start=True)
    assert b"".join(raw[one.start : one.end] for one in found) == raw
    assert all(one.start < one.end for one in found)
    for one in found:
        assert (one.kind == "record") == (one.decoded is not None)
        assert (one.kind == "fragment") == (one.damage is not None)


UNITS = (
    *(b'{"', b'}{"', b'{"a', b"\0 ", b'"', b"}", b"x", b'x{"', b"{", b"[", b"\\"),
    b'{"type":"user","uuid":"u","x":"abc',
    b'{"a":{"type":"u","uuid":"1"}{"b":',
    b'{"type":"user","uuid":"u"}',
    b'{"type":"user","uuid":"u"}\0',
)


@pytest.mark.no_cover  # it is about time
@pytest.mark.parametrize("unit", UNITS)
def test_noise_of_megabytes_takes_no_longer_than_its_length(unit: bytes) -> None:
    raw = unit * (1_000_000 // len(unit))
    started = process_time()
    found = pieces(raw)
    assert process_time() - started < 3
    assert found[-1].end == len(raw)
