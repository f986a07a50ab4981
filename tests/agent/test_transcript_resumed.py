"""Sessions that are taken up again: cut off, of other clients, from any line, with nothing said twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest

from clew.agent.past import Past, messages_to_send
from clew.agent.transcript import Transcript
from clew.errors import RefusedError
from clew.format.times import milliseconds
from clew.session.check import check
from clew.session.context import context
from clew.session.session import Session
from clew.store.locks import BusyError
from tests.agent import told as stories
from tests.agent.test_transcript import Mirror, lines_of, sent
from tests.agent.told import CWD, STORIES, Talk, ask, begin, resume, text, told
from tests.conformance.notation import normal
from tests.store.faults.disks import CountingDisk


def continued(before: bytes, root: Path, name: str) -> tuple[Session, Session]:
    """Go on with a file, with one prompt; return the session before and after."""
    place = root / "config" / "projects" / "-home-ada-lighthouse" / f"{name}.jsonl"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(before)
    session = Transcript.resume(
        place,
        cwd=CWD,
        ids=stories.ids(1 << 40),
        clock=stories.clock(),
        state=root / "state",
        keeps_files=False,
        disk=CountingDisk(),
    )
    assert place.read_bytes() == before
    ask(session, "And now?")
    session.close()
    after = place.read_bytes()
    assert after.startswith(before)
    return Session.read(before), Session.read(after)


def is_gone_on_with(old: Session, new: Session, model: str | None = None) -> bool:
    """Say whether what is sent afterwards is what was sent before, and the prompt.

    Where a session ends in a command that the client answers itself, the answer that nobody gave stands
    before the output of that command; it is not sent again once something follows.
    """
    expected = Mirror()
    before = context(old, model=model)
    for at, message in enumerate(before.messages):
        if not before.rows[at] and message["role"] == "assistant" and at + 1 < len(before.messages):
            continue
        for one in normal([message]):
            expected.add(str(one["role"]), cast("list[Any]", one["content"]), is_new=True)
    expected.add("user", [text("And now?")])
    return normal(messages_to_send(new, model=model)) == expected.messages


@pytest.mark.parametrize("part", ["half", "without its end", "whole"])
@pytest.mark.parametrize("name", sorted(set(STORIES) - {"torn", "crashed"}))
def test_a_session_cut_anywhere_is_gone_on_with_and_nothing_is_said_twice(
    tmp_path: Path, name: str, part: str
) -> None:
    data = told(name, tmp_path / "first").splitlines(keepends=True)
    for line, last in enumerate(data):
        end = {"half": len(last) // 2, "without its end": len(last) - 1, "whole": len(last)}[part]
        before = b"".join(data[:line]) + last[:end]
        if not context(Session.read(before)).messages:
            continue  # nothing was said yet: there is nothing to go on with
        old, new = continued(before, tmp_path / str(line), stories.ids()())
        assert is_gone_on_with(old, new), line
        assert not context(new).api_problems
        uuids = [entry.uuid for entry in new.entries() if entry.uuid]
        assert len(uuids) == len(set(uuids))
        assert {one.code for one in check(new.source).problems} <= {"torn-line"}


CORPUS = Path(__file__).parent.parent / "data" / "corpus"


@pytest.mark.parametrize("version", ["2.0.76", "2.1.45", "2.1.150", "2.1.325"])
def test_sessions_of_the_client_are_gone_on_with(tmp_path: Path, version: str) -> None:
    count = 0
    for path in sorted((CORPUS / version).glob("*/projects/*/????????-*.jsonl")):
        before = path.read_bytes()
        model = Past.of(Session.read(before)).model
        if context(Session.read(before)).refused is not None:
            continue
        old, new = continued(before, tmp_path, path.stem)
        assert is_gone_on_with(old, new, model), path.name
        count += 1
    assert count > 15


def test_times_go_on_behind_the_latest_line_whatever_the_clock_says(tmp_path: Path) -> None:
    with begin(tmp_path) as session:
        ask(session, "One.")
    with Transcript.resume(
        session.path, cwd=CWD, ids=stories.ids(900), clock=lambda: 5, state=tmp_path / "state"
    ) as again:
        ask(again, "Two.")
        times = [milliseconds(one["timestamp"]) for one in lines_of(again) if "uuid" in one]
    assert times == sorted(set(times), key=lambda time: time or 0)


def test_a_line_of_the_year_9999_does_not_stop_the_session(tmp_path: Path) -> None:
    with begin(tmp_path) as session:
        ask(session, "One.")
        Talk(session).say(text("First."))
    path = Path(session.path)
    found = path.read_bytes().splitlines(keepends=True)
    late = json.loads(found[1]) | {"timestamp": "9999-12-31T23:59:59.999Z"}
    path.write_bytes(b"".join([found[0], json.dumps(late).encode() + b"\n", *found[2:]]))
    with resume(session, tmp_path) as again:
        ask(again, "Two.")


def test_a_session_is_taken_up_from_any_line(tmp_path: Path) -> None:
    with begin(tmp_path) as session:
        talk = Talk(session)
        ask(session, "One.")
        talk.say(text("First."))
        back = session.leaf
        ask(session, "Two.")
        talk.say(text("Second."))
        session.last_prompt()
    before = Path(session.path).read_bytes()
    resume(session, tmp_path, at=back).close()
    assert Path(session.path).read_bytes() == before
    with resume(session, tmp_path, at=back) as again:
        ask(again, "Other.")
        assert [one["content"] for one in sent(again)] == [[text(x)] for x in ("One.", "First.", "Other.")]


def test_a_file_without_a_conversation_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "5eed0000-0000-4000-8000-000000000000.jsonl"
    path.write_bytes(b'{"type":"summary","summary":"x","leafUuid":"y"}\n')
    for _ in range(2):  # and let go of
        with pytest.raises(RefusedError, match="No conversation found"):
            Transcript.resume(
                path, cwd=CWD, ids=stories.ids(), clock=stories.clock(), state=tmp_path / "state"
            )


def test_a_session_that_goes_on_is_nobody_elses(tmp_path: Path) -> None:
    with begin(tmp_path) as session:
        ask(session, "One.")
        with pytest.raises(BusyError):
            resume(session, tmp_path)
