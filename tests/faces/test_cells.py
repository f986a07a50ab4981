"""What a text takes on a terminal is measured in cells, and it is cut where a reader would cut it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.faces.cli.cells import bar, clusters, cut_end, cut_middle, pad, short_ids, width
from clew.faces.cli.terminal import one_line

lines = st.text(
    alphabet=st.one_of(st.characters(), st.sampled_from("a中👩❤\u200d\ufe0f\u0301🏽🇫🇷1\u20e3ｱ한"))
).map(one_line)


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("", 0),
        ("plain", 5),
        ("é", 1),
        ("e\u0301", 1),
        ("日本語", 6),
        ("ﾊﾝｶｸ", 4),
        ("全角　", 6),
        ("한국어", 6),
        ("\u1112\u1161\u11ab", 2),
        ("नमस्ते", 4),
        ("สวัสดี", 4),
        ("🥐", 2),
        ("👍🏽", 2),
        ("👩‍👩‍👧‍👦", 2),
        ("🏳️‍🌈", 2),
        ("🇫🇷🇯🇵", 4),
        ("🇫", 1),
        ("❤", 1),
        ("❤️", 2),
        ("1️⃣", 2),
        ("☎️x", 3),
        ("…–·●", 4),
        ("‹RLO›", 5),
        ("␛[31m", 5),
        ("a\u0301\u0302\u0303b", 2),
        ("\u0600", 1),
        ("می\u200cخواهم", 7),
    ],
)
def test_width_is_counted_in_cells(text: str, cells: int) -> None:
    assert width(text) == cells


@given(lines)
def test_clusters_put_together_are_the_text(text: str) -> None:
    assert "".join(cluster for cluster, _ in clusters(text)) == text


@given(lines, st.integers(0, 40))
def test_a_cut_text_fits_and_an_uncut_one_is_untouched(text: str, cells: int) -> None:
    for cut in (cut_end(text, cells), cut_middle(text, cells)):
        assert width(cut) <= cells
        if width(text) <= cells:
            assert cut == text
        elif cells:
            assert "…" in cut


@given(lines, st.integers(0, 40), st.booleans())
def test_padding_reaches_the_width_and_never_shortens(text: str, cells: int, right: bool) -> None:
    padded = pad(text, cells, right=right)
    assert width(padded) == max(cells, width(text))
    assert padded.endswith(text) if right else padded.startswith(text)


@pytest.mark.parametrize(
    ("text", "cells", "cut"),
    [
        ("Fix double refund credit", 24, "Fix double refund credit"),
        ("Fix double refund credit", 12, "Fix double…"),
        ("日本語のタイトル", 7, "日本語…"),
        ("日本語のタイトル", 6, "日本…"),
        ("👩‍👩‍👧 family", 2, "…"),
        ("👩‍👩‍👧 family", 3, "👩‍👩‍👧…"),
        ("title", 0, ""),
    ],
)
def test_a_title_is_cut_at_its_end(text: str, cells: int, cut: str) -> None:
    assert cut_end(text, cells) == cut


def test_a_path_is_cut_in_its_middle_and_keeps_its_name() -> None:
    path = "/home/robin/projects/greenhouse/src/vents/controller.py"
    assert cut_middle(path, 30) == "/home/rob…/vents/controller.py"
    assert len(cut_middle(path, 30)) == 30
    assert cut_middle(path, 1) == "…"
    assert cut_middle(path, 20, mark="...").count("...") == 1


def test_ids_are_shortened_to_what_tells_them_apart() -> None:
    ids = ["9f3c0000", "9f3c1111", "11112222", "1111"]
    assert short_ids(ids) == {"9f3c0000": "9f3c0", "9f3c1111": "9f3c1", "11112222": "11112", "1111": "1111"}
    assert short_ids(["abcdef"], least=4) == {"abcdef": "abcd"}
    assert short_ids([]) == {}


@given(st.lists(st.text(alphabet="ab", min_size=1, max_size=8), unique=True))
def test_a_short_id_names_one_id_unless_an_id_begins_another(ids: list[str]) -> None:
    for whole, short in short_ids(ids, least=1).items():
        assert whole.startswith(short)
        assert short == whole or [other for other in ids if other.startswith(short)] == [whole]


@pytest.mark.parametrize(
    ("share", "drawn"), [(1.0, "████"), (0.5, "██"), (0.4, "█▋"), (0.0001, "▏"), (0.0, ""), (7.0, "████")]
)
def test_a_bar_is_drawn_in_eighths(share: float, drawn: str) -> None:
    assert bar(share, 4) == drawn
