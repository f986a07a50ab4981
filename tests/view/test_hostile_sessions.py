"""A session whose lines hold anything at all can still be drawn, and every part of it is JSON."""

from __future__ import annotations

import json
from random import Random
from typing import Any, cast

import pytest

from clew.faces.cli.reader import Choice, Reader
from clew.session.session import Session
from clew.session.subagents import agents
from clew.session.turns import turns
from clew.view.encoding import encode
from clew.view.timeline import Timeline
from tests.faces.stage import stage
from tests.view.sessions import files

STRANGE: tuple[Any, ...] = (
    None, True, 0, -1, 10**18, 1e308, "", "x", "\ud800", "\x1b]0;x\x07", [], {}, [None], [[]], {"type": 1},
    {"type": "text"}, [{"type": "tool_result"}], "a\n" * 40, {"type": "image", "source": {"data": "x"}},
)  # fmt: skip
SEEDS = 40


def spoiled(value: Any, rng: Random, odds: float) -> Any:
    """A value in some places of which something else stands."""
    if rng.random() < odds:
        return rng.choice(STRANGE)
    if isinstance(value, dict):
        return {key: spoiled(one, rng, odds) for key, one in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [spoiled(one, rng, odds) for one in cast("list[Any]", value)]
    return value


def session_of(seed: int) -> bytes:
    """Lines of several recorded sessions, spoiled, some cut and some out of order."""
    rng = Random(seed)
    lines: list[bytes] = []
    for path in rng.sample(files(), 3):
        lines += path.read_bytes().split(b"\n")[:60]
    made: list[bytes] = []
    for line in lines:
        try:
            value = json.loads(line)
        except ValueError:
            made.append(line)
            continue
        line = json.dumps(spoiled(value, rng, rng.choice((0.005, 0.03)))).encode()
        made.append(line if rng.random() > 0.03 else line[: rng.randrange(len(line))])
    if seed % 3 == 0:
        rng.shuffle(made)
    return b"\n".join(made)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_spoiled_sessions_are_drawn_and_told_as_json(seed: int) -> None:
    draw(seed)


def draw(seed: int) -> None:
    session = Session.read(session_of(seed), name="spoiled")
    timeline = Timeline(session, turns(session), agents=agents(session))
    json.loads(encode(timeline.head()))
    assert len(timeline.heads()) == len(turns(session))
    for view in timeline.turns():
        json.loads(encode(view.head))
        for part in view.flow():
            json.loads(encode(part).decode("utf-8"))
    place = stage(70)
    reader = Reader(place.screen, Choice(thinking=True, full=bool(seed % 2), agents=True), timeline=timeline)
    for view in timeline.turns():
        reader.turn(view)
    shown = place.out
    assert all(letter.isprintable() or letter in "\n\t" for letter in shown)
