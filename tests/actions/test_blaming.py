"""Who wrote a line is the same whether the index names the sessions or all of them are searched."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from clew.actions.blaming import Blame, blame
from clew.actions.file_changes import follow
from clew.catalog.naming import NOTHING, naming
from clew.catalog.place import catalog_folder, shard_paths
from clew.store.files import Store
from tests.actions.file_lab import store_of
from tests.actions.stores import CORPUS, index
from tests.session.file_stories import Story

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NAMES = ("src/a.py", "a.py", 'it\'s a "test".py', "läuft.md", "...", "日本.txt", "-", "A.PY", "a py")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A store with a session for each name, and some that name none."""
    stories = {
        f"s{number}": Story().prompt(f"Make {number}").write(name, f"{number}\nmore\n")
        for number, name in enumerate(NAMES)
    }
    calm = {f"calm{number}": Story().prompt("Speak of a.py, läuft.md and ...") for number in range(3)}
    return store_of(tmp_path / "store", **stories, **calm)


def both(store: Store, path: str, known_as: str | None = None) -> Blame:
    """What is told with the index, having made sure that it is what is told without."""
    found = blame(store, path, known_as=known_as)
    assert found == blame(store, path, known_as=known_as, use_index=False)
    return found


def searched(store: Store, path: Path, known_as: str) -> int:
    """How many files were searched for the name."""
    told: list[int] = []

    def start(files: int) -> Callable[[], None]:
        told.append(files)
        return lambda: None

    blame(store, str(path), known_as=known_as, start=start)
    return told[0]


@pytest.mark.parametrize("name", NAMES)
def test_with_the_index_every_name_has_the_author_that_a_search_finds(
    root: Path, tmp_path: Path, name: str
) -> None:
    store = Store.at([str(root)])
    index(root)
    number = NAMES.index(name)
    place = tmp_path / "now"
    place.write_text(f"{number}\nmore\n", encoding="utf-8")
    found = both(store, str(place), name)
    author = found.lines[0].author
    assert author is not None
    assert author.prompt == f"Make {number}"


def test_only_what_the_index_does_not_know_as_it_is_is_searched(root: Path, tmp_path: Path) -> None:
    store = Store.at([str(root)])
    place = tmp_path / "now"
    place.write_text("0\nmore\nlast\n", encoding="utf-8")
    every = len(NAMES) + 3
    assert searched(store, place, "src/a.py") == every
    index(root)
    assert searched(store, place, "src/a.py") == 0
    grown = next(root.rglob("calm1.jsonl"))
    grown.write_bytes(Story().prompt("Late").write("src/a.py", "0\nmore\nlast\n").builder.data())
    assert searched(store, place, "src/a.py") == 1
    assert both(store, str(place), "src/a.py").lines[2].author is not None
    torn = next(root.rglob("calm2.jsonl"))
    torn.write_bytes(torn.read_bytes() + b'{"type":"us')
    index(root)
    assert searched(store, place, "src/a.py") == 1
    next(root.rglob("s0.jsonl")).unlink()
    assert both(store, str(place), "src/a.py").sessions == ("calm1",)


@pytest.mark.parametrize("damage", [b"", b"not a database", b"SQLite format 3\0" + bytes(4000)])
def test_an_index_that_cannot_be_read_is_no_reason_not_to_answer(
    root: Path, tmp_path: Path, damage: bytes
) -> None:
    store = Store.at([str(root)])
    index(root)
    for path in shard_paths(catalog_folder(store.roots.found)):
        path.write_bytes(damage)
        path.with_name(f"{path.name}-wal").unlink(missing_ok=True)
    place = tmp_path / "now"
    place.write_text("0\nmore\n", encoding="utf-8")
    assert naming(store, store.listing(), "a.py") == NOTHING
    assert both(store, str(place), "src/a.py").sessions == ("s0",)


def test_names_that_no_index_can_hold_are_searched_for(root: Path) -> None:
    store = Store.at([str(root)])
    index(root)
    for name in ("...", "-", "日本", "läuft.md", os.fsdecode(b"a\xff.py"), ""):
        assert naming(store, store.listing(), name) == NOTHING


def test_the_index_names_every_recorded_session_that_changed_a_file() -> None:
    tried = 0
    for folder in CORPUS:
        if folder.name not in {"tools", "agent"}:
            continue
        store = index(folder)
        listing = store.listing()
        for file in listing.sessions:
            followed = follow([folder], file.id)
            for path in followed.paths:
                last = path.replace("\\", "/").rpartition("/")[2]
                told = naming(store, listing, last)
                owners = {file.path, *(one.path for one in followed.opened.agent_files)}
                assert owners & told.naming or not owners <= told.known, path
                tried += 1
    assert tried > 5
