"""What a command prints: plain in the line, whole in the file, bounded in both."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.agent.shell_output import MOST_INLINE, Captured, create, file_name, persisted, plain, preview

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;a title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bP1;2|secret\x1b\\after", "after"),
        ("\x1b(Bplain\x1bM", "plain"),
        ("a\x00b\x07c\x08d\x7fe\x9bf", "abcdef"),
        ("one\rtwo\r\nthree", "one\ntwo\nthree"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("\x1b]0;never ended", "0;never ended"),
        ("\x1b[", ""),
        ("grün 漢字 🧵", "grün 漢字 🧵"),
    ],
)
def test_what_moves_a_cursor_is_left_out(raw: str, shown: str) -> None:
    assert plain(raw) == shown


@given(st.text())
def test_plain_text_has_no_controls_and_stays_as_it_is(text: str) -> None:
    once = plain(text)
    assert not any((ord(sign) < 32 and sign not in "\n\t") or 127 <= ord(sign) < 160 for sign in once)
    assert plain(once) == once


@given(st.lists(st.binary(max_size=40), max_size=20))
def test_it_does_not_matter_where_an_output_is_cut(pieces: list[bytes]) -> None:
    whole = Captured("/nowhere", "x.txt")
    whole.feed(b"".join(pieces))
    whole.end()
    heard: list[str] = []
    cut = Captured("/nowhere", "x.txt", report=heard.append)
    for piece in pieces:
        cut.feed(piece)
    cut.end()
    assert (cut.text, cut.size) == (whole.text, whole.size)
    lines = b"".join(pieces).decode("utf-8", "replace").split("\n")
    told = [plain(line.rstrip("\r")) for line in lines[:-1]] + [plain(lines[-1])] * bool(lines[-1])
    assert heard == told


def test_a_long_output_goes_to_a_file_byte_for_byte(tmp_path: Path) -> None:
    output = Captured(str(tmp_path / "new" / "tool-results"), "toolu_1.txt")
    data = b"\x1b[1m" + b"0123456789\xff\n" * 4000
    for at in range(0, len(data), 999):
        output.feed(data[at : at + 999])
    output.end()
    assert output.path == str(tmp_path / "new" / "tool-results" / "toolu_1.txt")
    file = tmp_path / "new" / "tool-results" / "toolu_1.txt"
    assert file.read_bytes() == data
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert output.is_long
    assert output.text.startswith("0123456789")
    assert len(output.text) <= MOST_INLINE


def test_an_output_of_exactly_the_limit_needs_no_file(tmp_path: Path) -> None:
    output = Captured(str(tmp_path / "results"), "toolu_1.txt")
    output.feed(("ü" * MOST_INLINE).encode())
    output.end()
    assert output.path is None
    assert not (tmp_path / "results").exists()
    assert output.text == "ü" * MOST_INLINE


def test_a_flood_ends_at_the_limit(tmp_path: Path) -> None:
    output = Captured(str(tmp_path), "x.txt", most=100_000)
    for _ in range(50):
        output.feed(b"y\n" * 5000)
    output.end()
    assert (tmp_path / "x.txt").stat().st_size == 100_000
    assert output.size == 500_000
    assert output.trouble == "only the first 97.7KB were kept"


def test_a_line_that_never_ends_is_told_shortly_and_once(tmp_path: Path) -> None:
    heard: list[str] = []
    output = Captured(str(tmp_path), "x.txt", report=heard.append)
    for _ in range(1000):
        output.feed(b"z" * 1000)
    output.feed(b"\nnext")
    output.end()
    assert [len(line) for line in heard] == [2000, 4]


def test_a_place_that_cannot_be_written_loses_the_file_only(tmp_path: Path) -> None:
    (tmp_path / "in the way").write_text("")
    output = Captured(str(tmp_path / "in the way" / "results"), "x.txt")
    output.feed(b"a" * 40_000)
    output.feed(b"b" * 40_000)
    output.end()
    assert output.path is None
    assert output.text == "a" * MOST_INLINE
    assert output.trouble is not None
    assert "could not be saved" in output.trouble


def test_no_file_is_written_through_a_link_or_over_another(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "toolu_1.txt").symlink_to(tmp_path / "precious")
    output = Captured(str(tmp_path), "toolu_1.txt", always_in_file=True)
    output.feed(b"new")
    output.end()
    assert output.path == str(tmp_path / "toolu_1-2.txt")
    assert (tmp_path / "precious").read_text() == "precious"


def test_a_hundred_files_of_one_name_are_enough(tmp_path: Path) -> None:
    for count in range(1, 100):
        (tmp_path / ("x.txt" if count == 1 else f"x-{count}.txt")).write_text("")
    with pytest.raises(FileExistsError):
        create(str(tmp_path), "x.txt")


@pytest.mark.parametrize("call_id", ["../../etc/passwd", "a/b", "", "x" * 300, "\ud800", "nul\0"])
def test_an_id_that_is_no_name_leads_nowhere(call_id: str) -> None:
    name = file_name(call_id)
    assert name.startswith("call-")
    assert "/" not in name
    assert file_name("toolu_01Ab-c") == "toolu_01Ab-c.txt"


def test_a_saved_output_is_told_as_the_client_tells_it() -> None:
    """The figures are those of a recorded result: 1,500 rows of 72 bytes, of which 27 fit."""
    rows = "\n".join(f"row {n:06} {'x' * 60}" for n in range(1500)) + "\n"
    told = persisted(rows[:MOST_INLINE], "/s/tool-results/b.txt", len(rows))
    assert told.startswith(
        "<persisted-output>\nOutput too large (105.5KB). Full output saved to: /s/tool-results/b.txt\n\n"
        "Preview (first 2KB):\nrow 000000 x"
    )
    assert told.endswith("row 000026 " + "x" * 60 + "\n...\n</persisted-output>")
    assert preview("a" * 3000) == "a" * 2000
    assert preview("a\n" + "b" * 3000) == "a\n" + "b" * 1998
