"""Reading whole files, and only what is new in them."""

from __future__ import annotations

import json
import os
import tempfile
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from clew.errors import ChangedOnDiskError, UnreadableError
from clew.format import lines as format_lines
from clew.format.lines import BytesSource
from clew.format.records import Fragment, Record, scan
from clew.session.session import Session
from clew.store import reader
from clew.store.files import Store
from clew.store.reader import (
    Cursor,
    Growth,
    cursor_at,
    last_line_with,
    line_start,
    open_end,
    open_session,
    read_new,
)
from clew.store.source import FileSource
from tests.store.lines import CORPUS, ONE, line, lines, put

if TYPE_CHECKING:
    from collections.abc import Callable

Item = tuple[str, int, int, int, object]


def _item(item: Record | Fragment) -> Item:
    if isinstance(item, Record):
        return ("record", item.number, item.offset, item.length, item.raw)
    return ("fragment", item.number, item.offset, item.length, item.damage)


def _once(data: bytes) -> list[Item]:
    """What reading the finished lines in one go gives."""
    return [_item(item) for item in scan(BytesSource(data[: data.rfind(b"\n") + 1]))]


def _columns(session: Session) -> list[list[int]]:
    table = session.table
    columns = (table.offset, table.length, table.number, table.flags, table.uuid, table.parent, table.time)
    return [list(column) for column in columns]


def _same_file(path: Path, data: bytes) -> None:
    """Give the file other bytes without making it another file."""
    with path.open("r+b") as file:
        file.write(data)
        file.truncate()


# Whole files


def test_a_session_read_from_disk_is_the_session_read_from_memory() -> None:
    paths = sorted(CORPUS.glob("2.1.*/*/projects/**/*.jsonl"))
    assert len(paths) > 100
    for path in paths:
        session = open_session(path)
        other = Session.read(path.read_bytes(), name=path.stem)
        assert _columns(session) == _columns(other)
        assert (session.name, session.fragments) == (path.stem, other.fragments)
        assert [entry.raw for entry in session.entries()] == [entry.raw for entry in other.entries()]


def test_a_torn_last_line_is_kept_apart_and_the_rest_is_read(tmp_path: Path) -> None:
    data = lines(3)
    path = put(tmp_path / "x.jsonl", data + b'{"type": "us')
    session = open_session(path)
    assert len(session) == 3
    assert [_item(fragment) for fragment in session.fragments] == [("fragment", 4, len(data), 12, "torn")]
    assert session.fragments[0].is_last


def test_a_file_cut_while_it_is_read_is_read_as_far_as_it_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = lines(15_000)
    path = put(tmp_path / "x.jsonl", data)
    real = FileSource.read_once

    def cutting(source: FileSource, offset: int, length: int) -> bytes:
        if offset:
            os.truncate(path, 1_500_000)
        return real(source, offset, length)

    monkeypatch.setattr(FileSource, "read_once", cutting)
    session = open_session(path)
    assert isinstance(session.source, FileSource)
    assert session.source.was_cut
    assert session.source.change() == "cut"
    assert _columns(session) == _columns(Session.read(data[:1_500_000]))
    assert len(list(session.entries())) == len(session)


