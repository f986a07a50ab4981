"""Bytes of a terminal are read as keys, however they are cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.faces.cli.chat.keys import Decoder, Key


def keys(data: bytes) -> list[Key]:
    return Decoder().feed(data)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"\r", "enter"),
        (b"\n", "ctrl-j"),
        (b"\t", "tab"),
        (b"\x7f", "backspace"),
        (b"\x03", "ctrl-c"),
        (b"\x1a", "ctrl-z"),
        (b"\x1b\r", "alt-enter"),
        (b"\x1b[13;2u", "shift-enter"),
        (b"\x1b[27;5;13~", "ctrl-enter"),
        (b"\x1bb", "alt-b"),
        (b"\x1b\x7f", "alt-backspace"),
        (b"\x1b[A", "up"),
        (b"\x1bOB", "down"),
        (b"\x1b[1;5C", "ctrl-right"),
        (b"\x1b[1;3D", "alt-left"),
        (b"\x1b[3~", "delete"),
        (b"\x1b[3;5~", "ctrl-delete"),
        (b"\x1b[H", "home"),
        (b"\x1b[4~", "end"),
        (b"\x1b[Z", "shift-tab"),
        (b"\x1b[97;5u", "ctrl-a"),
        (b"\x1b[99999u", "unknown"),
        (b"\x1b[?1;2c", "unknown"),
    ],
)
def test_a_sequence_is_its_key(data: bytes, name: str) -> None:
    assert keys(data) == [Key(name)]


def test_letters_come_as_runs_of_text_between_keys() -> None:
    assert keys("añ漢\x01b".encode()) == [Key("text", "añ漢"), Key("ctrl-a"), Key("text", "b")]


def test_a_letter_cut_in_the_middle_of_its_bytes_is_one_letter() -> None:
    decoder = Decoder()
    data = "👍".encode()
    assert decoder.feed(data[:2]) == []
    assert not decoder.is_waiting
    assert decoder.feed(data[2:]) == [Key("text", "👍")]


def test_bytes_that_are_no_text_are_marks() -> None:
    assert keys(b"a\xffb") == [Key("text", "a\ufffdb")]


def test_a_lone_escape_is_known_by_what_does_not_follow() -> None:
    decoder = Decoder()
    assert decoder.feed(b"\x1b") == []
    assert decoder.is_waiting
    assert decoder.late() == [Key("escape")]
    assert decoder.late() == []
    assert keys(b"\x1b\x1b[A") == [Key("escape"), Key("up")]


def test_a_sequence_that_never_ends_is_given_up() -> None:
    decoder = Decoder()
    assert decoder.feed(b"\x1b[1;") == []
    assert decoder.late() == [Key("unknown")]
    assert decoder.feed(b"a") == [Key("text", "a")]
    assert Decoder().feed(b"\x1b[" + b"1" * 100)[0] == Key("unknown")


def test_a_paste_is_one_key_and_nothing_in_it_is_a_key() -> None:
    pasted = b"\x1b[200~one\r\ntwo\x03\x1b[A\rthree\x1b[201~x"
    assert keys(pasted) == [Key("paste", "one\ntwo\x03\x1b[A\nthree"), Key("text", "x")]


@given(st.data(), st.text(max_size=40).filter(lambda text: "\x1b[201~" not in text))
def test_a_paste_is_the_same_wherever_its_bytes_are_cut(draw: st.DataObject, text: str) -> None:
    data = b"\x1b[200~" + text.encode("utf-8", "replace") + b"\x1b[201~\r"
    cuts = sorted(draw.draw(st.lists(st.integers(0, len(data)), max_size=5)))
    decoder, got = Decoder(), list[Key]()
    for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
        got += decoder.feed(data[start:end])
    whole = text.encode("utf-8", "replace").decode().replace("\r\n", "\n").replace("\r", "\n")
    assert got == [Key("paste", whole), Key("enter")]


@given(st.lists(st.binary(max_size=20), max_size=10))
def test_no_bytes_upset_the_decoder(pieces: list[bytes]) -> None:
    decoder = Decoder()
    for piece in pieces:
        for key in decoder.feed(piece):
            assert key.name
    decoder.late()
    assert not decoder.is_waiting
