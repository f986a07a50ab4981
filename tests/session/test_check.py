"""Every problem of a session is listed by code, with its line, offset and length; nothing is repaired."""

from __future__ import annotations

import base64
import json
import struct
from typing import Any, get_args

import pytest

from clew.format import lines
from clew.format.lines import BytesSource
from clew.format.records import scan
from clew.session import check as check_module
from clew.session.check import Checker, Report, check
from clew.session.problems import KINDS, Code, problem
from tests.fuzz.lines import DATA, files
from tests.session.rows import boundary, line

GOOD = line("a", sessionId="s")


def codes(*parts: bytes, **options: Any) -> list[str]:
    return [one.code for one in check(b"".join(parts), **options).problems]


def message(
    uuid: str, *blocks: object, parent: str | None = None, role: str = "assistant", **fields: object
) -> bytes:
    return line(uuid, parent, type=role, message={"role": role, "content": list(blocks)}, **fields)


def call(name: str) -> dict[str, object]:
    return {"type": "tool_use", "id": name, "name": "Read", "input": {}}


def result(name: str, content: object = "done") -> dict[str, object]:
    return {"type": "tool_result", "tool_use_id": name, "content": content}


def image(width: int, height: int, *, size: int = 100) -> dict[str, object]:
    head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", width, height) + b"\x08\x06\0\0\0"
    data = base64.b64encode(head.ljust(size, b"\0")).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


def test_a_healthy_session_has_no_problems() -> None:
    report = check(GOOD + message("b", {"type": "text", "text": "hi"}, parent="a", sessionId="s"), name="s")
    assert report == Report((), {}, True)
    assert report.worst is None


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_a_valid_session(data: bytes) -> None:
    assert check(data) == Report((), {}, True)


CASES: list[tuple[str, list[bytes], list[str]]] = [
    ("torn", [GOOD, b'{"type":"us\n'], ["torn-line"]),
    ("torn at the end", [GOOD, b'{"type":"us'], ["torn-line"]),
    ("spliced", [GOOD, b'{"type":"us', line("b", "a")], ["spliced"]),
    ("glued", [GOOD.rstrip(), line("b", "a")], ["glued"]),
    ("three glued", [GOOD.rstrip(), line("b", "a").rstrip(), line("c", "b")], ["glued", "glued"]),
    ("nul", [GOOD, b"\0" * 9 + b"\n"], ["nul-run"]),
    ("nul before a record", [b"\0" * 9 + GOOD], ["nul-run"]),
    ("garbage", [GOOD, b"function x() {}\n"], ["garbage"]),
    ("not a record", [GOOD, b"[1]\n"], ["not-a-record"]),
    ("too deep", [GOOD, b"[" * 5000 + b"\n"], ["too-deep"]),
    ("invalid utf-8", [GOOD.replace(b"words", b"w\xff")], ["invalid-utf8"]),
    ("lone surrogate", [GOOD.replace(b"words", b"\\ud83d")], ["lone-surrogate"]),
    ("nan", [GOOD[:-2] + b',"n":NaN}\n'], ["nan"]),
    ("huge number", [GOOD[:-2] + b',"n":1e999}\n'], ["huge-number"]),
    ("duplicate keys", [GOOD[:-2] + b',"uuid":"a"}\n'], ["duplicate-keys"]),
    ("nested duplicate keys", [GOOD[:-2] + b',"x":[{"y":1,"y":1}]}\n'], ["duplicate-keys"]),
    ("bom", [b"\xef\xbb\xbf", GOOD], ["bom"]),
    ("crlf, told once", [GOOD.rstrip() + b"\r\n", line("b", "a").rstrip() + b"\r\n"], ["crlf"]),
    ("missing newline", [GOOD.rstrip()], ["missing-newline"]),
    ("missing parent", [GOOD, line("b", "lost")], ["missing-parent"]),
    ("cycle", [line("a", "b"), line("b", "a")], ["cycle"]),
    ("self-parent", [line("a", "a")], ["cycle"]),
    ("same line twice", [GOOD, GOOD], ["duplicate-uuid"]),
    ("same uuid", [GOOD, line("a", x=1)], ["conflicting-uuid"]),
    ("same uuid in a cycle", [GOOD, line("a", "a")], ["conflicting-uuid", "cycle"]),
    ("call", [message("a", call("1"))], ["unpaired-call"]),
    ("result", [message("a", result("1"), role="user")], ["unpaired-result"]),
    ("result before", [message("b", result("1"), role="user"), message("a", call("1"))], ["result-order"]),
    (
        "two results",
        [
            message("a", call("1")),
            message("b", result("1"), role="user"),
            message("c", result("1"), role="user"),
        ],
        ["duplicate-result"],
    ),
    ("thinking", [message("a", {"type": "thinking", "thinking": "hm"})], ["thinking-unsigned"]),
    (
        "thinking, empty",
        [message("a", {"type": "thinking", "thinking": "", "signature": "s"})],
        ["thinking-empty"],
    ),
    ("wide image", [message("a", image(8001, 10), role="user")], ["oversized-image"]),
    ("tall image in a result", [message("a", call("1"), result("1", [image(9, 8001)]))], ["oversized-image"]),
    ("heavy image", [message("a", image(9, 9, size=(5 << 20) + 9), role="user")], ["oversized-image"]),
    ("empty text", [message("a", {"type": "text", "text": " "})], ["empty-text-block"]),
    ("empty content", [line("a", message={"role": "user", "content": ""})], ["empty-text-block"]),
    ("bad time", [line("a", timestamp="yesterday")], ["bad-timestamp"]),
    ("a number for a time", [line("a", timestamp=5)], ["bad-timestamp"]),
    ("no time", [line("a", timestamp=None)], ["missing-timestamp"]),
    (
        "unknown type",
        [line(type="brand-new"), line(type="brand-new"), line(type="other-new")],
        ["unknown-type"] * 2,
    ),
    ("many ids", [GOOD, line("b", "a", sessionId="t")], ["many-session-ids"]),
    ("loose compaction", [boundary("a", "lost")], ["dangling-logical-parent"]),
    ("loose hint", [GOOD, line(type="last-prompt", leafUuid="lost", timestamp=None)], ["dangling-leaf"]),
    ("loose summary", [GOOD, line(type="summary", leafUuid="lost", timestamp=None)], ["dangling-leaf"]),
    (
        "api error",
        [GOOD, message("b", {"type": "text", "text": "x"}, isApiErrorMessage=True)],
        ["api-error-last"],
    ),
    (
        "times",
        [
            line("a", timestamp="2026-01-02T00:00:00Z"),
            line("b", "a"),
            line("c", "b", timestamp="2025-01-01T00:00:00Z"),
        ],
        ["time-out-of-order"],
    ),
]


