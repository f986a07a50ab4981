"""Nothing a session says can act on a terminal, whichever way it is written there."""

from __future__ import annotations

import errno
import io
import json
import os
import re
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.errors import ClewError
from clew.faces.cli import cells, table
from clew.faces.cli.terminal import (
    ReaderGone,
    Screen,
    ascii_glyphs,
    json_safe,
    one_line,
    plain,
    span,
    wants_color,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from clew.faces.cli.terminal import ColorChoice

ESC, BEL, ST = "\x1b", "\x07", "\x1b\\"

# The list of 60: what transcripts have carried, or could, to act on the terminal of whoever reads them.
CSI = [
    "2J",
    "H",
    "1;1H",
    "10A",
    "99B",
    "5C",
    "5D",
    "K",
    "1K",
    "3S",
    "31m",
    "38;2;1;2;3;48;5;9;5;7m" + "1m" * 40,
]
OSC = [0, 1, 2, 4, 7, 8, 9, 10, 11, 52, 133, 777, 1337]
PAYLOADS = [
    *(f"{ESC}[{sequence}" for sequence in CSI),
    *(f"{ESC}]{number};c;aGVsbG8={BEL}" for number in OSC),
    f"{ESC}]52;c;cm0gLXJm{ST}",
    f"{ESC}]0;title\x9c",
    f"{ESC}]2;unterminated",
    "\x9d0;c1 title\x9c",
    f"{ESC}]8;;http://example.invalid/{ESC}]52;c;cm0={BEL}{ST}click{ESC}]8;;{ST}",
    f"{ESC}]1337;File=name=eA==;inline=1:AAAA{BEL}",
    f"{ESC}]11;?{BEL}",
    f"{ESC}P0;1|17/ab{ST}",
    f"{ESC}_Gf=24,s=1,v=1;AAAA{ST}",
    f"{ESC}^private{ST}",
    f"{ESC}Xstring{ST}",
    f"{ESC}Pq#0;2;0;0;0#0~~@@vv{ST}",
    f'{ESC}P$q"p{ST}',
    "\x90unterminated",
    "\x9fapc\x9c",
    f"{ESC}c",
    f"{ESC}[6n",
    f"{ESC}[>c",
    f"{ESC}[?1049h",
    f"{ESC}[?2004h",
    f"{ESC}[201~rm -rf x\n",
    f"{ESC}[?1000h",
    f"{ESC}[21t",
    "\x9b31mred",
    "\x9b6n",
    "\x85\x84\x8d",
    "".join(map(chr, range(0x80, 0xA0))),
    "safe\rEVIL",
    "pass\x08\x08\x08\x08word",
    BEL * 50,
    "one\x0btwo\x0cthree",
    "user\u202egnp.exe\u202c \u2066iso\u2069",
    "zero\u200bwidth\ufeff\u2060joiner\u200d",
    "tag\U000e0001\U000e0068\U000e0069\U000e007f",
    "smuggled\ufe0f\ufe00\U000e0101\U000e0102",
    "[link=http://example.invalid]x[/link]",
    "[/]",
    "[a=b:",
]


def acts(char: str) -> bool:
    """Whether a character is anything but visible: told from Unicode's own tables, not from clew's."""
    if char in "\n\t":
        return False
    visible_format = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
    return unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") or (
        unicodedata.category(char) == "Cf" and char not in visible_format
    )


def assert_harmless(text: str) -> None:
    """Only visible characters, newlines and tabs; a joiner only where it joins two characters."""
    letters = set(text)
    joiners = letters & {"\u200c", "\u200d"}
    for char in letters - joiners:
        assert not acts(char), f"U+{ord(char):04X} at {text.index(char)} in {text!r}"
    for at, char in enumerate(text) if joiners else ():
        if char in joiners:
            assert 0 < at < len(text) - 1
            assert not (text[at - 1] + text[at + 1]).isascii()
            assert not acts(text[at - 1])
            assert not acts(text[at + 1])


any_text = st.text(alphabet=st.characters())  # surrogates included
spiteful = st.text(
    alphabet=st.one_of(
        st.sampled_from(
            "\x1b[]\x07\r\n\t\x9b\u202e\u2066\u200b\u200c\u200d\ufe0f\ufe00\U000e0101\U000e0041a1 ❤👩🏽中ميक्"
        ),
        st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp", "Mn", "So"]),
    )
)


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


# --- every way out ------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    """A stream that says it is a terminal and remembers what was written."""

    def __init__(self, *, tty: bool = True, encoding: str = "utf-8") -> None:
        super().__init__()
        self._tty = tty
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride] - StringIO has None here
        return self._encoding

    def isatty(self) -> bool:
        return self._tty

    def write(self, text: str, /) -> int:
        text.encode(self._encoding)  # as a real stream would, strictly
        return super().write(text)


