"""A session that is opened again as it grows tells what opening it from the beginning tells."""

from __future__ import annotations

import gc
import random
import weakref
from typing import TYPE_CHECKING, Any

import pytest

from clew.actions import reopening
from clew.actions.exporting import open_file
from clew.actions.opening import agent_files
from clew.actions.reopening import Standing, gone_on, mark, stand
from clew.errors import ChangedOnDiskError
from clew.store.files import Store
from clew.store.reader import open_session
from clew.store.source import FileSource
from tests.builder import Builder, call, text
from tests.conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from clew.session.session import Session

CORPUS = sorted((ROOT / "tests" / "data" / "corpus").rglob("*.jsonl"))


def place(root: Path, name: str = "s") -> Path:
    path = root / "projects" / "-p" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def fresh(root: Path) -> Standing:
    store = Store.at([str(root)])
    listing = store.listing()
    file = listing.sessions[0]
    source = FileSource(file.path)
    begun = mark(source)
    return stand(open_file(store, file, listing=listing, source=source), begun=begun)


def again(root: Path, before: Standing) -> Standing | None:
    store = Store.at([str(root)])
    listing = store.listing()
    file = listing.sessions[0]
    return gone_on(before, file, agent_files(store, file, listing=listing))


def told(standing: Standing) -> dict[str, Any]:
    """Return everything that a page may be told of a session."""
    timeline = standing.timeline
    return {
        "turns": [(turn, list(turn.rows)) for turn in standing.turns],
        "back": standing.back,
        "off": standing.off,
        "places": list(standing.turn_of),
        "head": timeline.head(),
        "heads": timeline.heads(),
        "flow": [list(view.flow()) for view in timeline.turns()],
        "fragments": standing.opened.session.fragments,
        "numbers": list(standing.opened.session.table.number),
        "cursor": standing.cursor,
    }


def grow(root: Path, data: bytes, cuts: list[int], *, lazily: bool = True) -> tuple[int, int]:
    """Write a file step by step; return how often it was gone on with, of how many steps."""
    path = place(root)
    path.write_bytes(data[: cuts[0]])
    standing = fresh(root)
    gone = 0
    for cut in cuts[1:]:
        with path.open("ab") as file:
            file.write(data[path.stat().st_size : cut])
        if not lazily:
            told(standing)  # so that there is something to carry over
        found = again(root, standing)
        gone += found is not None
        standing = found or fresh(root)
        if found is not None:
            assert told(found) == told(fresh(root)), cut
    return gone, len(cuts) - 1


def lines_of(data: bytes) -> list[int]:
    """Return where lines end."""
    return [at + 1 for at, byte in enumerate(data) if byte == 10]


