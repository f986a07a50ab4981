"""A session is a table of its lines, and the lines when they are asked for."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from clew.format import lines
from clew.format.lines import BytesSource
from clew.format.records import Record, scan
from clew.format.skim import Skim, skim_entry
from clew.format.times import milliseconds
from clew.session import session as module
from clew.session.prompts import is_human
from clew.session.session import (
    ABRIDGED,
    API_ERROR,
    COMPACT_SUMMARY,
    HUMAN,
    META,
    NO_TIME,
    SALVAGED,
    SIDECHAIN,
    SYNTHETIC,
    TOOL_RESULT,
    TOOL_USE,
    Session,
    TableBuilder,
    id_hash,
)
from tests.examples import examples
from tests.fuzz.lines import corpus, files
from tests.fuzz.mutate import damaged_file
from tests.session.rows import boundary, line, session

if TYPE_CHECKING:
    import pytest


def test_the_table_has_a_row_for_each_record() -> None:
    one = session(line("a"), b"junk\n", boundary("b", "a"), line("c", "b", timestamp=None))
    table = one.table
    assert (len(one), len(table), len(one.fragments)) == (3, 3, 1)
    assert list(table.number) == [1, 3, 4]
    assert [table.kind_of(row) for row in range(3)] == ["user", "system/compact_boundary", "user"]
    assert [table.time_of(row) for row in range(3)] == [1_767_225_600_000, 1_767_225_600_000, None]
    assert list(table.parent) == [0, 0, id_hash("b")]
    assert repr(one) == "Session('s', 3 records)"


def test_ids_are_found_by_their_hash() -> None:
    one = session(line("a"), line("b", "a"), line("a"), line())
    assert [one.table.last_of(key) for key in (id_hash("a"), id_hash("x"), 0)] == [2, -1, -1]
    assert (one.row("a"), one.row("b"), one.row("x")) == (2, 1, None)
    assert id_hash(None) == 0 != id_hash("")


def flags(data: dict[str, object]) -> int:
    return session(json.dumps(data).encode() + b"\n").table.flags[0]


def test_flags_tell_what_a_line_is() -> None:
    def user(content: object, **more: object) -> dict[str, object]:
        return {"type": "user", "message": {"role": "user", "content": content}, **more}

    assert flags(user("hello")) & HUMAN
    assert flags(user("hello", isMeta=True)) & (META | HUMAN) == META
    assert flags(user("hello", isSidechain=True)) & SIDECHAIN
    assert flags(user("so far", isCompactSummary=True)) & COMPACT_SUMMARY
    assert flags(user([{"type": "tool_result", "tool_use_id": "1"}])) & (TOOL_RESULT | HUMAN) == TOOL_RESULT
    call: dict[str, object] = {
        "type": "assistant",
        "message": {"content": [{"type": "text"}, {"type": "tool_use"}]},
    }
    assert flags(call) & TOOL_USE
    assert not flags({"type": "assistant", "message": {"content": "text"}}) & TOOL_USE
    assert flags({"type": "assistant", "isApiErrorMessage": True}) & API_ERROR
    glued = session(line("a").rstrip() + line("b"))
    assert all(flag & SALVAGED for flag in glued.table.flags)


def test_an_entry_is_read_when_asked_for_and_kept() -> None:
    one = session(line("a"), line("b", "a"))
    assert one.entry(1).uuid == "b"
    assert one.entry(1) is one.entry(1)
    assert [entry.uuid for entry in one.entries()] == ["a", "b"]
    assert [entry.uuid for entry in one.entries([1, 0])] == ["b", "a"]


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CACHE_BYTES", 250)
    one = session(*(line(f"u{n}") for n in range(9)))
    first = one.entry(0)
    for row in range(9):
        one.entry(row)
    assert one.entry(0) is not first
    assert one.entry(0).raw == first.raw


def test_a_byte_order_mark_and_line_endings_are_not_part_of_an_entry() -> None:
    one = session(b"\xef\xbb\xbf" + line("a").rstrip() + b"\r\n", line("b").rstrip())
    assert [entry.raw for entry in one.entries([0, 1])] == [line("a").rstrip(), line("b").rstrip()]
    assert [one.whole(row).offset for row in (0, 1)] == [3, len(line("a")) + 4]


def test_a_line_too_long_to_hold_is_cut_when_read_and_whole_on_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lines, "LONG", 200)
    raw = line("a", big="x" * 9000)
    one = session(b"\xef\xbb\xbf" + raw, line("b", "a"))
    assert one.table.flags[0] & ABRIDGED
    assert one.entry(0).is_abridged
    assert (one.entry(0).uuid, len(one.entry(0).data["big"])) == ("a", 4096)
    assert (one.whole(0).raw, one.whole(0).offset) == (raw.rstrip(), 3)


class Shrunk:
    """A source whose bytes are gone when they are read again."""

    size = 0

    def read(self, offset: int, length: int) -> bytes:
        return b"" if offset >= self.size else bytes(length)


def test_a_long_line_that_is_gone_when_read_again_is_an_empty_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LONG", 200)
    table = session(line("a", big="x" * 9000)).table
    assert Session(Shrunk(), table).entry(0).uuid is None


def test_types_without_number_do_not_fill_the_table() -> None:
    one = session(*(line(type=f"new-{n}") for n in range(5000)))
    assert len(one.table.kinds) <= 4097


@given(st.integers(0, 1 << 30))
def test_reading_again_gives_the_same_entries(seed: int) -> None:
    data = damaged_file(Random(seed))
    one = Session.read(data)
    for row, entry in enumerate(one.entries()):
        assert (one.entry(row).raw, one.entry(row).number) == (entry.raw, entry.number)


def slowly(data: bytes) -> list[tuple[int | str, ...]]:
    """The rows of the table, told from the decoded entries alone."""
    rows: list[tuple[int | str, ...]] = []
    for record in scan(BytesSource(data)):
        if not isinstance(record, Record):
            continue
        entry = record.decoded()
        facts = skim_entry(entry)
        said = facts.body if isinstance(facts.body, list) else []
        kinds = {block.type for block in said}
        marks = {
            META: facts.is_meta,
            SIDECHAIN: facts.is_sidechain,
            COMPACT_SUMMARY: facts.is_compact_summary,
            API_ERROR: facts.is_api_error_message,
            SALVAGED: not record.is_whole,
            TOOL_USE: facts.role == "assistant" and "tool_use" in kinds,
            TOOL_RESULT: facts.role == "user" and "tool_result" in kinds,
            HUMAN: facts.role == "user" and is_human(facts),
            SYNTHETIC: facts.role == "assistant" and facts.message and facts.message.model == "<synthetic>",
        }
        when = milliseconds(facts.time)
        rows.append(
            (
                *(record.offset, len(entry.raw), record.number, facts.kind[:200]),
                sum(flag for flag, is_set in marks.items() if is_set),
                *(id_hash(facts.uuid), id_hash(facts.parent_uuid)),
                id_hash(facts.message.id) if facts.message else 0,
                NO_TIME if when is None else when,
            )
        )
    return rows


def quickly(data: bytes) -> list[tuple[int | str, ...]]:
    """The rows of the table."""
    table = Session.read(data).table
    kinds = [table.kind_of(row) for row in range(len(table))]
    places = (table.offset, table.length, table.number, kinds, table.flags)
    return list(zip(*places, table.uuid, table.parent, table.message, table.time, strict=True))


@examples(300)
@given(st.integers(0, 1 << 30))
def test_the_table_of_a_damaged_file_is_what_its_decoded_entries_say(seed: int) -> None:
    data = damaged_file(Random(seed))
    assert quickly(data) == slowly(data)


def test_the_table_of_every_sample_is_what_its_decoded_entries_say() -> None:
    for path in files():
        data = path.read_bytes()
        assert quickly(data) == slowly(data), path


@given(st.integers(0, 1 << 30))
def test_the_order_of_keys_spaces_and_keys_written_twice_make_no_difference_to_the_table(seed: int) -> None:
    random = Random(seed)
    written: list[bytes] = []
    for raw in random.choices(corpus(), k=20):
        entry = json.loads(raw)
        names = random.sample(list(entry), len(entry))
        # A key that comes twice counts as it stands last; what stands first is of any type.
        fields = [(name, entry[name]) for name in names]
        fields[:0] = [
            (name, random.choice((5, None, "x", [], True))) for name in names if random.random() < 0.1
        ]
        comma, colon = random.choice(((b",", b":"), (b", ", b": "), (b" ,\t", b" :\r")))
        parts = (json.dumps(name).encode() + colon + json.dumps(value).encode() for name, value in fields)
        written.append(
            random.choice((b"{", b"{ ", b" {")) + comma.join(parts) + random.choice((b"}", b" }\r"))
        )
    data = b"\n".join(written)
    assert quickly(data) == slowly(data)
    assert len(quickly(data)) == len(written)


def test_every_sample_is_read_to_the_last_line() -> None:
    for path in files():
        data = path.read_bytes()
        one = Session.read(data, name=path.stem)
        expected = [number for number, raw in enumerate(data.split(b"\n"), 1) if _is_object(raw)]
        assert [number for number in one.table.number if number in expected] == expected, path


def _is_object(raw: bytes) -> bool:
    try:
        return isinstance(json.loads(raw), dict)
    except (ValueError, UnicodeDecodeError):
        return False


def test_lines_beyond_four_gigabytes_find_room_in_the_table() -> None:
    builder = TableBuilder()
    far = 5 << 30
    places = [(1, 0, 10), (2, 10, far), (3, far + 10, 20), (far, far + 30, 5)]
    for number, offset, length in places:
        builder.add(Record(number, offset, length, b"{}", Skim(uuid=f"u{number}")))
    table = builder.table
    assert list(zip(table.number, table.offset, table.length, strict=True)) == places
    assert table.last_of(id_hash("u3")) == 2


def test_the_length_of_a_line_is_without_its_ending() -> None:
    one = Session.read(b'{"uuid":"a"} \t\r\n{"uuid":"b"}\n{"uuid":"c"}')
    assert list(one.table.length) == [12, 12, 12]
    assert [one.entry(row).uuid for row in range(3)] == ["a", "b", "c"]
