"""Bad input and what it must lead to, by number of its row; each test names the damage and its place.

Rows about files on disk, edits, traces and servers are shown where those live.
"""

from __future__ import annotations

import json
import tracemalloc
from time import process_time

import pytest

from clew.format import patch
from clew.format.lines import BytesSource, join, split
from clew.format.records import Record, scan
from clew.session.calls import pairs
from clew.session.check import Checker, check
from clew.session.context import context
from clew.session.graph import Graph
from clew.session.messages import messages
from clew.session.session import Session
from tests.session.rows import boundary, line, session
from tests.session.test_check import call, image, message, result

A, B, C = line("a", sessionId="s"), line("b", "a", sessionId="s"), line("c", "b", sessionId="s")


def damage(data: bytes, *, is_live: bool = False) -> list[str]:
    """What is wrong with a file and where: `code line:offset+length`."""
    return [
        f"{one.code} {one.line}:{one.offset}+{one.length}" if one.offset is not None else one.code
        for one in check(data, name="s", is_live=is_live).problems
    ]


def uuids(data: bytes) -> list[str | None]:
    """The records that were read, by uuid, in file order."""
    found = Session.read(data)
    assert join(split(data)) == data
    return [entry.uuid for entry in found.entries()]


def test_row_01_a_torn_last_line_is_named_and_the_rest_is_read() -> None:
    data = A + B + C[:40]
    assert uuids(data) == ["a", "b"]
    assert damage(data) == [f"torn-line 3:{len(A + B)}+40"]
    assert damage(data, is_live=True) == [f"being-written 3:{len(A + B)}+40"]


def test_row_02_a_run_of_nuls_between_lines_is_set_aside() -> None:
    data = A + b"\0" * 512 + b"\n" + B
    assert uuids(data) == ["a", "b"]
    assert damage(data) == [f"nul-run 2:{len(A)}+512"]


def test_row_03_a_record_behind_a_run_of_nuls_is_recovered() -> None:
    data = A + b"\0" * 300 + B + C
    assert uuids(data) == ["a", "b", "c"]
    assert damage(data) == [f"nul-run 2:{len(A)}+300"]


def test_row_04_a_record_spliced_onto_a_torn_one_is_recovered() -> None:
    data = A + B[:50] + C
    assert uuids(data) == ["a", "c"]
    assert damage(data) == [f"spliced 2:{len(A)}+50", f"missing-parent 2:{len(A) + 50}+{len(C) - 1}"]


def test_row_05_two_records_on_one_line_are_both_read_in_order() -> None:
    data = A.rstrip() + B + C
    found = Session.read(data)
    assert uuids(data) == ["a", "b", "c"]
    assert list(found.table.number) == [1, 1, 2]
    assert list(found.table.offset) == [0, len(A) - 1, len(A + B) - 1]
    assert damage(data) == [f"glued 1:{len(A) - 1}+{len(B) - 1}"]


@pytest.mark.parametrize("data", [b"", b"\n\n\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\r\n"])
def test_row_06_an_empty_file_is_a_session_without_records(data: bytes) -> None:
    assert uuids(data) == []
    assert damage(data) == []


def test_row_07_a_byte_order_mark_and_carriage_returns_are_read_and_kept() -> None:
    data = b"\xef\xbb\xbf" + A.rstrip() + b"\r\n" + line("b", "a", x="one\rtwo").rstrip() + b"\r\n"
    assert uuids(data) == ["a", "b"]
    assert Session.read(data).entry(1).data["x"] == "one\rtwo"
    assert damage(data) == [f"bom 1:3+{len(A) - 1}", f"crlf 2:{len(A) + 4}+{len(data) - len(A) - 6}"]


def test_row_08_separators_of_unicode_do_not_end_a_line() -> None:
    words = "a\u2028b\u2029c\u0085d"
    data = json.dumps(
        {"type": "user", "uuid": "a", "timestamp": "2026-01-01T00:00:00Z", "x": words}, ensure_ascii=False
    )
    escaped = line("b", "a", x="\x0b\x0c")
    assert uuids(data.encode() + b"\n" + escaped) == ["a", "b"]
    assert Session.read(data.encode()).entry(0).data["x"] == words
    assert damage(data.encode() + b"\n" + escaped) == []


