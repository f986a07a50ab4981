"""`clew show --json`: a session as a program reads it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.builder import Builder
from tests.faces.payloads import assert_harmless
from tests.session.recorded import CORPUS

if TYPE_CHECKING:
    from tests.faces.console import Console
from tests.faces.show_lab import ID, one, small

MADE = Path(__file__).parent.parent / "data" / "made"

FIELDS = {
    "turn": {
        "n",
        "uuid",
        "round",
        "input_kind",
        "prompt",
        "started",
        "ended",
        "duration_ms",
        "messages",
        "calls",
        "tokens",
        "cost_usd",
        "status",
    },
    "message": {"id", "uuids", "request_id", "model", "stop_reason", "blocks", "tokens", "cost_usd"},
    "call": {
        "id",
        "uuid",
        "result_uuid",
        "name",
        "input",
        "result",
        "structured",
        "is_error",
        "duration_ms",
        "agent_id",
    },
    "tokens": {"input", "output", "cache_read", "cache_write_5m", "cache_write_1h"},
}


def test_json_has_the_documented_shape(clew: Console, tmp_path: Path) -> None:
    ran = clew("show", one(tmp_path, small().data()), "--json")
    document = json.loads(ran.out)
    assert ran.code == 0
    assert document["session"] == ID
    assert [turn["n"] for turn in document["turns"]] == [1, 2]
    first, second = document["turns"]
    assert set(first) >= FIELDS["turn"]
    assert set(first["messages"][0]) >= FIELDS["message"]
    assert set(first["calls"][0]) >= FIELDS["call"]
    assert set(first["tokens"]) == set(first["messages"][0]["tokens"]) == FIELDS["tokens"]
    assert (first["round"], second["round"]) == ("new_session", "new_round")
    assert first["prompt"] == "Light the lamp"
    assert first["started"] == "2026-03-04T09:00:01.000Z"
    assert first["calls"][1] == {
        "id": "t2",
        "uuid": "u5",
        "result_uuid": "u6",
        "name": "Bash",
        "input": {"command": "make light"},
        "result": "Exit code 2\n" + "\n".join(f"line {n}" for n in range(30)),
        "structured": None,
        "is_error": True,
        "duration_ms": 1000,
        "agent_id": None,
    }
    assert first["tokens"]["output"] == 3
    assert abs(first["cost_usd"] - sum(message["cost_usd"] for message in first["messages"])) < 1e-12
    assert first["status"] == "complete"


def test_jsonl_gives_one_turn_a_line(clew: Console, tmp_path: Path) -> None:
    ran = clew("show", one(tmp_path, small().data()), "--jsonl")
    assert [json.loads(line)["n"] for line in ran.lines] == [1, 2]


def test_a_message_of_an_unknown_model_has_no_price_and_neither_has_its_turn(
    clew: Console, tmp_path: Path
) -> None:
    data = Builder(ID).user("Hello").answer("Hi", model="claude-of-tomorrow").data()
    (turn,) = json.loads(clew("show", one(tmp_path, data), "--json").out)["turns"]
    assert turn["cost_usd"] is turn["messages"][0]["cost_usd"] is None


@pytest.mark.parametrize(
    "scenario", sorted({path.parent.parent.name for path in CORPUS.glob("*/*/projects")})
)
def test_every_recorded_session_has_the_shape_and_its_screen(clew: Console, scenario: str) -> None:
    for path in sorted(CORPUS.glob(f"{scenario}/*/projects/**/*.jsonl")):
        ran = clew("show", path, "--json")
        document = json.loads(ran.out)
        assert ran.code == 0, path
        for turn in document["turns"]:
            assert set(turn) >= FIELDS["turn"]
            assert all(set(message) >= FIELDS["message"] for message in turn["messages"])
            assert all(set(called) >= FIELDS["call"] for called in turn["calls"])
            assert turn["status"] in {"complete", "incomplete", "interrupted", "cut", "error"}
            assert turn["round"] in {"new_session", "continue", "new_round", "resume", None}
        screen = clew("show", path, "--agents", "--thinking", "--full", width=80)
        assert screen.code == 0
        assert all(f"── {turn['n']} ──" in screen.out for turn in document["turns"])
        assert_harmless(screen.out)


@pytest.mark.parametrize("path", sorted(MADE.rglob("*.jsonl")), ids=lambda path: path.stem)
def test_made_sessions_can_be_read(clew: Console, path: Path) -> None:
    assert json.loads(clew("show", path, "--json").out)["turns"] is not None
    assert_harmless(clew("show", path, "--full", "--thinking", width=60).out)


def test_what_json_cannot_say_is_null_and_the_document_stays_whole(clew: Console, tmp_path: Path) -> None:
    deep = b"[" * 250 + b"]" * 250
    content = (
        b'[{"type":"text","text":"half \\ud800 a pair","x":NaN,"y":1e999,"z":%s,"w":12345678901234567890123}]'
    )
    line = (
        b'{"type":"assistant","uuid":"a1","parentUuid":null,"timestamp":"2026-03-04T09:00:00Z",'
        b'"message":{"role":"assistant","id":"m1","content":' + content % deep + b"}}\n"
    )
    ran = clew("show", one(tmp_path, Builder(ID).user("Hi").data() + line), "--json")
    (turn,) = json.loads(ran.out)["turns"]
    (block,) = turn["messages"][0]["blocks"]
    assert block["text"] == "half \ufffd a pair"
    assert block["x"] is block["y"] is None
    assert float(block["w"]) == 12345678901234567890123.0
    assert str(block["z"]).startswith("[" * 250)
