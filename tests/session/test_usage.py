"""One file folded into rows: what counts, what is left out, and that the quick road is the slow one."""

from __future__ import annotations

import io
import json
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clew.format.lines import LONG, BytesSource, stretches
from clew.format.records import Record, scan
from clew.session.ages import oldest
from clew.session.answers import written_to_cache
from clew.session.pricing import count, read_usage
from clew.session.usage import Folder, Row, may_tell
from tests.fuzz.mutate import damaged_file

DATA = Path(__file__).parents[1] / "data"
FILES = sorted([*DATA.glob("corpus/**/*.jsonl"), *DATA.glob("made/**/*.jsonl")])
MODEL = "claude-sonnet-4-5-20250929"

Json = dict[str, Any]


def answer(id_: str | None = "msg_1", *, output: Any = 5, **fields: Any) -> Json:
    """A line of an answer; what `fields` names goes before what it would have."""
    usage: Json = {"input_tokens": 3, "output_tokens": output, "cache_read_input_tokens": 20}
    message: Json = {"role": "assistant", "model": MODEL, "content": [], "usage": usage}
    if id_ is not None:
        message["id"] = id_
    entry: Json = {
        "type": "assistant",
        "uuid": "u1",
        "timestamp": "2026-03-04T09:00:00.000Z",
        "message": message | fields.pop("message", {}),
    }
    return entry | fields


def user(**fields: Any) -> Json:
    return {"type": "user", "uuid": "u0", "message": {"role": "user", "content": "go on"}} | fields


def raw(*entries: Json) -> bytes:
    return b"".join(json.dumps(entry, separators=(",", ":")).encode() + b"\n" for entry in entries)


def fold(data: bytes, *, depth: Any = "usage", name: str = "f") -> dict[str, Row]:
    return Folder(depth).file(name, io.BytesIO(data)).rows


def outputs(*entries: Json) -> dict[str, int]:
    return {key: row[1] for key, row in fold(raw(*entries)).items()}


# --- the law ------------------------------------------------------------------------------------------------


def tolerantly(data: bytes) -> dict[str, tuple[object, ...]]:
    """Count the plain way, every record decoded whole and nothing left out."""
    messages: dict[str, list[Any]] = {}
    is_parted, unnamed, place, numbered = True, "", None, 0
    for record in scan(BytesSource(data)):
        if not isinstance(record, Record):
            continue
        entry = record.decoded()
        is_parted |= entry.type == "user"
        if entry.type != "assistant" or not isinstance(entry.data.get("message"), dict):
            continue
        key = entry.message_id or (f"request {entry.request_id}" if entry.request_id else "")
        if key:
            is_parted = True
        else:
            here = (entry.is_sidechain, entry.agent_id)
            if is_parted or not unnamed or here != place:
                unnamed, place, is_parted = f"line {entry.uuid or f'{numbered} of f'}", here, False
                numbered += not entry.uuid
            key = unnamed
        messages.setdefault(key, []).append(entry)
    found: dict[str, tuple[object, ...]] = {}
    for key, entries in messages.items():
        used = [entry for entry in entries if isinstance(entry.message.get("usage"), dict)]
        best = max(
            reversed(used), key=lambda entry: count(entry.usage.get("output_tokens")), default=entries[0]
        )
        if best.is_api_error or best.model == "<synthetic>":
            continue
        usage = read_usage(best.usage)
        tokens = usage.tokens
        found[key] = (
            tokens.output,
            tokens.input,
            tokens.cache_read,
            tokens.cache_write_5m,
            tokens.cache_write_1h,
            best.model,
            (
                usage.service_tier,
                usage.speed,
                usage.inference_geo,
                usage.web_searches,
                usage.web_fetches,
                usage.advisors,
            ),
        )
    return found


def quickly(data: bytes, depth: str) -> dict[str, tuple[object, ...]]:
    return {key: row[1:8] for key, row in fold(data, depth=depth).items()}


