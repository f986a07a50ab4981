"""A line that holds what is looked for holds the needle, however it was spelled."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from clew.catalog.needles import Needle, for_literal, for_pattern
from tests.examples import examples

ALPHABET = "abikszKSZ019 _-.,:()/\"\\'<>&+`\n\t\x00\x1b\x7féßſKıİµ–…→日本語検索\u2028\u00ad\ufffd🧶🇯𐐀"
texts = st.text(st.sampled_from(ALPHABET), max_size=30) | st.text(max_size=30)


@st.composite
def writers(draw: st.DrawFn) -> tuple[str, ...]:
    """How a program spells strings: what sorts of characters it escapes, and with which digits."""
    sorts = ["plane", "beyond", "odd", "html", "slash", "capitals"]
    return tuple(sort for sort in sorts if draw(st.booleans()))


def spelled(text: str, writer: tuple[str, ...]) -> bytes:
    """Write a string as such a program does; halves of characters are always escaped."""
    out = bytearray()
    for character in text:
        plain = json.dumps(character, ensure_ascii=False)[1:-1]
        if character in "<>&'+`\x7f":
            is_escaped = "html" in writer
        elif character.isascii():
            is_escaped = False
        elif not character.isprintable() or 0xD800 <= ord(character) < 0xE000:
            is_escaped = "odd" in writer or 0xD800 <= ord(character) < 0xE000
        else:
            is_escaped = ("beyond" if character > "\uffff" else "plane") in writer
        if is_escaped:
            units = character.encode("utf-16-be", "surrogatepass")
            digits = [units[at : at + 2].hex() for at in range(0, len(units), 2)]
            plain = "".join(f"\\u{one.upper() if 'capitals' in writer else one}" for one in digits)
        elif character == "/" and "slash" in writer:
            plain = "\\/"
        out += plain.encode()
    assert json.loads(b'"' + bytes(out) + b'"') == text
    return bytes(out)


def holds(needle: Needle, raw: bytes) -> bool:
    return any(spelling in (raw.lower() if needle.ignores_case else raw) for spelling in needle.spellings)


@examples(800)
@given(text=texts, writer=writers(), data=st.data())
def test_the_needle_of_any_part_of_a_text_is_in_every_spelling_of_it(
    text: str, writer: tuple[str, ...], data: st.DataObject
) -> None:
    assume(text)
    start = data.draw(st.integers(0, len(text) - 1))
    literal = text[start : data.draw(st.integers(start + 1, len(text)))]
    needle = for_literal(literal)
    assert needle is None or holds(needle, spelled(text, writer))


@examples(800)
@given(text=texts, writer=writers(), data=st.data())
def test_it_is_there_in_any_case_too(text: str, writer: tuple[str, ...], data: st.DataObject) -> None:
    assume(text)
    start = data.draw(st.integers(0, len(text) - 1))
    part = text[start : data.draw(st.integers(start + 1, len(text)))]
    literal = data.draw(st.sampled_from([part.lower(), part.upper(), part.swapcase(), part.casefold()]))
    assume(literal and re.search(re.escape(literal), text, re.IGNORECASE))
    needle = for_literal(literal, ignore_case=True)
    assert needle is None or holds(needle, spelled(text, writer))


atoms = st.sampled_from(
    [*"abikszKS01 _日本é🧶", r"\.", r"\d", r"\w", r"\s", ".", "[ab]", "[^z]", r"\b", "^", "$", "(?=a)"]
)
patterns = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=4).map("".join),
        st.tuples(
            inner, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{0,2}", "+?", "*?", "{1}", "++"])
        ).map(lambda parts: f"(?:{parts[0]}){parts[1]}"),
        inner.map(lambda one: f"({one})"),
        inner.map(lambda one: f"(?>{one})"),
        inner.map(lambda one: f"(?i:{one})"),
        inner.map(lambda one: f"(?={one})"),
        inner.map(lambda one: f"(?!{one})"),
        st.tuples(inner, inner).map(lambda parts: f"(?:{parts[0]}|{parts[1]})"),
    ),
    max_leaves=8,
)


@examples(1000)
@given(
    pattern=patterns,
    flags=st.sampled_from([0, re.IGNORECASE, re.DOTALL, re.IGNORECASE | re.ASCII]),
    text=st.text(st.sampled_from("abikszKS01 _.日本é🧶K\n"), max_size=25),
    writer=writers(),
)
def test_the_needle_of_a_pattern_is_in_whatever_it_matches(
    pattern: str, flags: int, text: str, writer: tuple[str, ...]
) -> None:
    compiled = re.compile(pattern, flags)
    needle = for_pattern(compiled)
    assert needle is None or compiled.search(text) is None or holds(needle, spelled(text, writer))


@pytest.mark.parametrize(
    ("literal", "spellings"),
    [
        ("zebra crossing", [b"zebra crossing"]),
        ('say "hello there"', [b"hello there"]),
        ("/usr/lib/python3", [b"python3"]),
        ("検索 module", [b" module"]),
        ("検索", ["検索".encode(), b"\\u691c\\u7d22", b"\\u691C\\u7D22"]),
        ("🧶", ["🧶".encode(), b"\\ud83e\\uddf6", b"\\uD83E\\uDDF6"]),
        ("\n", None),
        ('"\\"', None),
    ],
)
def test_the_rarest_part_is_looked_for(literal: str, spellings: list[bytes] | None) -> None:
    needle = for_literal(literal)
    assert (None if needle is None else [*needle.spellings]) == spellings


def test_of_alternatives_each_is_looked_for() -> None:
    for pattern, spellings in [
        ("error|warning", {b"error", b"warning"}),
        (r"(?:\d+ errors?|warn(?:ing)?s) .", {b" error", b"warn"}),
        ("a (?:b|検)", {b"a "}),
        (r"\d(?:検索|b)\d", {"検索".encode(), b"\\u691c\\u7d22", b"\\u691C\\u7D22", b"b"}),
    ]:
        needle = for_pattern(re.compile(pattern))
        assert needle is not None
        assert set(needle.spellings) == spellings
    assert for_pattern(re.compile("|".join(f"{letter}x" for letter in "abcdefghi"))) is None


@pytest.mark.parametrize(
    ("pattern", "spelling"),
    [
        (r"foo.*barbaz", b"barbaz"),
        (r"\bfoo\b bar", b"foo bar"),
        (r"(abc)+d", b"abc"),
        (r"foo(?:bar)?bazz", b"bazz"),
        (r"foo\d|(?:barge|\w+)", None),
        (r"\d+", None),
        (r"(?i)TiMeout", b"meout"),
    ],
)
def test_what_a_pattern_cannot_do_without_is_looked_for(pattern: str, spelling: bytes | None) -> None:
    needle = for_pattern(re.compile(pattern))
    if spelling is None:
        assert needle is None
    else:
        assert needle is not None
        assert needle.spellings == (spelling,)
