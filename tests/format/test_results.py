"""Structured tool results: every shape that was recorded or reported, and shapes nobody has seen."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.format import known_parts as parts
from clew.format import results as r
from tests.format.samples import ask_everything, json_values, made_file, recorded


def recorded_results() -> list[tuple[str, Any]]:
    """Tool and structured result of every call in the recorded files, absent ones left out."""
    names: dict[str, str] = {}
    pairs: list[tuple[str, Any]] = []
    for sample in recorded():
        if sample.data["type"] not in ("user", "assistant"):
            continue
        content: Any = sample.data["message"]["content"]
        for block in () if isinstance(content, str) else content:
            if block["type"] == "tool_use":
                names[block["id"]] = block["name"]
            elif block["type"] == "tool_result" and "toolUseResult" in sample.data:
                pairs.append((names[block["tool_use_id"]], sample.data["toolUseResult"]))
    return pairs


def test_every_recorded_result_has_a_view_of_its_tool() -> None:
    counted: Counter[tuple[str, str]] = Counter()
    for tool, value in recorded_results():
        view = r.result(tool, value)
        ask_everything(view)
        assert view.raw is value
        counted[tool, type(view).__name__] += 1
    # Counted by a script that knows nothing of the views.
    assert counted == {
        ("Agent", "Agent"): 13,
        ("AskUserQuestion", "AskUserQuestion"): 4,
        ("Bash", "Bash"): 156,
        ("Bash", "ErrorText"): 50,
        ("Edit", "Edit"): 45,
        ("Edit", "ErrorText"): 1,
        ("ExitPlanMode", "ErrorText"): 1,
        ("ExitPlanMode", "ExitPlanMode"): 3,
        ("Glob", "ErrorText"): 8,
        ("Glob", "Glob"): 36,
        ("Grep", "ErrorText"): 9,
        ("Grep", "Grep"): 40,
        ("NoSuchTool", "ErrorText"): 7,
        ("Read", "ErrorText"): 43,
        ("Read", "Read"): 89,
        ("Skill", "ErrorText"): 1,
        ("Skill", "Skill"): 6,
        ("Task", "Agent"): 31,
        ("TaskCreate", "ErrorText"): 1,
        ("TaskCreate", "Tasks"): 9,
        ("TaskList", "ErrorText"): 1,
        ("TaskList", "Tasks"): 1,
        ("TaskUpdate", "ErrorText"): 1,
        ("TaskUpdate", "Tasks"): 1,
        ("TodoRead", "Todos"): 1,
        ("TodoWrite", "ErrorText"): 7,
        ("TodoWrite", "Todos"): 44,
        ("Write", "Write"): 48,
    }


def test_a_result_whose_call_is_lost_is_told_by_its_shape() -> None:
    told = {
        (tool, type(r.result(None, value)).__name__)
        for tool, value in recorded_results()
        if hasattr(value, "keys") and not tool.startswith("Task")
    }
    assert all(tool == view for tool, view in told - {("TodoWrite", "Todos")})


@pytest.mark.parametrize("tool", [*parts.RESULTS, *parts.REPORTED_RESULTS])
def test_every_tool_in_the_tables_has_a_view(tool: str) -> None:
    shapes = [
        *parts.RESULTS.get(tool, ()),
        *([parts.REPORTED_RESULTS.get(tool)] * (tool not in parts.RESULTS)),
    ]
    for shape in shapes:
        if shape and not shape.startswith("("):
            assert not isinstance(r.result(tool, dict.fromkeys(shape.split())), r.Unknown)


def test_a_plain_string_is_an_error_text_whatever_the_tool() -> None:
    for tool in ("Read", "mcp__harbour__ships", None):
        view = r.result(tool, "Error: no such rock")
        assert isinstance(view, r.ErrorText)
        assert view.text == "Error: no such rock"


def test_the_result_of_an_unknown_tool_stays_what_it_was() -> None:
    value = {"stdout": "looks like Bash", "stderr": "but is not"}
    view = r.result("mcp__harbour__ships", value)
    assert isinstance(view, r.Unknown)
    assert view.raw is value
    for odd in (None, 7, True, 1.5):
        assert isinstance(r.result("Read", odd), r.Unknown)
    assert isinstance(r.result(None, {"gull": 1}), r.Unknown)


def result_of(name: str) -> r.Result:
    """The first structured result in a made sample, by the tool that is called there."""
    lines = made_file(name)
    tool = next(
        block["name"]
        for line in lines
        if line["type"] == "assistant"
        for block in line["message"]["content"]
        if block["type"] == "tool_use"
    )
    return r.result(tool, next(line["toolUseResult"] for line in lines if "toolUseResult" in line))


def test_several_edits_are_told_apart() -> None:
    view = result_of("made-multi-edit.jsonl")
    assert isinstance(view, r.MultiEdit)
    assert view.path == "/home/ada/lighthouse/lamp.py"
    assert view.edits == (("lamp = Lamp()", "beacon = Lamp()"), ("lamp.shine()", "beacon.shine()"))
    assert view.original == "lamp = Lamp()\nlamp.shine()\n"
    (hunk,) = view.hunks
    assert (hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines) == (1, 2, 1, 2)
    assert (hunk.added, hunk.removed) == (2, 2)


def test_a_notebook_cell_is_told() -> None:
    view = result_of("made-notebook-edit.jsonl")
    assert isinstance(view, r.NotebookEdit)
    assert (view.path, view.cell_id, view.cell_type, view.mode, view.new_source) == (
        "/home/ada/lighthouse/tides.ipynb",
        "c2",
        "code",
        "replace",
        "tides.plot()",
    )
    assert view.error is None
    assert view.original == '{"cells":[]}'
    assert view.updated == '{"cells":[{"id":"c2"}]}'


def test_a_fetched_page_is_told() -> None:
    view = result_of("made-web-fetch.jsonl")
    assert isinstance(view, r.WebFetch)
    assert (view.url, view.code, view.bytes, view.text, view.duration_ms) == (
        "https://example.org/almanac",
        200,
        2048,
        "Clear, wind from the west.",
        731,
    )


def test_a_search_gives_links_and_words() -> None:
    view = result_of("made-web-search.jsonl")
    assert isinstance(view, r.WebSearch)
    assert view.query == "visible range of a lighthouse"
    assert view.links == (("Horizons", "https://example.org/horizon"), ("Lamps", "https://example.org/lamps"))
    assert view.text == "It depends on the height."
    assert view.duration_seconds == 3.25


def test_a_file_may_be_a_string() -> None:
    view = result_of("made-old-shapes.jsonl")
    assert isinstance(view, r.Read)
    assert (view.type, view.path, view.content) == ("file", None, "Calm sea.")


def test_a_list_of_texts_is_blocks() -> None:
    view = r.result("mcp__harbour__ships", made_file("made-old-shapes.jsonl")[5]["toolUseResult"])
    assert isinstance(view, r.Blocks)
    assert view.text == "Two trawlers\none ferry"
    assert len(view.blocks) == 2


def recorded_result(tool: str, *having: str) -> r.Result:
    """The first recorded result of a tool with some keys."""
    return next(
        r.result(name, value)
        for name, value in recorded_results()
        if name == tool and hasattr(value, "keys") and set(having) <= value.keys()
    )


def test_a_recorded_result_tells_its_fields() -> None:
    bash = recorded_result("Bash", "persistedOutputPath")
    assert isinstance(bash, r.Bash)
    assert bash.persisted_output_path is not None
    assert (bash.persisted_output_size, bash.interrupted, bash.is_image, bash.stderr) == (
        108000,
        False,
        False,
        "",
    )
    assert bash.stdout.startswith("row 000000")
    background = recorded_result("Bash", "backgroundTaskId")
    assert isinstance(background, r.Bash)
    assert background.background_task_id
    grep = recorded_result("Grep", "appliedLimit")
    assert isinstance(grep, r.Grep)
    assert (grep.mode, grep.num_lines, grep.applied_limit, grep.filenames) == ("content", 250, 250, ())
    assert grep.content is not None
    glob = recorded_result("Glob")
    assert isinstance(glob, r.Glob)
    assert (glob.num_files, glob.truncated) == (len(glob.filenames), False)
    write = recorded_result("Write", "originalFile")
    assert isinstance(write, r.Write)
    assert (write.action, write.original, write.hunks) == ("create", None, ())
    assert write.content == "line one\nline two\nline three\n"
    edit = recorded_result("Edit")
    assert isinstance(edit, r.Edit)
    assert (edit.old, edit.new, edit.original) == ("alpha", "ALPHA", "alpha\nbeta\ngamma\n")
    assert (edit.replace_all, edit.user_modified) == (False, False)
    assert edit.path is not None
    assert (edit.hunks[0].added, edit.hunks[0].removed) == (1, 1)


def test_a_recorded_picture_tells_its_size_with_and_without_the_note() -> None:
    value: Any = next(
        view.raw
        for tool, value in recorded_results()
        if isinstance(view := r.result(tool, value), r.Read) and view.type == "image"
    )
    noted, bare = r.result("Read", value), json.loads(json.dumps(value))
    bare["file"].pop("dimensions", None)
    unnoted = r.result("Read", bare)
    assert isinstance(noted, r.Read)
    assert isinstance(unnoted, r.Read)
    assert (noted.size, unnoted.size, noted.media_type) == ((8, 8), (8, 8), "image/png")


def test_a_recorded_text_tells_its_lines() -> None:
    read = next(v for v in (r.result(t, v) for t, v in recorded_results()) if isinstance(v, r.Read))
    assert (read.type, read.content, read.start_line, read.num_lines, read.total_lines, read.size) == (
        "text",
        "line b1\nline b2\n",
        1,
        3,
        3,
        None,
    )


def test_an_agent_tells_what_it_did() -> None:
    done = recorded_result("Agent", "toolStats")
    assert isinstance(done, r.Agent)
    assert (done.status, done.is_async, done.agent_type, done.tokens, done.tool_uses) == (
        "completed",
        False,
        "general-purpose",
        216,
        2,
    )
    assert done.text == "There are several text files."
    assert done.usage["output_tokens"] == 68
    assert done.duration_ms is not None
    assert done.agent_id is not None
    assert done.prompt is not None
    away = recorded_result("Task", "isAsync")
    assert isinstance(away, r.Agent)
    assert (away.status, away.is_async, away.description) == ("async_launched", True, "BG count")
    assert away.output_file is not None


def test_questions_plans_skills_and_lists_tell_their_words() -> None:
    asked = recorded_result("AskUserQuestion")
    assert isinstance(asked, r.AskUserQuestion)
    assert asked.answers == {"Which colour?": "Red"}
    assert asked.questions[0]["header"] == "Colour"
    plan = recorded_result("ExitPlanMode", "filePath")
    assert isinstance(plan, r.ExitPlanMode)
    assert (plan.plan, plan.path is not None) == ("# Plan\n1. Do it\n2. Check it\n", True)
    skill = recorded_result("Skill")
    assert isinstance(skill, r.Skill)
    assert (skill.name, skill.success) == ("demo-skill", True)
    todos = recorded_result("TodoWrite")
    assert isinstance(todos, r.Todos)
    assert (todos.old, [todo["content"] for todo in todos.new]) == ((), ["Do X", "Do Y"])
    listed = next(r.result(t, v) for t, v in recorded_results() if t == "TodoRead")
    assert isinstance(listed, r.Todos)
    assert [todo["content"] for todo in listed.new] == ["Do X"]
    changed = recorded_result("TaskUpdate")
    assert isinstance(changed, r.Tasks)
    assert (changed.task_id, changed.updated_fields, changed.status_change, changed.tasks) == (
        "1",
        ("status",),
        ("pending", "in_progress"),
        (),
    )
    created = recorded_result("TaskCreate")
    assert isinstance(created, r.Tasks)
    assert ([task["subject"] for task in created.tasks], created.status_change) == (["Do X"], None)
    tasks = recorded_result("TaskList")
    assert isinstance(tasks, r.Tasks)
    assert [task["id"] for task in tasks.tasks] == ["1"]


keys = sorted({key for shapes in (*parts.RESULTS.values(),) for shape in shapes for key in shape.split()})
keys += sorted({key for shape in parts.REPORTED_RESULTS.values() for key in shape.split()})


@given(
    st.none() | st.sampled_from([*parts.RESULTS, *parts.REPORTED_RESULTS, "gull"]),
    json_values | st.dictionaries(st.sampled_from(keys), json_values) | st.lists(json_values),
)
def test_no_value_makes_a_result_raise(tool: str | None, value: object) -> None:
    view = r.result(tool, value)
    assert view.raw is value
    ask_everything(view)
