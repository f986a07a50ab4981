"""What is told and shown of files in the rarer shapes: attachments, words alone, results that are none."""

from __future__ import annotations

from typing import Any

import pytest

from clew.format.results import Hunk
from clew.session.file_happenings import happenings
from clew.session.file_patches import Piece, edited, numbered, patched, replaced
from clew.session.file_versions import Gap, Version, versions
from clew.session.session import Session
from clew.session.subagents import Source, agents
from tests.builder import Builder, call
from tests.session.file_stories import HOME, Story, path


def followed(session: Session, *sources: Source) -> tuple[list[Version], list[Gap]]:
    found = list(versions(happenings(session, agents(session, sources))))
    return [one for one in found if isinstance(one, Version)], [one for one in found if isinstance(one, Gap)]


def contents(found: list[Version]) -> list[bytes | None]:
    return [None if one.content is None else one.content.data for one in found]


def edited_outside(story: Story, name: str, snippet: str, **more: Any) -> Story:
    part = {"type": "edited_text_file", "filename": path(name), "snippet": snippet, **more}
    story.builder.entry("attachment", attachment=part)
    return story


# Attachments ------------------------------------------------------------------------------------------


def test_what_the_client_notes_of_a_change_from_outside_is_a_gap_and_the_whole_file() -> None:
    story = Story().prompt().write("a", "one\ntwo\n").prompt()
    edited_outside(story, "a", "1\tone\n2\t2\n3\t", rereadEntry={"contentLength": 6})
    story.files["a"] = b"one\n2\n"
    story.edit("a", "one", "1")
    found, gaps = followed(story.builder.session())
    assert contents(found)[-1] == b"1\n2\n"
    assert [gap.path for gap in gaps] == [path("a")]


@pytest.mark.parametrize(
    ("snippet", "more"),
    [
        ("2\tanother", {}),  # a part: it shows that something changed
        ("1\tone\n2\tother", {"rereadEntry": {"contentLength": 99}}),
    ],
)
def test_an_excerpt_that_differs_is_a_gap(snippet: str, more: dict[str, Any]) -> None:
    story = edited_outside(Story().prompt().write("a", "one\ntwo\n").prompt(), "a", snippet, **more)
    assert followed(story.builder.session())[1]


@pytest.mark.parametrize("snippet", ["no numbers", "", "1\tone\n...", f"1\t{'x' * 2000}", "1\ta\0b"])
def test_an_excerpt_that_cannot_be_told_tells_nothing(snippet: str) -> None:
    story = edited_outside(Story().prompt().write("a", "one\n").prompt(), "a", snippet)
    found, gaps = followed(story.builder.session())
    assert contents(found) == [b"one\n"]
    assert not gaps


@pytest.mark.parametrize(
    ("content", "is_told"),
    [
        (
            {
                "type": "text",
                "file": {
                    "filePath": path("a"),
                    "content": "other",
                    "startLine": 1,
                    "numLines": 1,
                    "totalLines": 1,
                },
            },
            True,
        ),
        ({"type": "image", "file": {"base64": ""}}, False),
        ("words", False),
        (None, False),
    ],
)
def test_a_file_that_was_handed_over_tells_what_it_holds(content: object, is_told: bool) -> None:
    story = Story().prompt().write("a", "one\n").prompt()
    story.builder.entry("attachment", attachment={"type": "file", "filename": path("a"), "content": content})
    story.builder.entry("attachment", attachment={"type": "skill_listing", "filename": path("a")})
    assert bool(followed(story.builder.session())[1]) is is_told


# Results ----------------------------------------------------------------------------------------------


def test_a_read_in_words_alone_tells_as_much_as_one_with_its_structure() -> None:
    story = Story(shape="bare").prompt().write("a", "one\ntwo\n")
    story.bash("a", lambda _: b"1\n2\n").read("a").edit("a", "2", "two")
    found, gaps = followed(story.builder.session())
    assert contents(found)[-1] == b"1\ntwo\n"
    assert len(gaps) == 1


