"""Watching a store: which files are followed, and what is told of them."""

from __future__ import annotations

import os
import time
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from clew.actions import watching
from clew.actions.watch_documents import document
from clew.actions.watching import Changed, Gone, Pause, Said, Watch, Wish
from clew.format.records import Record
from clew.store.files import SessionFile, Store, at_path
from tests.builder import Builder, call, text, thinking
from tests.store.lines import ONE, THREE, TWO, line, lines, put

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from clew.actions.watching import News


class Stage:
    """A store on disk, a clock that moves only when the watch sleeps, and deeds done while it does."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "config"
        self.project = self.root / "projects" / "-home-ada-lighthouse"
        self.project.mkdir(parents=True)
        self.clock = 0.0
        self.slept: list[float] = []

    def path(self, name: str) -> Path:
        return self.project / f"{name}.jsonl"

    def put(self, name: str, data: bytes, *, age: float = 0.0) -> Path:
        path = put(self.path(name), data)
        when = time.time() - age
        os.utime(path, (when, when))
        return path

    def file(self, name: str) -> SessionFile:
        found = at_path(self.path(name))
        assert isinstance(found, SessionFile)
        return found

    def watch(self, wish: Wish | None = None) -> Watch:
        store = Store.at([str(self.root)])
        return Watch(store, wish or Wish(), clock=lambda: self.clock, sleep=self.sleep)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.clock += seconds

    def played(self, watch: Watch, *steps: Callable[[], object], pauses: int = 1) -> list[str]:
        """Watch while `steps` are done, one after each so many pauses; tell the news in words."""
        told = [""]
        left = [*steps, lambda: None]
        count = 0
        for news in watch.news():
            if not isinstance(news, Pause):
                told[-1] = f"{told[-1]} {in_words(news)}".strip()
                continue
            count += 1
            if count % pauses == 0:
                if len(left) == 1:
                    break
                left.pop(0)()
                told.append("")
        return told


def in_words(news: News) -> str:
    match news:
        case Said():
            name = news.stream.agent or news.stream.session[:4]
            item = news.item
            uuid = item.facts.uuid if isinstance(item, Record) else item.damage
            return f"{name}:{(uuid or '?').removeprefix('line-')}"
        case Changed():
            return f"~{news.what}:{news.number}"
        case Gone():
            return f"!{news.reason}"
        case Pause():
            return "."


def _append(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(data)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def test_one_session_is_shown_from_its_last_messages_on(stage: Stage) -> None:
    path = stage.put(ONE, lines(30), age=9000)
    stage.put(TWO, lines(3, session=TWO))
    watch = stage.watch(Wish(stage.file(ONE), lines=3))
    assert stage.played(watch, lambda: _append(path, line(31))) == ["1111:28 1111:29 1111:30", "1111:31"]
    assert [stream.session for stream in watch.watched] == [ONE]
    few = stage.played(stage.watch(Wish(stage.file(ONE))))[0].split()
    assert (few[0], len(few)) == ("1111:22", 10)
    assert stage.played(stage.watch(Wish(stage.file(ONE), lines=0))) == [""]
    assert len(stage.played(stage.watch(Wish(stage.file(ONE), from_start=True)))[0].split()) == 31


def test_lines_that_are_no_messages_do_not_count_but_come_along(stage: Stage) -> None:
    noise = b"".join(line(number, type="progress") for number in range(40, 45))
    stage.put(ONE, lines(4) + noise + line(5))
    told = stage.played(stage.watch(Wish(stage.file(ONE), lines=2)))[0]
    assert told == "1111:4 1111:40 1111:41 1111:42 1111:43 1111:44 1111:5"
    # However many there are, only so many are held.
    stage.put(ONE, line(1) + b"".join(line(number, type="progress") for number in range(100, 900)))
    assert len(stage.played(stage.watch(Wish(stage.file(ONE), lines=1)))[0].split()) == 120


def test_without_a_name_live_sessions_are_followed_and_quiet_ones_when_they_wake(stage: Stage) -> None:
    live = stage.put(ONE, lines(5))
    quiet = stage.put(TWO, lines(5, session=TWO), age=9000)
    watch = stage.watch()
    assert stage.played(
        watch, lambda: _append(quiet, line(6, session=TWO)), lambda: _append(live, line(6)), lambda: None
    ) == ["1111:3 1111:4 1111:5", "2222:6", "1111:6", ""]


def test_a_quiet_file_far_down_the_list_is_noticed_when_the_store_is_listed(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "_FILES", 1)
    old = stage.put(ONE, lines(2), age=90_000)
    stage.put(TWO, lines(2, session=TWO), age=9000)
    told = stage.played(stage.watch(), lambda: _append(old, line(3)), pauses=40)
    assert told == ["", "1111:3"]


def test_new_files_are_picked_up_sub_agents_too(stage: Stage) -> None:
    stage.put(ONE, lines(1))
    agent = stage.project / ONE / "subagents" / "agent-a1.jsonl"
    watch = stage.watch(Wish(lines=0))
    told = stage.played(
        watch,
        lambda: stage.put(TWO, lines(2, session=TWO)),
        lambda: _append(agent, line(1, isSidechain=True)),
        lambda: _append(agent, line(2, isSidechain=True)),
        lambda: stage.put(THREE, lines(9), age=9000),
    )
    assert told == ["", "2222:1 2222:2", "a1:1", "a1:2", ""]
    assert {(stream.session, stream.agent) for stream in watch.watched} == {
        (ONE, None),
        (TWO, None),
        (ONE, "a1"),
    }


def test_of_one_session_only_its_own_sub_agents_are_followed(stage: Stage) -> None:
    stage.put(ONE, lines(1))
    watch = stage.watch(Wish(stage.file(ONE), lines=0))
    told = stage.played(
        watch,
        lambda: _append(stage.project / ONE / "subagents" / "agent-a1.jsonl", line(1)),
        lambda: _append(stage.project / TWO / "subagents" / "agent-a2.jsonl", line(1, session=TWO)),
        lambda: _append(
            stage.project / "agent-a3.jsonl", line(3)
        ),  # up to 2.0.76 they lie beside the sessions
        lambda: _append(stage.project / "agent-a4.jsonl", line(3, session=TWO)),
        lambda: stage.put(TWO, lines(2, session=TWO)),
    )
    assert told == ["", "a1:1", "", "a3:3", "", ""]


def test_a_session_outside_the_store_is_watched_with_its_own_sub_agents(stage: Stage, tmp_path: Path) -> None:
    other = Stage(tmp_path / "other")
    other.put(ONE, lines(1))
    watch = stage.watch(Wish(other.file(ONE)))
    agent = other.project / ONE / "subagents" / "agent-a1.jsonl"
    assert stage.played(watch, lambda: _append(agent, line(1))) == ["1111:1", "a1:1"]
    alone = put(tmp_path / "alone.jsonl", lines(1))
    file = at_path(alone)
    assert isinstance(file, SessionFile)
    assert stage.played(stage.watch(Wish(file)), lambda: _append(alone, line(2))) == ["alon:1", "alon:2"]


def test_what_becomes_of_a_file_is_told(stage: Stage) -> None:
    path = stage.put(ONE, lines(3))
    aside = put(stage.project / "z", lines(2) + line(9))
    assert stage.played(
        stage.watch(Wish(lines=0)),
        lambda: path.write_bytes(lines(2) + line(7)),
        lambda: os.truncate(path, len(line(1))),
        lambda: put(stage.project / "y", lines(2) + line(8)).rename(path),
        path.unlink,
        lambda: aside.rename(path),
    ) == [
        "",
        "~rewritten:3 1111:7",
        "~cut:2",
        "~replaced:3 1111:8",
        "!no such file or directory",
        "~replaced:3 1111:9",
    ]


def test_a_quiet_file_that_was_changed_otherwise_is_known_from_then_on(stage: Stage) -> None:
    cut = stage.put(ONE, lines(5), age=9000)
    replaced = stage.put(TWO, lines(5, session=TWO), age=9000)
    told = stage.played(
        stage.watch(),
        lambda: os.truncate(cut, len(lines(2))),
        lambda: put(stage.project / "y", lines(9)).rename(replaced),
        lambda: _append(replaced, line(10)),
    )
    assert told == ["", "~cut:3", "~replaced:10", "2222:10"]


def test_a_long_history_that_appears_at_once_is_not_poured_out(stage: Stage) -> None:
    data = lines(2000)
    told = stage.played(stage.watch(), lambda: stage.put(ONE, data))
    assert told == ["", "~left out:1998 1111:1998 1111:1999 1111:2000"]
    whole = stage.played(stage.watch(Wish(whole=True)), lambda: stage.put(TWO, data))
    assert len(whole[1].split()) == 2000


def test_a_line_in_the_making_is_held_back_and_named(stage: Stage) -> None:
    path = stage.put(ONE, line(1))
    watch = stage.watch(Wish(lines=0))
    told = stage.played(watch, lambda: _append(path, line(2)[:30]), lambda: None)
    assert told == ["", "", ""]
    assert [(stream.session, length) for stream, length in watch.unfinished()] == [(ONE, 30)]


def test_the_watch_slows_down_when_nothing_happens_and_is_quick_again(stage: Stage) -> None:
    path = stage.put(ONE, line(1))
    stage.played(stage.watch(), lambda: _append(path, line(2)), lambda: None, lambda: None, pauses=15)
    assert stage.slept[0] == pytest.approx(0.24)
    assert max(stage.slept) == 1.0
    assert stage.slept[15] == pytest.approx(0.2)


def test_the_watch_ends_when_it_was_idle_as_long_as_wished(stage: Stage) -> None:
    stage.put(ONE, line(1))
    news = list(stage.watch(Wish(until_idle=3)).news())
    assert isinstance(news[-1], Pause)
    assert stage.clock == pytest.approx(3, abs=0.05)
    assert [type(one) for one in news].count(Said) == 1


def test_only_so_many_files_are_followed_and_none_is_lost(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "_FILES", 2)
    names = [f"{number:08}-0000-4000-8000-000000000000" for number in range(6)]
    watch = stage.watch(Wish(lines=0))

    def everyone(number: int) -> Callable[[], None]:
        def write() -> None:
            for name in names:
                _append(stage.path(name), line(number))

        return write

    def rest() -> None:
        stage.clock += 100

    told = stage.played(watch, everyone(1), rest, everyone(2), rest, everyone(3), pauses=8)
    for at, number in ((1, 1), (3, 2), (5, 3)):
        assert sorted(told[at].split()) == [f"0000:{number}"] * 6
    assert len(watch.watched) == 6
    assert [told[2], told[4]] == ["", ""]


def test_listing_a_large_store_takes_a_small_share_of_the_time(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.put(ONE, line(1))
    real, times = Store.listing, list[float]()

    def slow(store: Store) -> object:
        times.append(stage.clock)
        stage.clock += 2.0
        return real(store)

    monkeypatch.setattr(Store, "listing", slow)
    stage.played(stage.watch(), pauses=200)
    gaps = [later - earlier for earlier, later in pairwise(times[1:])]
    assert len(gaps) > 1
    assert min(gaps) >= 40


def test_a_folder_that_is_made_later_is_found(tmp_path: Path) -> None:
    stage = Stage(tmp_path / "a")
    home = tmp_path / "b" / "config"
    store = Store.at([str(home)])
    watch = Watch(store, Wish(), clock=lambda: stage.clock, sleep=stage.sleep)
    path = home / "projects" / "-p" / f"{ONE}.jsonl"
    assert stage.played(watch, lambda: put(path, line(1)), pauses=30) == ["", "1111:1"]


def test_what_cannot_be_read_at_the_start_is_told(stage: Stage) -> None:
    path = stage.put(ONE, line(1))
    file = stage.file(ONE)
    path.unlink()
    os.mkfifo(path)
    assert stage.played(stage.watch(Wish(file))) == [f"!{path} is a pipe, not a session file"]


def test_a_record_as_data(stage: Stage) -> None:
    made = (
        Builder(ONE)
        .prompt("Light the lamp.")
        .answer(thinking("Hm."), text("Lit."), call("t1", "Bash", {"command": "ls"}))
        .result("t1", "no such lamp", is_error=True)
        .line({"type": "summary", "summary": "The lamp"})
        .line({"type": "user", "uuid": "odd", "timestamp": 5, "message": {"content": [{"type": "new"}, 7]}})
        .raw(b"\0\0\n")
    )
    stage.put(ONE, made.data())
    news = list(stage.watch(Wish(from_start=True, until_idle=0)).news())
    rows = [document(one) for one in news if isinstance(one, Said)]
    assert rows[0] == {
        "session": ONE,
        "agent": None,
        "path": str(stage.path(ONE)),
        "line": 1,
        "offset": 0,
        "uuid": "u1",
        "type": "user",
        "kind": "user",
        "time": "2026-03-04T09:00:01.000Z",
        "parts": [{"type": "text", "text": "Light the lamp."}],
    }
    assert [row["parts"] for row in rows[1:]] == [
        [{"type": "thinking", "text": "Hm."}],
        [{"type": "text", "text": "Lit."}],
        [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}],
        [{"type": "tool_result", "id": "t1", "is_error": True, "text": "no such lamp"}],
        [{"type": "text", "text": "The lamp"}],
        [{"type": "new"}, {"type": None}],
        (),
    ]
    assert (rows[-1]["kind"], rows[-1]["damage"], rows[-1]["length"]) == ("damaged", "nul", 2)
    assert rows[-2]["time"] is None
