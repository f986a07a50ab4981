"""A record is decoded strictly where it can be, tolerantly where it must be; what was forgiven is told."""

from __future__ import annotations

import json
import math
from time import process_time

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.format.decode import DEEPEST, DecodeError, decode, encode, has_lone_surrogate
from tests.format.samples import json_values

QUIRKS: list[tuple[bytes, set[str]]] = [
    (b'{"a":"\xff"}', {"invalid-utf8"}),
    (b'{"\xff":1}', {"invalid-utf8"}),
    (b'{"a":"\\ud83d"}', {"lone-surrogate"}),
    (b'{"a":"\\udc00x"}', {"lone-surrogate"}),
    (b'{"a":NaN}', {"nan"}),
    (b'{"a":-Infinity}', {"nan"}),
    (b'{"a":1e999}', {"huge-number"}),
    (b'{"a":' + b"9" * 5000 + b"}", {"huge-number"}),
    (
        b'{"a":NaN,"b":"\xff","c":"\\ud800","d":1e999}',
        {"nan", "invalid-utf8", "lone-surrogate", "huge-number"},
    ),
    (b'{"a":"\\ud83d\\ude80"}', set()),
    (b'{"a":123456789012345678901234567890}', set()),
    (b'{"a":1,"a":2}', set()),
]


@pytest.mark.parametrize(("raw", "quirks"), QUIRKS)
def test_what_was_forgiven_is_told(raw: bytes, quirks: set[str]) -> None:
    assert decode(raw).quirks == quirks


def test_only_nan_makes_a_line_that_no_parser_takes() -> None:
    assert decode(b'{"a":"\xff"}').is_json
    assert not decode(b'{"a":NaN}').is_json


def test_odd_numbers_have_a_value_all_the_same() -> None:
    data = decode(b'{"a":NaN,"b":-Infinity,"c":1e999,"d":' + b"9" * 5000 + b',"e":12}').data
    assert math.isnan(data["a"])
    assert (data["b"], data["c"], data["d"], data["e"]) == (-math.inf, math.inf, math.inf, 12)


def test_of_a_repeated_key_the_last_one_counts() -> None:
    assert decode(b'{"a":1,"a":2}').data == {"a": 2}
    assert decode(b'{"a":NaN,"a":2}').data == {"a": 2}


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "malformed"),
        (b'{"a":', "malformed"),
        (b'{"a":1}{"b":2}', "malformed"),
        (b'{"a":"\x00"}', "malformed"),
        (b"[1,2]", "not-an-object"),
        (b'"text"', "not-an-object"),
        (b"NaN", "not-an-object"),
        (b"null", "not-an-object"),
        (b"[" * 100_000, "too-deep"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "too-deep"),
        (b'{"n":NaN,"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "too-deep"),
    ],
)
def test_what_is_no_record_is_refused_with_its_reason(raw: bytes, reason: str) -> None:
    started = process_time()
    with pytest.raises(DecodeError) as caught:
        decode(raw)
    assert caught.value.reason == reason
    assert process_time() - started < 0.5


@given(st.dictionaries(st.text(max_size=5), json_values, max_size=4))
def test_both_decoders_give_the_same_values(data: dict[str, object]) -> None:
    raw = json.dumps(data, allow_nan=True).encode()
    assert repr(decode(raw).data) == repr(json.loads(raw, parse_int=_as_64_bits))
    # Half a character sends the same values down the slow road.
    slow = decode(raw[:-1] + (b"," if data else b"") + b'"half":"\\ud800"}')
    assert "lone-surrogate" in slow.quirks
    assert repr({**slow.data, "half": 0}) == repr({**json.loads(raw, parse_int=_as_64_bits), "half": 0})


def _as_64_bits(text: str) -> int | float:
    value = int(text)
    return value if -(2**63) <= value < 2**64 else float(value)


@given(json_values)
def test_what_is_encoded_is_valid_utf8_and_decodes_to_the_same(value: object) -> None:
    raw = encode({"v": value})
    raw.decode("utf-8")
    try:
        expected: object = json.loads(orjson.dumps({"v": value}))
    except TypeError:
        expected = {"v": value}
    assert json.loads(raw) == expected


def test_encoding_is_compact_and_leaves_characters_as_they_are() -> None:
    assert (
        encode({"a": "é漢🚀\u2028", "b": [1, None, True]}) == '{"a":"é漢🚀\u2028","b":[1,null,true]}'.encode()
    )


def test_half_a_character_is_written_as_an_escape_and_nothing_else_is() -> None:
    raw = encode({"a": "é\ud83dx"})
    assert raw == '{"a":"é\\ud83dx"}'.encode()
    assert decode(raw).data == {"a": "é\ud83dx"}


def test_the_slow_road_stops_at_a_depth_of_its_own_whatever_is_on_the_stack() -> None:
    def nested(levels: int) -> bytes:
        return b'{"n":NaN,"s":"[[{","x":[[],{}],"a":' + b"[" * levels + b"]" * levels + b"}"

    assert "nan" in decode(nested(DEEPEST - 1)).quirks
    with pytest.raises(DecodeError, match="too-deep"):
        decode(nested(DEEPEST))
    wide = b'{"n":NaN,"a":[' + b"[]," * DEEPEST + b"{}]}"
    assert len(decode(wide).data["a"]) == DEEPEST + 1


def test_integers_beyond_64_bits_are_read_alike_on_both_roads() -> None:
    assert repr(decode(b'{"a":18446744073709551616}').data["a"]) == "1.8446744073709552e+19"
    assert repr(decode(b'{"a":18446744073709551616,"b":NaN}').data["a"]) == "1.8446744073709552e+19"
    assert repr(decode(b'{"a":18446744073709551615,"b":NaN}').data["a"]) == "18446744073709551615"


def test_integers_of_any_size_are_written() -> None:
    assert encode({"a": 10**30}) == b'{"a":1000000000000000000000000000000}'


def test_half_a_character_is_found_at_any_depth_that_can_be_read() -> None:
    deep: object = "\ud800"
    for _ in range(100):
        deep = [deep]
    assert has_lone_surrogate(deep)
    assert not has_lone_surrogate({"a": ["🚀", {"b": None}]})
    for _ in range(10_000):
        deep = [deep]
    assert not has_lone_surrogate(deep)