@pytest.mark.parametrize("said", ["nothing to see", "1\tother\nand more below", "9\tother"])
def test_a_read_whose_words_are_no_lines_of_the_file_tells_nothing_whole(said: str) -> None:
    story = Story(shape="bare").prompt().write("a", "one\n")
    story.builder.answer(call("r", "Read", {"file_path": path("a"), "offset": 9}), stop="tool_use")
    story.builder.result("r", said)
    assert contents(followed(story.builder.session())[0]) == [b"one\n"]


def test_a_result_that_is_an_error_though_it_is_not_marked_changes_nothing() -> None:
    story = Story().prompt().write("a", "one\n")
    story.builder.answer(call("w", "Write", {"file_path": path("a"), "content": "x"}), stop="tool_use")
    story.builder.result("w", "no", toolUseResult="Error: the file was changed meanwhile")
    assert contents(followed(story.builder.session())[0]) == [b"one\n"]


def test_a_notebook_without_its_structure_is_changed_in_a_way_nobody_knows() -> None:
    builder = Builder().prompt("Go")
    builder.answer(call("n", "NotebookEdit", {"notebook_path": path("n.ipynb")}), stop="tool_use")
    builder.result("n", "Updated cell 1")
    assert contents(followed(builder.session())[0]) == [None]


def test_a_line_too_long_to_be_held_is_a_change_that_nobody_knows() -> None:
    story = Story().prompt().write("a", "one\n").write("b", "x" * (9 << 20)).read("b")
    found, _ = followed(Session.read(story.builder.data()))
    assert contents(found) == [b"one\n", None]


def test_of_two_results_in_one_line_each_keeps_its_own() -> None:
    builder = Builder().prompt("Go")
    builder.answer(
        call("c1", "Write", {"file_path": path("a"), "content": "a\n"}),
        call("c2", "Write", {"file_path": path("b"), "content": "b\n"}),
        stop="tool_use",
    )
    results = [
        {"type": "tool_result", "tool_use_id": name, "content": "File created successfully at: x"}
        for name in ("c1", "c2")
    ]
    kept: dict[str, Any] = {
        "type": "create",
        "filePath": path("b"),
        "content": "b\n",
        "structuredPatch": [],
    }
    builder.user(results, toolUseResult=kept)
    found, _ = followed(builder.session())
    assert {one.path: data for one, data in zip(found, contents(found), strict=True)} == {
        path("a"): b"a\n",
        path("b"): b"b\n",
    }


@pytest.mark.parametrize("given", [{}, {"file_path": 7}, {"file_path": ""}])
def test_a_call_that_names_no_file_happens_to_none(given: dict[str, object]) -> None:
    builder = Builder().prompt("Go").answer(call("w", "Write", given), stop="tool_use")
    builder.result("w", "File created successfully at: ?")
    assert happenings(builder.session()) == []


# Copies and sub-agents --------------------------------------------------------------------------------


def test_a_snapshot_names_copies_and_each_counts_once() -> None:
    backup = {"backupFileName": "abc@v1", "version": 1, "backupTime": "2026-01-01T00:00:00.000Z"}
    story = Story().prompt()
    for _ in range(2):
        story.builder.line(
            {
                "type": "file-history-snapshot",
                "messageId": "m",
                "snapshot": {"messageId": "m", "trackedFileBackups": {"a": backup}},
            }
        )
    story.write("a", "new\n")
    found = happenings(story.builder.session())
    assert [one.copy.file_name for one in found if one.copy is not None] == ["abc@v1"]


def test_a_sub_agent_that_no_call_started_belongs_to_the_turn_of_its_time() -> None:
    main = Builder().prompt("One").answer("Yes.").wait(60).prompt("Two").answer("Yes.")
    side = Builder("side").prompt("Warm up", isSidechain=True, agentId="x1")
    side.wait(10)
    open_call = call("gone", "Write", {"file_path": path("g"), "content": "g"})
    side.answer(open_call, stop="tool_use", isSidechain=True)
    side.answer(
        call("w1", "Write", {"file_path": path("s"), "content": "s\n"}), stop="tool_use", isSidechain=True
    )
    side.result("w1", "File created successfully at: s", isSidechain=True)
    # What was said before may stand in it again, under the same ids.
    side.answer(
        call("w1", "Write", {"file_path": path("s"), "content": "no\n"}), stop="tool_use", isSidechain=True
    )
    found, _ = followed(main.session(), Source("x1", Session.read(side.data())))
    assert [(one.path, one.turn) for one in found] == [(path("s"), 1)]
    assert contents(found) == [b"s\n"]


