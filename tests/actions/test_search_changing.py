"""Searching files that are changed after the index named their lines, before those are read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from clew.actions.search_lines import Lines
from clew.actions.searching import Request, Result, search
from tests.builder import Builder
from tests.faces.stage import write

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    from clew.actions.search_lines import Match
    from clew.catalog.query import Query
    from clew.catalog.searching import Line

PROJECT = "-home-ada-lighthouse"


def talk(*said: str) -> bytes:
    built = Builder("s-0001")
    for words in said:
        built.prompt(words)
    return built.data()


OLD = talk("the harbour", "nothing", "another harbour", "the third harbour")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write(tmp_path, PROJECT, {"s-0001": OLD})
    return tmp_path / "projects" / PROJECT / "s-0001.jsonl"


def searched(path: Path, monkeypatch: pytest.MonkeyPatch, deed: Callable[[int], None]) -> Result:
    """Search; `deed` is done before each look at a line that the index named, and told which it is."""
    real, looks = Lines.matches, 0

    def matches(self: Lines, line: Line, query: Query, fields: Collection[str] | None) -> list[Match]:
        nonlocal looks
        looks += 1
        deed(looks)
        return real(self, line, query, fields)

    monkeypatch.setattr(Lines, "matches", matches)
    return search(Request("harbour", roots=[path.parent.parent.parent]))


def replace(path: Path, data: bytes) -> None:
    beside = path.with_suffix(".new")
    beside.write_bytes(data)
    beside.replace(path)


def snippets(result: Result) -> list[str]:
    return sorted(hit.snippet for hit in result.hits)


@pytest.mark.parametrize("moment", [1, 2, 3])
def test_what_another_file_holds_that_came_to_the_place_is_found(
    path: Path, monkeypatch: pytest.MonkeyPatch, moment: int
) -> None:
    new = talk("a harbour before all", "the harbour", "nothing", "another harbour", "the third harbour")

    def deed(look: int) -> None:
        if look == moment:
            replace(path, new)

    result = searched(path, monkeypatch, deed)
    # A file that was open already when it was replaced is still the old one, and whole.
    expected = ["a harbour before all"] if moment == 1 else []
    assert snippets(result) == sorted([*expected, "another harbour", "the harbour", "the third harbour"])
    assert result.has_index


def test_what_was_cut_off_is_gone_and_what_was_written_instead_is_found(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deed(look: int) -> None:
        if look == 1:
            lines = OLD.splitlines(keepends=True)
            os.truncate(path, sum(map(len, lines[:2])))
            with path.open("ab") as file:
                file.write(lines[2].replace(b"another harbour", b"the new harbour, which is longer"))

    result = searched(path, monkeypatch, deed)
    assert snippets(result) == ["the harbour", "the new harbour, which is longer"]


def test_a_file_that_is_replaced_every_time_is_searched_without_the_index(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deed(_look: int) -> None:
        replace(path, b'{"type":"mode"}\n' + path.read_bytes())

    result = searched(path, monkeypatch, deed)
    assert snippets(result) == ["another harbour", "the harbour", "the third harbour"]
    assert not result.has_index
    assert result.notes == ("the index cannot be used: files are replaced all the time",)


def test_a_session_that_is_removed_is_not_found(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = searched(path, monkeypatch, lambda look: path.unlink() if look == 1 else None)
    assert result.hits == ()
    assert result.total == 0
