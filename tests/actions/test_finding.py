"""Where an id is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clew.actions.finding import Place, find
from clew.actions.stores import open_store
from clew.errors import UsageError
from tests.builder import Builder, call
from tests.conftest import ROOT
from tests.faces.stage import demo, write

CORPUS = ROOT / "tests" / "data" / "corpus"


def places(root: Path, wanted: str, *, jobs: int | None = 1) -> list[Place]:
    return list(find(open_store([root]), wanted, jobs=jobs).places)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    talk = Builder("session-1").prompt("See uuid-of-answer and toolu_77").raw(b"\n")
    talk.answer(
        call("toolu_77"), message_id="msg_77", uuid="uuid-of-answer", requestId="req_77", stop="tool_use"
    )
    talk.result("toolu_77", toolUseResult={"agentId": "agent77"})
    talk.answer("Done.", message_id="msg_78")
    agent = Builder("session-1").prompt("Look", isSidechain=True, agentId="agent77")
    agent.answer("Seen.", isSidechain=True, agentId="agent77", message_id="msg_79")
    write(
        tmp_path,
        "-p",
        {"session-1": talk.data(), "session-1/subagents/agent-agent77": agent.data(), "other": b""},
    )
    return tmp_path


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("uuid-of-answer", [("uuid", "session-1", 3, "assistant")]),
        ("msg_77", [("message", "session-1", 3, "assistant")]),
        ("req_77", [("request", "session-1", 3, "assistant")]),
        ("toolu_77", [("tool_use", "session-1", 3, "assistant"), ("tool_use", "session-1", 4, "user")]),
        ("agent77", [("agent", "session-1", 4, "user"), ("agent", "agent-agent77", 1, "user")]),
        ("session-1", [("session", "session-1", 1, "user"), ("session", "agent-agent77", 1, "user")]),
        ("other", [("session", "other", None, None)]),
        ("nothing-like-it", []),
    ],
)
def test_an_id_is_found_where_it_is_and_not_where_it_is_spoken_of(
    root: Path, wanted: str, found: list[tuple[str, str, int | None, str | None]]
) -> None:
    assert [(p.id_kind, Path(p.path).stem, p.line, p.type) for p in places(root, wanted)] == found


def test_every_place_has_the_fields_of_the_contract(root: Path) -> None:
    (place,) = places(root, "msg_77")
    assert set(place.as_dict()) == {"id_kind", "path", "line", "offset", "session", "type"}
    assert place.session == "session-1"


def test_a_place_in_a_sub_agents_file_names_its_session(root: Path) -> None:
    (place,) = places(root, "msg_79")
    assert place.session == "session-1"


def test_the_start_of_a_sessions_id_is_enough(tmp_path: Path) -> None:
    (place,) = places(demo(tmp_path), "f026")
    assert (place.id_kind, place.line) == ("session", 1)


def test_an_id_that_is_too_short_is_refused(root: Path) -> None:
    with pytest.raises(UsageError):
        find(open_store([root]), "u1")


def test_every_id_of_the_corpus_is_found_at_its_line_and_offset() -> None:
    """Against a reading that shares nothing with the search: lines split and decoded one by one."""
    root = CORPUS / "2.1.325" / "tools"
    expected: dict[str, set[tuple[str, str, int, int]]] = {}
    for path in root.rglob("projects/*/*.jsonl"):
        offset = 0
        for number, raw in enumerate(path.read_bytes().splitlines(keepends=True), 1):
            entry: dict[str, Any] = json.loads(raw)
            message: dict[str, Any] = entry.get("message") or {}
            found = [
                ("uuid", entry.get("uuid")),
                ("message", message.get("id")),
                ("request", entry.get("requestId")),
            ]
            blocks: list[dict[str, Any]] = (
                message["content"] if isinstance(message.get("content"), list) else []
            )
            for block in blocks:
                found += [("tool_use", block.get("id")), ("tool_use", block.get("tool_use_id"))]
            for kind, wanted in found:
                if wanted:
                    expected.setdefault(wanted, set()).add((kind, str(path), number, offset))
            offset += len(raw)
    assert len(expected) > 50
    store = open_store([root])
    for wanted, where in expected.items():
        got = {(p.id_kind, p.path, p.line, p.offset) for p in find(store, wanted, jobs=1).places}
        assert got == where, wanted


def test_an_id_is_found_in_glued_records_and_behind_damage(tmp_path: Path) -> None:
    one = Builder("s").prompt("One", uuid="uuid-one").data()
    two = Builder("s").prompt("Two", uuid="uuid-two").data()
    (path,) = write(tmp_path, "-p", {"s": b"\0\0\0\n" + one.rstrip(b"\n") + two + b'{"type":"us' + one})
    data = path.read_bytes()
    (place,) = places(tmp_path, "uuid-two")
    assert (place.line, place.offset) == (2, data.index(two))
    assert [place.line for place in places(tmp_path, "uuid-one")] == [2, 3]


def test_an_id_across_the_border_of_two_reads_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clew.actions.finding._STEP", 64)
    talk = Builder("s")
    for number in range(30):
        talk.prompt("word " * (number % 7), uuid=f"uuid-{number:04}-x")
    write(tmp_path, "-p", {"s": talk.data()})
    for number in range(30):
        assert [place.line for place in places(tmp_path, f"uuid-{number:04}-x")] == [number + 1]


def test_an_id_on_a_giant_line_is_found(tmp_path: Path) -> None:
    talk = (
        Builder("s").prompt("Hi").prompt("x" * (9 << 20), uuid="uuid-giant").prompt("Bye", uuid="uuid-after")
    )
    write(tmp_path, "-p", {"s": talk.data()})
    assert [place.line for place in places(tmp_path, "uuid-giant")] == [2]
    assert [place.line for place in places(tmp_path, "uuid-after")] == [3]


def test_more_processes_find_the_same(root: Path) -> None:
    assert places(root, "agent77", jobs=2) == places(root, "agent77", jobs=1)
