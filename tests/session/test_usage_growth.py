"""A file's usage by its parts is its usage in one go."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.format.times import iso, milliseconds
from clew.session.answers import Depth
from clew.session.fold import Summary
from clew.session.growth import COUNTED, TIMED, USED, Growth, Held, rows
from clew.session.states import StateError
from clew.session.usage import FileUsage, Folder, Row
from tests.fuzz.mutate import damaged_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

DATA = Path(__file__).parents[1] / "data"
FILES = sorted([*DATA.glob("corpus/**/*.jsonl"), *DATA.glob("made/**/*.jsonl")])
DEPTHS: tuple[Depth, ...] = get_args(Depth)

Json = dict[str, Any]


def grown(parts: Iterable[bytes], depth: Depth, *, agent: str | None = None) -> tuple[FileUsage, bytes]:
    """Read the parts one after the other, as a table of messages would: it is asked for what is touched."""
    table: dict[str, Held] = {}
    found, state = FileUsage("f"), None
    for part in parts:
        growth = Folder(depth).more("f", [part], agent=agent, state=state)
        table |= growth.onto({key: stored(table[key]) for key in growth.messages if key in table})
        state = growth.state
        found.cwd, found.client_cost, found.damaged = growth.cwd, growth.client_cost, growth.damaged
    found.rows = rows(table)
    return found, state or b""


def stored(held: Held) -> Held:
    """Return what a table gives back that keeps times in milliseconds, as far as that changes nothing."""
    time = held.row[0]
    return held._replace(row=(iso(milliseconds(time)), *held.row[1:])) if is_unreadable(time) else held


def is_unreadable(time: str | None) -> bool:
    return time is not None and milliseconds(time) is None


def shown(usage: FileUsage) -> object:
    """Return all that a file tells; a time that says nothing is none."""
    told: dict[str, Row] = {
        key: (None if is_unreadable(row[0]) else row[0], *row[1:]) for key, row in usage.rows.items()
    }
    return told, usage.cwd, usage.client_cost, usage.damaged


def lines_of(data: bytes) -> list[bytes]:
    lines = [line + b"\n" for line in data.split(b"\n")]
    return [*lines[:-1], lines[-1][:-1]]


def parts_of(lines: Sequence[bytes], cuts: Iterable[int]) -> list[bytes]:
    marks = [0, *sorted(min(cut, len(lines)) for cut in cuts), len(lines)]
    return [b"".join(lines[start:end]) for start, end in pairwise(marks)]


def agree(data: bytes, random: Random, depth: Depth) -> None:
    """Grow by every line alone, and by stretches of lines."""
    in_one_go = Folder(depth).file("f", [data], agent="a")
    _, last = grown([data], depth, agent="a")
    lines = lines_of(data)
    cuts = [random.randrange(len(lines) + 1) for _ in range(random.randrange(1, 4))]
    for parts in (lines, parts_of(lines, cuts)):
        found, state = grown(parts, depth, agent="a")
        assert shown(found) == shown(in_one_go), cuts
        assert state == last, cuts


@pytest.mark.parametrize("depth", DEPTHS)
def test_every_file_of_the_corpus_grows_to_what_it_is(depth: Depth) -> None:
    assert len(FILES) > 100
    for number, path in enumerate(FILES):
        agree(path.read_bytes(), Random(number), depth)


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("start", range(0, 300, 100))
def test_damaged_files_grow_to_what_they_are(start: int, depth: Depth) -> None:
    for seed in range(start, start + 100):
        agree(damaged_file(Random(seed)), Random(seed), depth)


_BLOCK = st.fixed_dictionaries(
    {"type": st.sampled_from(["tool_use", "text"]), "name": st.sampled_from(["Read", "Bash"])},
    optional={"id": st.sampled_from(["t1", "t2", "call 0", "\ud800", ""])},
)
_USAGE = st.none() | st.fixed_dictionaries(
    {"output_tokens": st.integers(0, 3), "input_tokens": st.integers(0, 9)},
    optional={"server_tool_use": st.just({"web_search_requests": 2}), "speed": st.just("fast")},
)
_MESSAGE: st.SearchStrategy[Json] = st.fixed_dictionaries(
    {
        "model": st.sampled_from(["m", "n", "<synthetic>"]),
        "content": st.lists(_BLOCK, max_size=2),
        "usage": _USAGE,
    },
    optional={"id": st.sampled_from(["msg_1", "msg_2", "msg_\ud800"])},
)
_ANSWER: st.SearchStrategy[Json] = st.fixed_dictionaries(
    {
        "type": st.just("assistant"),
        "message": _MESSAGE,
    },
    optional={
        "uuid": st.sampled_from(["u1", "u2", "\udfff"]),
        "timestamp": st.sampled_from(["2026-03-04T09:00:00.000Z", "2026-03-04T10:00:00.000Z", "never", ""]),
        "requestId": st.sampled_from(["r1", "r2"]),
        "agentId": st.sampled_from(["a1", "\ud800"]),
        "isSidechain": st.booleans(),
        "isApiErrorMessage": st.booleans(),
        "gitBranch": st.sampled_from(["main", ""]),
        "cwd": st.sampled_from(["/a", "/\ud800"]),
    },
)
_OTHER = st.sampled_from(
    [
        {"type": "user"},
        {"type": "progress"},
        {"type": "cost-state", "totalCostUSD": 2},
        {"type": "cost-state", "totalCostUSD": 10**400},
        {"type": "cost-state", "totalCostUSD": float("inf")},
        {"type": "cost-state", "totalCostUSD": 0.25},
    ]
)


def raw(*entries: Json) -> bytes:
    return b"".join(json.dumps(entry, separators=(",", ":")).encode() + b"\n" for entry in entries)


_LINES = st.lists(
    st.one_of(_ANSWER.map(raw), _ANSWER.map(raw), _OTHER.map(raw), st.just(b"torn\n")), max_size=10
)


@given(_LINES, st.lists(st.integers(0, 10), max_size=3), st.sampled_from(DEPTHS), st.booleans())
def test_any_lines_grow_to_what_they_are(
    lines: list[bytes], cuts: list[int], depth: Depth, has_mark: bool
) -> None:
    data = b"\xef\xbb\xbf" * has_mark + b"".join(lines)
    in_one_go = Folder(depth).file("f", [data])
    found, state = grown(parts_of(lines_of(data), cuts), depth)
    assert shown(found) == shown(in_one_go)
    assert state == grown([data], depth)[1]


# --- what must be remembered --------------------------------------------------------------------------------


def answer(id_: str | None = "msg_1", *, output: int | None = 5, **fields: Any) -> Json:
    message: Json = {"model": "m", "content": fields.pop("content", [])}
    if output is not None:
        message["usage"] = {"output_tokens": output}
    if id_ is not None:
        message["id"] = id_
    return {"type": "assistant", "timestamp": "2026-03-04T09:00:00.000Z", "message": message} | fields


def more(*entries: Json, after: Growth | None = None, depth: Depth = "calls") -> Growth:
    return Folder(depth).more("f", [raw(*entries)], state=after.state if after else None)


def test_only_the_messages_that_new_lines_touch_are_asked_for() -> None:
    first = more(answer("msg_1"), answer("msg_2"))
    second = more(answer("msg_2", output=9), answer("msg_3"), after=first)
    assert list(second.messages) == ["msg_2", "msg_3"]
    written = second.onto(first.messages)
    assert {key: held.row[1] for key, held in written.items()} == {"msg_2": 9, "msg_3": 5}


def test_a_call_written_again_is_not_counted_again() -> None:
    def calls(*ids: str | None) -> Json:
        return answer(content=[{"type": "tool_use", "id": id_, "name": f"T{id_}"} for id_ in ids])

    first = more(calls("1", "2"))
    again = more(calls("2", "1"), calls("3", None), calls(None), after=first)
    assert again.onto(first.messages)["msg_1"].row[9] == ("T1", "T2", "T3", "TNone", "TNone")


def test_a_message_that_was_none_can_become_a_row_and_a_row_none() -> None:
    error = answer(isApiErrorMessage=True, output=3)
    first = more(error)
    assert first.messages["msg_1"].marks == USED | TIMED
    assert rows(first.messages) == {}
    second = more(answer(output=4), after=first).onto(first.messages)
    assert second["msg_1"].marks == COUNTED | USED | TIMED
    third = more(answer(isApiErrorMessage=True, output=9)).onto(second)
    assert rows(third) == {}


def test_lines_without_an_id_go_together_over_the_cut_while_they_are_adjacent() -> None:
    bare = answer(None, output=1)
    first = more(bare)
    assert list(more(bare, after=first).messages) == ["line 0 of f"]
    assert list(more({"type": "user"}, bare, after=first).messages) == ["line 1 of f"]
    assert list(more(bare | {"isSidechain": True}, after=first).messages) == ["line 1 of f"]
    between = more({"type": "user"}, after=first)
    assert list(more(bare, after=between).messages) == ["line 1 of f"]


def test_a_time_that_says_nothing_stands_where_the_table_does_not_keep_it() -> None:
    first = more(answer(timestamp="never"))
    kept = {"msg_1": stored(first.messages["msg_1"])}
    assert kept["msg_1"].row[0] is None
    assert more(answer(), after=first).onto(kept)["msg_1"].row[0] is None
    assert Folder().file("f", [raw(answer(timestamp="never"), answer())]).rows["msg_1"][0] == "never"


def test_the_first_line_that_tells_a_time_or_a_place_says_it() -> None:
    def line(output: int, time: str | None, branch: str) -> Growth:
        return more(answer(output=output, timestamp=time, gitBranch=branch))

    bare, early, late = line(1, None, "a"), line(2, "2026-03-04", "b"), line(3, "2026-03-05", "c")
    known = late.onto(early.onto(bare.messages))["msg_1"]
    assert known.row[:2] == ("2026-03-04", 3)
    assert known.row[8] == ("f", None, "a")


def test_a_message_without_usage_still_tells_its_calls() -> None:
    line = raw(answer(output=None, content=[{"type": "tool_use", "id": "1", "name": "Read"}]))
    assert Folder("calls").file("f", [line]).rows["msg_1"][9] == ("Read",)


def test_a_byte_order_mark_is_one_only_where_a_file_begins() -> None:
    mark = b"\xef\xbb\xbf"
    begun = Folder().more("f", [])
    first = Folder().more("f", [mark[:1], mark[1:], raw(answer())], state=begun.state)
    assert (list(first.messages), first.damaged) == (["msg_1"], 0)
    data = raw(answer()) + mark + b"torn\n"
    in_one_go = Folder().file("f", [data])
    assert Folder().more("f", [mark + b"torn\n"], state=first.state).damaged == in_one_go.damaged


def test_the_folder_is_looked_for_as_far_as_in_one_go() -> None:
    lines = [raw({"type": "summary"})] * 499 + [raw(answer(cwd="/here"))]
    for head in (lines, [lines[0], *lines]):
        in_one_go = Folder("place").file("f", [b"".join(head)])
        assert in_one_go.cwd == (None if len(head) > 500 else "/here")
        assert grown(head, "place")[0].cwd == in_one_go.cwd
        assert grown(parts_of(head, [123, 321]), "place")[0].cwd == in_one_go.cwd


def test_what_a_line_is_taken_for_does_not_depend_on_the_next_one() -> None:
    torn = b'{"type":"progress"\n'
    usual = raw(answer())
    column = usual.index(b'{"model":"m"') + 1
    after = b"x" * (column - 1 - len(torn)) + b'{"model":"\n'
    data = usual + torn + after
    assert grown(lines_of(data), "usage")[0].damaged == Folder().file("f", [data]).damaged


def test_a_cost_that_is_no_money_is_passed_over() -> None:
    costs = [
        {"type": "cost-state", "totalCostUSD": cost} for cost in (2, 10**400, float("inf"), float("nan"))
    ]
    assert Folder().file("f", [raw(*costs)]).client_cost == 2


def test_a_state_is_small_however_long_the_file_is() -> None:
    data = raw(*(answer(f"msg_{number}", cwd="/a") for number in range(5000)))
    assert len(Folder("calls").more("f", [data]).state) < 60


def test_a_state_of_another_depth_or_kind_or_damaged_is_refused() -> None:
    growth = more(answer())
    with pytest.raises(StateError, match="calls"):
        more(answer(), after=growth, depth="usage")
    for state in (b"", growth.state[:-1], growth.state + b"\0", Summary().state()):
        with pytest.raises(StateError):
            Folder("calls").more("f", [], state=state)
