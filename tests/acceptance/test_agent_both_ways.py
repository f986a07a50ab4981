"""Sessions of `clew run` taken up by the real clients, and those of the real clients by `clew run`.

Either way what is sent is what `clew context` says of the file, and the strict stand-in refuses nothing.
"""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import pytest

from clew.agent.api_checks import refusal
from clew.agent.standin import Reply, text
from clew.session.context import context
from clew.session.session import Session
from clew.store.slugs import folder_name
from tests.acceptance.run_lab import Place, api, conversation, go_on, problems, told, written_once
from tests.acceptance.run_stories import STORIES
from tests.conformance.client import MODEL, PROMPT, install, resume
from tests.conformance.edits import name_of, prepared, sessions
from tests.conformance.notation import met_reminders, normal, short, without_prompt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tests.conformance.client import Client
    from tests.conformance.notation import Message

pytestmark = pytest.mark.acceptance

VERSIONS = ("2.1.325", "2.1.45", "2.0.76")
WIDE = ("--context-window", "9999999")
"""No session is too long: none is summed up first."""


def verdict(data: bytes, ours: list[Message] | None, client: Client) -> str | None:
    """Say what is wrong when a client takes a session up; None if nothing is."""
    sent = resume(client, data, strict=True)
    if sent.messages is None:
        return f"{client.version}: not resumed: {sent.refused}"
    if sent.refusals:
        return f"{client.version}: the API would refuse it: {sent.refusals[0]}"
    cut = met_reminders(sent.messages)
    theirs = normal(without_prompt(sent.messages, PROMPT), cut=cut)
    said = normal(told(data, client=client.version), cut=cut)
    ours = None if ours is None else normal(ours, cut=cut)
    for name, expected in (("clew run", said if ours is None else ours), ("clew context", said)):
        if theirs != expected:
            return "\n".join(
                [
                    f"{client.version} and {name}:",
                    *(f"- {one}" for one in short(theirs)),
                    *(f"+ {one}" for one in short(expected)),
                ]
            )
    return None


def taken_up(data: bytes, ours: list[Message] | None) -> None:
    """Raise unless all clients take a session up alike."""
    clients = [install(version) for version in VERSIONS]
    with ThreadPoolExecutor(2) as pool:
        found = [one for one in pool.map(partial(verdict, data, ours), clients) if one is not None]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", [name for name in STORIES if name != "killed"])
def test_what_clew_run_wrote_is_taken_up_by_the_real_clients(tmp_path: Path, name: str) -> None:
    place, other = Place(tmp_path / "place"), Place(tmp_path / "other")
    STORIES[name](place)
    data = place.file.read_bytes()
    assert problems(data) == set()
    shutil.copytree(place.config, other.config, dirs_exist_ok=True)
    ours = go_on(place)
    assert ours == told(data)
    assert go_on(other, "--fork") == ours
    written_once(place.file.read_bytes())
    taken_up(data, ours)


def test_a_session_whose_process_was_killed_is_taken_up_by_the_real_clients(tmp_path: Path) -> None:
    """The older ones leave out a call without a result, the newest makes one; behind clew all are alike."""
    place = Place(tmp_path)
    STORIES["killed"](place)
    data = place.file.read_bytes()
    assert problems(data) == {"torn-line", "unpaired-call"}
    taken_up(data, None)
    assert go_on(place) == told(data)
    data = place.file.read_bytes()
    assert problems(data) == {"torn-line"}
    taken_up(data, told(data))
    written_once(data)


def reverse(client: Client, root: Path, path: Path) -> str | None:
    """Say what is wrong when clew goes on with a session, and the client behind it; None if nothing is."""
    name, data = name_of(path), prepared(path)
    place = Place(root / name.replace("/", "-"))
    copy = place.config / "projects" / folder_name(str(place.work)) / path.name
    copy.parent.mkdir(parents=True)
    copy.write_bytes(data)
    expected = to_be_sent(data)
    before = refusal({"model": MODEL, "max_tokens": 10, "messages": expected})
    with api([Reply((text("On we go."),))]) as there:
        ran = place.run(
            there.url, "--resume", path.stem, "--model", MODEL, "--context-window", "9999999", PROMPT
        )
        requests, refusals = there.requests, [one.refusal for one in there.refusals]
    if ran.code != 0 and before is None:
        return f"{name}: {ran.err}"
    if refusals and (before is None or before != refusals[0]):
        return f"{name}: refused: {refusals[0]}"
    sent = [_bare(message) for message in conversation(requests)]
    # Where the prompt joins what was said before, a line end comes in between; all else is as it was.
    if sent[:-1] != expected[:-1] or normal(sent) != normal(expected):
        return "\n".join(
            [name, *(f"- {one}" for one in short(sent)), *(f"+ {one}" for one in short(expected))]
        )
    if before is not None:
        return None
    after = copy.read_bytes()
    if not after.startswith(data):
        return f"{name}: what was there is no longer there"
    wrong = verdict(after, told(after), client)
    return None if wrong is None else f"{name}: {wrong}"


def to_be_sent(data: bytes) -> list[Mapping[str, Any]]:
    """What `context` says of a file, and the prompt behind it."""
    said = context(Session.read(data), model=MODEL)
    messages = [*said.messages]
    words = {"type": "text", "text": PROMPT}
    if messages[-1]["role"] == "assistant":
        return [*messages, {"role": "user", "content": [words]}]
    if len(messages) > 2 and not said.rows[-2]:
        # A command of the client's own was the last thing: the client puts an answer that nobody gave before
        # its output, and loses the output with the next line. We keep the lines as they are.
        before, _, last = messages[-3:]
        messages[-3:] = [{"role": "user", "content": [*before["content"], *last["content"]]}]
    return [*messages[:-1], {"role": "user", "content": [*messages[-1]["content"], words]}]


def _bare(message: Mapping[str, object]) -> dict[str, Any]:
    content = cast("list[dict[str, Any]]", message["content"])
    return {**message, "content": [{k: v for k, v in one.items() if k != "cache_control"} for one in content]}


def judge(client: Client, root: Path, paths: Sequence[Path]) -> None:
    with ThreadPoolExecutor(2) as pool:
        found = [one for one in pool.map(partial(reverse, client, root), paths) if one is not None]
    print(f"\n{len(paths)} sessions of the real clients gone on with, {len(found)} wrong")
    assert not found, "\n".join(found)


def test_a_tenth_of_the_recorded_sessions_is_gone_on_with(tmp_path: Path, client: Client) -> None:
    judge(client, tmp_path, sessions(tenth=True))