@pytest.mark.parametrize("depth", ["usage", "place", "calls"])
def test_the_quick_road_is_the_slow_one_on_every_file_of_the_corpus(depth: str) -> None:
    assert len(FILES) > 100
    for path in FILES:
        data = path.read_bytes()
        assert quickly(data, depth) == tolerantly(data), path


@pytest.mark.parametrize("start", range(0, 600, 100))
def test_the_quick_road_is_the_slow_one_on_damaged_files(start: int) -> None:
    for seed in range(start, start + 100):
        data = b"\n".join(line for line in damaged_file(Random(seed)).split(b"\n") if not is_hidden(line))
        assert quickly(data, "usage") == tolerantly(data), seed
        assert quickly(data, "calls") == tolerantly(data), seed


def is_hidden(line: bytes) -> bool:
    """Whether an answer may stand in the midst of a damaged line, where no one looks for it."""
    if b'"assistant"' not in line or b'"assistant"' in line[-600:]:
        return False
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return True
    return False


_values = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
_trees = st.recursive(
    _values,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
)
_usage_keys = st.sampled_from(
    [
        "input_tokens",
        "output_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
        "cache_creation",
        "server_tool_use",
        "iterations",
        "service_tier",
        "speed",
        "inference_geo",
    ]
)
_line_keys = st.sampled_from(["type", "timestamp", "requestId", "isApiErrorMessage", "message", "agentId"])
_message_keys = st.sampled_from(["id", "role", "model", "usage", "content", "timestamp"])


@given(st.lists(st.tuples(_line_keys | _message_keys | _usage_keys, _trees), max_size=4), st.booleans())
def test_a_value_of_any_type_anywhere_is_read_alike_on_both_roads(
    changes: list[tuple[str, Any]], is_spaced: bool
) -> None:
    entry = answer()
    for key, value in changes:
        message = entry.get("message")
        usage = message.get("usage") if isinstance(message, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]  # anything may stand there by now
        for mapping in (entry, message, usage):  # pyright: ignore[reportUnknownVariableType]
            if isinstance(mapping, dict) and key in mapping:
                mapping[key] = value
                break
        else:
            if isinstance(usage, dict):
                usage[key] = value
    data = json.dumps(entry, separators=(", ", ": ") if is_spaced else (",", ":")).encode() + b"\n"
    assert quickly(data, "usage") == quickly(data, "calls") == tolerantly(data)


@given(st.binary(max_size=200))
def test_any_bytes_can_be_folded(data: bytes) -> None:
    assert fold(data) == fold(data, depth="calls")


# --- what is one message ------------------------------------------------------------------------------------


def test_lines_of_one_id_are_one_message_and_the_greatest_output_counts() -> None:
    lines = [answer(output=4), answer(output=90), user(), answer(output=7)]
    assert outputs(*lines) == {"msg_1": 90}


def test_of_lines_that_tie_the_later_one_counts() -> None:
    first, later = (
        answer(message={"usage": {"output_tokens": 9, "input_tokens": 1}}),
        answer(message={"usage": {"output_tokens": 9, "input_tokens": 2}}),
    )
    assert [row[1:3] for row in fold(raw(first, later)).values()] == [(9, 2)]
    assert [row[1:3] for row in fold(raw(first, answer("msg_2"), later)).values()] == [(9, 2), (5, 3)]


def test_a_line_without_usage_takes_none_away() -> None:
    assert outputs(answer(output=0), answer(message={"usage": None})) == {"msg_1": 0}
    assert outputs(answer(message={"usage": None}), answer(output=0)) == {"msg_1": 0}
    row = fold(raw(answer(message={"usage": None}), answer(output=0)))["msg_1"]
    assert row[2] == 3, "the usage of the second line"


def test_without_a_message_id_the_request_id_stands_for_it() -> None:
    lines = [answer(None, output=1, requestId="r"), answer(None, output=8, requestId="r")]
    assert outputs(*lines, answer(None, output=2, requestId="s")) == {"request r": 8, "request s": 2}


def test_a_request_id_is_never_taken_for_a_message_id() -> None:
    assert outputs(answer("x", output=1), answer(None, output=2, requestId="x")) == {"x": 1, "request x": 2}


