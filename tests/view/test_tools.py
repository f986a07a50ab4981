"""Each tool is shown by what it was asked and what came of it, over the lines that clients really wrote."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.errors import ClewError
from clew.format.blocks import ToolResult
from clew.view import parts
from clew.view.calls import state_of
from clew.view.encoding import encode
from clew.view.tools import registry
from clew.view.tools.display import Asked, Display, Shown
from tests.view.sessions import files, timeline

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from syrupy.assertion import SnapshotAssertion

LONG = 300


def recorded() -> Iterator[parts.Call]:
    """The first recorded call of each tool, state and shape of its parts."""
    seen: set[tuple[object, ...]] = set()
    for path in files():
        for view in timeline(path.read_bytes()).turns():
            for one in view.flow():
                if isinstance(one, parts.Call):
                    shape = tuple(type(part).__name__ for part in (*one.given, None, *one.result))
                    key = (one.tool, one.state, shape)
                    if key not in seen:
                        seen.add(key)
                        yield one


def brief(value: Any) -> Any:
    """A value whose long texts are cut, so that a person can read it."""
    if isinstance(value, str):
        return value if len(value) <= LONG else f"{value[:LONG]}… {len(value)} in all"
    if isinstance(value, dict):
        return {key: brief(one) for key, one in cast("dict[str, Any]", value).items()}
    return [brief(one) for one in cast("list[Any]", value)] if isinstance(value, list) else value


def test_recorded_calls_look_as_they_did(snapshot: SnapshotAssertion) -> None:
    calls = sorted(recorded(), key=lambda call: (call.tool, call.state, encode(call)))
    tools = {call.tool for call in calls}
    assert tools >= {"Read", "Write", "Edit", "Bash", "Glob", "Grep", "TodoWrite", "Task", "Agent", "Skill"}
    told: list[str] = []
    for call in calls:
        made = json.loads(encode(call))
        inner = {key: made[key] for key in ("given", "result") if key in made}
        head = f"{call.tool} | {call.argument} | {call.outcome} | {call.state}"
        told.append(f"{brief(head)}\n{json.dumps(brief(inner), indent=1, ensure_ascii=False)}")
    assert "\n\n".join(told) == snapshot


def asked(name: str, given: dict[str, Any], said: Any = "", kept: object = None, **more: Any) -> Asked:
    """A call with its result; a `said` of None is none."""
    is_error = bool(more.pop("is_error", False))
    block = {"type": "tool_result", "tool_use_id": "t", "content": said, "is_error": is_error}
    result = None if said is None else ToolResult(block)
    return Asked(name, given, state_of(result), result, kept, "/home/ada/lamp", given, **more)


def shown(name: str, given: dict[str, Any], said: Any = "", kept: object = None, **more: Any) -> Shown:
    return registry.shown(asked(name, given, said, kept, **more))


# What no recorded session has ---------------------------------------------------------------------------


def test_several_edits_of_one_file_are_one_diff() -> None:
    edits = [{"old_string": "a\nb", "new_string": "a\nc"}, {"old_string": "x", "new_string": ""}]
    made = shown("MultiEdit", {"file_path": "/home/ada/lamp/wick.py", "edits": edits}, "ok")
    assert (made.argument, made.outcome) == ("wick.py", "+1 −2")
    (diff, *_) = made.result
    assert isinstance(diff, parts.Diff)
    assert [hunk.lines for hunk in diff.hunks] == [(" a", "-b", "+c"), ("-x",)]


def test_a_cell_of_a_notebook_is_compared_with_what_it_was() -> None:
    before = json.dumps({"cells": [{"id": "c1", "source": ["light = 0\n", "on()"]}]})
    kept = {"notebook_path": "/home/ada/lamp/n.ipynb", "original_file": before}
    given = {"notebook_path": "/home/ada/lamp/n.ipynb", "cell_id": "c1", "new_source": "light = 1\non()"}
    made = shown("NotebookEdit", given, "ok", kept)
    assert (made.argument, made.outcome) == ("n.ipynb replace c1", "+1 −1")
    assert isinstance(made.result[0], parts.Diff)
    assert made.result[0].hunks[0].lines == ("-light = 0", "+light = 1", " on()")


def test_a_deleted_cell_is_all_gone() -> None:
    kept = {"notebook_path": "n", "original_file": json.dumps({"cells": [{"id": "c", "source": "on()"}]})}
    given = {"notebook_path": "n", "cell_id": "c", "new_source": "", "edit_mode": "delete"}
    assert shown("NotebookEdit", given, "ok", kept).outcome == "+0 −1"


def test_the_two_streams_of_a_command_stay_apart() -> None:
    made = shown("Bash", {"command": "make"}, "lit\nsmoke", {"stdout": "lit", "stderr": "smoke"})
    assert made.result == (parts.Code("lit", stream="out"), parts.Code("smoke", stream="err"))
    assert made.outcome == "2 lines"


@pytest.mark.parametrize(
    ("said", "state", "outcome"),
    [
        ("Exit code 137\nkilled", "failed", "exit 137"),
        ("The user doesn't want to proceed with this tool use.", "refused", "refused"),
        ("no", "failed", "failed"),
    ],
)
def test_how_a_call_went_wrong_is_said(said: str, state: str, outcome: str) -> None:
    one = asked("Bash", {"command": "make"}, said, f"Error: {said}", is_error=True)
    made = registry.shown(one)
    assert (one.state, made.outcome) == (state, outcome)
    assert made.result == (parts.Code(said),)


def test_a_call_without_a_result_says_so() -> None:
    assert shown("Bash", {"command": "make"}, None).outcome == "no result"


def test_an_output_that_was_put_away_is_named() -> None:
    kept = {"stdout": "a", "stderr": "", "persistedOutputPath": "/x/1.txt", "persistedOutputSize": 200_000}
    made = shown("Bash", {"command": "make"}, "a", kept)
    assert made.outcome == "200 KB"
    assert parts.Notice("the whole output, 200 KB, is in /x/1.txt") in made.result
    told = "<persisted-output>\nOutput too large (105.5KB). Full output saved to: /x/2.txt\n\nPreview:\na"
    made = shown("mcp__shelf__list", {}, told)
    assert made.outcome == "105.5KB"
    assert parts.Notice("the whole output, 105.5KB, is in /x/2.txt") in made.result


def test_what_changed_in_a_list_is_told_by_the_call_before_where_the_client_kept_nothing() -> None:
    before = asked(
        "TodoWrite", {"todos": [{"content": "oil", "status": "pending"}, {"content": "wick"}]}, "ok"
    )
    now = {"todos": [{"content": "oil", "status": "completed"}, {"content": "match"}]}

    def earlier(names: Collection[str]) -> Iterator[Asked]:
        return iter((before,) if "TodoWrite" in names else ())

    made = shown("TodoWrite", now, "ok", earlier=earlier)
    assert made.outcome == "1 done, 1 new, 1 gone"
    assert made.given[0] == parts.Todos(
        (
            parts.Todo("oil", "completed", was="pending"),
            parts.Todo("match", "pending", is_new=True),
            parts.Todo("wick", "removed", was="pending"),
        )
    )


def test_links_of_a_search_are_a_table() -> None:
    hits = [{"title": "Oil", "url": "https://oil.example"}]
    kept = {"query": "oil", "results": [{"tool_use_id": "x", "content": hits}, "Oil burns."]}
    made = shown("WebSearch", {"query": "oil"}, "Links: …", kept)
    assert made.outcome == "1 link"
    assert made.result[0] == parts.Table((("Oil", "https://oil.example"),), head=("title", "address"))
    served = shown("web_search", {"query": "oil"}, [{"type": "web_search_result", **hits[0]}])
    assert (served.outcome, served.result) == ("1 link", made.result[:1])
    failed = shown("web_search", {"query": "oil"}, {"type": "error", "error_code": "max_uses_exceeded"})
    assert failed.outcome == "max_uses_exceeded"


def test_a_page_is_shown_by_what_was_made_of_it() -> None:
    kept = {"url": "https://oil.example", "code": 200, "bytes": 9600, "result": "It **burns**."}
    made = shown("WebFetch", {"url": "https://oil.example", "prompt": "Does it burn?"}, "It **burns**.", kept)
    assert (made.outcome, made.result) == ("200 · 9.6 KB", (parts.Markdown("It **burns**."),))


def test_a_tool_of_a_server_is_shown_by_the_names_of_its_schema() -> None:
    given = {"shelf": "top", "depth": 2, "filter": {"lit": True}}
    made = shown("mcp__shelf__list", given, [{"type": "text", "text": "a\nb"}], {"structuredContent": [1]})
    assert (made.argument, made.outcome) == ("top", "2 lines")
    assert made.given[0] == parts.Table((("shelf", "top"), ("depth", "2")))
    assert isinstance(made.given[1], parts.Section)
    assert made.given[1].title == "filter"
    assert made.result[0] == parts.Code("a\nb")
    assert isinstance(made.result[1], parts.Section)


# Anything at all ----------------------------------------------------------------------------------------

NAMES = sorted({*registry.TOOLS, "mcp__a__b", "mcp__", "NoSuchTool", ""})
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**30), 10**30), st.floats(), st.text(max_size=8),
    st.sampled_from(["\ud800", "in_progress", "\x1b[2J", "a\nb"]),
)  # fmt: skip
_NAMES_INSIDE = """
file_path content old_string new_string edits todos status command questions options answers plan skill url
query results stdout stderr structuredPatch lines oldStart newStart type file base64 task taskId mode text
notebook_path cell_id original_file agentId isAsync filenames subject oldTodos newTodos
"""
KEYS = st.sampled_from(_NAMES_INSIDE.split())
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=12,
)


@settings(max_examples=30)
@given(st.dictionaries(KEYS, VALUES, max_size=6), VALUES, VALUES, st.booleans())
def test_no_shape_of_any_tool_is_too_strange_to_be_shown(
    values: dict[str, object], said: object, kept: object, is_error: bool
) -> None:
    for name in NAMES:
        made = shown(name, values, said, kept, is_error=is_error)
        assert isinstance(made.argument, str)
        call = parts.Call(name, made.argument, made.outcome, "done", given=made.given, result=made.result)
        json.loads(encode(call))


def test_a_display_of_another_package_is_used_and_one_that_fails_is_passed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from importlib.metadata import EntryPoint

    points = {
        "Lantern": EntryPoint("Lantern", f"{__name__}:lantern", registry.GROUP),
        "Broken": EntryPoint("Broken", f"{__name__}:broken", registry.GROUP),
        "Nothing": EntryPoint("Nothing", f"{__name__}:nothing", registry.GROUP),
        "Gone": EntryPoint("Gone", "no.such.package:show", registry.GROUP),
        "mcp__shelf__*": EntryPoint("mcp__shelf__*", f"{__name__}:lantern", registry.GROUP),
    }
    monkeypatch.setattr(registry, "_others", lambda: points)
    assert shown("Lantern", {"x": "1"}).argument == "a lantern"
    assert shown("mcp__shelf__list", {"x": "1"}).argument == "a lantern"
    assert shown("mcp__other__list", {"x": "1"}).argument == "1"
    for name in ("Broken", "Nothing", "Gone"):
        assert shown(name, {"x": "1"}).argument == "1"


def test_no_display_of_clews_own_fails_for_any_recorded_call(monkeypatch: pytest.MonkeyPatch) -> None:
    # With no net below: each display is called as it is, and whatever it raises is a failure here.
    tried: set[str] = set()

    def bare(module: str, asked: Asked) -> Shown:
        tried.add(module)
        return registry._own(module)(asked)  # pyright: ignore[reportPrivateUsage]

    monkeypatch.setattr(registry, "_by_own", bare)
    for path in files():
        for view in timeline(path.read_bytes()).turns():
            for one in view.flow():
                assert one is not None
    assert tried >= {"read", "write", "edit", "bash", "glob", "grep", "todo_write", "agent", "skill"}


def test_a_display_of_clews_own_that_fails_says_so_and_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_own", _always(broken))
    with pytest.warns(registry.DisplayWarning, match=r"display of bash failed \(RuntimeError\)") as told:
        assert shown("Bash", {"x": "1"}).argument == "1"
    assert "oil" not in str(told[0].message)


def test_a_session_that_is_gone_while_it_is_shown_is_no_mistake_of_a_display(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def gone(_asked: Asked) -> Shown:
        raise ClewError("gone")

    monkeypatch.setattr(registry, "_own", _always(gone))
    assert shown("Bash", {"x": "1"}).argument == "1"


def _always(display: Display) -> Callable[[str], Display]:
    return lambda _module: display


def lantern(_asked: Asked) -> Shown:
    return Shown("a lantern", "lit")


def broken(_asked: Asked) -> Shown:
    raise RuntimeError("no oil")


def nothing(_asked: Asked) -> None:
    return None
