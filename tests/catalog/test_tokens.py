"""The words of a text are the very words that FTS5 keeps of it."""

from __future__ import annotations

import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clew.catalog.tokens import LONGEST, Piece, Words, is_spaceless, pieces, prepare, tokens
from tests.catalog.full_text import Index
from tests.examples import examples

ALPHABET = (
    "abcXYZ019 \n\t.,-_/\"'()*éÉüßøİıſKÅ\u0301\u0308\u0345→—…🧶🇯🇵①½²"
    "日本語検索ーテスト。、「」セッション한국어오류ภาษาไทยที่นี่हिन्दी\u200d\ue000\ufeff\x00\x1b"
    "\u3099か\u9fff\U00020000\U0003ffff\ufffd\ufffe\u1160ᄒ\u17d2ខ្មែរမြန်ဘာ"
)
anything = st.text(st.sampled_from(ALPHABET), max_size=40) | st.text(max_size=40)


@pytest.fixture(scope="module")
def index() -> Index:
    return Index()


@examples(500)
@given(text=anything)
@example("abc日本語def")
@example("e\u0301te\u0301 \u0301x")
@example("a\ud800b\udc00")
def test_the_words_of_any_text_are_those_that_fts5_keeps(index: Index, text: str) -> None:
    assert [token.folded for token in tokens(text)] == index.words(text)


@examples(500)
@given(text=anything)
def test_a_word_stands_where_it_is_said_to_stand(text: str) -> None:
    last = 0
    for folded, start, end in tokens(text):
        assert last <= start < end <= len(text)
        # Cut out, it is the same word: a pair of a script without spaces begins with itself.
        assert next(tokens(text[start:end])).folded == folded
        last = start


@examples(300)
@given(parts=st.lists(anything, max_size=8), times=st.integers(1, 400))
def test_a_long_text_cut_into_stretches_has_the_words_of_the_whole(parts: list[str], times: int) -> None:
    text = "".join(parts) * times
    cut = [*pieces(text)]
    assert all(len(piece.written) <= 3 * 4096 + len(text) // times for piece in cut)
    by_piece = [word for piece in cut for word in Words(piece).folded]
    assert by_piece == Words(Piece(prepare(text), 0, 0)).folded


def test_text_without_such_scripts_is_handed_on_as_it_is() -> None:
    for text in ("plain ASCII", "naïve → déjà vu 🧶", "Ελληνικά и кириллица"):
        assert prepare(text) is text


def test_a_run_is_written_as_pairs_and_its_last_character() -> None:
    assert prepare("日本語").split() == ["日本", "本語", "語"]
    assert prepare("abc日本def").split() == ["abc", "日本", "本", "def"]
    assert [*tokens("x日本")] == [("x", 0, 1), ("日本", 1, 3), ("本", 2, 3)]


def test_vowel_marks_do_not_cut_a_word() -> None:
    assert [(start, end) for _, start, end in tokens("हिन्दी में")] == [(0, 6), (7, 10)]
    assert [*tokens("ที่")] != [*tokens("ทุ่")]


def test_half_a_character_is_no_word() -> None:
    assert prepare("日\ud83dx").split() == ["日", "\ufffdx"]
    assert [token.folded for token in tokens("日\ud83dx")] == ["日", "x"]


def test_of_an_endless_word_fts5_knows_the_beginning(index: Index) -> None:
    for text in ("a" * (LONGEST + 10), "é" * LONGEST + " end", "ж" * LONGEST):
        words = [token.folded.encode("utf-8", "surrogateescape") for token in tokens(text)]
        assert len(words[0]) == LONGEST
        assert words == [word.encode("utf-8", "surrogateescape")[:LONGEST] for word in index.words(text)]


def test_the_quick_look_knows_every_character_that_may_be_an_ascii_letter() -> None:
    """All of Unicode: a word of ASCII letters may be hidden only where `may_hold` says yes."""
    codes = [code for code in range(0x80, sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
    for begin in range(0, len(codes), 512):
        inside = [f"a{chr(code)}b" for code in codes[begin : begin + 512]]
        # Quickly, whether there is any such character among them at all.
        if any(len(word) > 1 and word.isascii() for word in Words(Piece("\n".join(inside), 0, 0)).folded):
            pieces_of_one = [Piece(one, 0, 0) for one in inside]
            hiding = [
                piece
                for piece in pieces_of_one
                if Words(piece).folded[0][1:].isascii() and len(Words(piece)) == 1
            ]
            assert hiding
            assert all(piece.may_hold(["zz"], []) for piece in hiding)


def test_no_letter_of_a_script_without_spaces_is_written_in_two_ways() -> None:
    """So the characters themselves can be looked for: all of Unicode."""
    codes = [code for code in range(0x80, sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
    letters = 0
    for begin in range(0, len(codes), 4096):
        characters = [chr(code) for code in codes[begin : begin + 4096] if is_spaceless(chr(code))]
        found = Words(Piece("\n".join(characters), 0, 0)).folded
        letters += len(found)
        marks = [one for one in characters if one not in set(found)]
        assert [one for one in characters if one not in marks] == found
        assert not Words(Piece("\n".join(marks), 0, 0)).folded
    assert letters > 80_000
    elsewhere = "\n".join(chr(code) for code in codes if not is_spaceless(chr(code)))
    assert not any(is_spaceless(word) for word in Words(Piece(elsewhere, 0, 0)).folded)


@examples(500)
@given(text=anything, data=st.data())
def test_the_quick_look_never_misses_a_word(text: str, data: st.DataObject) -> None:
    for piece in pieces(text):
        words = Words(piece).folded
        assert not (piece.is_wordless() and words)
        if words:
            word = data.draw(st.sampled_from(words))
            start = word[: data.draw(st.integers(1, len(word)))]
            plain, others = ([start], []) if start.isascii() else ([], [start])
            assert piece.may_hold(plain, others)