def test_without_any_id_lines_next_to_each_other_are_one_message() -> None:
    one, two, three = (answer(None, output=output, uuid=f"u{output}") for output in (1, 2, 3))
    assert outputs(one, two, three) == {"line u1": 3}
    assert outputs(one, user(), two, three) == {"line u1": 1, "line u2": 3}
    assert outputs(one, answer("msg_1"), two) == {"line u1": 1, "msg_1": 5, "line u2": 2}
    assert outputs(one, answer("msg_1"), answer("msg_1"), two)["line u2"] == 2
    assert outputs(one, answer(None, requestId="r"), two)["line u2"] == 2
    assert outputs(one, {"type": "progress", "uuid": "p"}, two) == {"line u1": 2}
    assert outputs(one, two | {"isSidechain": True}) == {"line u1": 1, "line u2": 2}


def test_without_even_a_uuid_a_message_is_named_by_its_place() -> None:
    bare = answer(None)
    del bare["uuid"]
    assert list(fold(raw(bare, user(), bare), name="a")) == ["line 0 of a", "line 1 of a"]


def test_synthetic_messages_and_api_errors_are_no_rows() -> None:
    synthetic = answer("a", message={"model": "<synthetic>"})
    assert outputs(synthetic, answer("b", isApiErrorMessage=True), answer("c")) == {"c": 5}


def test_an_answer_without_a_type_is_known_by_its_role() -> None:
    entry = answer()
    del entry["type"]
    assert outputs(entry) == {"msg_1": 5}


def test_numbers_that_cannot_be_tokens_count_nothing() -> None:
    for wrong in (-1, 1.5, 5.0, True, "7", 10**10, None, [3]):
        assert outputs(answer(output=wrong)) == {"msg_1": 0}, wrong


# --- what a row says ----------------------------------------------------------------------------------------


def test_a_row_has_the_time_of_its_first_line_and_the_usage_of_its_best() -> None:
    lines = [
        answer(timestamp="2026-03-04T09:00:00.000Z"),
        answer(output=9, timestamp="2026-03-05T09:00:00.000Z"),
    ]
    assert fold(raw(*lines))["msg_1"][:2] == ("2026-03-04T09:00:00.000Z", 9)


def test_the_messages_own_time_serves_where_the_line_has_none() -> None:
    entry = answer(message={"timestamp": "2026-03-04T10:00:00.000Z"})
    del entry["timestamp"]
    assert fold(raw(entry))["msg_1"][0] == "2026-03-04T10:00:00.000Z"
    bare = answer()
    del bare["timestamp"]
    assert fold(raw(bare, entry))["msg_1"][0] == "2026-03-04T10:00:00.000Z"


def test_searches_tier_speed_and_place_are_kept() -> None:
    usage = {"output_tokens": 1, "service_tier": "batch", "speed": "fast", "inference_geo": "us"}
    asked = {"server_tool_use": {"web_search_requests": 2, "web_fetch_requests": 1}}
    row = fold(raw(answer("a", message={"usage": usage | asked}), answer("b", message={"usage": usage})))
    assert row["a"][7] == ("batch", "fast", "us", 2, 1, ())
    assert row["b"][7] == ("batch", "fast", "us", 0, 0, ())


def test_the_calls_of_a_message_are_counted_once_each() -> None:
    def calls(*ids: str) -> Json:
        blocks = [{"type": "tool_use", "id": id_, "name": id_.rstrip("0123456789")} for id_ in ids]
        return answer(message={"content": [{"type": "text", "text": "x"}, *blocks]})

    rows = fold(raw(calls("Read1"), calls("Read2", "Bash1"), calls("Read1")), depth="calls")
    assert rows["msg_1"][9] == ("Read", "Read", "Bash")
    assert fold(raw(calls("Read1")))["msg_1"][9] == ()


