"""Bringing a catalog up to date: what is read, in how many processes, and what happens when it is stopped."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import TYPE_CHECKING

import pytest

from clew.catalog.catalog import Catalog, Options, Progress
from clew.catalog.sources import AGENT, SPILLED, Owners, spilled, wanted
from clew.store.files import Listing
from clew.store.heads import group_agents
from clew.store.sides import side_files
from clew.store.source import FileSource
from tests.catalog.stores import Tree, content, found, line, lines

if TYPE_CHECKING:
    from pathlib import Path

SESSION = "-home-ada-a/00000001-1111-4111-8111-111111111111.jsonl"


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path / "root")


def opened(tree: Tree, name: str = "cache") -> Catalog:
    return Catalog.open(tree.store(), cache=tree.root.parent / name)


def many(tree: Tree, count: int = 12) -> None:
    """Fill a store with sessions, forks of them, sub-agents and outputs."""
    for number in range(count):
        name = f"-home-ada-{number % 3}/{number:08x}-1111-4111-8111-111111111111"
        tree.write(f"{name}.jsonl", lines(range(number, number + 10 + number * 7)))
        if number % 3 == 0:
            tree.write(f"{name}/subagents/agent-{number}.jsonl", lines(range(300, 320)))
        if number % 4 == 0:
            tree.write(f"{name}/tool-results/{number}.txt", b"the kettle boils\n")


@pytest.fixture
def bytes_read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count the bytes of session files that are read."""
    counts: list[int] = []
    real = FileSource.read_once

    def counted(self: FileSource, offset: int, length: int) -> bytes:
        data = real(self, offset, length)
        counts.append(len(data))
        return data

    monkeypatch.setattr(FileSource, "read_once", counted)
    return counts


def test_of_a_file_that_grew_only_what_is_new_is_read(tree: Tree, bytes_read: list[int]) -> None:
    tree.write(SESSION, lines(range(2000)))
    size = tree.path(SESSION).stat().st_size
    with opened(tree) as catalog:
        catalog.update()
        assert sum(bytes_read) >= size > 500_000
        bytes_read.clear()
        more = line(3)
        tree.append(SESSION, more)
        done = catalog.update()
        assert (done.files_read, done.bytes_read) == (1, len(more))
        # The first and the last 4 KB tell whether it is still the same file.
        assert sum(bytes_read) <= 2 * len(more) + 4 * 4096


def test_a_file_that_did_not_change_is_not_opened(tree: Tree, bytes_read: list[int]) -> None:
    many(tree)
    tree.write("-home-ada-1/agent-beside.jsonl", lines(range(5)))
    with opened(tree) as catalog:
        catalog.update()
        bytes_read.clear()
        assert catalog.update().files_read == 0
        assert bytes_read == []


def test_a_file_whose_time_alone_changed_is_looked_at_but_not_read(tree: Tree, bytes_read: list[int]) -> None:
    path = tree.write(SESSION, lines(range(2000)))
    with opened(tree) as catalog:
        catalog.update()
        bytes_read.clear()
        tree.touch(path)
        catalog.update()
        assert sum(bytes_read) <= 4 * 4096
        bytes_read.clear()
        catalog.update()
        assert bytes_read == []


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.parametrize("two_stages", [True, False])
def test_two_processes_build_what_one_does(tree: Tree, method: str, two_stages: bool) -> None:
    if method not in __import__("multiprocessing").get_all_start_methods():
        pytest.skip(f"no {method} here")
    many(tree)
    with opened(tree, "one") as alone, opened(tree, "two") as together:
        alone.update(options=Options(jobs=1, details=True))
        told: list[Progress] = []
        options = Options(jobs=2, start_method=method, two_stages=two_stages, details=True)
        done = together.update(options=options, tell=told.append)
        assert done.notes == ()
        assert content(alone) == content(together)
        dialogue = [one for one in told if one.stage == "dialogue"]
        assert dialogue[-1].files == dialogue[-1].files_total == done.files_read
        assert {one.stage for one in told} >= {"dialogue", "details", "settling"}


