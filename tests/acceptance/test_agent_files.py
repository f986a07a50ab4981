"""Sessions that our transcript wrote, taken up by the real clients through the strict stand-in."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

import pytest

from clew.agent.transcript import Transcript
from clew.session.check import check
from clew.session.context import context
from clew.session.session import Session
from tests.agent.told import CWD, STORIES, Talk, ask, clock, ids, text, told
from tests.conformance.client import MODEL, PROMPT, install, resume
from tests.conformance.notation import normal, short, without_prompt

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conformance.client import Client

pytestmark = pytest.mark.acceptance

VERSIONS = ("2.1.325", "2.1.45", "2.0.76")


def verdict(client: Client, name: str, data: bytes) -> str | None:
    """Say what is wrong when the client takes a session up; None if nothing is."""
    sent = resume(client, data, strict=True)
    if sent.messages is None:
        return f"{name}: not resumed: {sent.refused}"
    if sent.refusals:
        return f"{name}: the API would refuse it: {sent.refusals[0]}"
    said = context(Session.read(data), client=client.version, model=MODEL)
    theirs, ours = without_prompt(sent.messages, PROMPT), normal(said.messages)
    if theirs == ours:
        return None
    return "\n".join([name, *(f"- {one}" for one in short(theirs)), *(f"+ {one}" for one in short(ours))])


@pytest.mark.parametrize("version", VERSIONS)
def test_every_story_is_taken_up_by_the_real_client(tmp_path: Path, version: str) -> None:
    client = install(version)
    files = {name: told(name, tmp_path / name) for name in STORIES}
    with ThreadPoolExecutor(2) as pool:
        verdicts = pool.map(partial(verdict, client), files.keys(), files.values())
        found = [one for one in verdicts if one is not None]
    assert not found, "\n".join(found)
    for name, data in files.items():
        problems = {one.code for one in check(data, refused=context(Session.read(data)).refused).problems}
        # A process that was stopped in the midst of a line leaves it there.
        assert problems <= ({"torn-line"} if name in {"torn", "crashed"} else set()), name


def test_we_and_the_client_go_on_by_turns(tmp_path: Path, client: Client) -> None:
    """The client goes on behind us, we behind it, and the client again."""
    first = resume(client, told("parallel", tmp_path / "ours"), strict=True)
    assert first.messages is not None
    assert not first.refusals
    place = tmp_path / "config" / "projects" / "-home-ada-lighthouse" / f"{ids()()}.jsonl"
    place.parent.mkdir(parents=True)
    place.write_bytes(first.after)
    before = context(Session.read(first.after), model=MODEL)
    with Transcript.resume(
        place, cwd=CWD, ids=ids(1 << 40), clock=clock(), state=tmp_path / "state"
    ) as session:
        ask(session, "Are you there?")
        Talk(session, "ours").say(text("We are."))
    data = place.read_bytes()
    said = normal(context(Session.read(data), model=MODEL).messages)
    assert said[:-2] == normal(before.messages)
    again = resume(client, data, strict=True)
    assert again.messages is not None
    assert not again.refusals
    assert without_prompt(again.messages, PROMPT) == said
