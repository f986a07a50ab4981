"""One value of a raw record is replaced or removed; every other byte stays."""

from __future__ import annotations

import json
from random import Random
from time import process_time
from typing import Any, cast

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from clew.format.decode import decode
from clew.format.patch import (
    NoSuchPathError,
    Path,
    map_strings,
    remove,
    replace,
    replace_bytes,
    same_start,
    span,
    value_at,
)
from tests.format.samples import json_values
from tests.fuzz.lines import corpus

ODD = (
    b'\xef\xbb\xbf { "b" : [1, {"x":"\xff\\ud800","n":NaN} ,"\\u0061"],'
    b'"a":{"k":1 , "k":"last"},"\\u0063":null}\r\n'
)


@pytest.mark.parametrize(
    ("path", "written"),
    [
        (("b",), b'[1, {"x":"\xff\\ud800","n":NaN} ,"\\u0061"]'),
        (("b", 0), b"1"),
        (("b", 1), b'{"x":"\xff\\ud800","n":NaN}'),
        (("b", 1, "x"), b'"\xff\\ud800"'),
        (("b", 1, "n"), b"NaN"),
        (("b", 2), b'"\\u0061"'),
        (("a", "k"), b'"last"'),
        (("c",), b"null"),
    ],
)
def test_a_value_is_found_and_changed_in_its_place(path: Path, written: bytes) -> None:
    assert value_at(ODD, path) == written
    start, end = span(ODD, path)
    assert replace(ODD, path, {"new": "é"}) == ODD[:start] + '{"new":"é"}'.encode() + ODD[end:]
    assert replace_bytes(replace(ODD, path, "new"), path, written) == ODD


@pytest.mark.parametrize(
    "path",
    [
        (),
        ("missing",),
        ("b", 3),
        ("b", -1),
        ("b", "0"),
        ("b", True),
        ("a", 0),
        ("a", "k", "deeper"),
        ("c", "x"),
        (0,),
    ],
)
def test_a_path_that_is_not_there_is_an_error_that_names_it(path: Path) -> None:
    for change in (value_at, remove):
        with pytest.raises(NoSuchPathError) as caught:
            change(ODD, path)
        assert caught.value.path == path


@pytest.mark.parametrize("raw", [b"", b"5", b"[]", b"{}", b'{"a"', b'{"a":{"k":', b"\\", b'{"a\\q":1}'])
def test_what_has_no_such_value_is_an_error_and_nothing_worse(raw: bytes) -> None:
    with pytest.raises(NoSuchPathError):
        span(raw, ("a", "k"))


@pytest.mark.parametrize(
    ("raw", "path", "expected"),
    [
        (b'{"a":1,"b":2}', ("a",), b'{"b":2}'),
        (b'{"a":1,"b":2}', ("b",), b'{"a":1}'),
        (b'{"a":1}', ("a",), b"{}"),
        (b'{ "a" : 1 , "b" : 2 }', ("a",), b'{ "b" : 2 }'),
        (b'{ "a" : 1 , "b" : 2 }', ("b",), b'{ "a" : 1  }'),
        (b'{"a":1,"a":2,"b":3}', ("a",), b'{"b":3}'),
        (b'{"b":3,"a":1,"a":{}}', ("a",), b'{"b":3}'),
        (b'{"a":1,"b":3,"a":[2]}', ("a",), b'{"b":3}'),
        (b'{"a":1,"a":2}', ("a",), b"{}"),
        (b'{"x":[1,2,3]}', ("x", 0), b'{"x":[2,3]}'),
        (b'{"x":[1,{},3]}', ("x", 1), b'{"x":[1,3]}'),
        (b'{"x":[[1]]}\n', ("x", 0), b'{"x":[]}\n'),
    ],
)
def test_a_value_is_taken_out_with_one_comma(raw: bytes, path: Path, expected: bytes) -> None:
    assert remove(raw, path) == expected


def test_of_a_repeated_key_the_last_one_is_meant_even_where_it_leads_nowhere() -> None:
    raw = b'{"a":{"k":1},"a":{"k":2}}'
    assert replace(raw, ("a", "k"), 3) == b'{"a":{"k":1},"a":{"k":3}}'
    assert remove(raw, ("a", "k")) == b'{"a":{"k":1},"a":{}}'
    for hidden in (b'{"a":{"k":1},"a":5}', b'{"a":{"k":1},"a":{"j":2}}', b'{"a":{"k":1},"a":[1]}'):
        with pytest.raises(NoSuchPathError):
            span(hidden, ("a", "k"))


def paths(value: object, path: Path = ()) -> list[Path]:
    """Every path into a decoded value."""
    found: list[Path] = [path] if path else []
    if isinstance(value, dict):
        for key, item in cast("dict[str, object]", value).items():
            found += paths(item, (*path, key))
    elif isinstance(value, list):
        for at, item in enumerate(cast("list[object]", value)):
            found += paths(item, (*path, at))
    return found


def changed(value: Any, path: Path, new: object) -> Any:
    """A decoded value with another one at `path`; the plain way to do what `replace` does."""
    if not path:
        return new
    copy: Any = value.copy()
    copy[path[0]] = changed(value[path[0]], path[1:], new)
    return copy


