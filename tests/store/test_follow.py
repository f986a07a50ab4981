"""Following a file as it is written: each record once, whatever becomes of the file."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.errors import UnreadableError
from clew.format.lines import LONG
from clew.format.records import Record
from clew.store import follow as module
from clew.store.files import Skipped
from clew.store.follow import Restart, Tail, follow
from clew.store.source import FileSource
from tests.store.lines import line, lines, put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from clew.store.follow import Item


def _append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def _words(events: Iterable[Item | Restart | Skipped]) -> str:
    told: list[str] = []
    for event in events:
        match event:
            case Skipped():
                told.append(f"! {event.reason.rpartition(': ')[2]}")
            case Restart():
                told.append(f"~{event.why}:{event.number}")
            case Record():
                told.append((event.facts.uuid or "?").removeprefix("line-"))
            case _:
                told.append(event.damage)
    return " ".join(told)


def _played(path: Path, *steps: Callable[[], object], tail: Tail | None = None) -> list[str]:
    """Look at a file before and after each of `steps`; tell what each look gave."""
    tail = tail or Tail(path)
    looks = [_words(tail.look())]
    for step in steps:
        step()
        looks.append(_words(tail.look()))
    return looks


def test_each_record_is_given_once_when_its_line_is_finished(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", line(1))
    tail = Tail(path)
    assert _played(
        path,
        lambda: None,
        lambda: _append(path, line(2) + line(3)[:30]),
        lambda: None,
        lambda: _append(path, line(3)[30:60]),
        tail=tail,
    ) == ["1", "", "2", "", ""]
    assert tail.held_back == 60
    assert _played(path, lambda: _append(path, line(3)[60:]), lambda: os.utime(path, (1, 1)), tail=tail) == [
        "",
        "3",
        "",
    ]
    assert tail.held_back == 0
    assert (tail.number, tail.offset) == (4, len(lines(3)))


def test_a_cut_and_rewritten_tail_is_told_and_gone_on_with(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", lines(3))
    assert _played(
        path,
        lambda: os.truncate(path, len(lines(2))),
        lambda: _append(path, line(3)),
        lambda: _append(path, line(4)),
    ) == ["1 2 3", "~cut:3", "", "4"]

    def rewrite() -> None:
        os.truncate(path, len(lines(1)))
        _append(path, line(2) + line(8) + line(3) + line(9))

    assert _played(path, rewrite)[1:] == ["~rewritten:3 8 9"]


def test_other_lines_of_the_same_length_are_noticed(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", lines(9))

    def rewrite() -> None:
        before = path.stat()
        path.write_bytes(lines(7) + line(0) + line(9))
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert _played(path, rewrite) == ["1 2 3 4 5 6 7 8 9", "~rewritten:8 0"]


def test_a_change_that_no_time_stamp_tells_of_is_found_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two changes within one tick of the file system's clock leave the same size and the same times."""
    path = put(tmp_path / "x.jsonl", lines(3))
    now = 100.0
    tail = Tail(path, clock=lambda: now)
    assert _words(tail.look()) == "1 2 3"
    before = path.stat()
    path.write_bytes(lines(2) + line(5))
    # As if the times had not moved on; the size has not.
    assert path.stat().st_size == before.st_size

    def unmoved(_: object) -> os.stat_result:
        return before

    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", unmoved)
        looks = [_words(tail.look()), _words(tail.look())]
    assert looks == ["~rewritten:3 5", ""]


def test_a_file_at_rest_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path / "x.jsonl", lines(3))
    now = 100.0
    tail = Tail(path, clock=lambda: now)
    list(tail.look())
    now += 10

    def fail(*_: object) -> None:
        raise AssertionError("opened")

    monkeypatch.setattr("clew.store.source.open_regular", fail)
    assert list(tail.look()) == []
    _append(path, line(4))
    with pytest.raises(AssertionError):
        list(tail.look())