class Clock:
    """A clock the test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def screen_on(
    *,
    tty: bool = True,
    encoding: str = "utf-8",
    color: ColorChoice = "auto",
    width: int | None = 80,
    **env: str,
) -> tuple[Screen, Terminal, Terminal, Clock]:
    out, err = Terminal(tty=tty, encoding=encoding), Terminal(tty=tty, encoding=encoding)
    clock = Clock()
    return Screen(out, err, color=color, width=width, env=env, clock=clock), out, err, clock


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


# --- colour, ASCII, streams ------------------------------------------------------------------------------


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


# --- progress --------------------------------------------------------------------------------------------


def test_progress_is_silent_for_three_hundred_milliseconds() -> None:
    screen, _, err, clock = screen_on()
    with screen.progress(10) as progress:
        clock.now += 0.29
        progress.advance()
    assert err.getvalue() == ""


def test_progress_is_drawn_and_then_erased() -> None:
    screen, _, err, clock = screen_on()
    with screen.progress(1340) as progress:
        clock.now += 0.31
        progress.advance(96)
        assert err.getvalue() == "\rReading 96 of 1,340 sessions"
        clock.now += 0.05
        progress.advance()
        assert err.getvalue() == "\rReading 96 of 1,340 sessions"
        clock.now += 0.06
        progress.advance()
        assert err.getvalue().endswith("\rReading 98 of 1,340 sessions")
    assert shown_at_the_end(err.getvalue()) == ""


def shown_at_the_end(written: str) -> str:
    """What a terminal shows after all this was written to one line."""
    line: list[str] = []
    at = 0
    for char in written:
        if char == "\r":
            at = 0
        elif char == "\n":
            line, at = [], 0
        else:
            line[at : at + 1] = [char]
            at += 1
    return "".join(line).rstrip()


def test_a_note_takes_the_progress_line_away_first() -> None:
    screen, _, err, clock = screen_on(color="never")
    with screen.progress(None, "Reading", "lines") as progress:
        clock.now += 1
        progress.advance(5)
        screen.note("one file was skipped")
    before_note = err.getvalue().split("one file")[0]
    assert shown_at_the_end(before_note) == ""
    assert before_note.endswith("\r")


def test_a_progress_line_never_reaches_the_edge() -> None:
    screen, _, err, clock = screen_on(width=12)
    with screen.progress(10, "読み込み中です", "とても長い") as progress:
        clock.now += 1
        progress.advance()
        assert cells.width(err.getvalue().lstrip("\r")) <= 11


@pytest.mark.parametrize(("tty", "term"), [(False, "xterm"), (True, "dumb")])
def test_progress_is_for_terminals_only(tty: bool, term: str) -> None:
    screen, _, err, clock = screen_on(tty=tty, TERM=term)
    with screen.progress(2) as progress:
        clock.now += 1
        progress.advance(2)
    assert progress.done == 2
    assert err.getvalue() == ""


# --- streams that fail ---------------------------------------------------------------------------------


class Failing(Terminal):
    """A stream whose other end is in trouble."""

    def __init__(self, error: OSError) -> None:
        super().__init__(tty=False)
        self.error = error

    def write(self, text: str, /) -> int:
        del text
        raise self.error

    def flush(self) -> None:
        raise self.error


def test_a_reader_that_went_away_ends_the_program_quietly() -> None:
    screen = Screen(Failing(BrokenPipeError(errno.EPIPE, "Broken pipe")), Terminal(), env={})
    with pytest.raises(ReaderGone) as gone:
        screen.print("text")
    assert gone.value.code == 0


def test_a_full_disk_is_an_error_that_says_so() -> None:
    screen = Screen(Failing(OSError(errno.ENOSPC, "No space left on device")), Terminal(), env={})
    with pytest.raises(ClewError, match="No space left on device"):
        screen.flush()


PROGRAM = """
from clew.errors import ClewError
from clew.faces.cli.terminal import Screen
try:
    screen = Screen()
    for n in range(200_000):
        screen.print(f"line {n}")
    screen.flush()
except ClewError as error:
    raise SystemExit(str(error))
"""


def _run(stdout: int) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM], env=environment, stdout=stdout, stderr=subprocess.PIPE
    )


def test_a_closed_pipe_leaves_no_traceback() -> None:
    process = _run(subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == b"line 0\n"
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=30) == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_device_is_reported_once() -> None:
    with Path("/dev/full").open("wb") as full:
        process = _run(full.fileno())
        _, said = process.communicate(timeout=30)
    assert said == b"the output cannot be written: No space left on device\n"
    assert process.returncode == 1


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")
def test_on_a_real_terminal_there_is_colour_and_a_width() -> None:
    main, side = os.openpty()
    with os.fdopen(side, "w", encoding="utf-8") as stream:
        screen = Screen(stream, stream, env={"TERM": "xterm"})
        screen.print(span("●", "green"), f" {screen.width}")
        screen.flush()
        written = os.read(main, 1000).decode()
    os.close(main)
    assert written.startswith("\x1b[32m●\x1b[0m ")
    assert written.split()[-1].isdigit()


@given(spiteful)
def test_the_quick_reading_and_the_careful_one_agree(text: str) -> None:
    # A joiner at the end, where it joins nothing, makes the whole text be read carefully.
    assert plain(text + "\u200b") == plain(text + "\u200b\u200c").removesuffix("‹ZWNJ›")
