"""A name for every file system, whatever the title and the id are."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.export.file_names import file_name
from clew.view.parts import Head, Work


def name(title: str, session: str = "f02602cd-a308-4964") -> str:
    return file_name(Head(session, title, 1, Work()), ".md")


@pytest.mark.parametrize(
    ("title", "told"),
    [
        ("Stop the vents", "stop-the-vents-f02602cd.md"),
        ("../../etc/passwd", "etc-passwd-f02602cd.md"),
        ("CON", "con-f02602cd.md"),
        ("", "f02602cd.md"),
        ("...", "f02602cd.md"),
        ("注文ページ", "注文ページ-f02602cd.md"),
        ("e\u0301te\u0301", "été-f02602cd.md"),
        ("a" * 200, "a" * 60 + "-f02602cd.md"),
    ],
)
def test_a_title_becomes_a_name(title: str, told: str) -> None:
    assert name(title) == told


@settings(max_examples=30)
@given(st.text(st.characters(), max_size=300), st.text(st.characters(), max_size=40))
def test_any_title_and_id_become_a_safe_name(title: str, session: str) -> None:
    found = name(title, session)
    assert re.fullmatch(r"[\w-]+\.md", found)
    assert not found.startswith(("-", "."))
    assert len(found.encode("utf-8")) <= 120