def test_row_09_bytes_that_are_no_utf8_are_read_and_kept() -> None:
    data = A + B.replace(b"words", b"w\xff\xfe")
    assert uuids(data) == ["a", "b"]
    assert damage(data) == [f"invalid-utf8 2:{len(A)}+{len(data) - len(A) - 1}"]
    assert patch.replace(B.replace(b"words", b"w\xff"), ("uuid",), "z") == B.replace(
        b"words", b"w\xff"
    ).replace(b'"uuid":"b"', b'"uuid":"z"')


def test_row_10_half_a_character_is_read_and_kept() -> None:
    bad = B.replace(b"words", b"x\\ud83dy")
    assert uuids(A + bad) == ["a", "b"]
    assert damage(A + bad) == [f"lone-surrogate 2:{len(A)}+{len(bad) - 1}"]
    problem = check(A + bad).problems[0]
    assert problem.repair == "writes U+FFFD in its place"


@pytest.mark.parametrize(
    ("number", "code"),
    [(b"NaN", "nan"), (b"-Infinity", "nan"), (b"1e999", "huge-number"), (b"9" * 5000, "huge-number")],
)
def test_row_11_numbers_that_are_none_do_not_stop_reading(number: bytes, code: str) -> None:
    bad = B.rstrip()[:-1] + b',"n":' + number + b"}\n"
    assert uuids(A + bad) == ["a", "b"]
    assert damage(A + bad) == [f"{code} 2:{len(A)}+{len(bad) - 1}"]


@pytest.mark.parametrize(
    "deep", [b"[" * 100_000 + b"]" * 100_000, b'{"a":' * 100_000, b'{"a":' * 100_000 + b"1" + b"}" * 100_000]
)
def test_row_12_nesting_without_end_is_set_aside_at_once(deep: bytes) -> None:
    data = A + deep + b"\n" + B
    started = process_time()
    assert uuids(data) == ["a", "b"]
    assert damage(data) == [f"too-deep 2:{len(A)}+{len(deep)}"]
    assert process_time() - started < 1


@pytest.mark.parametrize("other", [b"[1,2]", b'"text"', b"17", b"null", b"true"])
def test_row_13_json_that_is_no_object_is_set_aside(other: bytes) -> None:
    data = A + other + b"\n" + B
    assert uuids(data) == ["a", "b"]
    assert damage(data) == [f"not-a-record 2:{len(A)}+{len(other)}"]


def test_row_14_of_a_repeated_key_the_last_one_is_read_and_both_are_kept() -> None:
    bad = B.rstrip()[:-1] + b',"sessionId":"t","sessionId":"s"}\n'
    assert Session.read(A + bad).entry(1).session_id == "s"
    assert damage(A + bad) == [f"duplicate-keys 2:{len(A)}+{len(bad) - 1}"]


class Endless:
    """A source with one very long line between two short ones, made as it is read."""

    def __init__(self, length: int) -> None:
        self._head = (
            A + b'{"type":"user","uuid":"big","parentUuid":"a","timestamp":"2026-01-01T00:00:00Z","x":"'
        )
        self._tail = b'"}\n' + line("b", "big")
        self._length = length
        self.size = len(self._head) + length + len(self._tail)

    def read(self, offset: int, length: int) -> bytes:
        end = min(offset + length, self.size)
        middle = len(self._head) + self._length
        return (
            self._head[offset:end]
            + b"x" * max(0, min(end, middle) - max(offset, len(self._head)))
            + (self._tail[max(0, offset - middle) : end - middle] if end > middle else b"")
        )


def test_row_15_a_line_of_200_megabytes_is_passed_over_in_little_memory() -> None:
    source = Endless(200 << 20)
    tracemalloc.start()
    try:
        checker = Checker(source=source)
        found: list[str | None] = []
        for item in scan(source):
            checker.add(item)
            assert isinstance(item, Record)
            found.append(item.facts.uuid)
        report = checker.finish()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found == ["a", "big", "b"]
    (only,) = report.problems
    assert (only.code, only.line, only.offset, only.length) == (
        "large-record",
        2,
        len(A),
        source.size - len(A) - len(line("b", "big")),
    )
    assert "210 MB" in only.detail
    assert peak < 60 << 20


def peak_of_check(rows: int) -> int:
    """The most memory a check of so many progress lines takes, beside the bytes themselves."""
    data = b"".join(
        line(
            f"p{n}",
            f"p{n - 1}" if n else None,
            type="progress",
            data={"type": "bash_progress", "output": "x" * 300},
        )
        for n in range(rows)
    )
    tracemalloc.start()
    try:
        assert check(data).problems == ()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_row_16_a_file_of_nothing_but_progress_is_checked_in_little_memory() -> None:
    small, large = 4_000, 16_000
    a_row = (peak_of_check(large) - peak_of_check(small)) / (large - small)
    # A million rows, a gigabyte at 900 bytes each, then take less than 100 MB beside the interpreter.
    assert a_row < 100


