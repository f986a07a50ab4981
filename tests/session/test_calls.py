"""Tool calls and their results."""

from __future__ import annotations

from clew.session.calls import call_block, is_stand_in, pairs, result_block, structured
from clew.session.drafts import SESSION_ENDED
from tests.builder import Builder, call, text


def test_a_call_is_paired_with_its_result_by_id() -> None:
    builder = (
        Builder().prompt("Look.").answer("Now.", call("t1", "Read", {"file_path": "/a"}), stop="tool_use")
    )
    session = builder.wait(2).result("t1", "alpha", toolUseResult={"type": "text"}).session()
    (found,) = pairs(session).calls
    assert (found.id, found.name, found.row, found.result_row) == ("t1", "Read", 2, 3)
    assert (found.is_error, found.duration_ms) == (False, 3000)
    assert call_block(session, found).input == {"file_path": "/a"}
    result = result_block(session, found)
    assert result is not None
    assert result.text() == "alpha"
    assert structured(session, found) == {"type": "text"}


def test_parallel_calls_find_their_own_results_in_any_order() -> None:
    builder = Builder().answer(call("t1"), call("t2"), call("t3"), stop="tool_use")
    session = builder.result("t3").result("t1", is_error=True).result("t2").session()
    assert [(c.id, c.result_row, c.is_error) for c in pairs(session).calls] == [
        ("t1", 4, True),
        ("t2", 5, False),
        ("t3", 3, False),
    ]


def test_several_results_on_one_line_are_told_apart() -> None:
    results = [{"type": "tool_result", "tool_use_id": name, "content": name} for name in ("t1", "t2")]
    session = Builder().answer(call("t1"), call("t2")).user(results, toolUseResult={"agentId": "a"}).session()
    told = pairs(session).calls
    assert [result.text() for c in told if (result := result_block(session, c))] == ["t1", "t2"]
    # Whose it would be is not told, so it is nobody's.
    assert [c.agent_id for c in told] == [None, None]


def test_several_calls_on_one_line_are_told_apart() -> None:
    content = [text("Both."), dict(call("t1", "Read")), dict(call("t2", "Bash"))]
    session = Builder().entry("assistant", message={"role": "assistant", "content": content}).session()
    found = pairs(session).calls
    assert [call_block(session, c).name for c in found] == ["Read", "Bash"]


def test_the_sub_agent_is_the_one_the_result_names() -> None:
    session = Builder().answer(call("t1", "Task")).result("t1", toolUseResult={"agentId": "a7"}).session()
    assert pairs(session).calls[0].agent_id == "a7"
    odd = Builder().answer(call("t1", "Task")).result("t1", toolUseResult={"agentId": 7}).session()
    assert pairs(odd).calls[0].agent_id is None


def test_a_call_without_result_is_listed() -> None:
    session = Builder().answer(call("t1"), call("t2")).result("t2").session()
    found = pairs(session)
    assert [c.id for c in found.unpaired_calls] == ["t1"]
    (lonely,) = found.unpaired_calls
    assert (lonely.duration_ms, result_block(session, lonely), structured(session, lonely)) == (
        None,
        None,
        None,
    )


def test_a_result_without_call_is_listed() -> None:
    session = Builder().result("t9").answer(call("t1")).result("t1").user([{"type": "tool_result"}]).session()
    assert [(r.id, r.row) for r in pairs(session).unpaired_results] == [("t9", 0), (None, 3)]


def test_a_second_result_is_listed_and_the_first_counts() -> None:
    session = Builder().answer(call("t1")).result("t1", "first").result("t1", "second").session()
    found = pairs(session)
    assert found.calls[0].result_row == 1
    assert [(r.id, r.row) for r in found.duplicate_results] == [("t1", 2)]


