"""Reading a session: turns along a way, what they cost, sub-agents, and files that change meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from clew.actions.listing import list_sessions
from clew.actions.reading import (
    Opened,
    find_branch,
    find_line,
    open_reading,
    read_turns,
    sub_agents,
    way_to,
)
from clew.actions.stores import open_store
from clew.actions.turn_documents import show_document, turn_document
from clew.errors import UsageError
from clew.session.graph import Graph
from clew.session.messages import messages
from clew.session.pricing import Tokens
from clew.session.spending import Spent, spent, turn_spent
from tests.builder import Builder, call
from tests.faces.stage import demo, write
from tests.session.recorded import CORPUS

if TYPE_CHECKING:
    from pathlib import Path

ID = "0a0a0a0a-0000-4000-8000-000000000001"


def opened(root: Path, data: bytes) -> Opened:
    write(root, "-home-ada-lighthouse", {ID: data})
    return open_reading([root], ID)


def test_turns_are_as_many_as_the_list_of_sessions_counts(tmp_path: Path) -> None:
    """One count: what `clew ls` says of a session is what `clew show` shows of it."""
    root = demo(tmp_path)
    stores = [root, *sorted({path.parents[1] for path in CORPUS.glob("*/*/projects/*")})]
    for store in stores:
        for row in list_sessions(open_store([store]), now=0.0, full=True).rows:
            assert len(read_turns(open_reading([store], row.path)).turns) == row.turns, row.path


def test_what_a_turn_cost_is_what_its_messages_cost(tmp_path: Path) -> None:
    found = opened(tmp_path, Builder(ID).user("Hi").answer("Hello.", output=[7]).answer("More.").data())
    (turn,) = read_turns(found).turns
    each = [spent(found.session, message) for message in turn.messages]
    total = turn_spent(found.session, turn)
    assert total.tokens == Tokens(input=2, output=8)
    assert total.cost_usd is not None
    assert total.cost_usd == sum(one.cost_usd or 0 for one in each) > 0


def test_a_price_that_is_not_known_makes_the_sum_unknown() -> None:
    assert (Spent(Tokens(1), 0.5) + Spent(Tokens(2), None)).cost_usd is None
    assert (Spent(Tokens(1), 0.5) + Spent(Tokens(2), 0.25)) == Spent(Tokens(3), 0.75)


@pytest.mark.parametrize(
    "fields", [{"model": "<synthetic>"}, {"isApiErrorMessage": True}], ids=["synthetic", "api error"]
)
def test_what_the_client_wrote_itself_cost_nothing(tmp_path: Path, fields: dict[str, Any]) -> None:
    found = opened(tmp_path, Builder(ID).user("Hi").answer("Sorry.", output=[900], **fields).data())
    (message,) = messages(found.session)
    assert spent(found.session, message) == Spent()


def test_a_way_leads_through_compactions_and_past_other_branches(tmp_path: Path) -> None:
    builder = Builder(ID).user("First").answer("One.")
    fork = builder.leaf
    builder.user("Wrong").answer("No.").rewind(fork).compact("Sum").user("Right").answer("Yes.")
    session = opened(tmp_path, builder.data()).session
    way = way_to(session, Graph(session), find_line(session, "u8"))
    assert [session.table.number[row] for row in way] == [1, 2, 5, 6, 7, 8]


def test_a_line_is_found_by_the_start_of_its_uuid(tmp_path: Path) -> None:
    builder = Builder(ID).user("A", uuid="abcd-1").answer("B", uuid="abce-2").user("C", uuid="abcd-1")
    session = opened(tmp_path, builder.data()).session
    assert find_line(session, "abcd-1") == 2
    assert find_line(session, "ABCE") == 1
    assert find_line(session, "abcd") == 2
    for name in ("abc", "zzzz", ""):
        with pytest.raises(UsageError):
            find_line(session, name)
    with pytest.raises(UsageError, match="2 lines"):
        find_line(opened(tmp_path, builder.user("D", uuid="abcd-3").data()).session, "abcd")


def test_a_branch_is_found_by_number_or_id(tmp_path: Path) -> None:
    builder = Builder(ID).user("First").answer("One.")
    fork = builder.leaf
    builder.user("Second").answer("Two.", uuid="beef-1").rewind(fork).user("Third").answer("Three.")
    session = opened(tmp_path, builder.data()).session
    graph = Graph(session)
    assert find_branch(session, graph, 5, "1").uuid == "beef-1"
    assert find_branch(session, graph, 5, "beef").uuid == "beef-1"
    for name in ("0", "2", "bee", "cafe"):
        with pytest.raises(UsageError, match="1 branch"):
            find_branch(session, graph, 5, name)


def test_a_file_that_is_cut_meanwhile_ends_the_turns_and_is_damaged(tmp_path: Path) -> None:
    builder = Builder(ID)
    for number in range(5):
        builder.user(f"Q{number} " + "x" * 100).answer(f"A{number}")
    found = opened(tmp_path, builder.data())
    reading = read_turns(found)
    turns = show_document(reading)["turns"]
    path = tmp_path / "projects" / "-home-ada-lighthouse" / f"{ID}.jsonl"
    path.write_bytes(builder.data()[:1500])
    found.session._cache.clear()  # pyright: ignore[reportPrivateUsage]  # what was decoded before
    seen: list[Any] = [turn["n"] for turn in turns]  # type: ignore[attr-defined]
    assert 0 < len(seen) < 5
    assert found.is_damaged


def test_more_sub_agents_than_open_files_can_be_read(tmp_path: Path) -> None:
    import resource

    main = Builder(ID).user("Go").answer("Good.")
    agents = {
        f"{ID}/subagents/agent-a{n:04}": Builder(ID).user("Do", isSidechain=True, agentId=f"a{n:04}").data()
        for n in range(120)
    }
    write(tmp_path, "-home-ada-lighthouse", {ID: main.data(), **agents})
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with (tmp_path / "last").open("wb") as last:
        most = last.fileno() + 60  # what earlier tests look at may have many open
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    try:
        found = sub_agents(open_reading([tmp_path], ID))
        assert len(found) == 120
        assert all(agent.source is not None and len(agent.source.session) == 1 for agent in found)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_call_without_input_or_result_has_nulls(tmp_path: Path) -> None:
    block = {"type": "tool_use", "id": "t1", "name": "Bash"}
    found = opened(tmp_path, Builder(ID).user("Hi").answer(block, stop="tool_use").data())
    reading = read_turns(found)
    (called,) = turn_document(reading, reading.turns[0])["calls"]  # type: ignore[misc]
    assert {name: called[name] for name in ("input", "result", "structured", "result_uuid", "is_error")} == {
        "input": None,
        "result": None,
        "structured": None,
        "result_uuid": None,
        "is_error": False,
    }


def test_agents_without_a_file_or_a_sidechain_cost_no_second_reading(tmp_path: Path) -> None:
    data = Builder(ID).user("Hi").answer(call("t1", "Task"), stop="tool_use").result("t1").data()
    assert sub_agents(opened(tmp_path, data)) == ()