@pytest.mark.parametrize(("parts", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_problem_is_found_and_nothing_else(parts: list[bytes], expected: list[str]) -> None:
    assert codes(*parts) == expected


def test_a_problem_says_where_it_is_what_it_means_and_how_to_mend_it() -> None:
    report = check(GOOD + b'{"type":"us\n' + line("b", "a"))
    (only,) = report.problems
    assert (only.line, only.offset, only.length, only.severity) == (2, len(GOOD), 11, "error")
    assert "middle of a record" in only.detail
    assert only.repair is not None
    assert report.counts == {"torn-line": 1}
    assert report.worst == "error"


def test_problems_come_in_file_order_and_those_of_the_whole_file_last() -> None:
    found = check(line("b", "lost", sessionId="s") + b"junk\n" + GOOD + line("c", "a"), name="t").problems
    assert [one.code for one in found] == ["missing-parent", "garbage", "name-differs"]
    assert (found[-1].line, found[-1].offset, found[-1].length) == (None, None, None)


def test_what_may_be_a_whole_record_is_said_so() -> None:
    (only,) = check(b'{"type":"progress","data":' + GOOD).problems
    assert (only.code, "may be a whole record" in only.detail) == ("torn-line", True)


def test_the_last_line_of_a_live_session_is_not_damage() -> None:
    (only,) = check(GOOD + b'{"type":"us', is_live=True).problems
    assert (only.code, only.severity) == ("being-written", "info")
    assert codes(b'{"type":"us\n', GOOD, is_live=True) == ["torn-line"]


def test_hints_and_summaries_that_name_a_line_of_the_file_are_fine() -> None:
    hints = [line(type=kind, leafUuid="a", timestamp=None) for kind in ("last-prompt", "summary")]
    assert codes(GOOD, *hints, boundary("b", "a")) == []


def test_half_a_character_matters_less_where_it_is_never_sent() -> None:
    (sent,) = check(GOOD.replace(b"words", b"\\ud83d")).problems
    (kept,) = check(line(type="ai-title", title="\ud83d", timestamp=None)).problems
    assert (sent.severity, kept.severity) == ("error", "warning")


def test_copies_of_one_line_count_once_for_calls_and_results() -> None:
    both = message("a", call("1")) + message("b", result("1"), role="user", parent="a")
    assert codes(both, both) == ["duplicate-uuid", "duplicate-uuid"]
    lone = message("a", call("1"))
    assert codes(lone, lone) == ["duplicate-uuid", "unpaired-call"]
    assert codes(message("a", result("1"), role="user") * 2) == ["duplicate-uuid", "unpaired-result"]


def test_calls_and_results_without_an_id_have_no_partner() -> None:
    assert codes(message("a", {"type": "tool_use"}), message("b", {"type": "tool_result"}, role="user")) == [
        "unpaired-call",
        "unpaired-result",
    ]


def test_a_call_streamed_on_several_lines_is_one_call() -> None:
    parts = [
        message("a", call("1")),
        message("b", call("1"), parent="a"),
        message("c", result("1"), role="user"),
    ]
    assert codes(*parts) == []


def test_calls_of_the_apis_own_servers_need_no_result_line() -> None:
    blocks: list[dict[str, object]] = [
        {"type": "server_tool_use", "id": "1", "name": "web_search", "input": {}},
        {"type": "web_search_tool_result", "tool_use_id": "1", "content": []},
        {"type": "brand_new_block"},
    ]
    assert codes(message("a", *blocks)) == []


def test_images_of_two_thousand_pixels_are_too_large_among_many() -> None:
    few = message("a", *[image(2001, 10)] * 20, role="user")
    many = message("a", *[image(2001, 10)] * 21, role="user")
    assert codes(few) == []
    found = check(many).problems
    assert [one.code for one in found] == ["oversized-image"] * 21
    assert {one.severity for one in found} == {"warning"}


def test_a_sub_agents_error_and_times_are_its_own() -> None:
    parts = [
        line("a", timestamp="2026-01-02T00:00:00Z"),
        message("b", {"type": "text", "text": "x"}, isApiErrorMessage=True, isSidechain=True),
    ]
    assert codes(*parts) == []


def test_the_name_of_the_file_is_compared_with_the_ids_inside() -> None:
    assert codes(GOOD, name="s") == []
    assert codes(GOOD, name="t") == ["name-differs"]
    assert codes(GOOD, name="agent-a1b2c3") == []
    assert codes(line("a"), name="t") == []


def test_what_the_client_says_about_resuming_is_taken_in() -> None:
    report = check(GOOD, refused="No conversation found")
    assert [one.code for one in report.problems] == ["not-resumable"]
    assert not report.resumable


def test_a_session_of_which_little_can_be_reached_is_told() -> None:
    checker = Checker()
    assert [one.code for one in checker.finish(reach=(4, 10)).problems] == ["unreachable"]
    assert Checker().finish(reach=(5, 10)).problems == ()


def test_problems_without_number_are_counted() -> None:
    checker = Checker(most=3)
    for item in scan(BytesSource(b"junk\n" * 10 + b"".join(line(f"u{n}", "lost") for n in range(10)))):
        checker.add(item)
    report = checker.finish()
    assert report.counts == {"garbage": 10, "missing-parent": 10}
    assert len(report.problems) == 8
    assert sum("7 more" in one.detail for one in report.problems) == 2


def test_names_without_number_are_not_all_kept() -> None:
    data = b"".join(line(type=f"new-{n}", sessionId=f"s{n}", timestamp=None) for n in range(1200))
    report = check(data)
    assert report.counts["unknown-type"] == 1000
    assert report.counts["many-session-ids"] == 1


def long(data: bytes, *, whole: int = 1 << 20, source: bytes | None = None) -> Report:
    """Check a file whose lines count as long from 200 bytes on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "LONG", 200)
        patch.setattr(check_module, "_WHOLE", whole)
        checker = Checker(source=BytesSource(data if source is None else source))
        for item in scan(BytesSource(data)):
            checker.add(item)
        return checker.finish()


def test_a_line_too_long_to_hold_is_looked_at_whole_for_its_images() -> None:
    data = message("a", image(9, 9, size=(5 << 20) + 9), role="user")
    assert [one.code for one in long(data, whole=1 << 30).problems] == ["large-record", "oversized-image"]
    assert [one.code for one in long(data, whole=1000).problems] == ["large-record"]


def test_a_file_that_changes_under_the_check_does_not_break_it() -> None:
    data = message("a", {"type": "text", "text": "x" * 300})
    assert [one.code for one in long(data, source=b"gone").problems] == ["large-record"]


def test_a_line_that_cannot_be_read_at_all_is_told() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines.Abridger.__init__, "__kwdefaults__", {"keep": 8, "most": 500})
        report = long(b'{"a":[' + b"1," * 900 + b"1]}\n")
    assert [one.code for one in report.problems] == ["too-long"]


def test_every_code_has_a_meaning_and_every_meaning_a_code() -> None:
    assert set(KINDS) == set(get_args(Code))
    for code, kind in KINDS.items():
        assert kind.meaning
        assert problem(code).detail == kind.meaning
        assert problem(code, "x").repair == kind.repair


def test_every_code_is_shown_by_a_test() -> None:
    shown = {code for _, _, expected in CASES for code in expected}
    shown |= {"being-written", "large-record", "too-long", "name-differs", "unreachable", "not-resumable"}
    assert shown == set(KINDS)


def test_sessions_the_client_wrote_have_no_errors_but_one() -> None:
    found: list[str] = []
    for path in files():
        if DATA / "corpus" in path.parents and "projects" in path.parts:
            report = check(path.read_bytes(), name=path.stem)
            found += [f"{path.name} {one.code}" for one in report.problems if one.severity == "error"]
    # Two sub-agents of different sessions that wrote to one file.
    assert found == ["agent-e8472d4f.jsonl conflicting-uuid"]


def test_json_that_the_client_would_have_written_differently_is_no_problem() -> None:
    spaced = json.dumps(json.loads(GOOD), indent=None, separators=(", ", " : ")).encode() + b"\n"
    assert codes(spaced, line("b", "a", n=1e16, big=10**30, deep=[[1.0]])) == []
    deep = (
        b'{"type":"user","uuid":"d","timestamp":"2026-01-01T00:00:00Z" ,"x":'
        + b"[" * 1000
        + b"]" * 1000
        + b"}\n"
    )
    assert codes(deep) == []
