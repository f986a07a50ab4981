"""A turn is read from any of its parts on, and what comes before it is not made for that."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from clew.view import timeline as timelines
from tests.builder import Builder, call
from tests.view.sessions import files, timeline

if TYPE_CHECKING:
    from clew.view.timeline import Timeline


@pytest.mark.parametrize("seed", range(3))
def test_what_is_behind_some_parts_is_the_rest_of_them(seed: int) -> None:
    draw = random.Random(seed)
    looked_at = 0
    for path in draw.sample(files(), 12):
        read = timeline(path.read_bytes()[:200_000], path.stem)
        for view in read.turns(draw.sample(range(len(read.own_turns)), min(6, len(read.own_turns)))):
            everything = list(view.flow())
            for first in {0, 1, 2, len(everything), len(everything) + 3, draw.randint(0, len(everything))}:
                assert list(view.behind(first)) == everything[first:], (path, view.head.n, first)
                looked_at += 1
    assert looked_at > 50


def commands_and_calls() -> Timeline:
    """Return a turn in which parts are held back for what belongs to them, between calls."""
    made = Builder("s").user("go")
    for number in range(6):
        made.answer(call(f"a{number}", "Bash", {"command": f"make {number}"})).result(f"a{number}", "made")
        made.user("<command-name>/cost</command-name>", isMeta=number % 2 == 0)
        made.user(f"<local-command-stdout>${number}</local-command-stdout>")
        made.answer(call(f"b{number}", "Read", {"file_path": "/x"})).result(f"b{number}", "it says")
    return timeline(made.data())


def test_a_part_that_was_held_back_does_not_hide_a_call() -> None:
    for view in commands_and_calls().turns():
        everything = list(view.flow())
        for first in range(len(everything) + 2):
            assert list(view.behind(first)) == everything[first:], first


def test_calls_that_are_passed_over_are_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Builder("s").user("go")
    for number in range(50):
        made.answer(call(f"t{number}", "Bash", {"command": "ls"})).result(f"t{number}", "a")
    view = next(timeline(made.data()).turns())
    asked: list[object] = []
    really = timelines.call_part

    def made_now(*given: Any, **more: Any) -> Any:
        asked.append(given)
        return really(*given, **more)

    monkeypatch.setattr(timelines, "call_part", made_now)
    assert len(list(view.behind(41))) == 10
    assert 10 <= len(asked) <= 12
