"""The tree of a session, and what its ends would load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from clew.actions.reading import open_reading
from clew.actions.trees import read_tree, tree_document
from clew.session.context import context
from tests.builder import Builder
from tests.faces.stage import write

if TYPE_CHECKING:
    from pathlib import Path

ID = "0a0a0a0a-0000-4000-8000-000000000001"


def test_each_end_loads_what_the_client_would_send_from_there(tmp_path: Path) -> None:
    builder = Builder(ID).user("First").answer("One.")
    fork = builder.leaf
    for number in range(3):
        builder.rewind(fork).user(f"Try {number}")
        for _ in range(number + 1):
            builder.answer("Yes.").user("More")
    write(tmp_path, "-p", {ID: builder.answer("End.").data()})
    tree = read_tree(open_reading([tmp_path], ID))
    session = tree.opened.session
    assert len(tree.branches) == 2
    assert len(tree.loads) == 3
    for leaf in tree.leaves:
        sent = context(session, at=leaf.uuid)
        load = tree.loads[leaf.row]
        assert (load.messages, load.tokens_estimate) == (len(sent.messages), sent.tokens_estimate)


def test_agents_nested_deeper_than_python_calls_make_a_document(tmp_path: Path) -> None:
    def agent(number: int) -> bytes:
        builder = Builder(ID).user("Do", isSidechain=True, agentId=f"a{number}")
        block: dict[str, Any] = {"type": "tool_use", "id": f"t{number + 1}", "name": "Task", "input": {}}
        builder.answer(block, isSidechain=True, agentId=f"a{number}")
        return builder.result(
            f"t{number + 1}", isSidechain=True, toolUseResult={"agentId": f"a{number + 1}"}
        ).data()

    depth = 300
    main = Builder(ID).user("Go").answer({"type": "tool_use", "id": "t0", "name": "Task", "input": {}})
    main.result("t0", toolUseResult={"agentId": "a0"})
    files = {f"{ID}/subagents/agent-a{n}": agent(n) for n in range(depth)}
    write(tmp_path, "-p", {ID: main.data(), **files})
    document = tree_document(read_tree(open_reading([tmp_path], ID)))
    found = cast("list[dict[str, Any]]", document["agents"])
    for level in range(depth):
        (only,) = found
        assert only["agent_id"] == f"a{level}"
        found = only["children"]
    assert found == []


def test_a_session_that_is_refused_says_why(tmp_path: Path) -> None:
    data = Builder(ID).user("Hi").answer("Hello.", timestamp="never").data()
    write(tmp_path, "-p", {ID: data})
    assert read_tree(open_reading([tmp_path], ID)).refused == "No conversation found"
