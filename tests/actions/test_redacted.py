"""A session without its secrets: they are nowhere in what is handed out, and the files stay as they are."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING

import pytest

from clew.actions.export_stories import Chosen, Cleaning, story_of
from clew.actions.reading import open_reading
from clew.actions.redacted import redacted
from clew.session.context import context
from tests.builder import Builder, call, text, thinking
from tests.edit.secrets_planted import KINDS, SESSION, left_of, sow

if TYPE_CHECKING:
    from pathlib import Path

    from clew.session.session import Session

KEY = b"a key of the run"
KIND = next(kind for kind in KINDS if not kind.lines)
SECRET = KIND.make(Random("redacted"))


def put(root: Path, data: bytes, side: bytes | None = None) -> str:
    project = root / "projects" / "-home-ada-lighthouse"
    project.mkdir(parents=True)
    (project / f"{SESSION}.jsonl").write_bytes(data)
    if side is not None:
        folder = project / SESSION / "tool-results"
        folder.mkdir(parents=True)
        (folder / "toolu_1.txt").write_bytes(side)
    return SESSION


def raw(session: Session) -> bytes:
    return session.source.read(0, session.source.size)


def test_nothing_is_left_in_the_session_its_sub_agents_or_their_descriptions(tmp_path: Path) -> None:
    sown = sow(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    found = redacted(open_reading([tmp_path], SESSION), key=KEY)
    assert left_of(raw(found.opened.session), sown) == []
    [agent] = found.agents
    assert agent.source is not None
    assert left_of(raw(agent.source.session), sown) == []
    assert left_of(json.dumps(dict(agent.source.meta)).encode(), sown) == []
    assert left_of((agent.description or "").encode(), sown) == []
    assert sum(found.found.values()) > 200
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_thinking_stays_without_its_secrets(tmp_path: Path) -> None:
    words = KIND.telling.format(SECRET)
    builder = Builder(SESSION).prompt("go").answer(thinking(f"I know it. {words}"), text("Done."))
    name = put(tmp_path, builder.data())
    found = redacted(open_reading([tmp_path], name), key=KEY).opened.session
    data = raw(found)
    assert SECRET.encode() not in data
    assert b"I know it. " in data
    assert b"[redacted:" in data
    assert len(found) == 3
    assert [block["type"] for block in context(found).messages[1]["content"]] == ["thinking", "text"]


def test_what_a_file_beside_it_tells_is_taken_out_of_the_session(tmp_path: Path) -> None:
    """In the session nothing tells that it is a secret; the file beside it does."""
    bare = "zq7Kx9Lm2Pw4Rt6Yv8Bn"
    builder = Builder(SESSION).prompt(f"try {bare} now").answer(f"Tried {bare}.")
    name = put(tmp_path, builder.data(), f'password = "{bare}"'.encode())
    data = raw(redacted(open_reading([tmp_path], name), key=KEY).opened.session)
    assert bare.encode() not in data
    assert data.count(b"[redacted:") == 2


def test_a_session_without_secrets_is_handed_out_as_it_is_after_one_look(tmp_path: Path) -> None:
    builder = Builder(SESSION).prompt("go").answer(call("toolu_1", "Bash", {"command": "ls"}))
    opened = open_reading([tmp_path], put(tmp_path, builder.result("toolu_1").data()))
    seen: list[int] = []
    found = redacted(opened, key=KEY, advance=seen.append)
    assert found.opened.session is opened.session
    assert sum(seen) <= opened.session.source.size
    assert dict(found.found) == {}


def test_lines_keep_their_numbers_ids_and_order(tmp_path: Path) -> None:
    sow(tmp_path)
    opened = open_reading([tmp_path], SESSION)
    found = redacted(opened, key=KEY).opened.session
    assert list(found.table.number) == list(opened.session.table.number)
    assert list(found.table.uuid) == list(opened.session.table.uuid)
    assert list(found.table.kind) == list(opened.session.table.kind)


@pytest.mark.parametrize("is_redacted", [False, True])
def test_a_story_counts_what_was_taken_out(tmp_path: Path, is_redacted: bool) -> None:
    sow(tmp_path)
    cleaning = Cleaning(KEY) if is_redacted else None
    story = story_of(open_reading([tmp_path], SESSION), Chosen(), cleaning=cleaning)
    assert story.is_redacted is is_redacted
    assert bool(story.redacted) is is_redacted
    assert ("[redacted:" in story.head.title) is is_redacted


def test_damage_is_cleaned_too(tmp_path: Path) -> None:
    words = KIND.telling.format(SECRET)
    data = Builder(SESSION).prompt("go").answer("Done.").data() + f'{{"torn": "{words}'.encode()
    opened = open_reading([tmp_path], put(tmp_path, data))
    assert opened.session.fragments
    found = redacted(opened, key=KEY).opened
    assert SECRET.encode() not in raw(found.session)
    assert found.session.fragments
