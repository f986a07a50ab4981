"""A transcript: what is told to it is what will be sent, whatever fails."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
import threading
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.agent.past import messages_to_send
from clew.errors import ClewError, UsageError
from clew.format.times import milliseconds
from clew.session.branches import branches, leaves
from clew.session.check import check
from clew.session.context import context
from clew.session.graph import Graph
from clew.session.session import Session
from clew.store.writer import NotWrittenError
from tests.agent import told as stories
from tests.agent.told import CWD, MODEL, STORIES, Talk, ask, begin, call, resume, text, thought, told
from tests.conformance.notation import normal
from tests.store.faults.disks import ERRORS, FailingDisk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew.agent.transcript import Transcript


def read(transcript: Transcript) -> Session:
    return Session.read(Path(transcript.path).read_bytes(), name=transcript.session_id)


def sent(transcript: Transcript) -> list[dict[str, Any]]:
    """What would be asked of the model now, in the form in which sides are compared."""
    return normal(messages_to_send(read(transcript), model=MODEL))


def lines_of(transcript: Transcript) -> list[dict[str, Any]]:
    return [json.loads(raw) for raw in Path(transcript.path).read_bytes().splitlines()]


# The file ---------------------------------------------------------------------------------------


def test_there_is_no_file_until_something_is_asked(tmp_path: Path) -> None:
    with begin(tmp_path) as session:
        session.queue("enqueue", "x")
        session.mode("plan")
        session.title("y")
        with pytest.raises(ValueError, match="nothing was said"):
            session.turn_duration(5)
        assert session.last_prompt() is None
    assert not list(tmp_path.rglob("*"))
    with begin(tmp_path) as session:
        session.title("y")
        ask(session, "Hello.")
        assert [one["type"] for one in lines_of(session)] == ["custom-title", "file-history-snapshot", "user"]


def test_the_file_lies_where_the_client_looks_for_it(tmp_path: Path) -> None:
    with begin(tmp_path) as session:
        ask(session, "Hello.")
    assert session.path == str(
        tmp_path / "config" / "projects" / "-home-ada-lighthouse" / f"{session.session_id}.jsonl"
    )
    assert stat.S_IMODE(Path(session.path).stat().st_mode) == 0o600


@pytest.mark.parametrize("name", sorted(STORIES))
def test_a_story_is_a_sound_session(tmp_path: Path, name: str) -> None:
    data = told(name, tmp_path)
    found = context(Session.read(data))
    report = check(data, refused=found.refused)
    # Where a process ended in the midst of a line, that line is what is left of it.
    torn = {"torn-line"} if name in {"torn", "crashed"} else set[str]()
    assert {one.code for one in report.problems} == torn
    assert not found.api_problems


@pytest.mark.parametrize("name", sorted(set(STORIES) - {"rewound"}))
def test_a_story_has_no_other_branch_and_times_that_grow(tmp_path: Path, name: str) -> None:
    session = Session.read(told(name, tmp_path))
    graph, leaf = Graph(session), context(session).leaf
    assert leaf is not None
    assert not branches(session, leaves(session, graph, active=session.row(leaf)))
    times = [milliseconds(entry.timestamp) for entry in session.entries() if entry.uuid is not None]
    assert all(one < other for one, other in pairwise(times) if one and other)


def test_only_what_is_said_is_hung_on(tmp_path: Path) -> None:
    for name in STORIES:
        found = [json.loads(raw) for raw in told(name, tmp_path / name).splitlines() if raw.endswith(b"}")]
        kinds = {one["uuid"]: one["type"] for one in found if "uuid" in one}
        subtypes = {one["uuid"]: one.get("subtype") for one in found if "uuid" in one}
        for one in found:
            parent = one.get("parentUuid")
            if parent is not None:
                is_said = kinds[parent] in {"user", "assistant"}
                assert is_said or subtypes[parent] == "compact_boundary"


# What is sent -----------------------------------------------------------------------------------


class Mirror:
    """The messages as they would be kept by somebody who writes nothing down."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []

    def add(self, role: str, blocks: Sequence[Mapping[str, Any]], *, is_new: bool = False) -> None:
        if self.messages and self.messages[-1]["role"] == role and not (is_new and role == "assistant"):
            content: list[dict[str, Any]] = self.messages[-1]["content"]
            content.extend(map(dict, blocks))
            # Results come before words.
            content.sort(key=lambda block: role == "user" and block["type"] != "tool_result")
        else:
            self.messages.append({"role": role, "content": list(blocks)})


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("ask"), st.sampled_from(["Where?", "Why?\n", "¿Cómo? 🧶"])),
        st.tuples(st.just("answer"), st.integers(0, 2)),
        st.tuples(st.just("call"), st.integers(1, 3)),
        st.tuples(st.just("stop"), st.integers(0, 2)),
        st.tuples(st.just("sum up"), st.just(0)),
        st.tuples(st.just("fail"), st.just(0)),
        st.tuples(st.just("aside"), st.just(0)),
        st.tuples(st.just("leave"), st.just(0)),
    ),
    max_size=12,
)


