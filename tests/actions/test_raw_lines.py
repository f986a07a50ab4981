"""The lines that hold certain bytes are found, all of them and no others, however a file is read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.actions import raw_lines
from clew.actions.raw_lines import LineFinder, RawLine, long_strings
from clew.catalog.needles import Needle
from clew.format.lines import split
from clew.store.source import FileSource
from tests.examples import examples

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lines") / "file.jsonl"


@examples(800)
@given(
    data=st.text("abA\n", max_size=120),
    spellings=st.lists(st.text("ab", min_size=1, max_size=6), min_size=1, max_size=3),
    ignores_case=st.booleans(),
    piece=st.integers(1, 40),
)
def test_exactly_the_lines_that_hold_a_spelling_are_found(
    path: Path, data: str, spellings: list[str], ignores_case: bool, piece: int
) -> None:
    raw = data.encode()
    path.write_bytes(raw)
    needle = Needle(tuple(one.encode() for one in spellings), ignores_case)
    found = [*LineFinder(needle, piece=piece).lines(str(path))]
    expected = [
        RawLine(line.offset, line.length, line.raw)
        for line in split(raw)
        if any(one.encode() in (line.raw.lower() if ignores_case else line.raw) for one in spellings)
    ]
    assert found == expected


@settings(max_examples=100)
@given(data=st.text("ab\n", max_size=80))
def test_without_a_needle_all_lines_are_found(path: Path, data: str) -> None:
    path.write_bytes(data.encode())
    found = [*LineFinder(None).lines(str(path))]
    assert found == [RawLine(line.offset, line.length, line.raw) for line in split(data.encode())]


def test_without_the_c_library_the_same_is_found(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_bytes(b"one\ntwo three\nthree\nfour\n" * 50)
    needle = Needle((b"three",))
    usual = [*LineFinder(needle, piece=64).lines(str(path))]
    assert len(usual) == 100
    monkeypatch.setattr(raw_lines.sys, "platform", "win32")
    monkeypatch.setattr(raw_lines, "_READ_INTO", None)
    assert [*LineFinder(needle, piece=64).lines(str(path))] == usual


@pytest.mark.parametrize("needle", [Needle((b"x9",)), None])
def test_a_line_too_long_to_hold_is_named_but_not_held(
    path: Path, needle: Needle | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(raw_lines, "HOLD", 1000)
    long = b"y" * 5000 + b"x9" + b"z" * 5000 + b"\n"
    path.write_bytes(b"x9\n" + long + b"x9\n")
    assert [*LineFinder(needle, piece=64).lines(str(path))] == [
        RawLine(0, 3, b"x9\n"),
        RawLine(3, len(long), None),
        RawLine(3 + len(long), 3, b"x9\n"),
    ]


@examples(400)
@given(
    strings=st.lists(
        st.text(st.sampled_from('a"\\\n/é日🧶\ud83d') | st.characters(), max_size=60), max_size=5
    ),
    ascii_only=st.booleans(),
    step=st.integers(12, 80),
)
def test_the_long_strings_of_a_line_come_whole_in_pieces(
    path: Path, strings: list[str], ascii_only: bool, step: int
) -> None:
    # Two halves side by side are one character to whoever reads JSON.
    strings = [one.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace") for one in strings]
    raw = json.dumps({"key": strings}, ensure_ascii=ascii_only).encode()
    path.write_bytes(b"before\n" + raw + b"\nafter")
    with FileSource(path) as source:
        strings_found = long_strings(source, RawLine(7, len(raw) + 1, None), longer_than=10, step=step)
        found = [(one.head, "".join(one.pieces)) for one in strings_found]
    written = [json.dumps(one, ensure_ascii=ascii_only)[1:-1].encode() for one in strings]
    expected = [one for one, spelled in zip(strings, written, strict=True) if len(spelled) > 10]
    assert [text for _, text in found] == expected
    assert all(text.startswith(head) and head for head, text in found)