def test_a_row_says_whose_it_is() -> None:
    lines = [
        answer("a", gitBranch="main"),
        answer("b", isSidechain=True),
        answer("c", agentId="a1", isSidechain=True),
        answer("d", gitBranch=""),
    ]
    rows = Folder("place").file("f", io.BytesIO(raw(*lines))).rows
    assert [row[8] for row in rows.values()] == [
        ("f", None, "main"), ("f", "sidechain", None), ("f", "a1", None), ("f", None, None)
    ]  # fmt: skip
    named = Folder("place").file("f", io.BytesIO(raw(*lines)), agent="x").rows
    assert [row[8][1] for row in named.values()] == ["x", "x", "a1", "x"]


def test_the_first_folder_of_a_file_is_found_also_on_a_line_that_is_left_out() -> None:
    data = raw({"type": "summary"}, user(cwd="/first"), answer(cwd="/second"))
    assert Folder("place").file("f", io.BytesIO(data)).cwd == "/first"
    assert Folder("usage").file("f", io.BytesIO(data)).cwd is None


def test_the_clients_own_cost_is_the_last_it_wrote() -> None:
    states = [{"type": "cost-state", "totalCostUSD": cost} for cost in (0.5, 2, "x", None)]
    assert Folder().file("f", io.BytesIO(raw(*states))).client_cost == 2


@given(st.integers(0, 50), st.none() | st.integers(0, 50), st.none() | st.integers(0, 50))
def test_cache_writes_are_split_as_pricing_splits_them(
    total: int, short: int | None, long: int | None
) -> None:
    split = {"ephemeral_5m_input_tokens": short, "ephemeral_1h_input_tokens": long}
    for given_split in (split, None, {}):
        usage = {"cache_creation_input_tokens": total, "cache_creation": given_split}
        tokens = read_usage(usage).tokens
        row = fold(raw(answer(message={"usage": usage})))["msg_1"]
        assert row[4:6] == (tokens.cache_write_5m, tokens.cache_write_1h)
    assert written_to_cache(total, None) == (total, 0)


def test_advisers_are_kept_with_their_own_tokens() -> None:
    step = {"type": "advisor_message", "model": "m2", "input_tokens": 4, "cache_creation_input_tokens": 2}
    usage = {"output_tokens": 1, "iterations": [{"type": "message", "input_tokens": 9}, step]}
    (adviser,) = fold(raw(answer(message={"usage": usage})))["msg_1"][7][5]
    assert adviser[0] == "m2"
    assert (adviser[1].input, adviser[1].cache_write_5m) == (4, 2)


# --- what is left out, and what is not ----------------------------------------------------------------------


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
@pytest.mark.parametrize("is_reversed", [False, True])
def test_neither_the_order_of_keys_nor_their_spacing_matters(
    separators: tuple[str, str], is_reversed: bool
) -> None:
    entries = [
        user(toolUseResult={"type": "text"}),
        answer(toolUseResult={"type": "user"}),
        user(type="system"),
    ]
    if is_reversed:
        entries = [dict(reversed(entry.items())) for entry in entries]
    data = "".join(json.dumps(entry, separators=separators) + "\n" for entry in entries)
    assert [row[1] for row in fold(data.encode()).values()] == [5]


def test_a_key_that_only_ends_in_type_hides_nothing() -> None:
    entry = {'a"type': "user"} | answer()
    assert list(fold(raw(entry))) == ["msg_1"]


def test_a_type_inside_a_nested_object_hides_nothing() -> None:
    assert list(fold(raw({"source": {"type": "user"}} | answer()))) == ["msg_1"]


def test_an_answer_appended_to_a_torn_line_is_found() -> None:
    torn = raw(user(message={"role": "user", "content": "x" * 5000}))[:-200]
    assert list(fold(torn + raw(answer()))) == ["msg_1"]
    assert list(fold(raw(user())[:-1] + raw(answer()))) == ["msg_1"]
    assert list(fold(raw(answer())[:-1] + raw(answer("msg_2")))) == ["msg_1", "msg_2"]


