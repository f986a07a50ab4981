"""Trouble with the databases: damage, a full disk, others at work. Answers, or one error; never another."""

from __future__ import annotations

import multiprocessing
import os
import random
import resource
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest

from clew.catalog import shards
from clew.catalog.catalog import Catalog, CatalogUnavailableError, Options
from clew.catalog.database import connect
from clew.catalog.place import shard_paths
from clew.catalog.update import BUSY, DAMAGED
from tests.catalog.stores import Tree, content, line, lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    from clew.catalog.database import Database


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    tree = Tree(tmp_path / "root")
    for number in range(10):
        tree.write(f"-a/{number:08x}-1111-4111-8111-111111111111.jsonl", lines(range(number, 60 + number)))
    return tree


@pytest.fixture
def catalog(tree: Tree) -> Iterator[Catalog]:
    with Catalog.open(tree.store(), cache=tree.root.parent / "cache") as catalog:
        catalog.update(options=Options(details=True))
        put_away(catalog)
        yield catalog


def put_away(catalog: Catalog) -> None:
    """Move all that waits in the logs into the databases, so that damage to these is felt."""
    catalog.close()
    for path in shard_paths(catalog.folder):
        database = connect(str(path), apsw.SQLITE_OPEN_READWRITE)
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        database.close()


@pytest.fixture
def right(tree: Tree) -> dict[str, object]:
    with Catalog.open(tree.store(), cache=tree.root.parent / "right") as anew:
        anew.update(options=Options(details=True))
        return content(anew)


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "WAIT_MS", 50)


def _random(path: Path) -> None:
    path.write_bytes(random.Random(1).randbytes(50_000))


def _zero(path: Path) -> None:
    path.write_bytes(b"")


def _half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:50])


