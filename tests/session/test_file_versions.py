"""The versions of files, rebuilt from a session, against a client that holds the files themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.session.file_happenings import happenings, normal_path
from clew.session.file_versions import Gap, Version, no_copies, versions
from clew.session.session import Session
from clew.session.subagents import Source, agents
from tests.builder import Builder, call
from tests.session.file_stories import HOME, Story, path

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.session.file_stories import Shape


def followed(
    story: Story, copies: Callable[[str], bytes | None] = no_copies
) -> tuple[list[Version], list[Gap]]:
    return split(story.builder.session(), copies)


def split(
    session: Session, copies: Callable[[str], bytes | None] = no_copies
) -> tuple[list[Version], list[Gap]]:
    found = list(versions(happenings(session, agents(session)), copies))
    return [one for one in found if isinstance(one, Version)], [one for one in found if isinstance(one, Gap)]


def last(found: list[Version]) -> dict[str, bytes | None]:
    return {one.path: None if one.content is None else one.content.data for one in found}


@pytest.mark.parametrize("shape", ["whole", "large", "bare"])
def test_writes_and_edits_are_rebuilt_in_every_shape(shape: Shape) -> None:
    story = Story(shape=shape).prompt().write("a.py", "one\ntwo\ntwo\n\tthree").edit("a.py", "one", "1")
    story.prompt().edit("a.py", "two", "2", every=True).fail("a.py").edit("a.py", "\tthree", "\t\t3\n")
    found, gaps = followed(story)
    assert last(found) == {path("a.py"): story.files["a.py"]} == {path("a.py"): b"1\n2\n2\n\t\t3\n"}
    assert [(one.turn, one.tool, one.action, one.added, one.removed) for one in found] == [
        (1, "Write", "create", 4, 0),
        (1, "Edit", "edit", 1, 1),
        (2, "Edit", "edit", 2, 2),
        (2, "Edit", "edit", 1, 1),
    ]
    assert [one.call for one in found] == ["c1", "c2", "c3", "c5"]
    assert not gaps


def test_nothing_in_the_place_of_a_piece_takes_its_line_end_too() -> None:
    for shape in ("whole", "large", "bare"):
        story = Story(shape=shape).prompt().write("a", "one\ntwo\nthree\n").edit("a", "two", "")
        assert last(followed(story)[0]) == {path("a"): b"one\nthree\n"}


def test_the_hunks_tell_what_an_edit_says_otherwise() -> None:
    """Quotation marks are put as the text has them, and only the hunks say so."""
    builder = (
        Builder()
        .prompt("Go")
        .answer(
            call("c1", "Edit", {"file_path": path("a"), "old_string": 'say "hi"', "new_string": 'say "ho"'}),
            stop="tool_use",
        )
    )
    builder.result(
        "c1",
        toolUseResult={
            "filePath": path("a"),
            "oldString": "say “hi”",
            "newString": 'say "ho"',
            "originalFile": "say “hi”\nx\n",
            "structuredPatch": [
                {"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2,
                 "lines": ["-say “hi”", "+say “ho”", " x"]}
            ],
        },
    )  # fmt: skip
    found, _ = split(builder.session())
    assert last(found) == {path("a"): "say “ho”\nx\n".encode()}


def test_a_file_changed_by_something_else_is_a_gap_between_the_turns() -> None:
    story = Story().prompt().write("a", "one\ntwo\n").prompt().bash("a", lambda data: data + b"three\n")
    story.prompt().edit("a", "one", "1")
    found, gaps = followed(story)
    assert last(found) == {path("a"): b"1\ntwo\nthree\n"}
    assert [(gap.first_turn, gap.last_turn, gap.seen_by) for gap in gaps] == [(1, 3, "call")]
    assert "outside the session's file tools" in gaps[0].why
    assert found[1].before is not None
    assert found[1].before.data == b"one\ntwo\nthree\n"


def test_a_whole_read_tells_what_a_file_holds_and_what_changed() -> None:
    story = Story(shape="bare")
    story.files["a"] = b"one\ntwo\n"
    story.prompt().read("a").edit("a", "one", "1").prompt().bash("a", bytes.upper).read("a")
    story.edit("a", "TWO", "2")
    found, gaps = followed(story)
    assert last(found) == {path("a"): b"1\n2\n"}
    assert [(gap.first_turn, gap.last_turn, gap.seen_by) for gap in gaps] == [(1, 2, "read")]


def test_a_read_of_a_part_checks_and_tells_no_more() -> None:
    def part(first: int, *rows: str) -> dict[str, object]:
        file = {"filePath": path("a"), "content": "\n".join(rows), "numLines": len(rows), "startLine": first}
        return {"type": "text", "file": file | {"totalLines": 9}}

    for rows, expected in (((2, "two", "three"), b"1\ntwo\nthree\n"), ((2, "two", "3"), None)):
        story = Story(shape="bare").prompt().write("a", "one\ntwo\nthree\n")
        story.builder.answer(call("r", "Read", {"file_path": path("a"), "offset": 2}), stop="tool_use")
        story.builder.result("r", "", toolUseResult=part(*rows))
        story.edit("a", "one", "1")
        found, gaps = followed(story)
        assert last(found) == {path("a"): expected}
        assert len(gaps) == (expected is None)


def test_an_edit_that_does_not_fit_what_is_known_is_a_gap_and_unknown() -> None:
    story = (
        Story(shape="bare").prompt().write("a", "one\n").bash("a", lambda _: b"two\n").edit("a", "two", "2")
    )
    found, gaps = followed(story)
    assert last(found) == {path("a"): None}
    assert len(gaps) == 1
    story.write("a", "three\n")
    assert last(followed(story)[0]) == {path("a"): b"three\n"}


@pytest.mark.parametrize(
    "data", [b"one\r\ntwo\r\n", b"\xef\xbb\xbfone\ntwo", "\ufeffone\r\ntwo\r\n".encode("utf-16-le")]
)
def test_a_copy_tells_the_bytes_that_a_session_does_not(data: bytes) -> None:
    """Line ends, a mark and the encoding: a result shows none of them, an edit keeps them all."""
    encoding = "utf-16-le" if data.startswith(b"\xff\xfe") else "utf-8"
    story = Story()
    story.files["a"] = data.decode(encoding).encode()
    story.prompt().read("a").copy("a", "abc@v1").edit("a", "two", "2\n3")
    found, gaps = followed(story, {"abc@v1": data}.get)
    assert last(found) == {path("a"): story.files["a"].decode().encode(encoding)}
    assert found[0].before is not None
    assert found[0].before.data == data
    assert not gaps


def test_a_copy_that_comes_later_tells_the_bytes_of_the_version_before_it() -> None:
    story = Story().prompt().write("a", "one\ntwo\n").prompt().copy("a", "abc@v2", 2)
    found, gaps = followed(story, {"abc@v2": b"one\r\ntwo\r\n"}.get)
    assert last(found) == {path("a"): b"one\r\ntwo\r\n"}
    assert not gaps


def test_bytes_that_are_no_utf8_come_back_from_a_copy() -> None:
    data = b"caf\xe9\none\n"
    story = Story()
    story.files["a"] = data
    story.prompt().copy("a", "abc@v1").edit("a", "one", "1")
    found, _ = followed(story, {"abc@v1": data}.get)
    assert found[0].before is not None
    assert found[0].before.data == data
    # As the older clients do: what they cannot read they write as U+FFFD.
    assert last(found) == {path("a"): "caf\ufffd\n1\n".encode()}


def test_a_file_that_is_gone_is_a_gap() -> None:
    story = Story().prompt().write("a", "one\n").prompt().copy("a", None, 2)
    _, gaps = followed(story)
    assert [(gap.is_gone, gap.seen_by) for gap in gaps] == [(True, "copy")]


@pytest.mark.parametrize(("version", "expected"), [("2.1.45", b"x\r\ny\r\n"), ("2.1.325", b"x\ny\n")])
def test_line_ends_of_a_file_written_anew_are_kept_by_older_clients(version: str, expected: bytes) -> None:
    story = Story(version=version)
    story.files["a"] = b"one\r\ntwo\r\n"
    story.prompt().copy("a", "abc@v1").write("a", "x\ny\n")
    assert last(followed(story, {"abc@v1": b"one\r\ntwo\r\n"}.get)[0]) == {path("a"): expected}


def test_calls_that_failed_or_never_came_back_change_nothing() -> None:
    story = Story().prompt().write("a", "one\n").fail("a")
    story.builder.answer(call("open", "Write", {"file_path": path("a"), "content": "lost"}))
    assert last(followed(story)[0]) == {path("a"): b"one\n"}


def test_several_edits_at_once_and_a_notebook() -> None:
    builder = Builder(version="1.0.35").prompt("Go")
    edits = [
        {"old_string": "one", "new_string": "1"},
        {"old_string": "e", "new_string": "E", "replace_all": True},
    ]
    builder.answer(call("c1", "MultiEdit", {"file_path": path("a"), "edits": edits}), stop="tool_use")
    result = {"filePath": path("a"), "edits": edits, "originalFileContents": "one\nthree\n"}
    builder.result("c1", toolUseResult=result)
    builder.answer(call("c2", "NotebookEdit", {"notebook_path": path("n.ipynb")}), stop="tool_use")
    builder.result("c2", toolUseResult={"original_file": "{}", "updated_file": '{"a": 1}', "error": ""})
    builder.answer(call("c3", "NotebookEdit", {"notebook_path": path("n.ipynb")}), stop="tool_use")
    builder.result("c3", toolUseResult={"error": "no such cell"})
    found, _ = split(builder.session())
    assert last(found) == {path("a"): b"1\nthrEE\n", path("n.ipynb"): b'{"a": 1}'}
    assert len(found) == 2


def test_a_sub_agents_calls_belong_to_the_turn_of_the_call_that_started_it() -> None:
    main = Builder().prompt("One").answer("Yes.").prompt("Two")
    main.answer(call("t1", "Task", {"prompt": "Do it", "description": "d"}), stop="tool_use")
    side = Builder("side").prompt("Do it", isSidechain=True, agentId="x1")
    side.wait(4)
    side.answer(
        call("w1", "Write", {"file_path": "sub.txt", "content": "s\n"}), stop="tool_use", isSidechain=True
    )
    side.result("w1", f"File created successfully at: {path('sub.txt')}", isSidechain=True)
    main.result("t1", toolUseResult={"agentId": "x1", "prompt": "Do it", "content": []})
    main.answer("Done.").prompt("Three").answer("So.")
    session = main.session()
    tree = agents(session, [Source("x1", Session.read(side.data()))])
    (version,) = (one for one in versions(happenings(session, tree)) if isinstance(one, Version))
    assert (version.path, version.turn, version.action, version.agent_id) == (
        path("sub.txt"),
        2,
        "create",
        "x1",
    )


def test_what_was_rewound_is_marked() -> None:
    story = Story().prompt().write("a", "one\n")
    leaf = story.builder.leaf
    story.prompt().edit("a", "one", "two")
    story.builder.rewind(leaf)
    story.prompt().edit("a", "two", "three")
    story.builder.answer("Done.")
    found, _ = followed(story)
    assert [one.is_active for one in found] == [True, False, True]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("a.py", f"{HOME}/a.py"),
        ("./b/../a.py", f"{HOME}/a.py"),
        ("/x/../y", "/y"),
        ("C:\\x\\..\\y", "C:\\y"),
        ("~/a", "~/a"),
        ("../../../../../etc/x", "/etc/x"),
    ],
)
def test_paths_are_whole_and_plain(given: str, expected: str) -> None:
    assert normal_path(given, HOME) == expected


WORDS = st.sampled_from(["", "a", "b", "\tc", "  d", "é", "“q”", "$&", "x\\y", "-", "+z", "@@", "\\ No"])
TEXTS = st.lists(WORDS, max_size=8).map("\n".join)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["write", "edit", "every", "bash", "read", "fail", "prompt"]),
        TEXTS,
        st.integers(0, 99),
    ),
    max_size=14,
)


@given(STEPS, st.sampled_from(["\n", "\r\n"]), TEXTS)
@settings(max_examples=30)
def test_random_edits_are_rebuilt_as_a_simulation_has_them(
    steps: list[tuple[str, str, int]], end: str, first: str
) -> None:
    assert_rebuilt(steps, end, first)


def assert_rebuilt(steps: list[tuple[str, str, int]], end: str, first: str) -> None:
    """The truth is what the simulated client holds; what Bash did is seen with the next call."""
    story = Story().prompt()
    data = first.replace("\n", end).encode()
    story.files["a"] = data
    story.copy("a", "v1")
    hidden = False
    for what, text, number in steps:
        shown = story.files["a"].decode().replace("\r\n", "\n")
        rows = [row for row in shown.split("\n") if row]
        match what:
            case "write":
                story.write("a", text)
                hidden = False
            case "edit" | "every" if rows:
                old = rows[number % len(rows)]
                if old != text and (what == "every" or shown.count(old) == 1):
                    story.edit("a", old, text, every=what == "every")
                    hidden = False
            case "bash":
                changed = text.replace("\n", "\r\n" if b"\r\n" in story.files["a"] else "\n").encode()
                hidden = hidden or changed != story.files["a"]
                story.bash("a", lambda _, changed=changed: changed)
            case "read":
                story.read("a")
            case "fail":
                story.fail("a")
            case _:
                story.prompt()
    found, gaps = followed(story, {"v1": data}.get)
    if not found or hidden:
        return
    content = found[-1].content
    assert content is not None
    # Line ends of a text that something else wrote without any are nobody's to know.
    assert content.shown == story.files["a"].decode().replace("\r\n", "\n")
    if not gaps:
        assert content.data == story.files["a"]


def test_hunks_that_show_carriage_returns_tell_line_ends() -> None:
    """As 1.0.35 and 2.0.42 note a file that Write wrote anew: without what it held, but for the hunks."""
    story = Story(version="2.0.42")
    story.files["a"] = b"one\r\ntwo\r\n"
    story.prompt().read("a")
    lines = ["-one\r", "-two\r", "+x", "+y"]
    result = {
        "type": "update",
        "filePath": path("a"),
        "content": "x\ny\n",
        "structuredPatch": [{"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2, "lines": lines}],
    }
    given = {"file_path": path("a"), "content": "x\ny\n"}
    story.builder.answer(call("w", "Write", given), stop="tool_use").result("w", toolUseResult=result)
    found, gaps = followed(story)
    assert last(found) == {path("a"): b"x\r\ny\r\n"}
    assert found[0].before is not None
    assert found[0].before.data == b"one\r\ntwo\r\n"
    assert not gaps
