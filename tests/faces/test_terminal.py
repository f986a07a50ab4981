"""Every way out to a terminal is one gate; colour, ASCII and the streams."""

from __future__ import annotations

import io
import json
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.faces.cli import table
from clew.faces.cli.terminal import (
    Screen,
    ascii_glyphs,
    json_safe,
    span,
    wants_color,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from clew.faces.cli.terminal import ColorChoice
from tests.faces.payloads import PAYLOADS, assert_harmless
from tests.faces.terminal_lab import Clock, Terminal, any_text, screen_on, spiteful


def _print(screen: Screen, text: str) -> None:
    screen.print(text)


def _styled(screen: Screen, text: str) -> None:
    screen.print("before ", span(text, "red", "bold"), " after")


def _table(screen: Screen, text: str) -> None:
    columns = [table.Column("A"), table.Column("TITLE", flexible=True), table.Column(text or "x")]
    screen.lines(table.lines(columns, [[text, text, span(text, "cyan")]], width=screen.width, footer=[text]))


def _narrow(screen: Screen, text: str) -> None:
    columns = [table.Column(""), table.Column("TITLE", flexible=True), table.Column("N")]
    screen.lines(table.lines(columns, [[text, text, text]], width=40))


def _note(screen: Screen, text: str) -> None:
    screen.note(text)


def _error(screen: Screen, text: str) -> None:
    screen.error(text, hint=text)


def _json(screen: Screen, text: str) -> None:
    screen.json(json.dumps({text: [text]}, ensure_ascii=False))


def _progress(screen: Screen, text: str) -> None:
    clock = screen._clock  # pyright: ignore[reportPrivateUsage] - the test owns this clock
    assert isinstance(clock, Clock)
    with screen.progress(3, text, text) as progress:
        clock.now += 1
        progress.advance()


WAYS: list[Callable[[Screen, str], None]] = [
    _print,
    _styled,
    _table,
    _narrow,
    _note,
    _error,
    _json,
    _progress,
]

OWN_COLOURS = re.compile(r"\x1b\[(?:0|(?:1|2|7|31|32|33|36)(?:;(?:1|2|7|31|32|33|36))*)m")


def harmless_but_for_colours(written: str, *, way: Callable[[Screen, str], None]) -> None:
    bare = OWN_COLOURS.sub("", written)
    if way is _progress:
        bare = bare.replace("\r", "")  # the line is drawn over; data never brings a return of its own
    assert_harmless(bare)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("color", ["always", "never"])
def test_no_payload_reaches_the_terminal_by_any_way_out(
    way: Callable[[Screen, str], None], color: ColorChoice
) -> None:
    for payload in PAYLOADS:
        for encoding in ("utf-8", "ascii"):
            screen, out, err, _ = screen_on(color=color, encoding=encoding)
            way(screen, f"before {payload} after")
            written = out.getvalue() + err.getvalue()
            assert "before" in written
            harmless_but_for_colours(written, way=way)


@given(
    st.one_of(any_text, spiteful),
    st.sampled_from(WAYS),
    st.sampled_from(["utf-8", "ascii", "latin-1", "cp932"]),
)
def test_writing_never_fails_and_never_acts(
    text: str, way: Callable[[Screen, str], None], encoding: str
) -> None:
    screen, out, err, _ = screen_on(color="always", encoding=encoding)
    way(screen, text)
    harmless_but_for_colours(out.getvalue() + err.getvalue(), way=way)


@given(st.recursive(any_text, lambda inner: st.lists(inner) | st.dictionaries(any_text, inner), max_leaves=8))
def test_json_keeps_its_meaning_while_it_is_made_safe(value: object) -> None:
    document = json.dumps(value, ensure_ascii=False)
    safe = json_safe(document)
    assert_harmless(safe)
    # What is not valid Unicode is the one thing that changes.
    assert json.loads(safe) == json.loads(re.sub("[\ud800-\udfff]", "\ufffd", document))


@pytest.mark.parametrize(
    ("choice", "tty", "env", "wanted"),
    [
        ("auto", True, {}, True),
        ("auto", False, {}, False),
        ("auto", True, {"NO_COLOR": "1"}, False),
        ("auto", True, {"NO_COLOR": ""}, True),
        ("auto", True, {"TERM": "dumb"}, False),
        ("auto", False, {"CLEW_COLOR": "always"}, True),
        ("auto", True, {"CLEW_COLOR": "never"}, False),
        ("auto", True, {"CLEW_COLOR": "mauve"}, True),
        ("always", False, {"NO_COLOR": "1", "TERM": "dumb"}, True),
        ("never", True, {"CLEW_COLOR": "always"}, False),
    ],
)
def test_colour_is_used_when_it_is_wanted(
    choice: ColorChoice, tty: bool, env: dict[str, str], wanted: bool
) -> None:
    assert wants_color(choice, is_terminal=tty, env=env) is wanted


def test_a_style_is_drawn_from_the_sixteen_colours_line_by_line() -> None:
    screen, out, _, _ = screen_on()
    screen.print(span("one\n\ntwo", "red", "bold"), " plain")
    assert out.getvalue() == "\x1b[31;1mone\x1b[0m\n\n\x1b[31;1mtwo\x1b[0m plain\n"


def test_piped_output_has_no_colour_and_no_width() -> None:
    screen, out, _, _ = screen_on(tty=False)
    screen.print(span("text", "green"))
    assert out.getvalue() == "text\n"
    assert screen.width is None
    assert not screen.is_terminal


def test_the_width_is_that_of_the_terminal_or_of_columns() -> None:
    assert screen_on(width=None, COLUMNS="132")[0].width == 132
    assert screen_on(width=None, COLUMNS="wide")[0].width == 80
    assert screen_on(width=64)[0].width == 64


def test_without_unicode_the_glyphs_are_letters_and_the_rest_is_spelled_out() -> None:
    screen, out, _, _ = screen_on(encoding="ascii")
    screen.print("● live ✗ failed └ agent … – ␛ 中")
    assert screen.is_ascii
    assert out.getvalue() == "* live x failed - agent ... - ^[ \\u4e2d\n"


def test_ascii_mode_can_be_asked_for() -> None:
    screen, out, _, _ = screen_on(CLEW_ASCII="1")
    screen.print("● 中")
    assert out.getvalue() == "* 中\n"


def test_glyphs_fall_back_to_what_the_brief_says() -> None:
    assert ascii_glyphs("●✗!└") == "*x!-"


def test_an_encoding_nobody_knows_is_taken_as_ascii() -> None:
    class Odd(Terminal):
        def write(self, text: str, /) -> int:
            return io.StringIO.write(self, text)

    out = Odd(encoding="klingon")
    Screen(out, Terminal(), env={}).print("é ●")
    assert out.getvalue() == "\\xe9 *\n"


def test_data_goes_to_standard_output_and_the_rest_to_standard_error() -> None:
    screen, out, err, _ = screen_on(tty=False)
    screen.print("data")
    screen.note("note")
    screen.error("it failed", hint="clew doctor")
    screen.flush()
    assert out.getvalue() == "data\n"
    assert err.getvalue() == "note\nerror: it failed\ntry: clew doctor\n"


def test_quiet_silences_notes_but_not_errors() -> None:
    out, err = Terminal(), Terminal()
    screen = Screen(out, err, quiet=True, env={}, color="never")
    screen.note("note")
    screen.error("it failed")
    assert err.getvalue() == "error: it failed\n"