def test_row_17_what_is_unknown_is_kept_and_named_once() -> None:
    new = line("n", "a", type="brand-new", field={"x": 1})
    data = (
        A + new + new.replace(b'"n"', b'"m"') + message("b", {"type": "new_block"}, parent="m", sessionId="s")
    )
    assert uuids(data) == ["a", "n", "m", "b"]
    assert damage(data) == [f"unknown-type 2:{len(A)}+{len(new) - 1}"]
    assert Session.read(data).entry(1).raw == new.rstrip()


@pytest.mark.parametrize(
    "odd", [None, "text", [], {}, 5, True, {"content": None}, {"content": {}}, {"content": [None, 5]}]
)
def test_row_18_a_message_of_any_shape_is_read(odd: object) -> None:
    data = A + line("b", "a", message=odd, timestamp=None)
    assert uuids(data) == ["a", "b"]
    assert damage(data)[0] == f"missing-timestamp 2:{len(A)}+{len(data) - len(A) - 1}"
    assert context(Session.read(data), client="2.1.325") is not None


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        (None, "missing-timestamp"),
        ("0000-00-00T00:00:00Z", "bad-timestamp"),
        ("tomorrow", "bad-timestamp"),
        (1767225600, "bad-timestamp"),
        ("2025-01-01T00:00:00Z", "time-out-of-order"),
        ("2026-01-01T00:00:00", None),
        ("9999-12-31T23:59:59.999Z", None),
    ],
)
def test_row_19_a_bad_time_is_named_and_the_order_is_that_of_the_file(
    time: object, expected: str | None
) -> None:
    bad = line("b", "a", timestamp=time, sessionId="s")
    assert uuids(A + bad) == ["a", "b"]
    assert damage(A + bad) == ([f"{expected} 2:{len(A)}+{len(bad) - 1}"] if expected else [])


def test_row_20_a_line_without_its_parent_is_still_reached() -> None:
    lost = line("b", "gone")
    one = session(A, lost, C)
    graph = Graph(one)
    assert graph.path(2) == [0, 1, 2]
    assert graph.is_inferred(1)
    assert damage(A + lost + C) == [f"missing-parent 2:{len(A)}+{len(lost) - 1}"]


def test_row_21_children_before_their_parents_make_the_same_tree() -> None:
    graph = Graph(session(C, B, A))
    assert graph.path(0) == [2, 1, 0]
    assert damage(C + B + A) == []


def test_row_22_a_cycle_is_cut_at_the_later_record_and_named() -> None:
    first, second = line("a", "b"), line("b", "a")
    graph = Graph(session(first, second, C))
    assert graph.path(2) == [1, 2]
    assert damage(first + second + C) == [f"cycle 2:{len(first)}+{len(second) - 1}"]
    selfish = line("a", "a")
    assert damage(selfish) == [f"cycle 1:0+{len(selfish) - 1}"]


def test_row_23_the_same_line_many_times_is_one_node() -> None:
    data = A * 274 + B
    graph = Graph(Session.read(data))
    assert list(graph.nodes()) == [273, 274]
    assert len(graph.copies(273)) == 274
    assert damage(data) == [f"duplicate-uuid 274:{len(A) * 273}+{len(A) - 1}"]
    assert "274 times" in check(data).problems[0].detail


def test_row_24_different_lines_with_one_uuid_are_named_and_the_last_one_counts() -> None:
    other = line("a", sessionId="s", x=1)
    graph = Graph(session(A, other, B))
    assert graph.path(2) == [1, 2]
    assert damage(A + other + B) == [f"conflicting-uuid 2:{len(A)}+{len(other) - 1}"]
    assert check(A + other).worst == "error"


def test_row_25_the_id_of_a_snapshot_is_no_uuid() -> None:
    snapshot = line(None, type="file-history-snapshot", messageId="a", snapshot={}, timestamp=None)
    graph = Graph(session(snapshot, A, B))
    assert graph.path(2) == [1, 2]
    assert damage(snapshot + A + B) == []


def test_row_26_progress_between_messages_is_walked_through_and_not_sent() -> None:
    progress = line("p", "a", type="progress", data={"type": "hook_progress"}, sessionId="s")
    one = session(A, progress, line("b", "p", sessionId="s"))
    assert Graph(one).path(2) == [0, 1, 2]
    assert [rows for rows in context(one, client="2.1.325").rows if rows] == [(0, 2)]