@pytest.mark.parametrize("seed", range(3))
def test_sessions_of_real_clients_grow_as_they_are_read_at_once(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    gone = steps = 0
    for number, path in enumerate(draw.sample(CORPUS, 12)):
        data = path.read_bytes()[:300_000]
        ends = lines_of(data)
        if len(ends) < 4:
            continue
        cuts = sorted(draw.sample(ends, min(5, len(ends))))
        # Sometimes in the middle of a line too, as while it is being written.
        cuts[-2] = max(cuts[-3] + 1, cuts[-2] - draw.choice([0, 7]))
        found, many = grow(tmp_path / str(number), data, cuts, lazily=bool(seed % 2))
        gone, steps = gone + found, steps + many
    assert steps > 20
    assert gone > steps / 4, f"{gone} of {steps}"


def live() -> Builder:
    made = Builder("s").user("one").answer(call("t1", "Bash", {"command": "ls"})).result("t1", "a b")
    return made.answer("there is a, and b").user("two")


def test_what_goes_on_with_the_last_turn_or_behind_it_is_read_alone(tmp_path: Path) -> None:
    made = live()
    cuts = [len(made.data())]
    for step in range(12):
        match step % 4:
            case 0:
                made.answer(text("so"), call(f"c{step}", "Read", {"file_path": "/x"}))
            case 1:
                made.result(f"c{step - 1}", "what it says")
            case 2:
                made.answer("that is all")
            case _:
                made.user("and more?")
        cuts.append(len(made.data()))
    assert grow(tmp_path, made.data(), cuts) == (12, 12)


def test_a_line_is_seen_however_it_is_cut(tmp_path: Path) -> None:
    made = live()
    start = len(made.data())
    data = made.answer("yes — ja").user("three").data()
    gone, steps = grow(tmp_path, data, [start, *range(start + 1, len(data), 37), len(data)])
    assert gone == steps


def again_written(line: int) -> Callable[[Builder], bytes]:
    return lambda made: made.data() + made.data().splitlines(keepends=True)[line]


CHANGES: dict[str, Callable[[Builder], bytes]] = {
    "cut": lambda made: made.data()[:-9],
    "rewritten": lambda made: made.data().replace(b'"one"', b'"eno"', 1),
    "emptied": lambda _made: b"",
    "compacted": lambda made: made.compact().data(),
    "a prompt written again": again_written(0),
    "an answer written again": again_written(1),
    "a late result": lambda made: made.result("t1", "another result").data(),
    "a sub-agent's line": lambda made: made.answer("inside", isSidechain=True).data(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_what_says_something_of_an_earlier_turn_is_read_as_a_whole(
    tmp_path: Path, change: Callable[[Builder], bytes]
) -> None:
    made = live()
    path = place(tmp_path)
    path.write_bytes(made.data())
    before = fresh(tmp_path)
    path.write_bytes(change(made))
    assert again(tmp_path, before) is None


def test_who_goes_back_to_an_earlier_turn_is_read_as_a_whole(tmp_path: Path) -> None:
    made = Builder("s").user("one")
    first = made.leaf
    made.answer("1").user("two").answer("2")
    path = place(tmp_path)
    path.write_bytes(made.data())
    before = fresh(tmp_path)
    path.write_bytes(made.user("other", parentUuid=first).data())
    assert again(tmp_path, before) is None
    assert fresh(tmp_path).back[-1] == 1


def test_another_file_in_its_place_is_another_session(tmp_path: Path) -> None:
    path = place(tmp_path)
    path.write_bytes(live().data())
    before = fresh(tmp_path)
    other = path.with_suffix(".new")
    other.write_bytes(live().answer("more").data())
    other.rename(path)
    assert again(tmp_path, before) is None
    path.unlink()
    assert gone_on(before, before.opened.file, ()) is None


def test_what_was_rewritten_while_it_was_read_is_read_as_a_whole_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client cuts its last line away and writes another, and we have the table of the old one."""
    path = place(tmp_path)
    path.write_bytes(live().data())
    read_turns = reopening.read_turns

    def rewriting(*given: Any, **more: Any) -> Any:
        data = path.read_bytes()
        with path.open("r+b") as file:
            file.write(data.replace(b'"two"', b'"six"'))
        return read_turns(*given, **more)

    monkeypatch.setattr(reopening, "read_turns", rewriting)
    before = fresh(tmp_path)
    monkeypatch.undo()
    assert before.cursor is None, "nobody can vouch for the lines that were read"
    assert again(tmp_path, before) is None
    assert fresh(tmp_path).cursor is not None


def test_a_line_that_was_written_over_since_is_told_and_not_taken_for_another(tmp_path: Path) -> None:
    path = place(tmp_path)
    path.write_bytes(live().data())
    session = open_session(path)
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.write(b"x" * size)
    with pytest.raises(ChangedOnDiskError, match=r"s\.jsonl changed on disk"):
        session.entry(len(session) - 1)


def test_a_session_that_has_grown_is_let_go_of_at_once(tmp_path: Path) -> None:
    """Not when the collector comes by: it would be held hundreds of times until then."""
    path = place(tmp_path)
    made = live()
    path.write_bytes(made.data())
    standing = fresh(tmp_path)
    gc.collect()
    gc.disable()
    try:
        for step in range(3):
            told(standing)
            before = weakref.ref(standing.timeline)
            path.write_bytes(made.answer(f"more {step}").data())
            found = again(tmp_path, standing)
            assert found is not None
            standing = found
            assert before() is None, step
    finally:
        gc.enable()


def agent_file(root: Path, name: str, made: Builder) -> None:
    path = root / "projects" / "-p" / "s" / "subagents" / f"agent-{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(made.data())


def hung(standing: Standing) -> list[tuple[object, ...]]:
    """Return which sub-agents there are, what started each, and how long it is by now."""
    return [
        (one.agent_id, one.started_by, one.evidence, one.source and len(one.source.session))
        for one in standing.agents
    ]


def test_sub_agents_that_write_are_found_again_without_going_through_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from clew.session import calls, subagents
    from clew.session.said import Said, said

    paired: list[Session] = []

    def gathered(session: Session) -> Said:
        paired.append(session)
        return said(session)

    path = place(tmp_path)
    made = live().answer(call("t2", "Task", {"prompt": "look", "description": "d"}))
    inside = Builder("s").user("look", isSidechain=True, agentId="a1")
    path.write_bytes(made.data())
    agent_file(tmp_path, "a1", inside)
    standing = fresh(tmp_path)
    assert hung(standing) == [("a1", "t2", "prompt", 1)]
    for step in range(6):
        agent_file(tmp_path, "a1", inside.answer(f"so {step}", isSidechain=True, agentId="a1"))
        if step == 3:
            path.write_bytes(made.result("t2", "done").user("next").data())
            agent_file(tmp_path, "a2", Builder("s").user("more", isSidechain=True, agentId="a2"))
        if step == 4:
            path.write_bytes(made.answer(call("t3", "Agent", {"prompt": "more"})).data())
        with monkeypatch.context() as patch:
            patch.setattr(subagents, "said", gathered)
            found = again(tmp_path, standing)
        assert found is not None
        assert found.opened.session not in paired
        assert hung(found) == hung(fresh(tmp_path))
        assert told(found) == told(fresh(tmp_path))
        everything = calls.pairs(found.opened.session).calls
        assert list(found.starts or ()) == [one for one in everything if one.name in {"Task", "Agent"}]
        standing = found
    assert hung(standing) == [("a1", "t2", "prompt", 7), ("a2", "t3", "prompt", 1)]
    assert len(paired) >= 6
