"""What a session holds when it is taken up again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clew.agent.past import Past
from clew.agent.transcript import Transcript
from clew.errors import UsageError
from clew.session.context import context
from clew.session.session import Session
from tests.agent import told as stories
from tests.agent.told import CWD, MODEL, STORIES, Talk, ask, begin, call, clock, ids, resume, text, told
from tests.conformance.notation import normal
from tests.store.faults.disks import CountingDisk


def past(session: Transcript) -> Past:
    session.close()
    return Past.read(session.path)


@pytest.mark.parametrize("name", sorted(STORIES))
def test_the_messages_are_those_of_the_context(tmp_path: Path, name: str) -> None:
    data = told(name, tmp_path)
    session = Session.read(data, name="s")
    assert Past.of(session).messages == context(session, model=MODEL).messages


def test_how_things_stood_is_known(tmp_path: Path) -> None:
    session = begin(tmp_path, slug="quiet-weaving-heron")
    ask(session, "Build it.", "plan")
    Talk(session).say(text("Built."))
    session.title("The tower")
    session.mode("acceptEdits")
    found = past(session)
    assert found.session_id == session.session_id
    assert (found.model, found.permission_mode, found.title) == (MODEL, "acceptEdits", "The tower")
    assert (found.cwd, found.git_branch, found.slug) == (CWD, "main", "quiet-weaving-heron")
    assert (found.tokens, found.turns, found.last_prompt) == (27, 1, "Build it.")
    assert (found.open_calls, found.needs_answer, found.refused) == ((), False, None)


def test_the_mode_of_a_later_prompt_counts(tmp_path: Path) -> None:
    session = begin(tmp_path)
    session.mode("acceptEdits")
    ask(session, "Build it.", "plan")
    assert past(session).permission_mode == "plan"


def test_a_session_without_a_title_has_none(tmp_path: Path) -> None:
    session = begin(tmp_path)
    ask(session, "Build it.")
    assert past(session).title is None


def test_calls_cut_off_at_the_end_and_prompts_without_an_answer_are_told(tmp_path: Path) -> None:
    session = begin(tmp_path)
    ask(session, "Look.")
    assert Past.read(session.path).needs_answer
    Talk(session).call(call("1"), call("2", "Read"))
    session.result("toolu_1", "ok")
    found = past(session)
    assert [(one.id, one.name) for one in found.open_calls] == [("toolu_2", "Read")]
    assert found.needs_answer


def test_a_crash_is_closed_in_the_words_of_the_client(tmp_path: Path) -> None:
    """What 2.1.325 wrote when it went on behind a crash is what is written here."""
    with stories.crashed(tmp_path) as session:
        ours = [json.loads(raw) for raw in Path(session.path).read_bytes().splitlines() if raw.endswith(b"}")]
    corpus = Path(__file__).parent.parent / "data" / "corpus" / "2.1.325" / "crash"
    (path,) = corpus.glob("projects/*/*.jsonl")
    theirs = [json.loads(raw) for raw in path.read_bytes().splitlines()]

    def closing(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
        at = next(n for n, one in enumerate(lines) if one.get("toolDenialKind") == "interrupted")
        return lines[at : at + 3]

    for mine, other in zip(closing(ours), closing(theirs), strict=True):
        assert [name for name in other if name not in mine] == []
        for one in (mine, other):
            for name in ("tool_use_id", "id"):
                one["message"].pop(name, None)
        if other["type"] == "assistant":
            assert mine["message"] == other["message"]
        elif "toolUseResult" in other:
            assert mine["toolUseResult"] == other["toolUseResult"]
            assert mine["message"]["content"][0].keys() == other["message"]["content"][0].keys()


def test_files_the_model_has_seen_are_known_as_it_saw_them_last(tmp_path: Path) -> None:
    session = begin(tmp_path, keeps_files=False)
    ask(session, "Work.")
    talk = Talk(session)

    def did(tool: str, structured: Any, *, is_error: bool = False) -> None:
        name = str(len(Path(session.path).read_bytes()))
        talk.call(call(name, tool, file_path="/x"))
        session.result(f"toolu_{name}", "ok", structured=structured, is_error=is_error)

    def read(path: str, content: str, start: int = 1, lines: int = 1, total: int = 1) -> dict[str, Any]:
        file = {
            "filePath": path,
            "content": content,
            "numLines": lines,
            "startLine": start,
            "totalLines": total,
        }
        return {"type": "text", "file": file}

    did("Read", read("/a", "one"))
    did("Read", read("/part", "one", 1, 1, 9))
    did(
        "Edit",
        {
            "filePath": "/a",
            "oldString": "one",
            "newString": "two",
            "originalFile": "one",
            "replaceAll": False,
        },
    )
    did(
        "Write",
        {"type": "create", "filePath": "/b", "content": "new", "structuredPatch": [], "originalFile": None},
    )
    did("Read", "Error: no such file", is_error=True)
    did("Read", {"type": "image", "file": {"base64": "x", "type": "image/png", "originalSize": 1}})
    did("Read", ["odd"])
    did("Edit", {"filePath": "/lost", "oldString": "x", "newString": "y", "originalFile": None})
    talk.say(text("Done."))
    found = past(session).files
    assert [(one.path, one.text) for one in found] == [
        ("/part", None),
        ("/a", "two"),
        ("/b", "new"),
        ("/lost", None),
    ]
    assert all(one.time is not None for one in found)


def test_files_seen_before_a_compaction_are_seen_no_more(tmp_path: Path) -> None:
    session = begin(tmp_path)
    ask(session, "Work.")
    Talk(session).call(call("1", "Write", file_path="/b"))
    written: dict[str, Any] = {"type": "create", "filePath": "/b", "content": "new", "structuredPatch": []}
    session.result("toolu_1", "ok", structured=written)
    assert len(Past.read(session.path).files) == 1
    session.compact(trigger="auto", pre_tokens=1, summary="x")
    assert past(session).files == ()


def test_a_line_that_is_not_there_is_told(tmp_path: Path) -> None:
    session = begin(tmp_path)
    ask(session, "Work.")
    session.close()
    with pytest.raises(UsageError, match="no line"):
        Past.read(session.path, at="nowhere")


@pytest.mark.parametrize(
    "usage", [None, [], {"input_tokens": "x", "output_tokens": True}, {"input_tokens": -5}]
)
def test_odd_usage_counts_for_nothing(usage: Any) -> None:
    line = {
        "type": "assistant",
        "uuid": "a",
        "parentUuid": None,
        "timestamp": "2026-03-04T09:00:00Z",
        "message": {"id": "m", "role": "assistant", "content": [text("x")], "usage": usage},
    }
    assert Past.of(Session.read(json.dumps(line).encode() + b"\n")).tokens == 0


# Forks ------------------------------------------------------------------------------------------


def test_a_fork_goes_on_in_another_project_and_leaves_the_old_one_alone(tmp_path: Path) -> None:
    with stories.nested(tmp_path) as session:
        session.sync()
    everything = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with resume(session, tmp_path, cwd="/home/ada/boat", fork_to="/home/ada/boat") as forked:
        assert forked.session_id != session.session_id
        assert Path(forked.path).parent.name == "-home-ada-boat"
        ask(forked, "Go on.")
        Talk(forked, "f").say(text("Yes."))
    for path, data in everything.items():
        assert path.read_bytes() == data
    lines = [json.loads(raw) for raw in Path(forked.path).read_bytes().splitlines()]
    assert {line["sessionId"] for line in lines if "sessionId" in line} == {forked.session_id}
    assert {line["cwd"] for line in lines if "cwd" in line} == {"/home/ada/boat"}
    before = normal(context(Session.read(Path(session.path).read_bytes())).messages)
    after = normal(context(Session.read(Path(forked.path).read_bytes())).messages)
    assert after == [
        *before,
        {"role": "user", "content": [text("Go on.")]},
        {"role": "assistant", "content": [text("Yes.")]},
    ]
    copies = sorted(path.name for path in Path(forked.path.removesuffix(".jsonl")).rglob("agent-*"))
    assert copies == sorted(path.name for path in Path(session.path.removesuffix(".jsonl")).rglob("agent-*"))
    assert len(copies) == 4


def test_a_fork_may_begin_at_any_line(tmp_path: Path) -> None:
    with begin(tmp_path) as session:
        ask(session, "One.")
        Talk(session).say(text("First."))
        at = session.leaf
        ask(session, "Two.")
        Talk(session, "n").say(text("Second."))
    with resume(session, tmp_path, fork_to=CWD, at=at) as forked:
        ask(forked, "Other.")
        found = normal(context(Session.read(Path(forked.path).read_bytes())).messages)
    assert [one["content"] for one in found[:-1]] == [[text(one)] for one in ("One.", "First.", "Other.")]
    with pytest.raises(UsageError, match="no line"):
        resume(session, tmp_path, fork_to=CWD, at="nowhere")


def test_copies_of_files_go_along_with_a_fork(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.txt").write_text("one")
    options: dict[str, Any] = {"clock": clock(), "state": tmp_path / "state", "disk": CountingDisk()}
    with Transcript.begin(tmp_path / "config", str(work), ids=ids(), **options) as session:
        ask(session, "Change.")
        session.keep_before(str(work / "a.txt"))
        Talk(session).say(text("Done."))
    with Transcript.resume(
        session.path, cwd=str(work), fork_to=str(work), ids=ids(1 << 30), **options
    ) as forked:
        ask(forked, "More.")
    history = tmp_path / "config" / "file-history"
    assert [one.read_text() for one in (history / forked.session_id).iterdir()] == ["one"]
