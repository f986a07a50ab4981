"""What every tool keeps to: it tells and never raises, touches nothing when asked, and loads quickly."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.agent.api_checks import refusal
from clew.agent.tools import standard_tools
from clew.agent.tools.todo_write import TodoWrite
from tests.agent.tools.desk import Desk, desk, structured

if TYPE_CHECKING:
    from clew.agent.tool import Tool

_NAMES = ("Read", "Edit", "MultiEdit", "Write", "Glob", "Grep", "TodoWrite")


def test_the_tools_have_the_names_the_client_gives_them() -> None:
    assert tuple(tool.name for tool in standard_tools()) == _NAMES


def test_each_session_has_its_own() -> None:
    assert all(one is not other for one, other in zip(standard_tools(), standard_tools(), strict=True))


@pytest.mark.parametrize("tool", standard_tools(), ids=_NAMES)
def test_what_the_model_is_told_is_a_schema_the_api_takes(tool: Tool) -> None:
    schema = json.loads(json.dumps(tool.schema))
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["additionalProperties"] is False
    assert set(schema["required"]) <= set(schema["properties"])
    assert 40 < len(tool.description) < 1024
    request: dict[str, Any] = {
        "model": "m",
        "max_tokens": 1,
        "messages": [{"role": "user", "content": "x"}],
        "tools": [{"name": tool.name, "description": tool.description, "input_schema": schema}],
    }
    assert refusal(request) is None


def test_only_what_changes_nothing_runs_beside_others() -> None:
    parallel = {tool.name for tool in standard_tools() if tool.is_parallel({})}
    assert parallel == {"Read", "Glob", "Grep"}


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
    | st.sampled_from(["", "~", "/", ".", "..", "a\0b", "\ud800", "/dev/null", "a.txt", "a.txt/x", "["]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=4,
)  # fmt: skip
_KEYS = st.sampled_from(
    ["file_path", "old_string", "new_string", "replace_all", "content", "edits", "offset", "limit", "pages",
     "path",
     "pattern", "glob", "output_mode", "-A", "-n", "head_limit", "todos", "strange", "allow_large"]
)  # fmt: skip


@given(
    st.sampled_from([name for name in _NAMES if name != "Grep"]), st.dictionaries(_KEYS, _VALUES, max_size=5)
)
def test_any_input_is_answered(
    tmp_path_factory: pytest.TempPathFactory, name: str, call: dict[str, object]
) -> None:
    """What is told can be sent, and nothing outside is touched. Grep, which starts programs, is apart."""
    at = desk(tmp_path_factory.mktemp("any"))
    inside = at.folder / "in"
    inside.mkdir()
    here = Desk(inside)
    here.write("a.txt", "one\n")
    tool = next(tool for tool in standard_tools() if tool.name == name)
    path = call.get("file_path")
    if name in ("Write", "Edit", "MultiEdit") and isinstance(path, str) and _leads_out(path, inside):
        return  # a permission stands before these
    outcome = here.run(tool, **call)
    sent = json.dumps([outcome.content, outcome.structured], ensure_ascii=False)
    assert "ud800" in json.dumps(call) or sent.encode("utf-8")
    assert [one.name for one in at.folder.iterdir()] == ["in"]


def _leads_out(path: str, folder: Path) -> bool:
    try:
        resolved = os.path.realpath(folder / Path(path).expanduser())
    except (ValueError, OSError):
        return False
    return not resolved.startswith(str(folder))


_SEARCHES: list[dict[str, object]] = [
    {},
    {"pattern": 5},
    {"pattern": "\ud800"},
    {"pattern": "a\0b"},
    {"pattern": "x", "path": 3},
    {"pattern": "x", "path": "\0"},
    {"pattern": "x", "-A": "y"},
    {"pattern": "x", "glob": "["},
    {"pattern": "x", "type": "nosuch"},
    {"pattern": "x", "output_mode": "bogus"},
    {"pattern": "x", "head_limit": -1},
]


@pytest.mark.parametrize("call", _SEARCHES, ids=ascii)
def test_any_search_is_answered(tmp_path: Path, call: dict[str, object]) -> None:
    at = desk(tmp_path)
    at.write("a.txt", "x\n")
    grep = next(tool for tool in standard_tools() if tool.name == "Grep")
    assert isinstance(at.run(grep, **call).content, str)


def test_asking_what_a_call_would_touch_touches_nothing(tmp_path: Path) -> None:
    at = desk(tmp_path)
    for tool in standard_tools():
        work = at.work()
        given_: dict[str, object] = {"file_path": "new/a.txt", "content": "x", "pattern": "*", "path": "new"}
        reach = tool.reach(given_, work)
        reads, writes = reach.reads, reach.writes
        match tool.name:
            case "Read":
                assert (reads, writes) == ((str(at.folder / "new/a.txt"),), ())
            case "Edit" | "MultiEdit" | "Write":
                assert (reads, writes) == ((), (str(at.folder / "new/a.txt"),))
            case "Glob" | "Grep":
                assert (reads, writes) == ((str(at.folder / "new"),), ())
            case _:
                assert (reads, writes) == ((), ())
    assert list(at.folder.iterdir()) == []


def test_loading_the_tools_loads_nothing_heavy() -> None:
    program = (
        "import sys; from clew.agent.tools import standard_tools; standard_tools();"
        "bad = {'PIL', 'asyncio', 'pydantic', 'httpx', 'anthropic', 'apsw', 'rich'} & set(sys.modules);"
        "sys.exit(str(bad) if bad else 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_list_that_is_all_done_is_put_away(tmp_path: Path) -> None:
    at, tool = desk(tmp_path), TodoWrite()
    open_ = [{"content": "Do X", "status": "in_progress", "activeForm": "Doing X"}]
    done = [{"content": "Do X", "status": "completed", "activeForm": "Doing X"}]
    assert structured(at.run(tool, todos=open_)) == {"oldTodos": [], "newTodos": open_}
    assert tool.todos == tuple(open_)
    assert structured(at.run(tool, todos=done)) == {"oldTodos": open_, "newTodos": done}
    assert tool.todos == ()


def test_a_list_that_is_none_changes_nothing(tmp_path: Path) -> None:
    at, tool = desk(tmp_path), TodoWrite([{"content": "kept", "status": "pending", "activeForm": "keeping"}])
    for todos in (
        "x",
        [5],
        [{"content": "", "status": "pending"}],
        [{"content": "x", "status": "bogus"}],
        None,
    ):
        assert at.run(tool, todos=todos).is_error
    assert tool.todos[0]["content"] == "kept"


def test_a_step_without_a_form_of_its_own_is_called_what_it_is(tmp_path: Path) -> None:
    outcome = desk(tmp_path).run(TodoWrite(), todos=[{"content": "Do X", "status": "pending", "id": "1"}])
    assert structured(outcome)["newTodos"][0]["activeForm"] == "Do X"
