"""The list of sessions from the catalog: in every field what a full read of the files says."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from clew.actions.indexed_listing import list_best, list_first, list_indexed
from clew.actions.listing import SessionList, SessionRow, list_sessions
from clew.actions.session_documents import session_documents
from clew.actions.session_filters import Wanted, choose, order
from clew.catalog.current import NotCurrentError
from clew.catalog.place import catalog_folder, remove_database, shard_paths
from clew.errors import UsageError
from clew.store import live
from clew.store.files import Store
from clew.store.signs import RECENT
from tests.actions.stores import CORPUS, MADE, index, made
from tests.builder import Builder, call
from tests.faces.stage import NOW, write

if TYPE_CHECKING:
    from pathlib import Path


def indexed(store: Store, **more: Any) -> SessionList:
    return list_indexed(store, store.listing(), now=NOW.timestamp(), **more)


def read(store: Store) -> SessionList:
    return list_sessions(store, now=NOW.timestamp(), full=True, jobs=1)


def assert_same(store: Store) -> None:
    found, wanted = indexed(store), read(store)
    assert found.is_full
    for one, other in zip(found.rows, wanted.rows, strict=True):
        assert one.as_dict() == other.as_dict()
        assert one == other
    written = session_documents(store, store.listing(), now=NOW.timestamp())
    assert written is not None
    assert [json.loads(row) for row in written.rows] == [
        json.loads(json.dumps(row.as_dict())) for row in found.rows
    ]
    assert [list(json.loads(row)) for row in written.rows] == [list(row.as_dict()) for row in found.rows]
    assert written.is_damaged == any(row.damaged for row in found.rows)
    assert written.skipped == found.skipped
    assert (found.agents, found.agents_damaged) == (wanted.agents, wanted.agents_damaged)
    assert (found.skipped, found.looked_in) == (wanted.skipped, wanted.looked_in)
    for many in (1, 3, 1000):
        first = list_first(store, store.listing(), many, now=NOW.timestamp())
        if first is None:  # a file that cannot be read: the list is made the other way
            assert wanted.skipped
            continue
        assert first.rows == wanted.conversations[:many]
        assert first.totals(first.rows) == wanted.totals(wanted.conversations)
        assert first._replace(rows=(), known=None) == found._replace(rows=())


# --- the law ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MADE)
def test_the_catalog_says_of_every_session_what_a_full_read_says(name: str, tmp_path: Path) -> None:
    assert_same(index(made(name, tmp_path)))


@pytest.mark.parametrize("version", sorted({root.parent.name for root in CORPUS}))
def test_so_it_is_for_every_client_of_the_corpus(version: str) -> None:
    for root in CORPUS:
        if root.parent.name == version:
            assert_same(index(root))


def test_so_it_is_after_every_change_of_the_files(tmp_path: Path) -> None:
    root = made("demo", tmp_path)
    store = index(root)
    (first, second, *_) = sorted((root / "projects").glob("*/*.jsonl"))
    first.write_bytes(first.read_bytes() + Builder("x").prompt("More").answer("Yes.", message_id="n1").data())
    assert_same(store)
    second.write_bytes(second.read_bytes()[:-40])
    assert_same(store)
    first.unlink()
    assert_same(store)
    write(root, "-new", {"fresh": Builder("fresh").prompt("Hi").data()}, seconds_ago=5)
    assert_same(store)
    assert next(row for row in indexed(store).rows if row.id == "fresh").live


def test_a_file_that_cannot_be_read_is_skipped_and_the_rest_is_listed(tmp_path: Path) -> None:
    (path, *_) = write(tmp_path, "-p", {name: Builder(name).prompt("Hi").data() for name in "ab"})
    store = index(tmp_path)
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    path.chmod(0)
    os.utime(path)
    found = indexed(store)
    assert [row.id for row in found.rows] == ["b"]
    assert [one.path for one in found.skipped] == [str(path)]


def test_what_is_known_elsewhere_is_the_same_here() -> None:
    assert live.RECENT == RECENT


# --- when it cannot answer ----------------------------------------------------------------------------------


def test_without_a_catalog_the_files_are_glanced_at_and_nothing_is_built(tmp_path: Path) -> None:
    store = Store.at([str(made("demo", tmp_path))])
    with pytest.raises(NotCurrentError) as caught:
        indexed(store)
    assert caught.value.is_missing
    found = list_best(store, now=NOW.timestamp())
    assert not found.is_full
    assert {row.turns for row in found.rows} == {None}
    assert not catalog_folder(store.roots.found).exists()


def test_much_that_is_new_is_not_read_in_passing(tmp_path: Path) -> None:
    root = made("demo", tmp_path)
    store = index(root)
    (path,) = write(root, "-new", {"s": Builder("s").prompt("x" * 5000).data()})
    with pytest.raises(NotCurrentError) as caught:
        indexed(store, most=4000)
    assert not caught.value.is_missing
    assert len(indexed(store, most=8000).rows) == len(read(store).rows)
    # Of a file that grew only what is new counts.
    path.write_bytes(path.read_bytes() + Builder("s").prompt("y").data())
    assert indexed(store, most=4000).is_full


def test_a_damaged_catalog_is_no_trouble_and_goes(tmp_path: Path) -> None:
    store = index(made("demo", tmp_path))
    shard = shard_paths(catalog_folder(store.roots.found))[1]
    remove_database(shard)
    shard.write_bytes(b"no database at all" * 1000)
    found = list_best(store, now=NOW.timestamp(), full=True)
    assert found.rows == read(store).rows
    assert "damaged" in found.notes[0]
    assert b"no database" not in (shard.read_bytes() if shard.exists() else b"")


def test_while_another_process_writes_what_is_there_is_told_with_a_note(tmp_path: Path) -> None:
    from clew.catalog.shards import Lock

    root = made("demo", tmp_path)
    store = index(root)
    write(root, "-new", {"fresh": Builder("fresh").prompt("Hi").data()})
    lock = Lock(catalog_folder(store.roots.found))
    assert lock.take()
    try:
        found = list_best(store, now=NOW.timestamp())
    finally:
        lock.release()
    assert "another clew" in found.notes[0]
    rows = {row.id: row for row in found.rows}
    assert rows["fresh"].turns is None
    assert rows["fresh"].title == "Hi"
    assert sum(row.turns is not None for row in found.rows) == len(rows) - 1


# --- filters and order --------------------------------------------------------------------------------------


def ids(found: SessionList, wanted: Wanted, **more: Any) -> list[str]:
    return [row.id for row in choose(found, found.rows, wanted, **more)]


@pytest.fixture
def shelf(tmp_path: Path) -> SessionList:
    reading = Builder("a").prompt("Look").answer(call("t1", "Read"), message_id="m1")
    reading.result("t1", "no", is_error=True)
    running = Builder("b").prompt("Run it").answer(call("t2", "Bash"), message_id="m2", gitBranch="side")
    running.result("t2", gitBranch="side")
    talking = Builder("c").prompt("Talk", gitBranch=...)
    talking.answer("Yes.", model="claude-opus-4-1", message_id="m3", output=[90_000], gitBranch="x")
    write(tmp_path, "-p", {"a": reading.data(), "b": running.data(), "c": talking.data(), "d": b""})
    return indexed(index(tmp_path), tool="bash")


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (Wanted(title="RUN"), ["b"]),
        (Wanted(git_branch="main"), ["a"]),
        (Wanted(model="OPUS"), ["c"]),
        (Wanted(has_errors=True), ["a"]),
        (Wanted(tool="bash"), ["b"]),
        (Wanted(has_errors=True, tool="bash"), []),
        (Wanted(since=NOW.timestamp() - 86_401), ["a", "b"]),
        (Wanted(until=0.0), []),
    ],
)
def test_a_filter_leaves_what_fits(shelf: SessionList, wanted: Wanted, found: list[str]) -> None:
    assert ids(shelf, wanted) == found


def test_until_is_about_when_a_session_began(shelf: SessionList) -> None:
    rows = {row.id: row for row in shelf.rows}
    began = rows["a"].started
    assert began is not None
    from clew.format.times import milliseconds

    moment = (milliseconds(began) or 0) / 1000
    assert "a" not in ids(shelf, Wanted(until=moment))
    assert "a" in ids(shelf, Wanted(until=moment + 0.001))


def test_rows_go_from_the_greatest_down_and_what_has_none_comes_last(shelf: SessionList) -> None:
    assert ids(shelf, Wanted(), sort="tokens")[0] == "c"
    assert ids(shelf, Wanted(), sort="tokens", is_reversed=True)[-1] == "c"
    assert ids(shelf, Wanted(), sort="title") == ["a", "b", "c", "d"]
    assert ids(shelf, Wanted(), sort="title", is_reversed=True) == ["c", "b", "a", "d"]
    assert ids(shelf, Wanted(), sort="size")[-1] == "d"
    assert ids(shelf, Wanted(), sort="started")[-1] == "d"
    assert ids(shelf, Wanted(), is_reversed=True) == ["d", "c", "b", "a"]


def test_what_is_alike_keeps_its_place(shelf: SessionList) -> None:
    same: list[SessionRow] = [row for row in shelf.rows if row.id in "ab"]
    assert order(same, "turns") == order(same, "turns", is_reversed=True) == same


@pytest.mark.parametrize("wanted", [Wanted(model="opus"), Wanted(has_errors=True), Wanted(tool="Read")])
def test_a_filter_that_needs_counts_says_so_where_there_are_none(wanted: Wanted, tmp_path: Path) -> None:
    store = Store.at([str(made("demo", tmp_path))])
    quick = list_best(store, now=NOW.timestamp())
    with pytest.raises(UsageError) as caught:
        choose(quick, quick.rows, wanted)
    assert "clew index rebuild" in (caught.value.hint or "")
    if wanted.tool:
        full = read(store)
        with pytest.raises(UsageError, match="needs the index"):
            choose(full, full.rows, wanted)