def test_row_27_what_was_before_a_compaction_is_joined_to_it() -> None:
    for follows in ("b", None):
        one = session(A, B, boundary("cut", follows), line("d", "cut", isCompactSummary=True))
        graph = Graph(one)
        assert graph.path(3) == [2, 3]
        assert graph.history(3) == [0, 1, 2, 3]


def test_row_28_a_call_without_its_result_is_marked() -> None:
    bad = message("b", call("t1"), call("t2"), parent="a", sessionId="s")
    good = message("c", result("t1"), parent="b", role="user", sessionId="s")
    assert damage(A + bad + good) == [f"unpaired-call 2:{len(A)}+{len(bad) - 1}"]
    assert [one.id for one in pairs(Session.read(A + bad + good)).unpaired_calls] == ["t2"]


def test_row_29_a_result_alone_doubled_or_too_early_is_marked() -> None:
    asked = message("b", call("t1"), parent="a", sessionId="s")
    done = message("c", result("t1"), parent="b", role="user", sessionId="s")
    again = message("d", result("t1"), parent="c", role="user", sessionId="s")
    assert damage(A + done.replace(b'"b"', b'"a"')) == [f"unpaired-result 2:{len(A)}+{len(done) - 1}"]
    assert damage(A + asked + done + again) == [
        f"duplicate-result 4:{len(A + asked + done)}+{len(again) - 1}"
    ]
    assert damage(A + done + asked) == [f"result-order 2:{len(A)}+{len(done) - 1}"]


def test_row_30_parallel_calls_between_other_lines_are_paired_by_id() -> None:
    data = (
        A
        + message("b", call("t1"), parent="a", sessionId="s")
        + message("c", call("t2"), parent="b", sessionId="s")
        + line("p", "c", type="progress", data={"type": "bash_progress"}, sessionId="s")
        + message("d", result("t2"), parent="c", role="user", sessionId="s")
        + line(None, type="mode", mode="default", timestamp=None)
        + message("e", result("t1"), parent="b", role="user", sessionId="s")
    )
    assert damage(data) == []
    assert [(one.id, one.result_row) for one in pairs(Session.read(data)).calls] == [("t1", 6), ("t2", 4)]


def test_row_31_an_answer_split_over_lines_is_one_message_with_one_usage() -> None:
    def part(uuid: str, parent: str, tokens: int) -> bytes:
        body = {
            "id": "m",
            "role": "assistant",
            "content": [{"type": "text", "text": uuid}],
            "usage": {"output_tokens": tokens},
        }
        return line(uuid, parent, type="assistant", message=body)

    (only,) = messages(session(A, part("b", "a", 9), part("c", "b", 30), part("d", "c", 3)))
    assert len(only.rows) == 3
    assert only.usage_row == 2


def test_row_33_thinking_without_words_is_normal_and_without_a_signature_is_not() -> None:
    empty = message("b", {"type": "thinking", "thinking": "", "signature": "x"}, parent="a", sessionId="s")
    bare = message("c", {"type": "thinking", "thinking": "hm"}, parent="b", sessionId="s")
    found = check(A + empty + bare).problems
    assert [(one.code, one.severity, one.line, one.offset) for one in found] == [
        ("thinking-empty", "info", 2, len(A)),
        ("thinking-unsigned", "warning", 3, len(A + empty)),
    ]


@pytest.mark.parametrize(
    ("width", "height", "size"), [(8001, 10, 100), (10, 8001, 100), (10, 10, (5 << 20) + 3)]
)
def test_row_34_an_image_the_api_refuses_is_told_by_its_header(width: int, height: int, size: int) -> None:
    bad = message("b", image(width, height, size=size), parent="a", role="user", sessionId="s")
    assert damage(A + bad) == [f"oversized-image 2:{len(A)}+{len(bad) - 1}"]


def test_row_34_large_images_are_refused_among_many() -> None:
    many = message("b", *[image(10, 10)] * 20, image(2001, 10), parent="a", role="user", sessionId="s")
    assert damage(A + many) == [f"oversized-image 2:{len(A)}+{len(many) - 1}"]


def test_damage_never_hides_the_bytes_around_it() -> None:
    data = A + b"\0\0" + B[:30] + C + b"junk\n" + C.rstrip() + A + b'{"type":"us'
    items = list(scan(BytesSource(data)))
    assert sum(item.length for item in items) + data.count(b"\n") - 1 == len(data)
