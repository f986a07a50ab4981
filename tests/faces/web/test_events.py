"""Open pages are told what happens to sessions, soon, and all of it."""

from __future__ import annotations

import os
import shutil
import threading
import time
from typing import TYPE_CHECKING

from clew.faces.web import events
from tests.builder import Builder
from tests.faces.stage import demo
from tests.faces.web.lab import Listener, running

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def lively(root: Path, name: str = "lively") -> tuple[Path, Builder]:
    """Begin a session that somebody is writing."""
    path = root / "projects" / "-live" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    made = Builder(name).user("one").answer("1")
    path.write_bytes(made.data())
    return path, made


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_a_line_is_told_within_three_tenths_of_a_second(tmp_path: Path) -> None:
    root = demo(tmp_path)
    path, made = lively(root)
    with running(root) as visitor, Listener(visitor) as page:
        assert page.next() == ("hello", {})
        took: list[float] = []
        for number in range(5):
            before = len(made.data())
            data = made.answer(f"more {number}").data()[before:]
            time.sleep(0.13)
            began = time.monotonic()
            append(path, data)
            name, told = page.next()
            took.append(time.monotonic() - began)
            assert (name, told["session"], told["last_line"]) == ("grown", "lively", 3 + number)
            assert (told["lines"], told["kinds"]) == (1, {"assistant": 1})
        assert sorted(took)[2] < 1.5, took


def test_a_session_is_told_by_the_key_that_pages_know(tmp_path: Path) -> None:
    root = demo(tmp_path)
    path, made = lively(root)
    with running(root) as visitor, Listener(visitor) as page:
        page.next()
        before = len(made.data())
        append(path, made.answer("more").data()[before:])
        assert page.next()[1]["session"] == "lively"
        copy = root / "projects" / "-copy" / path.name
        copy.parent.mkdir()
        shutil.copy2(path, copy)
        os.utime(copy, (1, 1))
        rows = visitor.get("/api/sessions").json["sessions"]
        (key,) = (row["key"] for row in rows if row["path"] == str(path))
        assert key != "lively", "there are two of that id now"
        before = len(made.data())
        append(path, made.answer("still more").data()[before:])
        while (told := page.next()[1])["file"] != key:
            assert told["file"] != "lively"
        assert told["session"] == key


def test_new_sessions_sub_agents_and_cut_files_are_told(tmp_path: Path) -> None:
    root = demo(tmp_path)
    path, _ = lively(root)
    with running(root) as visitor, Listener(visitor) as page:
        page.next()
        lively(root, "newborn")
        name, told = page.next()
        assert (name, told["session"], told["lines"]) == ("grown", "newborn", 2)
        agent = path.with_suffix("") / "subagents" / "agent-a1.jsonl"
        agent.parent.mkdir(parents=True)
        agent.write_bytes(Builder("lively").user("go", isSidechain=True).answer("went").data())
        name, told = page.next()
        assert (name, told["session"], told["file"], told["agent"]) == ("grown", "lively", "agent-a1", "a1")
        path.write_bytes(b"")
        name, told = page.next()
        assert (name, told["session"], told["what"]) == ("changed", "lively", "cut")


def test_a_page_that_comes_back_is_told_what_it_missed(tmp_path: Path) -> None:
    root = demo(tmp_path)
    path, made = lively(root)
    with running(root) as visitor, Listener(visitor) as other:
        with Listener(visitor) as page:
            page.next()
            last = page.last
        other.next()
        for number in range(3):
            before = len(made.data())
            append(path, made.answer(f"more {number}").data()[before:])
            assert other.next()[0] == "grown"
        with Listener(visitor, last) as page:
            assert page.next()[0] == "hello"
            told = [page.next() for _ in range(3)]
            assert [(name, data["last_line"]) for name, data in told] == [("grown", n) for n in (3, 4, 5)]
            assert page.last == other.last
        for stale in ("gone-1", "x", "", f"{last.rpartition('-')[0]}-999", f"{last}9" * 9):
            with Listener(visitor, stale) as page:
                assert page.next() == ("refresh", {}), stale


def test_a_page_that_missed_too_much_reads_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "KEPT", 2)
    root = demo(tmp_path)
    path, made = lively(root)
    with running(root) as visitor, Listener(visitor) as other:
        other.next()
        last = other.last
        for number in range(3):
            before = len(made.data())
            append(path, made.answer(f"more {number}").data()[before:])
            other.next()
        with Listener(visitor, last) as page:
            assert page.next() == ("refresh", {})


def test_silence_is_filled_and_the_end_of_the_server_ends_the_stream(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "HEARTBEAT", 0.05)
    ended: list[tuple[str, object]] = []
    with running(demo(tmp_path)) as visitor:
        page = Listener(visitor)
        page.next()
        thread = threading.Thread(target=lambda: ended.append(page.next()))
        thread.start()
        time.sleep(0.3)
        assert thread.is_alive()
        began = time.monotonic()
    assert time.monotonic() - began < 10
    thread.join(5)
    page.__exit__()
    assert ended == [("", None)]


def test_only_so_many_pages_listen_and_one_that_leaves_makes_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "_PAGES", 3)
    monkeypatch.setattr(events, "HEARTBEAT", 0.05)
    with running(demo(tmp_path)) as visitor:
        pages = [Listener(visitor) for _ in range(3)]
        with Listener(visitor) as late:
            assert late.status == 503
        pages.pop().__exit__()
        until = time.monotonic() + 5
        while time.monotonic() < until:
            with Listener(visitor) as next_one:
                if next_one.status == 200:
                    break
        else:
            raise AssertionError("nobody made room")
        for page in pages:
            page.__exit__()
