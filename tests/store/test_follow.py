"""Following a file as it is written."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from clew.format.records import Record
from clew.store.files import Skipped
from clew.store.follow import follow
from clew.store.reader import read_new
from clew.store.source import FileSource
from tests.store.lines import line, lines, put

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest


def _append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def _played(path: Path, *steps: Callable[[], object]) -> list[str]:
    """Follow a file while `steps` happen to it, one between two looks; tell the events in words."""
    left = list(steps)
    done = False

    def sleep(seconds: float) -> None:
        nonlocal done
        assert seconds == 7
        if left:
            left.pop(0)()
        else:
            done = True

    events: list[str] = []
    for event in follow(path, poll=7, stop=lambda: done, sleep=sleep):
        if isinstance(event, Skipped):
            events.append(f"! {event.reason.rpartition(': ')[2]}")
            continue
        ids = [str(item.facts.uuid) if isinstance(item, Record) else item.damage for item in event]
        events.append(" ".join([event.why, *ids]))
    return events


def test_each_record_is_given_once_when_its_line_is_finished(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", line(1))
    assert _played(
        path,
        lambda: None,
        lambda: _append(path, line(2) + line(3)[:30]),
        lambda: None,
        lambda: _append(path, line(3)[30:60]),
        lambda: _append(path, line(3)[60:]),
        lambda: os.utime(path, (1, 1)),
    ) == ["first line-1", "grown line-2", "grown line-3"]


def test_a_cut_and_rewritten_tail_starts_over(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", lines(3))
    assert _played(
        path,
        lambda: os.truncate(path, len(lines(2))),
        lambda: _append(path, line(4)),
    ) == ["first line-1 line-2 line-3", "cut line-1 line-2", "grown line-4"]
    both = put(tmp_path / "y.jsonl", lines(3))

    def rewrite() -> None:
        os.truncate(both, len(lines(2)))
        _append(both, line(4))

    assert _played(both, rewrite) == ["first line-1 line-2 line-3", "rewritten line-1 line-2 line-4"]


def test_a_replaced_file_is_opened_again(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", line(1))
    assert _played(
        path,
        lambda: put(tmp_path / "y", line(8)).rename(path),
        lambda: _append(path, line(9)),
    ) == ["first line-1", "replaced line-8", "grown line-9"]


def test_a_file_that_goes_away_is_told_once_and_waited_for(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", line(1))
    away = tmp_path / "away"

    def pipe() -> None:
        path.unlink(missing_ok=True)
        os.mkfifo(path)

    def back() -> None:
        path.unlink()
        away.rename(path)

    assert _played(
        path, lambda: path.rename(away), lambda: None, pipe, back, lambda: _append(path, line(2)), pipe
    ) == [
        "first line-1",
        "! no such file or directory",
        "grown line-2",
        f"! {path} is a pipe, not a session file",
    ]


def test_a_file_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    assert _played(path, lambda: put(path), lambda: _append(path, line(1))) == [
        "! no such file or directory",
        "first",
        "grown line-1",
    ]


def test_following_goes_on_from_a_cursor(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", lines(2))
    growth = read_new(path)
    list(growth)
    _append(path, line(3))
    looks = iter([False, True])
    events = list(follow(path, cursor=growth.cursor, stop=lambda: next(looks), sleep=lambda _: None))
    assert [event.why for event in events if not isinstance(event, Skipped)] == ["grown"]


def test_following_lasts_as_long_as_someone_asks(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", line(1))
    events = follow(path, poll=0)
    assert not isinstance(first := next(events), Skipped)
    assert [item.number for item in first] == [1]
    _append(path, line(2))
    assert not isinstance(second := next(events), Skipped)
    assert [item.number for item in second] == [2]


def test_what_is_not_gone_through_comes_again(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", lines(3))
    seen: list[int] = []
    for event in follow(path, stop=lambda: len(seen) >= 3, sleep=lambda _: None):
        assert not isinstance(event, Skipped)
        items = iter(event)
        for item in items:
            seen.append(item.number)
            if len(seen) == 2:
                break
        if len(seen) == 2:
            next(items)  # asking for the next line is what passes the one before
    assert seen == [1, 2, 3]


def test_a_cut_in_the_moment_of_looking_is_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(tmp_path / "x.jsonl", lines(3))
    growth = read_new(path)
    list(growth)
    real = FileSource.read_once

    def cutting(source: FileSource, offset: int, length: int) -> bytes:
        os.truncate(path, len(line(1)))
        return real(source, offset, length)

    monkeypatch.setattr(FileSource, "read_once", cutting)
    looks = iter([False, False, True])
    events = list(follow(path, cursor=growth.cursor, stop=lambda: next(looks), sleep=lambda _: None))
    assert [event.why for event in events if not isinstance(event, Skipped)] == ["cut"]


def test_the_file_is_let_go_of_while_nothing_happens(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", line(1))
    held: list[bool] = []

    def sleep(_: float) -> None:
        # The listing itself has one open, which is gone when it is looked at.
        links = [entry.readlink() for entry in Path("/proc/self/fd").iterdir() if entry.is_symlink()]
        held.append(path in links)

    kept = list(follow(path, stop=lambda: len(held) == 2, sleep=sleep))
    assert len(kept) == 2
    assert held == [False, False]


def test_a_busy_writer_is_followed_to_the_last_line(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl")
    done = threading.Event()

    def write() -> None:
        for number in range(1, 401):
            raw = line(number)
            _append(path, raw[:50])
            _append(path, raw[50:])
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    seen: list[str | None] = []
    try:
        for event in follow(path, poll=0.001, stop=lambda: done.is_set() and len(seen) >= 400):
            assert not isinstance(event, Skipped)
            seen.extend(item.facts.uuid for item in event if isinstance(item, Record))
    finally:
        writer.join()
    assert seen == [f"line-{number}" for number in range(1, 401)]