def test_a_replaced_file_gives_what_was_not_given_yet(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", lines(3))
    assert _played(
        path,
        lambda: put(tmp_path / "y", line(1) + line(8) + line(3)).rename(path),
        lambda: _append(path, line(9)),
        lambda: put(tmp_path / "y", path.read_bytes()).rename(path),
        lambda: put(tmp_path / "y", b"").rename(path),
        lambda: _append(path, line(1)),
    ) == ["1 2 3", "~replaced:2 8", "9", "~replaced:5", "~replaced:1", ""]


def test_a_record_without_a_uuid_is_known_by_its_bytes(tmp_path: Path) -> None:
    plain, other = line(1, uuid=None), line(2, uuid=None)
    path = put(tmp_path / "x.jsonl", plain)
    assert _played(
        path,
        lambda: _append(path, plain + other),
        lambda: path.write_bytes(other + plain + line(3, uuid=None)),
    ) == ["?", "?", "~rewritten:3 ?"]


def test_lines_that_are_appended_again_are_not_given_again(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", lines(3))
    assert _played(path, lambda: _append(path, lines(3) + line(4)), lambda: _append(path, lines(4))) == [
        "1 2 3",
        "4",
        "",
    ]


def test_damage_is_given_once(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", line(1) + b"\0\0\0\n" + line(2)[:50] + line(3))
    assert _played(
        path,
        lambda: path.write_bytes(line(0) + path.read_bytes()),
        lambda: _append(path, b"\0\0\0\0\n\n\n[1]\n"),
    ) == ["1 nul spliced 3", "~rewritten:1 0", "nul not-a-record"]


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
        "1",
        "! no such file or directory",
        "",
        "",
        "",
        "2",
        f"! {path} is a pipe, not a session file",
    ]


def test_a_file_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    assert _played(path, lambda: put(path), lambda: _append(path, line(1))) == [
        "! no such file or directory",
        "",
        "1",
    ]
    with pytest.raises(UnreadableError):
        list(Tail(tmp_path / "none").start())


def test_what_is_there_already_is_given_by_start_alone(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", lines(4) + line(5)[:20])
    tail = Tail(path)
    assert _words(tail.start()) == "1 2 3 4"
    assert _played(path, lambda: _append(path, line(5)[20:]), tail=tail) == ["", "5"]
    tail = Tail(path)
    assert _words(tail.start(upto=len(lines(2)) + 5)) == "1 2"
    assert _words(tail.look()) == "3 4 5"


def test_of_a_large_file_the_end_is_given_and_nothing_comes_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, size in {"_KNOWN": 4000, "_RECENT": 1000, "_STEP": 600, "_SEGMENT": 500}.items():
        monkeypatch.setattr(module, name, size)
    path = put(tmp_path / "x.jsonl", lines(100))
    tail = Tail(path)
    given = _words(tail.start())
    assert given.endswith("99 100")
    assert len(given.split()) < 10
    assert tail.number == 101

    def forgotten_is_old() -> None:
        # Another file in its place: a line of the forgotten ones is missing, so all of it is gone through.
        kept = [line(number) for number in range(1, 101) if number != 3]
        put(tmp_path / "y", b"".join(kept) + line(200)).rename(path)

    assert _played(path, lambda: _append(path, line(101)), forgotten_is_old, tail=tail) == [
        "",
        "101",
        "~replaced:100 200",
    ]
    # And what shares nothing with it is new.
    assert _played(path, lambda: put(tmp_path / "y", lines(3, start=500)).rename(path), tail=tail) == [
        "",
        "~replaced:1 500 501 502",
    ]


def test_memory_is_bounded_and_the_trail_makes_up_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_SEGMENT", 500)
    path = put(tmp_path / "x.jsonl", b"")
    tail = Tail(path, memory=20)
    for number in range(1, 101):
        _append(path, line(number))
        assert _words(tail.look()) == str(number)
    assert 10 <= tail.remembered <= 20

    def rewrite() -> None:
        os.truncate(path, len(lines(97)))
        _append(path, line(99) + line(101))

    assert _played(path, rewrite, tail=tail) == ["", "~cut:99 101"]


def test_a_line_too_long_to_hold_is_one_record_and_its_making_is_not_read_again_and_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = " ".join(map(str, range(LONG // 6)))
    long = json.dumps({"type": "user", "uuid": "long", "message": {"content": said}}).encode()
    assert len(long) > LONG
    path = put(tmp_path / "x.jsonl", line(1) + long[: LONG // 2])
    tail = Tail(path)
    assert _words(tail.look()) == "1"
    asked: list[int] = []
    real = FileSource.read

    def counting(source: FileSource, offset: int, length: int) -> bytes:
        asked.append(length)
        return real(source, offset, length)

    with monkeypatch.context() as patch:
        patch.setattr(FileSource, "read", counting)
        _append(path, long[LONG // 2 : LONG // 2 + 10])
        assert _words(tail.look()) == ""
    assert sum(asked) < 2 << 20
    _append(path, long[LONG // 2 + 10 :] + b"\n" + line(3))
    assert _words(tail.look()) == "long 3"
    assert tail.number == 4
    assert _played(path, lambda: os.truncate(path, path.stat().st_size - 5), tail=tail) == ["", "~cut:3"]
    # What was searched for an end in vain is searched again when it is no longer the same.
    put(path, line(1) + long[: LONG // 2])
    list(tail.look())
    put(path, line(1) + line(5, text="y" * (1 << 20)) + long[: LONG // 2])
    assert _words(tail.look()).split()[-1] == "5"


def test_a_cut_in_the_moment_of_looking_is_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(tmp_path / "x.jsonl", lines(3))
    tail = Tail(path)
    list(tail.look())
    _append(path, line(4))
    real = FileSource.read_once

    def cutting(source: FileSource, offset: int, length: int) -> bytes:
        os.truncate(path, len(line(1)))
        return real(source, offset, length)

    with monkeypatch.context() as patch:
        patch.setattr(FileSource, "read_once", cutting)
        assert list(tail.look()) == []
    assert _words(tail.look()) == "~cut:2"


@pytest.mark.parametrize("share", [0.5, 1.0])
@pytest.mark.parametrize("first", [1, 0])
@pytest.mark.parametrize("reading", [1, 2, 3, 4])
def test_nothing_is_given_that_never_stood_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reading: int, first: int, share: float
) -> None:
    """Whenever the file is rewritten during a look: no half of an old line with half of a new one.

    Its end alone, or from the first line on, so that what was read begins in the middle of a line.
    """
    old = lines(3) + line(4, text="o" * 50)
    start = line(1) if first else line(0, text="p" * 37)
    new = start + line(2) + line(8, text="n" * 300) + line(9)
    path = put(tmp_path / "x.jsonl", lines(2))
    tail = Tail(path)
    assert _words(tail.look()) == "1 2"
    path.write_bytes(old)
    real = FileSource.read_once
    count = 0

    def rewriting(source: FileSource, offset: int, length: int) -> bytes:
        nonlocal count
        count += 1
        data = real(source, offset, length)
        if count == reading:  # only so much of what is read comes from before the change
            path.write_bytes(new)
            half = int(len(data) * share)
            data = data[:half] + real(source, offset + half, len(data) - half)
        return data

    with monkeypatch.context() as patch:
        patch.setattr(FileSource, "read_once", rewriting)
        given = _words(tail.look())
    assert path.read_bytes() == new
    given += " " + _words(tail.look())
    words = [word for word in given.split() if not word.startswith("~")]
    later = ["8", "9"] if first else ["0", "8", "9"]
    assert words in (later, ["3", "4", *later])


def test_start_goes_on_when_the_file_is_rewritten_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_STEP", 600)
    path = put(tmp_path / "x.jsonl", lines(9))
    tail = Tail(path)
    items = tail.start()
    first = next(items)
    assert isinstance(first, Record)
    path.write_bytes(line(0) + lines(8))
    # To the byte where the file ended when it began; what goes beyond is new.
    assert _words(items) == "2 0 3 4 5 6 7"
    assert _words(tail.look()) == "8"


def test_what_is_not_gone_through_comes_again(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", lines(3))
    tail = Tail(path)
    items = tail.look()
    assert _words([next(items)]) == "1"
    del items
    assert _words(tail.look()) == "2 3"


def test_the_file_is_let_go_of_between_looks(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", line(1))
    tail = Tail(path)
    assert _words(tail.look()) == "1"
    links = [entry.readlink() for entry in Path("/proc/self/fd").iterdir() if entry.is_symlink()]
    assert path not in links


def test_following_lasts_as_long_as_someone_asks(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", line(1))
    events = follow(path, poll=0)
    assert _words([next(events)]) == "1"
    _append(path, line(2))
    assert _words([next(events)]) == "2"


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
            assert isinstance(event, Record)
            seen.append(event.facts.uuid)
    finally:
        writer.join()
    assert seen == [f"line-{number}" for number in range(1, 401)]


_DEEDS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(1, 6)),
        st.tuples(st.just("tear"), st.integers(1, 90)),
        st.tuples(st.just("cut"), st.integers(0, 12)),
        st.tuples(st.just("again"), st.integers(1, 6)),
        st.tuples(st.just("other"), st.integers(1, 6)),
        st.tuples(st.just("replace"), st.integers(0, 12)),
        st.tuples(st.just("look"), st.just(0)),
    ),
    max_size=40,
)


@settings(max_examples=150)
@given(_DEEDS, st.sampled_from([300, 700, 1 << 16]))
def test_whatever_is_done_to_a_file_each_record_seen_standing_is_given_once(
    tmp_path_factory: pytest.TempPathFactory, deeds: list[tuple[str, int]], segment: int
) -> None:
    """The model is a list of lines: what stands finished at a look must have been given by then, once."""
    path = put(tmp_path_factory.mktemp("tail") / "x.jsonl")
    standing: list[int] = []
    torn = b""
    made = 0
    given: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_SEGMENT", segment)
        tail = Tail(path, clock=lambda: 0.0)  # always unsure: the times of so quick a test tell nothing
        for deed, count in [*deeds, ("look", 0)]:
            match deed:
                case "append" | "other":
                    if deed == "other":
                        standing = standing[: len(standing) - count]
                    standing += range(made + 1, made + 1 + count)
                    made += count
                    torn = b""
                case "tear":
                    torn = line(made + 1)[:count]
                case "cut":
                    standing, torn = standing[: max(0, len(standing) - count)], b""
                case "again":
                    standing, torn = [*standing, *standing[:count]], b""
                case "replace":
                    standing = [number for number in standing if number % 13 != count]
                case _:
                    words = _words(tail.look()).split()
                    given += [word for word in words if not word.startswith("~")]
                    assert set(map(str, standing)) <= set(given)
                    continue
            data = b"".join(map(line, standing)) + torn
            if deed == "replace":
                put(path.with_name("y"), data).rename(path)
            else:
                path.write_bytes(data)
    assert len(given) == len(set(given))
    assert set(given) <= {str(number) for number in range(1, made + 1)}