def _other_tables(path: Path) -> None:
    path.unlink()
    database = connect(str(path), apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
    database.execute("CREATE TABLE meta (x); CREATE TABLE other (y)")
    database.close()


def _gone(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize("what", [b"", b"x" * 5000, None])
def test_a_damaged_log_is_no_obstacle(tree: Tree, catalog: Catalog, what: bytes | None) -> None:
    tree.append("-a/00000001-1111-4111-8111-111111111111.jsonl", line(7))
    catalog.update()
    catalog.close()
    logs = [path for path in catalog.folder.glob("*-wal") if path.stat().st_size]
    assert logs
    for log in logs:
        data = bytearray(log.read_bytes())
        data[len(data) // 2 :] = random.Random(1).randbytes(len(data) // 2)
        log.write_bytes(data if what is None else what)
    catalog.update(options=Options(details=True))
    with Catalog.open(tree.store(), cache=tree.root.parent / "anew") as anew:
        anew.update(options=Options(details=True))
        assert content(catalog) == content(anew)


@pytest.mark.parametrize("damage", [_random, _zero, _half, _short, _other_tables, _gone])
@pytest.mark.parametrize("number", [0, 3])
def test_a_damaged_database_is_built_anew_with_a_note(
    catalog: Catalog, right: dict[str, object], damage: Callable[[Path], None], number: int
) -> None:
    catalog.close()
    damage(shard_paths(catalog.folder)[number])
    done = catalog.update(options=Options(details=True))
    # Of a file that is gone or empty nobody can tell that it was ever there.
    assert done.notes == (() if damage in {_zero, _gone} else (DAMAGED,))
    assert content(catalog) == right
    assert catalog.update().notes == ()


def test_all_databases_damaged_at_once_are_built_anew(catalog: Catalog, right: dict[str, object]) -> None:
    catalog.close()
    for path in (*shard_paths(catalog.folder), catalog.folder / "lock.db"):
        _random(path)
    assert catalog.update(options=Options(details=True)).notes == (DAMAGED,)
    assert content(catalog) == right


def test_a_database_found_damaged_while_reading_is_an_error_that_the_next_update_mends(
    catalog: Catalog, right: dict[str, object]
) -> None:
    catalog.close()
    with catalog.reading():  # it was well when it was opened
        path = shard_paths(catalog.folder)[1]
        with path.open("r+b") as file:
            file.seek(4096)
            file.write(random.Random(1).randbytes(path.stat().st_size - 4096))
    with pytest.raises(CatalogUnavailableError) as told, catalog.reading() as database:
        database.execute("SELECT * FROM entries").fetchall()
    assert "damaged" in told.value.reason
    catalog.update(options=Options(details=True))
    assert content(catalog) == right


def test_a_statement_that_is_wrong_costs_no_database(catalog: Catalog, right: dict[str, object]) -> None:
    def wrong() -> None:
        with catalog.reading() as database:
            database.execute("SELECT no_such_column FROM sessions").fetchall()

    before = [path.stat().st_ino for path in shard_paths(catalog.folder)]
    with pytest.raises(CatalogUnavailableError, match="no such column"):
        wrong()
    assert [path.stat().st_ino for path in shard_paths(catalog.folder)] == before
    assert content(catalog) == right


def _scribble(path: Path, chance: random.Random) -> None:
    """Write over some places of a database."""
    data = bytearray(path.read_bytes())
    for _ in range(chance.randint(1, 30)):
        at = chance.randrange(len(data))
        few = chance.randbytes(chance.choice([1, 4, 100, 4096]))
        data[at : at + len(few)] = few
    path.write_bytes(data)


def _survives_scribbling(tree: Tree, catalog: Catalog, seeds: range) -> None:
    catalog.close()
    kept = tree.root.parent / "kept"
    shutil.copytree(catalog.folder, kept)
    for seed in seeds:
        chance = random.Random(seed)
        shutil.rmtree(catalog.folder)
        shutil.copytree(kept, catalog.folder)
        _scribble(shard_paths(catalog.folder)[chance.randrange(4)], chance)
        try:
            if chance.random() < 0.5:
                tree.append("-a/00000001-1111-4111-8111-111111111111.jsonl", line(seed))
            catalog.update(options=Options(details=True))
            with catalog.reading() as database:
                database.execute("SELECT * FROM sessions").fetchall()
                database.execute("SELECT * FROM usage").fetchall()
        except CatalogUnavailableError:
            catalog.close()
    catalog.rebuild(options=Options(details=True))
    with Catalog.open(tree.store(), cache=tree.root.parent / "anew") as anew:
        anew.update(options=Options(details=True))
        assert content(catalog) == content(anew)


def test_a_database_scribbled_on_never_raises_anything_else(tree: Tree, catalog: Catalog) -> None:
    _survives_scribbling(tree, catalog, range(40))


@pytest.mark.soak
def test_databases_scribbled_on_never_raise_anything_else(tree: Tree, catalog: Catalog) -> None:
    _survives_scribbling(tree, catalog, range(2000))


def test_a_rebuild_throws_everything_away_first(catalog: Catalog, right: dict[str, object]) -> None:
    done = catalog.rebuild(options=Options(details=True))
    assert (done.files_read, done.notes) == (10, ())
    assert content(catalog) == right


# --- no room ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pages", [20, 60, 90, 120])
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_full_disk_is_told_and_the_next_update_goes_on(
    tree: Tree, right: dict[str, object], monkeypatch: pytest.MonkeyPatch, pages: int, jobs: int
) -> None:
    real = shards._prepare  # pyright: ignore[reportPrivateUsage]  # the place where a database is opened

    def prepare(database: Database, number: int) -> None:
        real(database, number)
        database.pragma("max_page_count", pages)

    big = tree.write("-a/big.jsonl", lines(range(4000)))
    with Catalog.open(tree.store(), cache=tree.root.parent / "cache") as catalog:
        with monkeypatch.context() as patch:
            patch.setattr(shards, "_prepare", prepare)
            with pytest.raises(CatalogUnavailableError) as told:
                catalog.update(options=Options(jobs=jobs, start_method="fork"))
        assert told.value.reason == "the disk is full"
        big.unlink()
        assert catalog.update(options=Options(details=True)).notes == ()
        assert content(catalog) == right


def _limited(root: str, cache: str, size: int, answer: Connection) -> None:
    """Try to update with files that may not grow beyond `size`."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    try:
        from clew.store.files import Store

        with Catalog.open(Store.at([root]), cache=Path(cache)) as catalog:
            catalog.update(options=Options(jobs=1))
        answer.send("built")
    except CatalogUnavailableError as error:
        answer.send(f"told: {error.reason}")
    except BaseException as error:  # what the test looks for
        answer.send(f"raised: {error!r}")


@pytest.mark.parametrize("size", [0, 1_000, 30_000, 100_000, 140_000, 4_000_000])
def test_a_disk_that_takes_no_more_bytes_is_told(tree: Tree, right: dict[str, object], size: int) -> None:
    cache = tree.root.parent / "cache"
    here, there = multiprocessing.Pipe(duplex=False)
    context = multiprocessing.get_context("fork")
    child = context.Process(target=_limited, args=(str(tree.root), str(cache), size, there))
    child.start()
    told = here.recv()
    child.join()
    assert told.startswith(("told: ", "built")), told
    assert told == "built" or size < 4_000_000
    with Catalog.open(tree.store(), cache=cache) as catalog:
        assert catalog.update(options=Options(details=True)).notes == ()
        assert content(catalog) == right


# --- no leave -----------------------------------------------------------------------------------------------


def _as_nobody(what: Callable[[], str], answer: Connection) -> None:
    if os.getuid() == 0:
        os.setgid(65534)
        os.setuid(65534)
    try:
        answer.send(what())
    except CatalogUnavailableError as error:
        answer.send(f"told: {error.reason}")
    except BaseException as error:  # what the test looks for
        answer.send(f"raised: {error!r}")


def _answer(what: Callable[[], str]) -> str:
    here, there = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=_as_nobody, args=(what, there))
    child.start()
    told = here.recv()
    child.join()
    return told


@pytest.fixture
def open_to_all() -> Iterator[Path]:
    """A folder that others may look into; those of pytest are closed."""
    folder = Path(tempfile.mkdtemp(prefix="clew-open-"))
    folder.chmod(0o755)
    yield folder
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755)
    shutil.rmtree(folder)


def test_a_cache_folder_without_leave_to_write_is_told(open_to_all: Path) -> None:
    tree = Tree(open_to_all / "root")
    tree.write("-a/s.jsonl", line(0))
    (open_to_all / "cache").mkdir(mode=0o555)

    def update() -> str:
        with Catalog.open(tree.store(), cache=open_to_all / "cache") as catalog:
            catalog.update()
        return "built"

    assert _answer(update).startswith("told: ")


def test_a_catalog_in_a_folder_that_became_read_only_can_still_be_read(open_to_all: Path) -> None:
    tree = Tree(open_to_all / "root")
    tree.write("-a/s.jsonl", line(0))
    with Catalog.open(tree.store(), cache=open_to_all / "cache") as catalog:
        catalog.update()
        folder = catalog.folder
    for path in (*folder.iterdir(), *list(folder.parents)[:4], folder):
        path.chmod(0o555)

    def read() -> str:
        with Catalog.open(tree.store(), cache=open_to_all / "cache") as mine, mine.reading() as database:
            return str(database.execute("SELECT count(*) FROM entries").fetchall())

    def update() -> str:
        with Catalog.open(tree.store(), cache=open_to_all / "cache") as mine:
            mine.update()
        return "built"

    assert _answer(read) == "[(1,)]"
    assert _answer(update).startswith("told: ")


# --- others at work -----------------------------------------------------------------------------------------


def test_while_another_clew_indexes_the_answer_is_what_is_there_with_a_note(
    tree: Tree, catalog: Catalog
) -> None:
    tree.write("-a/new.jsonl", line(0))
    lock = shards.Lock(catalog.folder)
    assert lock.take()
    try:
        done = catalog.update(wait_ms=50)
        assert (done.notes, done.is_current) == ((BUSY,), False)
        with catalog.reading() as database:
            assert database.execute("SELECT count(*) FROM sessions").fetchall() == [(10,)]
        assert catalog.rebuild(wait_ms=50).notes == (BUSY,)
    finally:
        lock.release()
    assert catalog.update().files_read == 1


@pytest.mark.parametrize("mode", ["IMMEDIATE", "EXCLUSIVE"])
def test_a_database_that_somebody_else_writes_is_left_alone(tree: Tree, catalog: Catalog, mode: str) -> None:
    for number in range(8):
        tree.write(f"-a/new{number}.jsonl", line(number))
    other = connect(str(shard_paths(catalog.folder)[2]), apsw.SQLITE_OPEN_READWRITE)
    other.execute(f"BEGIN {mode}")
    try:
        done = catalog.update()
        assert (done.notes, done.is_current) == ((BUSY,), False)
        assert catalog.status().files >= 10
    finally:
        other.close()
    assert catalog.update().notes == ()
    assert catalog.status().files == 18


def _update_often(root: str, cache: str, times: int, answer: Connection) -> None:
    from clew.store.files import Store

    try:
        for _ in range(times):
            with Catalog.open(Store.at([root]), cache=Path(cache)) as catalog:
                catalog.update(options=Options(jobs=1, batch=10_000))
                catalog.status()
    except BaseException as error:  # what the test looks for
        answer.send(f"raised: {error!r}")
    else:
        answer.send("done")


def test_two_processes_that_update_at_once_end_with_the_right_content(tree: Tree) -> None:
    cache = tree.root.parent / "cache"
    context = multiprocessing.get_context("spawn")
    answers: list[Connection] = []
    children: list[BaseProcess] = []
    for _ in range(2):
        here, there = context.Pipe(duplex=False)
        child = context.Process(target=_update_often, args=(str(tree.root), str(cache), 15, there))
        child.start()
        children.append(child)
        answers.append(here)
    for number in range(300):
        if not any(child.is_alive() for child in children):
            break
        time.sleep(0.01)
        name = f"-a/{number % 12:08x}-1111-4111-8111-111111111111.jsonl"
        tree.append(name, lines([number, number + 3]))
        if number % 9 == 0:
            tree.cut(name, 500, line(number))
    assert [here.recv() for here in answers] == ["done", "done"]
    with (
        Catalog.open(tree.store(), cache=cache) as catalog,
        Catalog.open(tree.store(), cache=tree.root.parent / "anew") as anew,
    ):
        assert catalog.update(options=Options(details=True)).notes == ()
        anew.update(options=Options(details=True))
        assert content(catalog) == content(anew)