def test_a_second_call_with_the_same_id_is_listed() -> None:
    session = Builder().answer(call("t1")).result("t1").answer(call("t1")).session()
    found = pairs(session)
    assert ([c.row for c in found.calls], [c.row for c in found.duplicate_calls]) == ([0], [2])
    twice = [dict(call("t1")), dict(call("t1"))]
    session = Builder().entry("assistant", message={"role": "assistant", "content": twice}).session()
    assert len(pairs(session).duplicate_calls) == 1


def test_lines_written_again_are_no_second_call_or_result() -> None:
    session = Builder().answer(call("t1")).result("t1").again(1).again(2).session()
    found = pairs(session)
    assert len(found.calls) == 1
    assert not found.duplicate_calls
    assert not found.duplicate_results


def test_a_call_without_id_is_a_call_that_nothing_answers() -> None:
    nameless = {"type": "tool_use", "name": "Read"}
    session = Builder().answer(nameless, nameless).result("").session()
    found = pairs(session)
    assert [c.id for c in found.unpaired_calls] == [None, None]
    assert [r.id for r in found.unpaired_results] == [None]


def test_a_result_before_its_call_is_still_its_result() -> None:
    session = Builder().result("t1").answer(call("t1")).session()
    (found,) = pairs(session).calls
    assert (found.result_row, found.duration_ms) == (0, 0)


def test_without_a_time_there_is_no_duration() -> None:
    session = Builder().answer(call("t1")).result("t1", timestamp=None).session()
    assert pairs(session).calls[0].duration_ms is None


def test_a_result_the_client_wrote_on_resuming_is_a_failed_one_of_no_duration() -> None:
    begun = Builder().answer(call("t1"), stop="tool_use").wait(86_400)
    session = begun.result("t1", SESSION_ENDED, is_error=True).session()
    (found,) = pairs(session).calls
    assert (found.result_row, found.is_error, found.is_stand_in, found.duration_ms) == (1, True, True, None)
    assert [is_stand_in(session.entry(row)) for row in (0, 1)] == [False, True]


def test_a_failed_result_and_one_that_tells_of_a_stand_in_are_real() -> None:
    begun = Builder().answer(call("t1"), call("t2"), stop="tool_use").wait(1)
    session = begun.result("t1", "No such file.", is_error=True).result("t2", SESSION_ENDED).session()
    assert [(c.is_stand_in, c.duration_ms is None) for c in pairs(session).calls] == [(False, False)] * 2
    assert not any(is_stand_in(session.entry(row)) for row in range(len(session)))


def test_a_line_with_a_real_result_beside_a_stand_in_is_no_stand_in() -> None:
    results = [
        {"type": "tool_result", "tool_use_id": "t1", "content": SESSION_ENDED, "is_error": True},
        {"type": "tool_result", "tool_use_id": "t2", "content": "two"},
    ]
    session = Builder().answer(call("t1"), call("t2")).user(results).session()
    assert [c.is_stand_in for c in pairs(session).calls] == [True, False]
    assert not is_stand_in(session.entry(2))


def test_a_sub_agents_calls_are_marked() -> None:
    session = Builder().answer(call("t1"), isSidechain=True).result("t1", isSidechain=True).session()
    assert pairs(session).calls[0].is_sidechain


def test_tools_of_the_server_are_no_calls() -> None:
    search = {"type": "server_tool_use", "id": "s1", "name": "web_search"}
    found = {"type": "web_search_tool_result", "tool_use_id": "s1"}
    assert pairs(Builder().answer(search, found, call("t1")).session()).calls[0].id == "t1"
    beside = Builder().entry(
        "assistant", message={"role": "assistant", "content": [search, dict(call("t1"))]}
    )
    assert [c.index for c in pairs(beside.session()).calls] == [1]


def test_only_the_rows_asked_for_are_paired() -> None:
    session = Builder().answer(call("t1")).result("t1").session()
    assert pairs(session, [0]).calls[0].result_row is None
    assert pairs(session, [1]).unpaired_results[0].id == "t1"