def test_progress_goes_up_to_all_there_is(tree: Tree) -> None:
    many(tree)
    told: list[Progress] = []
    with opened(tree) as catalog:
        catalog.update(options=Options(jobs=1, two_stages=True), tell=told.append)
    for stage in ("dialogue", "tools"):
        steps = [one for one in told if one.stage == stage]
        assert [one.bytes for one in steps] == sorted(one.bytes for one in steps)
        assert steps[-1].files == steps[-1].files_total or stage == "tools"
        assert 0 < steps[-1].bytes <= steps[-1].bytes_total


class StopHereError(Exception):
    """Raised by a test in the middle of an update."""


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_was_read_before_an_interruption_is_kept(tree: Tree, jobs: int) -> None:
    many(tree)
    with opened(tree) as catalog, opened(tree, "anew") as anew:

        def stop(progress: Progress) -> None:
            if progress.files >= 5:
                raise StopHereError

        options = Options(jobs=jobs, batch=1 << 30)
        with pytest.raises(StopHereError):
            catalog.update(options=options, tell=stop)
        assert catalog.status().files >= 5
        rest = catalog.update(options=options)
        assert 0 < rest.files_read < 20
        anew.update()
        assert content(catalog) == content(anew)


def test_a_long_file_is_kept_as_far_as_it_was_read(tree: Tree) -> None:
    tree.write(SESSION, lines(range(8000)))
    size = tree.path(SESSION).stat().st_size
    with opened(tree) as catalog, opened(tree, "anew") as anew:

        def stop(progress: Progress) -> None:
            if progress.bytes > size / 2:
                raise StopHereError

        with pytest.raises(StopHereError):
            catalog.update(options=Options(jobs=1), tell=stop)
        assert 0 < catalog.status().entries < 8000
        assert 0 < catalog.update().bytes_read < size * 0.6
        anew.update()
        assert content(catalog) == content(anew)


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_ends_an_update_with_all_that_was_read_committed(tree: Tree, jobs: int) -> None:
    many(tree, 30)
    with opened(tree) as catalog, opened(tree, "anew") as anew:

        def slow(progress: Progress) -> None:
            if progress.files == 3:
                os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.002)

        before = signal.getsignal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            catalog.update(options=Options(jobs=jobs, batch=1 << 30), tell=slow)
        assert signal.getsignal(signal.SIGINT) is before
        assert catalog.status().files >= 3
        catalog.update()
        anew.update()
        assert content(catalog) == content(anew)


def test_an_update_works_in_a_thread_too(tree: Tree) -> None:
    many(tree)
    with opened(tree) as catalog:
        done: list[int] = []

        def work() -> None:
            with opened(tree) as mine:
                done.append(mine.update().files_read)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert done == [len(wanted(tree.store().listing()))]
        assert catalog.update().files_read == 0


# --- whose a file is ----------------------------------------------------------------------------------------


def test_sub_agents_belong_to_their_sessions(tree: Tree) -> None:
    many(tree)
    empty = "-home-ada-0/99999999-1111-4111-8111-111111111111"
    tree.write(f"{empty}.jsonl", b"")
    name = "00000003-1111-4111-8111-111111111111"
    tree.write("-home-ada-0/agent-x.jsonl", line(2, sessionId=empty[-36:]) * 2 + line(3, sessionId=name))
    tree.write("-home-ada-0/agent-y.jsonl", b"")
    tree.write("-home-ada-0/agent-z.jsonl", line(2, sessionId="nowhere"))
    listing = tree.store().listing()
    groups = group_agents(listing)
    expected = {file.path: session for (_, _, session), files in groups.by_session.items() for file in files}
    with opened(tree) as catalog:
        catalog.update()
        with catalog.reading() as database:
            rows = database.execute(
                "SELECT path, session FROM all_source WHERE kind = ?", (AGENT,)
            ).fetchall()
        assert dict(rows) == expected
        owners = Owners(wanted(listing))
        assert owners.of(wanted(listing)[0], None)[1] == listing.sessions[0].path
        with catalog.reading() as database:
            agents = dict(database.execute("SELECT session_id, agents FROM sessions").fetchall())
        assert agents[name] == len(groups.of(next(one for one in listing.sessions if one.id == name)))


