"""What is said of the index, and building it anew."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from clew.actions.indexing import index_state, rebuild_index
from clew.actions.stores import open_store
from clew.catalog.catalog import Catalog
from clew.catalog.place import catalog_folder, shard_paths
from clew.catalog.shards import Lock
from tests.builder import Builder
from tests.faces.stage import demo, write

if TYPE_CHECKING:
    from clew.catalog.catalog import Progress
    from clew.store.files import Store


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]  # used by pytest
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store([demo(tmp_path)])


def test_asking_after_an_index_that_is_not_there_makes_none(store: Store) -> None:
    state = index_state(store)
    assert state.held is None
    assert (state.pending.files, state.updated_ms, state.is_busy) == (12, None, False)
    assert not Path(state.folder).exists()
    assert not any(Path(os.environ["XDG_CACHE_HOME"]).iterdir())


def test_the_state_tells_what_is_held(store: Store) -> None:
    with Catalog.open(store) as catalog:
        catalog.update()
    state = index_state(store)
    held = state.held
    assert held is not None
    assert (held.files, held.sessions, held.agents) == (12, 10, 2)
    files = [*store.listing().sessions, *store.listing().agents]
    assert held.source_bytes == sum(file.size for file in files)
    assert held.bytes >= sum(path.stat().st_size for path in shard_paths(Path(state.folder)))
    assert (state.pending.files, state.pending.gone, state.pending.tools_bytes) == (0, 0, 0)
    assert state.updated_ms is not None
    assert not state.is_busy


def test_what_changed_since_is_pending_and_stays_so(tmp_path: Path) -> None:
    talk = Builder("a").prompt("Go").answer()
    paths = write(tmp_path, "-p", {"a": talk.data(), "b": talk.data(), "c": talk.data()})
    store = open_store([tmp_path])
    rebuild_index(store)
    paths[0].write_bytes(talk.prompt("More").data())
    paths[1].unlink()
    write(tmp_path, "-q", {"d": talk.data()})
    for _ in range(2):
        pending = index_state(store).pending
        assert (pending.files, pending.gone) == (2, 1)
        assert pending.bytes == sum(
            path.stat().st_size for path in (paths[0], tmp_path / "projects/-q/d.jsonl")
        )


def test_it_is_said_that_another_is_writing(store: Store) -> None:
    rebuild_index(store)
    lock = Lock(catalog_folder(store.roots.found))
    assert lock.take()
    try:
        assert index_state(store).is_busy
        done = rebuild_index(store)
    finally:
        lock.release()
    assert not done.is_done
    assert "another clew" in done.notes[0]
    assert done.state.held is not None
    assert done.state.held.files == 12
    assert not index_state(store).is_busy


def test_a_rebuild_tells_how_far_it_is_and_what_it_did(store: Store) -> None:
    told: list[Progress] = []
    done = rebuild_index(store, jobs=1, tell=told.append)
    assert done.is_done
    assert done.files_read == 12
    assert done.state.pending.files == 0
    assert {step.stage for step in told} >= {"dialogue"}
    last = [step for step in told if step.stage == "dialogue"][-1]
    assert last.files == last.files_total == 12


def test_an_interrupted_rebuild_is_finished_by_the_next_command(store: Store) -> None:
    def interrupt(step: Progress) -> None:
        if step.files >= 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rebuild_index(store, jobs=1, tell=interrupt)
    left = index_state(store)
    assert 0 < left.pending.files < 12
    with Catalog.open(store) as catalog:
        assert catalog.update().files_read == left.pending.files
    assert index_state(store).pending.files == 0
