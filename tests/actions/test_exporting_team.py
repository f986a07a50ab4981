"""A folder of exports is the same however many processes make it, whatever becomes of them."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from clew.actions.exporting import Wish
from clew.actions.exporting_folder import export_folder
from clew.actions.exporting_team import Made, Missed, Order, Source, make_all, processes
from clew.actions.own_patterns import compiled, watched
from clew.actions.stores import open_store
from clew.export.registry import find
from tests.faces.stage import demo

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from clew.actions.exporting_folder import Folder
    from clew.store.files import Store

KEY = b"k" * 32


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The demo, with a session twice, so that two have one title, and one that is no file of text."""
    root = demo(tmp_path_factory.mktemp("team"))
    first = min(root.glob("projects/*/*.jsonl"))
    shutil.copy(first, first.with_name("aaaaaaaa-0000-4000-8000-000000000001.jsonl"))
    shutil.copy(first, first.with_name("aaaaaaaa-0000-4000-8000-000000000002.jsonl"))
    first.with_name("bbbbbbbb-0000-4000-8000-000000000001.jsonl").write_bytes(b"\0\xff{" * 999)
    return open_store([root])


def export(
    store: Store, folder: Path, wish: Wish, jobs: int, advance: Callable[[], None] | None = None
) -> Folder:
    listing = store.listing()
    files = sorted(listing.sessions, key=lambda file: file.path)
    return export_folder(store, files, wish, str(folder), listing=listing, jobs=jobs, advance=advance)


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def _finds_nothing(_text: str) -> list[tuple[int, int]]:
    return []


@pytest.mark.parametrize("format_", ["html", "json"])
def test_many_processes_make_what_one_makes(format_: str, store: Store, tmp_path: Path) -> None:
    wish = Wish(find(format_), key=KEY)
    alone = export(store, tmp_path / "one", wish, 1)
    steps: list[int] = []
    team = export(store, tmp_path / "many", wish, 3, lambda: steps.append(1))
    assert bytes_of(tmp_path / "many") == bytes_of(tmp_path / "one")
    assert [one.as_dict() for one in team.written] == [one.as_dict() for one in alone.written]
    assert (team.failed, team.damaged) == (alone.failed, alone.damaged)
    assert len(steps) == len(store.listing().sessions) == len(alone.written) + len(alone.failed)
    assert len(export(store, tmp_path / "many", wish, 3).unchanged) == len(alone.written)


def test_a_persons_own_secrets_are_taken_out_by_every_process(store: Store, tmp_path: Path) -> None:
    patterns = ("[Gg]reenhouse",)
    with ExitStack() as stack:
        own = stack.enter_context(watched(compiled(patterns)))
        wish = Wish(find("md"), key=KEY, own=own, patterns=patterns)
        for jobs in (1, 2):
            export(store, tmp_path / str(jobs), wish, jobs)
    made = bytes_of(tmp_path / "2")
    assert made == bytes_of(tmp_path / "1")
    assert not any(b"greenhouse" in data for name, data in made.items() if name.endswith("f947ec65.md"))


def test_a_process_may_be_started_from_nothing(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spawn = multiprocessing.get_context("spawn")
    monkeypatch.setattr(multiprocessing, "get_context", lambda _method=None: spawn)  # type: ignore[reportUnknownLambdaType]
    export(store, tmp_path / "spawned", Wish(find("text")), 2)
    monkeypatch.undo()
    export(store, tmp_path / "one", Wish(find("text")), 1)
    assert bytes_of(tmp_path / "spawned") == bytes_of(tmp_path / "one")


def test_what_a_killed_process_leaves_is_made_here(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fork = multiprocessing.get_context("fork")
    monkeypatch.setattr(multiprocessing, "get_context", lambda _method=None: fork)  # type: ignore[reportUnknownLambdaType]
    make, here = Order.make, os.getpid()

    def kill_third(
        order: Order, number: int, source: Source, *, go_on: Callable[[], None] | None = None
    ) -> Made | Missed:
        if number == 3 and os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return make(order, number, source, go_on=go_on)

    monkeypatch.setattr(Order, "make", kill_third)
    export(store, tmp_path / "killed", Wish(find("md")), 2)
    export(store, tmp_path / "one", Wish(find("md")), 1)
    assert bytes_of(tmp_path / "killed") == bytes_of(tmp_path / "one")


def test_an_interrupt_leaves_whole_files_and_nothing_else(store: Store, tmp_path: Path) -> None:
    wish = Wish(find("html"))
    steps: list[int] = []

    def advance() -> None:
        steps.append(1)
        if len(steps) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export(store, tmp_path / "cut", wish, 2, advance)
    assert not [name for name in bytes_of(tmp_path / "cut") if name.endswith(".clew")]
    assert not multiprocessing.active_children()
    assert len(export(store, tmp_path / "cut", wish, 2).unchanged) >= 3
    export(store, tmp_path / "one", wish, 1)
    assert bytes_of(tmp_path / "cut") == bytes_of(tmp_path / "one")


def test_whoever_does_not_go_on_leaves_nothing_behind(store: Store, tmp_path: Path) -> None:
    listing = store.listing()
    order = Order(Wish(find("html"), key=KEY), str(tmp_path), os.getpid())
    made = make_all(order, list(map(Source, listing.sessions)), jobs=2)
    first = next(made)
    made.close()
    assert isinstance(first, Made)
    assert [path.name for path in tmp_path.iterdir()] == [os.path.basename(first.temporary)]  # noqa: PTH119


def test_a_second_process_is_started_where_it_pays_or_is_asked_for(store: Store) -> None:
    files = store.listing().sessions
    wish = Wish(find("html"))
    assert processes(files, wish, None) == 1
    assert processes(files, wish, 3) == 3
    assert processes(files, replace(wish, own=_finds_nothing), 3) == 1
    assert processes(files, Wish(replace(find("html"), help="mine")), 3) == 1
    large = [file._replace(size=1 << 30) for file in files]
    assert 1 <= processes(large, wish, None) <= 8