def test_a_sub_agent_changes_hands_when_its_session_appears(tree: Tree) -> None:
    name = "00000003-1111-4111-8111-111111111111"
    other = "00000004-1111-4111-8111-111111111111"
    agent = tree.write("-a/agent-x.jsonl", line(2, sessionId=other) * 2 + line(3, sessionId=name))
    with opened(tree) as catalog:

        def owner() -> tuple[str, str]:
            catalog.update()
            with catalog.reading() as database:
                return database.execute(
                    "SELECT session, owner FROM all_source WHERE path = ?", (str(agent),)
                ).fetchall()[0]

        assert owner() == (other, str(agent))
        own = tree.write(f"-a/{name}.jsonl", line(0))
        assert owner() == (name, str(own))
        with catalog.reading() as database:
            assert database.execute("SELECT agents, output_tokens > 0 FROM sessions").fetchall() == [(1, 1)]
        own.unlink()
        assert owner() == (other, str(agent))


def test_a_message_in_two_files_is_the_older_sessions_until_that_is_gone(tree: Tree) -> None:
    own, copy = (f"-a/0000000{number}-1111-4111-8111-111111111111.jsonl" for number in (2, 1))
    tree.write(own, line(0, timestamp="2020-01-01T00:00:00.000Z") + line(2))
    tree.write(copy, line(2))
    with opened(tree) as catalog:

        def used() -> list[tuple[object, ...]]:
            catalog.update()
            with catalog.reading() as database:
                rows = database.execute(
                    "SELECT path, output_tokens FROM sessions ORDER BY path DESC"
                ).fetchall()
                shared = database.execute("SELECT max(shared) FROM all_message").fetchall()[0]
                assert database.execute("SELECT count(*) FROM usage").fetchall() == [(1,)]
            return [*((path[-42:-34], tokens) for path, tokens in rows), shared]

        assert used() == [("00000002", 2), ("00000001", 0), (1,)]
        # The copy gets a line that is older still.
        tree.append(copy, line(1, timestamp="2019-01-01T00:00:00.000Z"))
        assert used() == [("00000002", 0), ("00000001", 2), (1,)]
        tree.path(copy).unlink()
        assert used() == [("00000002", 2), (0,)]


# --- tools' outputs in files of their own -------------------------------------------------------------------


def test_the_outputs_found_are_those_that_belong_to_the_sessions(tree: Tree) -> None:
    many(tree)
    beside = tree.path("-home-ada-0/00000000-1111-4111-8111-111111111111/tool-results/deep/er/x.json")
    beside.parent.mkdir(parents=True, exist_ok=True)
    beside.write_bytes(b"{}")
    (beside.parent / "link").symlink_to(beside)
    tree.path("-home-ada-0/no-session/tool-results/x.txt").write_bytes(b"nobody's")
    tree.path("-home-ada-0/...jsonl").write_bytes(b"")
    sessions = tree.store().listing().sessions
    expected = {
        (side.path, side.size, side.mtime_ns)
        for file in sessions
        for side in side_files(file).files
        if side.kind == "tool-result"
    }
    assert len(expected) == 4
    assert {(one.path, one.size, one.stamp[3]) for one in spilled(sessions)} == expected


def test_a_tool_output_in_a_file_of_its_own_is_found_and_follows_its_file(tree: Tree) -> None:
    tree.write(SESSION, line(0))
    name = SESSION.removesuffix(".jsonl") + "/tool-results/toolu_1.txt"
    path = tree.write(name, "the kettle 日本語".encode())
    with opened(tree) as catalog:
        catalog.update()
        assert found(catalog, "tool_result", "kettle") == {(str(path), 0)}
        assert found(catalog, "tool_result", "日本") == {(str(path), 0)}
        with catalog.reading() as database:
            row = database.execute(
                "SELECT f.kind, f.session, k.kind, e.length FROM all_source f "
                "JOIN all_entry e ON e.shard = f.shard AND e.source = f.id "
                "JOIN (SELECT 0 AS shard, * FROM s0.sort UNION ALL SELECT 1, * FROM s1.sort UNION ALL "
                "SELECT 2, * FROM s2.sort UNION ALL SELECT 3, * FROM s3.sort) k "
                "ON k.shard = e.shard AND k.id = e.sort "
                "WHERE f.path = ?",
                (str(path),),
            ).fetchall()
            assert row == [(SPILLED, SESSION[-42:-6], "tool-results", 20)]
            # It is no line of the session.
            assert database.execute("SELECT count(*) FROM entries").fetchall() == [(1,)]
        tree.write(name, b"a gull")
        catalog.update()
        assert found(catalog, "tool_result", "kettle") == set()
        assert found(catalog, "tool_result", "gull") == {(str(path), 0)}
        path.unlink()
        catalog.update()
        assert found(catalog, "tool_result", "gull") == set()