# Pieces and hunks -------------------------------------------------------------------------------------


def test_an_edit_of_nothing_fills_an_empty_file_and_no_other() -> None:
    assert replaced(" \n", [Piece("", "new\n", False)]) == "new\n"
    assert replaced("text\n", [Piece("", "new\n", False)]) is None


@pytest.mark.parametrize(
    ("start", "lines"),
    [
        (9, ("+x",)),  # behind the end
        (1, (" two",)),  # other words
        (2, (" two", " three")),  # more lines than there are
        (1, ("?one",)),  # no sign that is known
    ],
)
def test_hunks_that_do_not_fit_are_not_applied(start: int, lines: tuple[str, ...]) -> None:
    assert patched("one\ntwo\n", [Hunk(start, 1, start, 1, lines)]) is None


def test_hunks_that_overlap_are_not_applied() -> None:
    twice = [Hunk(1, 2, 1, 2, (" one", " two")), Hunk(1, 1, 1, 1, ("-one",))]
    assert patched("one\ntwo\n", twice) is None


def test_tabs_that_hunks_show_as_blanks_fit_but_are_not_exact() -> None:
    found = patched("\tone\n", [Hunk(1, 1, 1, 1, ("-  one", "+  two"))])
    assert found is not None
    assert not found.is_exact
    assert edited("\tone\n", (), [Hunk(1, 1, 1, 1, ("-  one", "+  two"))], is_sure=True) is None


def test_a_file_without_an_end_keeps_none() -> None:
    mark = "\\ No newline at end of file"
    found = patched("one", [Hunk(1, 1, 1, 1, ("-one", mark, "+two", mark))])
    assert found is not None
    assert found.text == "two"


def test_numbers_that_do_not_follow_one_another_end_what_is_shown() -> None:
    found = numbered("     7→seven\n     8→eight\n    10→ten")
    assert found is not None
    assert (found.first, found.lines, found.below) == (7, ["seven", "eight"], "10→ten")
    assert numbered("words") is None


def test_the_folder_of_a_session_is_where_bare_names_are() -> None:
    builder = Builder().prompt("Go")
    builder.answer(call("w", "Write", {"file_path": "a", "content": "x"}), stop="tool_use")
    builder.result("w", "File created successfully at: a")
    assert [one.path for one in happenings(builder.session())] == [f"{HOME}/a"]


def test_what_a_sub_agents_file_has_out_of_order_happens_in_its_order() -> None:
    """As 2.1.45 was seen to write it: the end before the beginning, with the parents as they are."""
    main = Builder().prompt("Go")
    main.answer(call("t1", "Task", {"prompt": "Do it", "description": "d"}), stop="tool_use")
    side = Builder("side").prompt("Do it", isSidechain=True, agentId="x1")
    for name, tool, given, said in (
        ("w1", "Write", {"content": "s1\ns2\ns3\n"}, "File created successfully at: s"),
        ("e1", "Edit", {"old_string": "s2", "new_string": ""}, "The file s has been updated."),
    ):
        side.wait(1).answer(
            call(name, tool, {"file_path": path("s"), **given}), stop="tool_use", isSidechain=True
        )
        side.result(name, said, isSidechain=True)
    main.result("t1", toolUseResult={"agentId": "x1", "prompt": "Do it", "content": []})
    lines = side.data().splitlines(keepends=True)
    assert len(lines) == 5
    shuffled = b"".join([*lines[3:], *lines[:3]])
    found, gaps = followed(main.session(), Source("x1", Session.read(shuffled)))
    assert contents(found) == [b"s1\ns2\ns3\n", b"s1\ns3\n"]
    assert not gaps
