"""How much of a store is damaged: every command counts the same lines, with the index and without."""

from __future__ import annotations

import os
import time
from random import Random
from typing import TYPE_CHECKING

import pytest

from clew.actions.checking import check_document, check_file
from clew.actions.indexed_listing import list_best
from clew.actions.sql import ask
from clew.actions.usage import Request, usage
from clew.session.check import DAMAGE
from clew.session.usage import may_tell
from tests.actions.stores import index
from tests.builder import Builder
from tests.faces.stage import demo, write
from tests.fuzz.mutate import damaged_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from clew.store.files import Store

LONG_AGO = 1_772_614_800


def age(root: Path) -> None:
    """Make every file one that nobody has written to for long."""
    for path in root.rglob("*.jsonl"):
        os.utime(path, (LONG_AGO, LONG_AGO))


def listed(store: Store, *, use_index: bool) -> Mapping[str, int | None]:
    found = list_best(store, now=time.time(), full=True, use_index=use_index)
    return {row.path: row.damaged for row in found.rows}


def used(root: Path, *, use_index: bool) -> int:
    return usage(Request(roots=[str(root)], use_index=use_index)).damaged


def queried(store: Store, query: str) -> dict[str, int]:
    with ask(store, query) as answer:
        return {str(path): int(str(many)) for path, many in answer.rows()}


def assert_alike(root: Path) -> Mapping[str, int | None]:
    store = index(root)
    found = listed(store, use_index=True)
    assert listed(store, use_index=False) == found
    assert queried(store, "SELECT path, damaged FROM sessions") == found
    files = store.listing().sessions
    assert {file.path: check_document(check_file(file))["damaged"] for file in files} == found
    codes = ", ".join(f"'{code}'" for code in sorted(DAMAGE))
    lines = queried(
        store,
        "SELECT s.path, count(DISTINCT p.line) FROM sessions s LEFT JOIN problems p "
        f"ON p.session_id = s.session_id AND p.agent_id IS NULL AND p.code IN ({codes}) GROUP BY 1",
    )
    assert lines == found
    assert used(root, use_index=True) == used(root, use_index=False) <= sum(map(number, found.values()))
    return found


def number(many: int | None) -> int:
    return many or 0


@pytest.mark.parametrize("start", range(0, 80, 20))
def test_damaged_lines_are_counted_alike(tmp_path: Path, start: int) -> None:
    write(tmp_path, "-p", {f"{seed:04}": damaged_file(Random(seed)) for seed in range(start, start + 20)})
    age(tmp_path)
    assert sum(map(number, assert_alike(tmp_path).values())) > 20


def test_so_they_are_in_the_demo(tmp_path: Path) -> None:
    root = demo(tmp_path)
    age(root)
    found = assert_alike(root)
    assert sum(map(number, found.values())) == used(root, use_index=True) == 4


def test_lines_that_cannot_have_told_of_usage_are_left_out_of_its_count(tmp_path: Path) -> None:
    talk = Builder("a").prompt("Hi").answer("Yes.").data()
    prompt, answer = talk.splitlines()
    assert not may_tell(prompt)
    torn = (
        prompt[:-9] + b"\n" + answer[:-9] + b"\n" + answer[:-9] + answer + b"\n" + b"\0\0\n" + answer + answer
    )
    write(tmp_path, "-p", {"a": talk + torn + b"\n"})
    age(tmp_path)
    assert list(assert_alike(tmp_path).values()) == [5]
    assert used(tmp_path, use_index=False) == 4


def test_an_unfinished_end_is_damage_when_nobody_writes_any_more(tmp_path: Path) -> None:
    talk = Builder("a").prompt("Hi").answer("Yes.").data()
    write(tmp_path, "-p", {"a": talk + talk[:50]})
    (tmp_path / "projects" / "-p" / "a.jsonl").touch()
    store = index(tmp_path)
    for use_index in (False, True):
        assert list(listed(store, use_index=use_index).values()) == [0]
        assert used(tmp_path, use_index=use_index) == 0
    assert list(queried(store, "SELECT live, damaged FROM sessions").items()) == [("1", 0)]
    age(tmp_path)
    assert list(assert_alike(tmp_path).values()) == [1]
    assert used(tmp_path, use_index=True) == 1
    assert list(queried(store, "SELECT live, damaged FROM sessions").items()) == [("0", 1)]
