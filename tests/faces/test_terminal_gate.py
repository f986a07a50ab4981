"""Whatever is said, what comes through the gate is harmless, and honest text comes back as it was."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.faces.cli.terminal import (
    one_line,
    plain,
)
from tests.faces.payloads import PAYLOADS, assert_harmless
from tests.faces.terminal_lab import any_text, spiteful


@given(st.one_of(any_text, spiteful))
def test_whatever_is_said_only_visible_characters_newlines_and_tabs_are_shown(text: str) -> None:
    shown = plain(text)
    assert_harmless(shown)
    shown.encode("utf-8")


@given(st.one_of(any_text, spiteful))
def test_the_gate_leaves_alone_what_went_through_it_before(text: str) -> None:
    assert plain(plain(text)) == plain(text)


@given(st.one_of(any_text, spiteful))
def test_one_line_holds_neither_a_newline_nor_a_tab_nor_outer_blanks(text: str) -> None:
    line = one_line(text)
    assert "\n" not in line
    assert "\t" not in line
    assert line == line.strip(" ")


@given(
    st.text(alphabet=st.characters(categories=["L", "N", "P", "Sm", "Sc", "Zs"], include_characters="\n\t"))
)
def test_honest_text_comes_back_as_it_was(text: str) -> None:
    if "\u3164" in text or any(char in text for char in "\u115f\u1160\uffa0"):
        return  # letters by name, but blank: drawn as marks
    assert plain(text) == text


def test_every_character_there_is_is_shown_harmlessly() -> None:
    shown = plain("".join(f"{chr(code)} " for code in range(sys.maxunicode + 1)))
    assert_harmless(shown)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("\x1b[31mred", "␛[31mred"),
        ("a\x00b", "a␀b"),
        ("bell\x07back\x08del\x7f", "bell␇back␈del␡"),
        ("one\r\ntwo\rthree", "one\ntwo␍three"),
        ("\r\r\n", "␍\n"),
        ("\x9b6n", "‹CSI›6n"),
        ("a\u202eb", "a‹RLO›b"),
        ("\u2066x\u2069", "‹LRI›x‹PDI›"),
        ("a\u200bb", "a‹ZWSP›b"),
        ("a\u200db", "a‹ZWJ›b"),
        ("a\ufe0fb", "a‹VS16›b"),
        ("\ufeffstart", "‹BOM›start"),
        ("hi\U000e0068\U000e0069\U000e007f!", "hi‹TAG:hi›!"),
        ("x\U000e0101", "x‹VS18›"),
        ("line\u2028break", "line‹LS›break"),
        ("lone \ud83d half", "lone \ufffd half"),
        ("\uffff\ufdd0", "\ufffd\ufffd"),
        ("\u2064", "‹U+2064›"),
        ("tab\tand\nnewline", "tab\tand\nnewline"),
    ],
)
def test_what_would_act_is_drawn(said: str, shown: str) -> None:
    assert plain(said) == shown


@pytest.mark.parametrize(
    "text",
    [
        "👩‍👩‍👧 family",
        "🏳️‍🌈 flag",
        "👍🏽 thumb",
        "❤️ heart",
        "1️⃣ key",
        "می‌خواهم",
        "क्‍ष",
        "葛󠄀城",
        "日本語　全角",
        "عربي עברית",
        "no\u00a0break",
        "[bold]not markup[/bold]",
    ],
)
def test_honest_sequences_keep_their_joiners_and_variants(text: str) -> None:
    assert plain(text) == text


def test_hidden_characters_cannot_lean_on_each_other() -> None:
    assert plain("a\ufe0f\u200d👩") == "a‹VS16›‹ZWJ›👩"
    assert plain("❤\ufe0f\ufe0f") == "❤\ufe0f‹VS16›"
    assert plain("👩\u200d\u200d👩") == "👩‹ZWJ›‹ZWJ›👩"


def test_the_list_has_sixty_payloads() -> None:
    assert len(set(PAYLOADS)) >= 60


@given(spiteful)
def test_the_quick_reading_and_the_careful_one_agree(text: str) -> None:
    # A joiner at the end, where it joins nothing, makes the whole text be read carefully.
    assert plain(text + "\u200b") == plain(text + "\u200b\u200c").removesuffix("‹ZWNJ›")