@given(
    st.dictionaries(st.text(max_size=4), json_values, min_size=1, max_size=4),
    json_values,
    st.booleans(),
    st.data(),
)
def test_there_and_back_gives_the_same_bytes_and_between_them_the_value_that_was_asked_for(
    data: dict[str, object], new: object, spaced: bool, picks: st.DataObject
) -> None:
    assume("NaN" not in repr(new).replace("nan", "NaN") and "inf" not in repr(new))
    raw = json.dumps(data, indent=1 if spaced else None).encode()
    value = json.loads(raw)
    path = picks.draw(st.sampled_from(paths(value)))
    old = value_at(raw, path)
    there = replace(raw, path, new)
    assert repr(json.loads(there)) == repr(changed(value, path, json.loads(json.dumps(new))))
    assert replace_bytes(there, path, old) == raw


@given(st.dictionaries(st.text(max_size=4), json_values, min_size=1, max_size=4), st.data())
def test_what_is_removed_is_gone_and_nothing_else(data: dict[str, object], picks: st.DataObject) -> None:
    value = json.loads(json.dumps(data))
    path = picks.draw(st.sampled_from(paths(value)))
    raw = json.dumps(data).encode()
    place: Any = value
    for part in path[:-1]:
        place = place[part]
    del place[path[-1]]
    assert repr(json.loads(remove(raw, path))) == repr(value)


def test_there_and_back_gives_the_same_bytes_for_lines_of_the_corpus() -> None:
    random = Random(5)
    for raw in corpus()[::7]:
        for path in random.sample(all_paths := paths(decode(raw).data), min(3, len(all_paths))):
            there = replace(raw, path, "changed")
            assert replace_bytes(there, path, value_at(raw, path)) == raw
            assert there != raw


@pytest.mark.no_cover  # it is about time
def test_a_long_record_and_a_deep_path_take_linear_time() -> None:
    started = process_time()
    wide = b'{"x":[' + b'{"k":1},' * 50_000 + b'{"k":2}],"a":5}'
    assert value_at(wide, ("x", 50_000, "k")) == b"2"
    doubled = b"{" + b'"a":1,' * 50_000 + b'"b":2}'
    assert remove(doubled, ("a",)) == b'{"b":2}'
    deep = b'{"a":' * 50_000 + b"7" + b"}" * 50_000
    assert value_at(deep, ("a",) * 50_000) == b"7"
    assert process_time() - started < 10


# --- many strings at once -----------------------------------------------------------------------------------

_leaves = st.none() | st.booleans() | st.integers() | st.text(max_size=6)
_trees = st.recursive(
    _leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abcé\n"), inner, max_size=4),
    max_leaves=20,
)


def _mapped(value: Any, path: tuple[str | int, ...], skip: set[tuple[str | int, ...]]) -> Any:
    if path in skip:
        return value
    if isinstance(value, str):
        return _louder(path, value) or value
    if isinstance(value, list):
        return [_mapped(one, (*path, at), skip) for at, one in enumerate(cast("list[Any]", value))]
    if isinstance(value, dict):
        return {key: _mapped(one, (*path, key), skip) for key, one in cast("dict[str, Any]", value).items()}
    return value


def _louder(path: tuple[str | int, ...], text: str) -> str | None:
    return f"{text}!{len(path)}" if len(text) % 2 else None


@given(
    record=st.dictionaries(st.sampled_from("abcé\n"), _trees, max_size=4),
    skip=st.sets(
        st.tuples(st.sampled_from("abc")) | st.tuples(st.sampled_from("abc"), st.sampled_from("abc"))
    ),
    is_ascii=st.booleans(),
    indent=st.none() | st.just(1),
)
def test_strings_are_changed_where_they_are_values_and_nowhere_else(
    record: dict[str, Any], skip: set[tuple[str | int, ...]], is_ascii: bool, indent: int | None
) -> None:
    raw = json.dumps(record, ensure_ascii=is_ascii, indent=indent).encode("utf-8", "surrogatepass")
    found = map_strings(raw, _louder, skip=skip)
    assert json.loads(found.decode("utf-8", "surrogatepass")) == _mapped(record, (), skip)
    assert map_strings(raw, lambda _path, _text: None) is raw


def test_every_byte_but_those_of_the_strings_stays() -> None:
    raw = b' { "a" : "old" , "a":"old","k":{"a":[1.50,"old",{"x":"old"}]},"t":"say \\"old\\""} \r'
    found = map_strings(raw, lambda _path, text: "new" if text == "old" else None, skip={("k", "a", 2)})
    assert found == raw.replace(b'"old"', b'"new"', 3)
    assert map_strings(b"[1", lambda _path, _text: "x") == b"[1"
    assert map_strings(b"17", lambda _path, _text: "x") == b"17"


@given(st.binary(max_size=20), st.binary(max_size=20), st.binary(max_size=20))
def test_what_two_begin_with_alike_is_counted(start: bytes, one: bytes, other: bytes) -> None:
    left, right = start + one, start + other
    count = same_start(left, right)
    assert left[:count] == right[:count]
    assert count == min(len(left), len(right)) or left[count] != right[count]
