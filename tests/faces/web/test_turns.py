"""Pages of a very long turn: the same in whatever order, and to go back from its end costs little."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from clew.faces.web.api import turns
from clew.view.timeline import TurnView
from tests.builder import Builder, call
from tests.faces.stage import write
from tests.faces.web.lab import running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest

    from clew.view.parts import Flow


def _long(calls: int) -> Builder:
    made = Builder("long").user("go")
    for number in range(calls):
        made.answer(call(f"t{number}", "Bash", {"command": f"make {number}"})).result(f"t{number}", "done")
    return made


def test_pages_of_a_long_turn_are_the_same_from_wherever_one_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "_FAR", 12)
    monkeypatch.setattr(turns, "_BACK", 12)
    made = _long(80)
    (path,) = write(tmp_path, "-p", {"long": made.data()})
    with running(tmp_path) as visitor:
        whole = visitor.get("/api/sessions/long/turns/1").json["parts"]
        assert len(whole) == 81
        draw = random.Random(11)
        first = 0
        for _ in range(150):
            # Back by a little, on by a page, or somewhere else.
            first = draw.choice([max(0, first - 5), first + 7, draw.randint(0, 85)])
            limit = draw.choice([5, 7, draw.randint(1, 20)])
            page = visitor.get(f"/api/sessions/long/turns/1?from={first}&limit={limit}").json
            assert page["parts"] == whole[first : first + limit], (first, limit)
            assert page["next"] == (first + limit if first + limit < 81 else None), (first, limit)
        path.write_bytes(made.answer("that is all").data())
        page = visitor.get("/api/sessions/long/turns/1?from=75&limit=6").json
        assert page["next"] == 81, "what was made before is not what is there now"


def test_who_goes_back_from_the_end_of_a_long_turn_has_it_gone_through_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed: list[int] = []
    really = TurnView.behind

    def behind(view: TurnView, first: int) -> Iterator[Flow]:
        passed.append(first)
        return really(view, first)

    monkeypatch.setattr(TurnView, "behind", behind)
    write(tmp_path, "-p", {"long": _long(2_000).data()})
    with running(tmp_path) as visitor:
        for first in range(1_960, 1_400, -40):
            page = visitor.get(f"/api/sessions/long/turns/1?from={first}&limit=40").json
            assert len(page["parts"]) == 40
            assert f"make {first - 1}" in str(page["parts"][0])
    assert len(passed) == 1