@given(steps=STEPS)
def test_what_is_sent_is_what_was_said(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, Any]]
) -> None:
    """Whatever happens in a session, the file gives just the messages that somebody would keep in mind."""
    root = tmp_path_factory.mktemp("said")
    session, mirror = begin(root), Mirror()
    ask(session, "Begin.")
    mirror.add("user", [text("Begin.")])
    how: Any
    for number, (what, how) in enumerate([*steps, ("ask", "The end?")]):
        talk = Talk(session, f"x{number}-")
        is_asked = mirror.messages[-1]["role"] == "user"
        if what == "ask":
            if is_asked:
                continue
            ask(session, how)
            mirror.add("user", [text(how)])
        elif what == "answer" and is_asked:
            said = [thought("Hm."), text("So."), text("There.")][2 - how :]
            talk.say(*said)
            mirror.add("assistant", said, is_new=True)
        elif what == "call" and is_asked:
            calls = [call(f"{number}-{n}") for n in range(how)]
            talk.call(*calls)
            mirror.add("assistant", calls, is_new=True)
            for one in calls:
                session.result(one["id"], "ok")
                mirror.add("user", [{"tool_use_id": one["id"], "type": "tool_result", "content": "ok"}])
        elif what == "stop" and is_asked:
            calls = [call(f"{number}-{n}") for n in range(how)]
            words = "[Request interrupted by user" + (" for tool use]" if calls else "]")
            talk.say(text("It"), *calls, stop=None)
            session.interrupted(in_tool=bool(calls))
            mirror.add("assistant", [text("It"), *calls], is_new=True)
            closed = "[Request interrupted by user for tool use]"
            results = [
                {"tool_use_id": one["id"], "type": "tool_result", "content": closed, "is_error": True}
                for one in calls
            ]
            mirror.add("user", [*results, text(words)])
        elif what == "sum up" and not is_asked:
            session.compact(trigger="manual", pre_tokens=1, summary=f"Much {number}.")
            mirror.messages = [{"role": "user", "content": [text(f"Much {number}.")]}]
        elif what == "fail" and is_asked:
            session.api_error("API Error")
        elif what == "aside":
            session.turn_duration(5)
            session.last_prompt()
        elif what == "leave" and not is_asked:
            session.close()
            session = resume(session, root)
        assert sent(session) == normal(mirror.messages)
    session.close()
    assert not [
        one for one in check(Path(session.path).read_bytes()).problems if one.code != "api-error-last"
    ]


def test_messages_keep_what_a_model_said_block_by_block(tmp_path: Path) -> None:
    with begin(tmp_path) as session:
        ask(session, "Think.")
        Talk(session).call(thought("One."), text("Two."), call("1"))
        answers = [one for one in lines_of(session) if one["type"] == "assistant"]
        assert [one["apiBlockIndex"] for one in answers] == [0, 1, 2]
        assert [len(one["message"]["content"]) for one in answers] == [1, 1, 1]
        assert len({one["requestRef"] for one in answers}) == 1
        assert session.open_calls == ("toolu_1",)
        session.result("toolu_1", "ok")
        result = lines_of(session)[-1]
        assert result["sourceToolAssistantUUID"] == answers[-1]["uuid"]
        assert session.open_calls == ()
        with pytest.raises(ValueError, match="no call"):
            session.result("toolu_1", "ok")


@pytest.mark.parametrize("blank", ["", " ", "\n\n"])
def test_a_text_that_says_nothing_is_not_written(tmp_path: Path, blank: str) -> None:
    with begin(tmp_path) as session:
        ask(session, "Think.")
        Talk(session).call(thought("One."), text(blank), call("1"))
        answers = [one for one in lines_of(session) if one["type"] == "assistant"]
        assert [one["apiBlockIndex"] for one in answers] == [0, 2]
        assert answers[1]["parentUuid"] == answers[0]["uuid"]


def test_to_write_a_transcript_nothing_heavy_is_loaded() -> None:
    code = "import sys, clew.agent.transcript, clew.agent.side; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & {"pydantic", "httpx", "anthropic", "asyncio", "rich", "click", "apsw"}


def test_the_cwd_of_a_line_is_where_the_session_was_by_then(tmp_path: Path) -> None:
    with begin(tmp_path) as session:
        ask(session, "Go.")
        session.cwd = "/home/ada/lighthouse/lamp"
        Talk(session).say(text("Gone."))
        assert [one["cwd"] for one in lines_of(session)[-2:]] == [CWD, "/home/ada/lighthouse/lamp"]


def test_a_compaction_has_a_readable_name_on_it_from_then_on(tmp_path: Path) -> None:
    with stories.compacted(tmp_path) as session:
        found = lines_of(session)
    at = next(n for n, one in enumerate(found) if one.get("subtype") == "compact_boundary")
    assert found[at]["logicalParentUuid"] == found[at - 1]["uuid"]
    assert found[at]["slug"].count("-") == 2
    assert {one["slug"] for one in found[at:] if "uuid" in one} == {found[at]["slug"]}


