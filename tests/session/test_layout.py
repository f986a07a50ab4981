"""Where lines stand: the walk for all lines at once, and the plain one for each line by itself."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from clew.session.chain import chain
from clew.session.eras import rules
from clew.session.graph import Graph
from clew.session.layout import Layout, Runs
from clew.session.session import HUMAN, SIDECHAIN, Session
from clew.session.turns import turns
from tests.catalog.stores import line
from tests.session.recorded import CORPUS, read

DATA = Path(__file__).parent.parent / "data"
RECORDED = sorted(CORPUS.glob("**/*.jsonl"))
CASES = sorted((DATA / "resume-cases").glob("**/*.jsonl"))


def plainly(session: Session) -> list[str]:
    """For each line by itself: up to the way the client would go, and has the talk gone another way?"""
    graph, table = Graph(session), session.table
    leaf = (found := chain(session, rules())).leaf
    active = {*graph.path(leaf), *found.rows} if leaf is not None else set[int]()
    way_up = {*graph.upwards(leaf)} if leaf is not None else set[int]()
    is_agent = not any(
        not table.flags[row] & SIDECHAIN and table.kind_of(row) in {"user", "assistant"}
        for row in range(len(table))
    )

    def where(row: int) -> str:
        if table.flags[row] & SIDECHAIN and not is_agent:
            return "sub-agent"
        if not table.uuid[row] or leaf is None:
            return "active"
        node, way = table.last_of(table.uuid[row]), list[int]()
        while node >= 0 and node not in active and node not in way_up:
            way.insert(0, node)
            node = graph.above[node]
        if node < 0:
            return "branch"
        said = next((table.message[up] for up in graph.upwards(node) if table.kind_of(up) == "assistant"), 0)
        for off in way:
            if table.flags[off] & HUMAN:
                return "branch"
            if table.kind_of(off) == "assistant":
                if not table.message[off] or table.message[off] != said:
                    return "branch"
                said = table.message[off]
        return "active" if node in active else "before-compaction"

    return [where(row) for row in range(len(session))]


def assert_alike(session: Session) -> None:
    expected = plainly(session)
    layout = Layout(session)
    forwards = [layout.where(row) for row in range(len(session))]
    assert forwards == expected
    backwards = Layout(session)
    assert [backwards.where(row) for row in reversed(range(len(session)))] == expected[::-1]
    runs = Runs(Layout(session).runs())
    told = [runs.at(row) for row in range(len(session))]
    assert told == [(layout.where(row), layout.turn(row)) for row in range(len(session))]
    assert runs.at(len(session)) is None
    assert runs.at(-1) is None


@pytest.mark.parametrize("version", sorted({path.relative_to(CORPUS).parts[0] for path in RECORDED}))
def test_all_lines_of_recorded_sessions_stand_where_each_by_itself_does(version: str) -> None:
    for path in RECORDED:
        if path.relative_to(CORPUS).parts[0] == version:
            assert_alike(read(path))


def test_so_do_those_of_hand_made_sessions() -> None:
    assert CASES
    for path in CASES:
        assert_alike(read(path))


@pytest.mark.parametrize("seed", range(60))
def test_so_do_lines_in_any_order(seed: int) -> None:
    chosen = random.Random(seed)
    data = b"".join(line(chosen.randrange(48)) for _ in range(chosen.randrange(1, 80)))
    assert_alike(Session.read(data, name="s0"))


@pytest.mark.parametrize("path", [path for path in RECORDED if "subagents" not in path.parts][::9], ids=str)
def test_turns_are_numbered_as_they_are_shown(path: Path) -> None:
    session = read(path)
    layout = Layout(session)
    for turn in turns(session):
        assert {layout.turn(row) or 0 for row in turn.rows} <= {turn.n}


@pytest.mark.no_cover  # it is about time
def test_a_long_dead_end_takes_no_longer_than_a_short_one() -> None:
    many = 20_000
    said = (
        '"timestamp":"2026-03-0{}T00:00:00.000Z","message":{{"role":"{}","content":[{{"type":"text",{}}}]}}}}'
    )
    prompt = said.format(1, "user", '"text":"go"')
    lines = [f'{{"type":"user","uuid":"a","parentUuid":null,{prompt}']
    for number in range(many):
        parent = f"p{number - 1}" if number else "a"
        lines.append(f'{{"type":"user","uuid":"p{number}","parentUuid":"{parent}",{prompt}')
    answer = said.format(2, "assistant", '"text":"here"')
    lines.append(f'{{"type":"assistant","uuid":"z","parentUuid":"a",{answer}')
    data = "".join(f"{one}\n" for one in lines).encode()
    layout = Layout(Session.read(data, name="s"))
    runs = layout.runs()
    assert sum(run.rows for run in runs) == many + 2
    assert layout.where(many) == "branch"
    assert layout.where(0) == layout.where(many + 1) == "active"