def test_damaged_lines_are_counted_and_the_unfinished_end_is_told_apart() -> None:
    def told(*lines: bytes) -> tuple[int, bool]:
        found = Folder().file("f", io.BytesIO(b"".join(lines)))
        return found.damaged, found.is_unfinished

    whole, torn = raw(answer()), raw(answer())[:-30]
    assert told(whole) == (0, False)
    assert told(whole[:-1]) == (0, False)
    assert told(torn, b"\n", whole) == (1, False)
    assert told(whole, torn) == (0, True)
    assert told(torn, torn, torn, b"\n", torn, b"\n") == (2, False), "lines, not stretches"
    assert told(whole[:-1], whole) == (1, False), "two on a line"
    assert told(raw(user()), raw(user())[:-30]) == (0, True)
    assert told(raw(user())[:-30], b"\n", whole) == (0, False), "it cannot have told of usage"


def test_lines_that_may_tell_of_usage_are_those_that_are_looked_at() -> None:
    assert may_tell(raw(answer()))
    assert may_tell(raw(answer())[:-30])
    assert may_tell(b"\0\0\n")
    assert may_tell(raw(user())[:-30] + raw(answer()))
    assert not may_tell(raw(user()))
    assert not may_tell(raw(user())[:-30])


def test_a_byte_order_mark_hides_nothing() -> None:
    assert list(fold(b"\xef\xbb\xbf" + raw(answer()))) == ["msg_1"]


def test_a_line_too_long_to_hold_still_counts() -> None:
    text = "x" * (LONG + 1000)
    data = raw(user(message={"content": text}), answer(message={"content": [{"type": "text", "text": text}]}))
    data += raw(answer("msg_2"))
    pieces = [data[at : at + 100_000] for at in range(0, len(data), 100_000)]
    assert max(end - start for _, start, end in stretches(pieces)) < 100_000
    assert list(Folder().file("f", pieces).rows) == ["msg_1", "msg_2"]


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10_000), st.lists(st.integers(1, 4000), min_size=1, max_size=8))
@example(39, [1])  # a byte order mark in three pieces
def test_rows_do_not_depend_on_where_a_file_is_cut(seed: int, sizes: list[int]) -> None:
    data = damaged_file(Random(seed))
    pieces: list[bytes] = []
    at = 0
    for size in cycle(sizes):
        pieces.append(data[at : at + size])
        at += size
        if at >= len(data):
            break
    whole, cut = Folder("calls").file("f", [data]), Folder("calls").file("f", pieces)
    assert (cut.rows, cut.cwd, cut.damaged) == (whole.rows, whole.cwd, whole.damaged)


def test_a_type_inside_of_an_object_in_the_usual_column_hides_no_answer() -> None:
    usual = raw({"x": "x" * 40, **user()})
    column = usual.index(b',"type":"user"')
    odd = raw({"x": {"y": "", "type": "user"}, **answer("msg_2")})
    pad = b"y" * (column - odd.index(b',"type":"user"'))
    odd = odd.replace(b'"y":""', b'"y":"' + pad + b'"')
    assert odd.index(b',"type":"user"') == column
    assert list(fold(usual + usual + odd)) == ["msg_2"]


# --- the oldest line ----------------------------------------------------------------------------------------


def naively(data: bytes) -> int | None:
    from clew.format.times import milliseconds

    entries = [item.decoded() for item in scan(BytesSource(data)) if isinstance(item, Record)]
    times = [ms for entry in entries if (ms := milliseconds(entry.timestamp)) is not None]
    return min(times, default=None)


def test_the_oldest_line_is_found_in_every_file() -> None:
    for path in FILES:
        data = path.read_bytes()
        assert oldest(io.BytesIO(data)) == naively(data), path
    for seed in range(200):
        data = damaged_file(Random(seed))
        assert oldest(io.BytesIO(data)) == naively(data), seed


def test_the_oldest_line_is_found_whatever_its_zone_and_form() -> None:
    times = ["2026-03-04T09:00:00.000Z", "2026-03-04T09:30:00+02:00", 5, "2026-03-04T08:00:00Z", "never"]
    data = raw(*({"type": "user", "timestamp": time} for time in times))
    assert oldest(io.BytesIO(data)) == naively(data) == 1_772_609_400_000
    assert oldest([]) is None