def test_a_file_deleted_while_it_is_read_is_read_to_its_end(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", lines(3))
    session = open_session(path)
    path.unlink()
    assert session.entry(2).uuid == "line-3"
    assert isinstance(session.source, FileSource)
    assert session.source.change() == "deleted"


def test_a_line_that_is_gone_is_an_error_when_it_is_asked_for(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", lines(3))
    session = open_session(path)
    os.truncate(path, 10)
    with pytest.raises(ChangedOnDiskError):
        session.entry(2)


# The end of a file


@given(st.binary(max_size=200), st.integers(1, 20), st.data())
def test_lines_are_found_from_the_end_as_they_are_from_the_start(
    data: bytes, step: int, picks: st.DataObject
) -> None:
    data = data.replace(b"\x07", b"\n").replace(b"\x08", b"mark").replace(b"\x09", b"ma")
    offset = picks.draw(st.integers(0, len(data)))
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "_STEP", step)
        with FileSource(put(Path(folder) / "x.jsonl", data)) as source:
            assert line_start(source, offset) == data.rfind(b"\n", 0, offset) + 1
            at = data.rfind(b"mark", 0, offset)
            expected = None if at < 0 else data.rfind(b"\n", 0, at) + 1
            assert last_line_with(source, b"mark", before=offset) == expected


def test_the_end_of_a_file_has_the_rows_of_the_whole_but_for_their_numbers(tmp_path: Path) -> None:
    data = lines(4) + b"junk\n" + lines(3, start=5) + b'{"type": "us'
    path = put(tmp_path / "x.jsonl", data)
    whole = open_session(path)
    for row, start in enumerate(whole.table.offset):
        end = open_end(FileSource(path), start)
        for name in ("offset", "length", "flags", "uuid", "parent", "time"):
            assert list(getattr(end.table, name)) == list(getattr(whole.table, name)[row:])
        assert [entry.raw for entry in end.entries(range(len(end)))] == [
            entry.raw for entry in whole.entries(range(row, len(whole)))
        ]
        assert [fragment.offset for fragment in end.fragments] == [
            fragment.offset for fragment in whole.fragments if fragment.offset > start
        ]
        assert (end.name, end.table.number[0]) == ("x", 1)


# What is new


def test_only_finished_lines_are_given_and_each_once(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", line(1) + line(2)[:20])
    growth = read_new(path)
    assert [item.number for item in growth] == [1]
    assert (growth.why, growth.restarted, growth.was_cut) == ("first", False, False)
    assert growth.held_back == 20
    with path.open("ab") as file:
        file.write(line(2)[20:] + line(3))
    growth = read_new(path, growth.cursor)
    assert [(item.number, item.offset) for item in growth] == [(2, len(line(1))), (3, len(line(1) + line(2)))]
    assert (growth.why, growth.restarted, growth.held_back) == ("grown", False, 0)
    growth = read_new(path, growth.cursor)
    assert (list(growth), growth.why, growth.has_new) == ([], "same", False)


def test_blank_lines_keep_the_numbers_right(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", b"\n" + line(1) + b"\r\n\n")
    growth = read_new(path)
    assert [item.number for item in growth] == [2]
    assert growth.cursor.number == 5
    with path.open("ab") as file:
        file.write(line(2))
    assert [item.number for item in read_new(path, growth.cursor)] == [5]


def test_the_unfinished_line_can_be_looked_at_without_passing_it(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", line(1) + line(2).rstrip())
    growth = read_new(path)
    list(growth)
    assert [_item(item)[:3] for item in growth.unfinished()] == [("record", 2, len(line(1)))]
    assert [_item(item) for item in growth.unfinished()] == [_item(item) for item in growth.unfinished()]
    with path.open("ab") as file:
        file.write(b"\n" + line(3))
    assert [item.number for item in read_new(path, growth.cursor)] == [2, 3]


def test_stopping_early_gives_the_last_line_again(tmp_path: Path) -> None:
    glued = line(2).rstrip() + line(3)
    path = put(tmp_path / "x.jsonl", line(1) + glued + line(4))
    growth = read_new(path)
    items = iter(growth)
    assert next(items).number == 1
    assert growth.cursor.offset == 0
    assert next(items).number == 2
    assert (growth.cursor.offset, growth.cursor.number) == (len(line(1)), 2)
    assert next(items).number == 2
    assert growth.cursor.number == 2
    assert [item.number for item in read_new(path, growth.cursor)] == [2, 2, 3]


CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "cut": (lambda path: os.truncate(path, 100), "cut"),
    "emptied": (lambda path: os.truncate(path, 0), "cut"),
    "other lines of the same size": (lambda path: _same_file(path, lines(3, start=4)), "rewritten"),
    "other lines and more": (lambda path: _same_file(path, lines(9, start=4)), "rewritten"),
    "another last line": (lambda path: _same_file(path, lines(2) + line(9)), "rewritten"),
    "another first line": (
        lambda path: _same_file(path, line(9) + lines(3)[len(line(9)) :]),
        "rewritten",
    ),
    "another file with the same lines": (
        lambda path: put(path.with_name("y"), lines(3)).rename(path),
        "replaced",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_file_that_is_not_what_it_was_is_read_from_the_start(tmp_path: Path, name: str) -> None:
    change, why = CHANGES[name]
    path = put(tmp_path / "x.jsonl", lines(3))
    growth = read_new(path)
    assert len(list(growth)) == 3
    change(path)
    again = read_new(path, growth.cursor)
    assert (again.why, again.restarted) == (why, True)
    assert [_item(item) for item in again] == _once(path.read_bytes())


def test_head_and_tail_are_remembered_to_the_byte(tmp_path: Path) -> None:
    data = b"".join(line(number, pad="x" * 500) for number in range(1, 40))
    path = put(tmp_path / "x.jsonl", data)
    growth = read_new(path)
    list(growth)
    for at in (0, 4095, len(data) - 4096, len(data) - 2):
        changed = data[:at] + b"#" + data[at + 1 :]
        _same_file(path, changed)
        assert read_new(path, growth.cursor).why == "rewritten"
    for at in (4096, len(data) - 4097):
        # Not seen: to notice a change in the middle, all would have to be read again.
        _same_file(path, data[:at] + b"#" + data[at + 1 :])
        assert read_new(path, growth.cursor).why == "same"


def test_a_change_between_reading_and_remembering_is_noticed_next_time(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", lines(3))
    growth = read_new(path)
    list(growth)
    _same_file(path, lines(3, start=4))
    assert read_new(path, growth.cursor).why == "rewritten"

    _same_file(path, lines(3))
    growth = read_new(path)
    list(growth)
    grown = read_new(path, growth.cursor)
    _same_file(path, lines(3, start=4))
    list(grown)
    assert read_new(path, grown.cursor).why == "rewritten"


def test_a_file_cut_while_its_growth_is_read_ends_there_and_starts_over_next_time(tmp_path: Path) -> None:
    data = lines(15_000)
    path = put(tmp_path / "x.jsonl", data)
    growth = read_new(path)
    items = iter(growth)
    got = [next(items)]
    os.truncate(path, 1_500_000)
    got.extend(items)
    assert growth.was_cut
    assert [_item(item) for item in got] == _once(data)[: len(got)]
    again = read_new(path, growth.cursor)
    assert [_item(item) for item in got if item.number < again.cursor.number] + [
        _item(item) for item in again
    ] == _once(data[:1_500_000])


def test_a_file_cut_just_as_it_is_looked_at_is_an_error_to_try_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(tmp_path / "x.jsonl", lines(30))
    growth = read_new(path)
    list(growth)
    real = FileSource.read_once

    def cutting(source: FileSource, offset: int, length: int) -> bytes:
        os.truncate(path, 10)
        return real(source, offset, length)

    monkeypatch.setattr(FileSource, "read_once", cutting)
    with pytest.raises(ChangedOnDiskError):
        read_new(path, growth.cursor)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError):
        read_new(tmp_path / "x.jsonl")


def test_lines_longer_than_a_step_are_found_and_held_back(tmp_path: Path) -> None:
    huge = line(2, message={"role": "user", "content": "x" * (3 << 20)})
    path = put(tmp_path / "x.jsonl", line(1) + huge[:-1])
    growth = read_new(path)
    assert [item.number for item in growth] == [1]
    assert growth.held_back == len(huge) - 1
    with path.open("ab") as file:
        file.write(b"\n")
    assert [item.length for item in read_new(path, growth.cursor)] == [len(huge)]


def test_a_line_too_long_to_hold_is_passed_once(tmp_path: Path) -> None:
    huge = line(1, message={"role": "user", "content": "x" * (9 << 20)})
    path = put(tmp_path / "x.jsonl", huge + line(2))
    growth = read_new(path)
    items = iter(growth)
    first = next(items)
    assert isinstance(first, Record)
    assert (first.is_abridged, first.length) == (True, len(huge))
    assert growth.cursor.offset == 0
    assert next(items).number == 2
    with FileSource(path) as source:
        assert growth.cursor == cursor_at(source, len(huge), number=2)


# Cursors


@settings(max_examples=60)
@given(
    st.lists(st.sampled_from([b"\n", b"{}\n", b"x", b"yy\n", b'{"a":1}{"b":2}\n', b"z" * 50]), max_size=40)
)
def test_a_cursor_remembers_the_bytes_that_were_read_however_they_came(parts: list[bytes]) -> None:
    data = b"".join(parts)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as small:
        small.setattr(format_lines, "_CHUNK", 7)
        small.setattr(reader, "WINDOW", 11)
        small.setattr(reader, "_STEP", 5)
        path = put(Path(folder) / "x.jsonl", data)
        growth = read_new(path)
        got: list[Item] = []
        with FileSource(path) as source:
            for item in growth:
                got.append(_item(item))
                cursor = growth.cursor
                assert data[: cursor.offset].count(b"\n") == cursor.number - 1
                assert cursor == cursor_at(source, cursor.offset, number=cursor.number)
            cursor = growth.cursor
            assert cursor == cursor_at(source, data.rfind(b"\n") + 1, number=data.count(b"\n") + 1)
            assert cursor.mismatch(source) is None
        assert got == _once(data)


def test_a_cursor_survives_json(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", lines(3))
    growth = read_new(path)
    list(growth)
    kept = json.loads(json.dumps(growth.cursor.as_json()))
    assert Cursor.from_json(kept) == growth.cursor
    assert read_new(path, Cursor.from_json(kept)).why == "same"


def test_what_is_no_cursor_is_none(tmp_path: Path) -> None:
    growth = read_new(put(tmp_path / "x.jsonl", lines(3)))
    list(growth)
    good = growth.cursor.as_json()
    assert Cursor.from_json(good) is not None
    for name in good:
        wrong: list[object] = [None, True, 1.5, [], {}, "text" if isinstance(good[name], int) else 5]
        for odd in wrong:
            assert Cursor.from_json({**good, name: odd}) is None
        assert Cursor.from_json({key: good[key] for key in good if key != name}) is None
    assert Cursor.from_json({**good, "offset": -1}) is None
    assert Cursor.from_json({**good, "offset": growth.cursor.size + 1}) is None
    others: list[object] = [None, [], "x", 5, {}]
    for odd in others:
        assert Cursor.from_json(odd) is None


def test_a_listing_alone_tells_that_a_file_is_as_it_was(tmp_path: Path) -> None:
    path = put(tmp_path / "projects" / "-p" / f"{ONE}.jsonl", lines(3))
    growth = read_new(path)
    list(growth)
    store = Store.at([str(tmp_path)])
    assert growth.cursor.is_of(store.listing().sessions[0])
    with path.open("ab") as file:
        file.write(b"x")
    assert not growth.cursor.is_of(store.listing().sessions[0])


# The law: reading in steps, whatever is done to the file, is reading once


class Steps(RuleBasedStateMachine):
    """A file that is written, cut, rewritten and replaced, and read in steps."""

    @initialize()
    def start(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "x.jsonl"
        self.path.write_bytes(b"")
        self.count = 0
        self.rest = b""
        self.cursor: Cursor | None = None
        self.got: list[Item] = []

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.folder.cleanup()

    def _line(self, pad: int) -> bytes:
        self.count += 1
        return line(self.count, pad="x" * pad)

    def _write(self, data: bytes) -> None:
        with self.path.open("ab") as file:
            file.write(data)

    @rule(pads=st.lists(st.sampled_from([0, 0, 900, 5_000]), min_size=1, max_size=4))
    def append(self, pads: list[int]) -> None:
        self._write(self.rest + b"".join(self._line(pad) for pad in pads))
        self.rest = b""

    @rule(cut=st.integers(1, 200))
    def append_part_of_a_line(self, cut: int) -> None:
        whole = self._line(0)
        self._write(self.rest + whole[:cut])
        self.rest = whole[cut:]

    @rule(junk=st.sampled_from([b"\n", b"\r\n", b"\x00" * 30, b"}{", b"garbage\n", b"[1]\n", b"\xff\xfe\n"]))
    def append_junk(self, junk: bytes) -> None:
        self._write(junk)

    @rule(share=st.floats(0, 1))
    def truncate(self, share: float) -> None:
        os.truncate(self.path, int(self.path.stat().st_size * share))
        self.rest = b""

    @rule(back=st.integers(1, 3))
    def rewrite_the_tail(self, back: int) -> None:
        """Cut some lines off the end and write others of the same length."""
        data = self.path.read_bytes()
        kept = data
        for _ in range(back):
            kept = kept[: kept.rfind(b"\n", 0, -1) + 1]
        self.count += 1
        mark = f"{self.count:07}".encode()
        gone = len(data) - len(kept)
        _same_file(self.path, kept + (mark * (gone // 7 + 1))[: max(0, gone - 1)] + b"\n" * bool(gone))
        self.rest = b""

    @rule(keep=st.booleans(), pad=st.sampled_from([0, 5_000]))
    def replace(self, keep: bool, pad: int) -> None:
        data = self.path.read_bytes() if keep else b""
        put(self.path.with_name("y"), data + self._line(pad)).rename(self.path)
        self.rest = b""

    @rule()
    def delete_and_write_anew(self) -> None:
        self.path.unlink()
        self.path.write_bytes(self._line(0))
        self.rest = b""

    @rule(most=st.integers(0, 3))
    def read_some(self, most: int) -> None:
        self._read(most)

    @rule()
    def read_all(self) -> None:
        growth = self._read(None)
        data = self.path.read_bytes()
        assert self.got == _once(data)
        assert growth.held_back == len(data) - (data.rfind(b"\n") + 1)
        rest = [_item(item) for item in growth.unfinished()]
        assert self.got + rest == [_item(item) for item in scan(BytesSource(data))]

    def _read(self, most: int | None) -> Growth:
        growth = read_new(self.path, self.cursor)
        if growth.restarted:
            self.got = []
        self.got.extend(_item(item) for item in islice(growth, most))
        self.cursor = Cursor.from_json(json.loads(json.dumps(growth.cursor.as_json())))
        assert self.cursor is not None
        # A line that was given when reading stopped comes again.
        self.got = [item for item in self.got if item[1] < growth.cursor.number]
        return growth


TestSteps = Steps.TestCase
TestSteps.settings = settings(max_examples=120, stateful_step_count=25, deadline=None)