def test_an_output_of_many_megabytes_is_cut_at_the_ends_of_lines(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clew.catalog.indexing._OUTPUT", 100)
    tree.write(SESSION, line(0))
    data = b"".join(b"line %d of the harbour\n" % number for number in range(50)) + b"x" * 250 + b" gull"
    path = tree.write(SESSION.removesuffix(".jsonl") + "/tool-results/x.txt", data)
    with opened(tree) as catalog:
        catalog.update()
        places = sorted(offset for _, offset in found(catalog, "tool_result", "harbour"))
        assert len(places) > 10
        assert all(offset == 0 or data[offset - 1 : offset] == b"\n" for offset in places)
        assert len(found(catalog, "tool_result", "gull")) == 1
        assert path.exists()


# --- odd files ----------------------------------------------------------------------------------------------


def test_a_name_that_is_no_text_is_no_obstacle(tree: Tree) -> None:
    try:
        tree.write("-a/\udcff-name.jsonl", line(0))
    except OSError:
        pytest.skip("the file system takes only text")
    with opened(tree) as catalog:
        assert catalog.update().skipped == ()
        assert catalog.update().files_read == 0
        with catalog.reading() as database:
            assert database.execute("SELECT session_id, typeof(path) FROM sessions").fetchall() == [
                ("\ufffd-name", "text")
            ]


def test_a_file_that_cannot_be_read_is_told_and_its_rows_go(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.write(SESSION, line(0))
    with opened(tree) as catalog:
        catalog.update()
        tree.append(SESSION, line(1))

        def refuse(_path: str, *, is_listed: bool = False) -> tuple[int, os.stat_result]:
            from clew.errors import UnreadableError

            raise UnreadableError(_path, "permission denied")

        with monkeypatch.context() as patch:
            patch.setattr("clew.store.source.open_regular", refuse)
            done = catalog.update()
        assert [one.path for one in done.skipped] == [str(tree.path(SESSION))]
        assert catalog.status().entries == 0
        assert catalog.update().skipped == ()
        assert catalog.status().entries == 2


def test_a_line_too_long_to_be_held_is_found_by_how_it_begins(tree: Tree) -> None:
    long = line(5, message={"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "t", "content": "kettle " + "x " * (5 << 20)}
    ]})  # fmt: skip
    tree.write(SESSION, line(0) + long + line(1))
    with opened(tree) as catalog, opened(tree, "two") as two:
        catalog.update()
        assert found(catalog, "tool_result", "kettle") == {(str(tree.path(SESSION)), len(line(0)))}
        two.update(options=Options(two_stages=True))
        assert content(catalog) == content(two)


@pytest.mark.parametrize("rest", [b"\n", b" and what is no record\n", b'{"type":"user"}\n', b"x"])
def test_what_an_unfinished_line_told_is_taken_back_when_it_goes_on(tree: Tree, rest: bytes) -> None:
    call = {"type": "tool_use", "name": "Read", "input": {"file_path": "/gull"}}
    message = {
        "id": "msg_1",
        "role": "assistant",
        "model": "claude-opus-4-1",
        "content": [call],
        "usage": {"input_tokens": 3, "output_tokens": 4},
    }
    tree.write(SESSION, line(0) + line(2, message=message, type="assistant").rstrip(b"\n"))
    with opened(tree) as catalog, opened(tree, "anew") as anew:
        catalog.update(options=Options(details=True))
        with catalog.reading() as database:
            told = database.execute("SELECT message_id, calls, output_tokens FROM messages").fetchall()
        assert told == [("msg_1", '["Read"]', 4)]
        tree.append(SESSION, rest)
        catalog.update(options=Options(details=True))
        anew.update(options=Options(details=True))
        assert content(catalog) == content(anew)


def test_a_listing_can_be_handed_in(tree: Tree) -> None:
    many(tree)
    with opened(tree) as catalog:
        assert catalog.update(Listing((), (), ())).files_read == 0
        assert catalog.update(tree.store().listing()).files_read > 10
        assert catalog.update(Listing((), (), ())).files_gone > 10
        assert catalog.status().entries == 0