def test_a_progress_line_changes_nothing(tmp_path: Path) -> None:
    with begin(tmp_path) as session:
        ask(session, "Wait.")
        Talk(session).call(call("1"))
        before = sent(session)
        leaf = session.leaf
        session.progress("toolu_1", {"type": "bash_progress"})
        assert session.leaf == leaf
        assert sent(session) == before
        session.result("toolu_1", "ok")
        assert lines_of(session)[-1]["parentUuid"] == leaf


# Going back -------------------------------------------------------------------------------------


def test_going_back_makes_the_next_line_hang_there(tmp_path: Path) -> None:
    with begin(tmp_path) as session:
        talk = Talk(session)
        ask(session, "One.")
        talk.say(text("First."))
        back = session.leaf or ""
        ask(session, "Two.")
        talk.say(text("Second."))
        session.last_prompt()
        past = session.rewind(back)
        assert normal(past.messages) == [
            {"role": "user", "content": [text("One.")]},
            {"role": "assistant", "content": [text("First.")]},
        ]
        assert normal(context(read(session)).messages) == normal(past.messages)
        ask(session, "Three.")
        assert sent(session)[-1] == {"role": "user", "content": [text("Three.")]}
        assert lines_of(session)[-1]["parentUuid"] == back


@pytest.mark.parametrize("back", range(1, 7))
def test_wherever_somebody_goes_back_to_the_session_goes_on(tmp_path: Path, back: int) -> None:
    with begin(tmp_path) as session:
        ask(session, "Do.")
        Talk(session).call(text("At once."), call("1"), call("2"))
        session.result("toolu_1", "ok")
        session.result("toolu_2", "ok")
        Talk(session, "y").say(text("Done."))
        uuid = [one["uuid"] for one in lines_of(session) if "uuid" in one][-back]
        before = session.rewind(uuid).messages
        assert normal(context(read(session)).messages) == normal(before)
        ask(session, "Instead?")
        found = context(read(session))
        assert normal(found.messages[:-2]) == normal(before)
        assert not found.api_problems


def test_nobody_goes_back_to_what_was_never_said(tmp_path: Path) -> None:
    session = begin(tmp_path)
    with pytest.raises(UsageError, match="nothing was said"):
        session.rewind("x")
    ask(session, "One.")
    before = Path(session.path).read_bytes()
    with pytest.raises(UsageError, match="no line"):
        session.rewind("x")
    assert Path(session.path).read_bytes() == before
    session.close()


# When something fails ---------------------------------------------------------------------------


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("at", range(2, 16))
def test_what_could_not_be_written_was_not_said(tmp_path: Path, error: int, at: int) -> None:
    """A disk that fails once: said again, everything is there once, and hangs together."""
    disk = FailingDisk(-1, error)
    session = begin(tmp_path, disk=disk, keeps_files=False)
    ask(session, "One.")
    disk.at = len(disk.calls) + at - 2
    failures = 0
    for say in (
        lambda: Talk(session, "a").call(call("1")),
        lambda: session.result("toolu_1", "ok"),
        lambda: session.compact(trigger="auto", pre_tokens=1, summary="Much."),
        lambda: Talk(session, "b").say(text("Done.")),
        lambda: ask(session, "Two."),
        lambda: session.interrupted(in_tool=False),
    ):
        try:
            say()
        except NotWrittenError:
            failures += 1
            say()
    session.close()
    data = Path(session.path).read_bytes()
    assert failures == (at - 2 < 6)
    assert not check(data).problems
    assert len({one.get("uuid") for one in map(json.loads, data.splitlines())}) == 7 + 1
    words = [message["content"] for message in normal(context(Session.read(data)).messages)]
    assert words[0] == [text("Much.")]
    assert words[1] == [text("Done.")]


def test_a_whole_disk_that_fails_leaves_the_session_as_it_was(tmp_path: Path) -> None:
    disk = FailingDisk(1000, 28, for_ever=True)
    session = begin(tmp_path, disk=disk)
    ask(session, "One.")
    before, leaf = Path(session.path).read_bytes(), session.leaf
    disk.at = 0
    for say in (
        lambda: Talk(session).say(text("x")),
        lambda: ask(session, "Two."),
        lambda: session.title("x"),
        session.last_prompt,
        lambda: session.turn_duration(1),
        lambda: session.compact(trigger="auto", pre_tokens=1, summary="x"),
    ):
        with pytest.raises(ClewError):
            say()
    assert Path(session.path).read_bytes() == before
    assert session.leaf == leaf
    session.close()


def test_calls_of_several_threads_end_up_in_one_chain(tmp_path: Path) -> None:
    with begin(tmp_path) as session:
        ask(session, "Much.")
        Talk(session).call(*(call(str(n)) for n in range(16)))
        threads = [threading.Thread(target=session.result, args=(f"toolu_{n}", f"{n}")) for n in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found = sent(session)
        assert len(found) == 3
        assert len(found[-1]["content"]) == 16
        assert not context(read(session)).api_problems
