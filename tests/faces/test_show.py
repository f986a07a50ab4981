"""`clew show`: a session as a person reads it, and as a program does."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from clew.faces.cli.cells import width as cells
from tests.builder import Builder, call, image, text, thinking
from tests.faces import console as consoles
from tests.faces.stage import demo, write
from tests.faces.test_terminal import PAYLOADS, assert_harmless
from tests.session.recorded import CORPUS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.faces.console import Console

ID = "0a0a0a0a-0000-4000-8000-000000000001"
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


@pytest.fixture
def clew(monkeypatch: pytest.MonkeyPatch) -> Iterator[Console]:
    yield from consoles.console(monkeypatch)


def one(root: Path, data: bytes, name: str = ID) -> Path:
    return write(root, "-home-ada-lighthouse", {name: data})[0]


def small() -> Builder:
    """Two turns with a call that works and one that fails."""
    return (
        Builder(ID)
        .user("Light the lamp")
        .answer(
            "Looking first.",
            call("t1", "Read", {"file_path": "/home/ada/lighthouse/lamp.py"}),
            stop="tool_use",
        )
        .result(
            "t1", "1\tlamp = off", toolUseResult={"type": "text", "file": {"numLines": 1, "totalLines": 1}}
        )
        .answer(call("t2", "Bash", {"command": "make light"}), stop="tool_use")
        .result("t2", "Exit code 2\n" + "\n".join(f"line {n}" for n in range(30)), is_error=True)
        .answer(thinking("Maybe oil."), "It needs oil.")
        .user("Then oil it")
        .answer("Done.")
    )


# What a program reads ---------------------------------------------------------------------------------


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


# What a person reads ----------------------------------------------------------------------------------

SCREEN = """\
Light the lamp
0a0a0a0a-0000-4000-8000-000000000001 · /home/ada/lighthouse · main · 2.1…

── 1 ── 2026-03-04 09:00 · 7.0s · 2 calls, 1 failed · <$0.01 ────────────
› Light the lamp

Looking first.

✓ Read    lamp.py · 1 line · 1.0s
✗ Bash    make light · exit 2 · 1.0s
    … 19 lines before (146 B): --full
    line 18
    line 19
    line 20
    line 21
    line 22
    line 23
    line 24
    line 25
    line 26
    line 27
    line 28
    line 29

thinking  Maybe oil.

It needs oil.

── 2 ── 09:00 · 1.0s · <$0.01 ───────────────────────────────────────────
› Then oil it

Done.

2 turns · 2 calls (1 failed) · <$0.01 · prices of DATE
"""


def test_a_turn_is_a_rule_a_prompt_answers_and_a_line_a_call(clew: Console, tmp_path: Path) -> None:
    ran = clew("show", one(tmp_path, small().data()), width=73)
    assert re.sub(r"prices of \S+", "prices of DATE", ran.out) == SCREEN
    assert ran.code == 0


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal(clew: Console, tmp_path: Path, width: int) -> None:
    root = demo(tmp_path)
    for path in sorted(root.glob("projects/*/*.jsonl")):
        ran = clew("show", path, "--agents", "--thinking", "--root", root, width=width)
        assert max(map(cells, ran.lines), default=0) <= width, path


def test_of_thoughts_the_first_sentence_is_shown_and_all_on_request(clew: Console, tmp_path: Path) -> None:
    data = Builder(ID).user("Hi").answer(thinking("Maybe oil. Or the wick?\n\nBoth."), "Hm.").data()
    path = one(tmp_path, data)
    assert "thinking  Maybe oil.\n" in clew("show", path, width=80).out
    assert "thinking  Maybe oil. Or the wick?\n\n          Both.\n" in (
        clew("show", path, "--thinking", width=80).out
    )


def test_thoughts_without_words_are_named_on_request_alone(clew: Console, tmp_path: Path) -> None:
    data = Builder(ID).user("Hi").answer({"type": "redacted_thinking", "data": "x"}, "Hm.").data()
    path = one(tmp_path, data)
    assert "thinking" not in clew("show", path, width=80).out
    assert "thinking  (encrypted)" in clew("show", path, "--thinking", width=80).out


def test_full_folds_nothing(clew: Console, tmp_path: Path) -> None:
    ran = clew("show", one(tmp_path, small().data()), "--full", width=80)
    assert "    line 0\n" in ran.out
    assert "    1  lamp = off\n" in ran.out
    assert "--full" not in ran.out


@pytest.mark.parametrize(
    ("asked", "shown"), [("1", [1]), ("2", [2]), ("1-2", [1, 2]), ("2-", [2]), ("2-9", [2])]
)
def test_turns_are_chosen_by_number(clew: Console, tmp_path: Path, asked: str, shown: list[int]) -> None:
    ran = clew("show", one(tmp_path, small().data()), "--turn", asked, "--json")
    assert [turn["n"] for turn in json.loads(ran.out)["turns"]] == shown


@pytest.mark.parametrize("asked", ["0", "3", "x", "2-1", "-1", "", "1,2", "99999999999999999999"])
def test_turns_that_are_not_there_are_wrong_use(clew: Console, tmp_path: Path, asked: str) -> None:
    ran = clew("show", one(tmp_path, small().data()), f"--turn={asked}")
    assert (ran.code, ran.out) == (1, "")
    assert "try:" in ran.err


@pytest.mark.parametrize(("asked", "shown"), [("1", [2]), ("2", [1, 2]), ("9", [1, 2])])
def test_the_last_turns_are_shown_however_many_there_are(
    clew: Console, tmp_path: Path, asked: str, shown: list[int]
) -> None:
    ran = clew("show", one(tmp_path, small().data()), "--last", asked, "--json")
    assert [turn["n"] for turn in json.loads(ran.out)["turns"]] == shown


def test_the_last_turns_of_a_way_are_those_of_that_way(clew: Console, tmp_path: Path) -> None:
    ran = clew("show", one(tmp_path, branched()), "--branch", "1", "--last", "1", "--json")
    assert [turn["prompt"] for turn in json.loads(ran.out)["turns"]] == ["Second"]


def test_a_session_in_which_nothing_was_said_has_no_last_turns(clew: Console, tmp_path: Path) -> None:
    ran = clew("show", one(tmp_path, b""), "--last", "1")
    assert (ran.code, ran.err) == (0, "Nothing was said in this session.\n")


@pytest.mark.parametrize("asked", [("--last", "0"), ("--last", "x"), ("--last", "1", "--turn", "1")])
def test_last_turns_that_make_no_sense_are_wrong_use(
    clew: Console, tmp_path: Path, asked: tuple[str, ...]
) -> None:
    ran = clew("show", one(tmp_path, small().data()), *asked)
    assert (ran.code, ran.out) == (1, "")


def test_grep_shows_the_turns_that_match(clew: Console, tmp_path: Path) -> None:
    path = one(tmp_path, small().data())
    for pattern, shown in (("OIL IT|oil it", [2]), ("make.light", [1]), ("line 29", [1]), ("nowhere", [])):
        ran = clew("show", path, "--grep", pattern, "--json")
        assert [turn["n"] for turn in json.loads(ran.out)["turns"]] == shown
        assert ran.code == 0
    assert clew("show", path, "--grep", "nowhere").err == "No turn matches.\n"


def test_grep_marks_what_it_finds_and_nothing_else(clew: Console, tmp_path: Path) -> None:
    path = one(tmp_path, small().data())
    out = clew("show", path, "--grep", "oil", width=80, color=True).out
    assert re.findall(r"\x1b\[(?:\d+;)*7m([^\x1b]*)\x1b", out) == ["oil", "oil", "oil"]


def test_a_short_change_is_shown_and_a_long_one_begins(clew: Console, tmp_path: Path) -> None:
    def edit(count: int) -> bytes:
        lines = [f"{sign}{number}" for sign in "-+" for number in range(count)]
        patch = [{"oldStart": 7, "newStart": 7, "lines": lines}]
        given = {"file_path": "/home/ada/lighthouse/a.py", "old_string": "x", "new_string": "y"}
        made = Builder(ID).user("Hi").answer(call("t", "Edit", given), stop="tool_use")
        return made.result("t", "ok", toolUseResult={"structuredPatch": patch}).answer("Done.").data()

    short = clew("show", one(tmp_path / "a", edit(1)), width=80).out
    assert "✓ Edit    a.py · +1 −1 · 1.0s\n    7 - 0\n    7 + 0\n" in short
    long = clew("show", one(tmp_path / "b", edit(40)), width=80).out
    assert "    … 64 lines more (502 B): --full\n" in long
    assert "    46 + 39\n" in clew("show", one(tmp_path / "c", edit(40)), "--full", width=80).out


def test_what_became_of_things_to_do_is_shown(clew: Console, tmp_path: Path) -> None:
    old = [{"content": "Oil", "status": "in_progress"}, {"content": "Wick", "status": "pending"}]
    new = [{"content": "Oil", "status": "completed"}, {"content": "Wick", "status": "pending"}]
    made = Builder(ID).user("Hi").answer(call("t", "TodoWrite", {"todos": new}), stop="tool_use")
    made.result("t", "ok", toolUseResult={"oldTodos": old, "newTodos": new}).answer("Done.")
    out = clew("show", one(tmp_path, made.data()), width=80).out
    assert "✓ TodoWrite  1 of 2 to-dos done · 1 done · 1.0s\n    [x] Oil\n\nDone." in out


def test_answers_are_drawn_as_markdown_and_in_a_pipe_as_they_were_written(
    clew: Console, tmp_path: Path
) -> None:
    path = one(tmp_path, Builder(ID).user("Hi").answer("# Oil\n\n- **much**\n").data())
    assert "\nOil\n\n- much\n" in clew("show", path, width=80).out
    assert "\n# Oil\n\n- **much**\n" in clew("show", path).out


def test_a_pattern_that_would_run_for_ever_is_stopped(clew: Console, tmp_path: Path) -> None:
    path = one(tmp_path, Builder(ID).user("a" * 60 + "!").answer("Hm.").data())
    ran = clew("show", path, "--grep", "(a+)+$")
    assert ran.code == 1
    assert "took longer than 1 s" in ran.err


def test_a_pattern_that_is_none_is_wrong_use(clew: Console, tmp_path: Path) -> None:
    ran = clew("show", one(tmp_path, small().data()), "--grep", "(")
    assert ran.code == 1
    assert "is not a pattern" in ran.err


def branched() -> bytes:
    """Three turns; the third goes back to the first."""
    builder = Builder(ID).user("First").answer("One.")
    fork = builder.leaf
    return builder.user("Second").answer("Two.").rewind(fork).user("Third").answer("Three.").data()


def test_branches_are_marked_in_the_history(clew: Console, tmp_path: Path) -> None:
    out = clew("show", one(tmp_path, branched()), width=100).out
    rules = [line for line in out.splitlines() if line.startswith("── ")]
    assert "goes back" not in rules[0]
    assert "off the active path" not in rules[0]
    assert "off the active path" in rules[1]
    assert "goes back to turn 1" in rules[2]
    assert "off the active path" not in rules[2]


@pytest.mark.parametrize(
    ("options", "prompts"),
    [
        ((), ["First", "Second", "Third"]),
        (("--branch", "1"), ["First", "Second"]),
        (("--branch", "u4xx"), None),
        (("--at", "u6"), ["First", "Third"]),
        (("--at", "u3"), ["First", "Second"]),
        (("--at", "u2"), ["First"]),
        (("--at", "nothing"), None),
        (("--branch", "2"), None),
        (("--branch", "1", "--at", "u2"), None),
    ],
)
def test_one_way_through_the_history_can_be_read(
    clew: Console, tmp_path: Path, options: tuple[str, ...], prompts: list[str] | None
) -> None:
    ran = clew("show", one(tmp_path, branched()), "--json", *options)
    if prompts is None:
        assert ran.code == 1
        assert json.loads(ran.err)["error"]["code"] == "usage"
    else:
        assert [turn["prompt"] for turn in json.loads(ran.out)["turns"]] == prompts


def test_a_way_holds_parallel_calls_and_their_results(clew: Console, tmp_path: Path) -> None:
    builder = Builder(ID).user("Both")
    builder.answer(call("t1"), call("t2"), stop="tool_use", message_id="m")
    builder.rewind("u2").result("t1", "one").rewind("u3").result("t2", "two").answer("Done.")
    ran = clew("show", one(tmp_path, builder.data()), "--at", "u6", "--json")
    (turn,) = json.loads(ran.out)["turns"]
    assert [called["result"] for called in turn["calls"]] == ["one", "two"]


def test_pictures_are_named_and_never_shown(clew: Console, tmp_path: Path) -> None:
    data = Builder(ID).user([text("Look"), image()]).answer("Nice.").data()
    out = clew("show", one(tmp_path, data), width=80).out
    assert "› [image (png, 8 B)]" in out
    assert "iVBOR" not in out


def test_a_local_command_stands_with_what_it_printed(clew: Console, tmp_path: Path) -> None:
    builder = Builder(ID).user("<command-name>/cost</command-name>\n<command-args></command-args>")
    builder.user("<local-command-stdout>$0.12</local-command-stdout>").user("Hello").answer("Hi.")
    assert "$ /cost\n    $0.12\n" in clew("show", one(tmp_path, builder.data()), width=80).out


def test_a_compaction_is_a_rule_across(clew: Console, tmp_path: Path) -> None:
    data = (
        Builder(ID).user("Hi").answer("Hello.").compact("So far:\nhello").user("More").answer("Yes.").data()
    )
    out = clew("show", one(tmp_path, data), width=80).out
    assert re.search(r"(?m)^── compacted ─+$", out)
    assert "· summary of what came before, 2 lines (13 B): --full" in out


@pytest.mark.parametrize("depth", [1, 2])
def test_sub_agents_stand_under_their_calls(clew: Console, tmp_path: Path, depth: int) -> None:
    root = demo(tmp_path)
    session = next(root.glob("projects/-home-robin-greenhouse/f947*.jsonl"))
    folded = clew("show", session, "--root", root, width=100).out
    assert re.search(r"✓ Agent .*\n  └ Explore: Find the soil sensors \w{8} · 2 calls", folded)
    assert "Looking for anything" not in folded
    shown = clew("show", session, "--agents", "--root", root, width=100).out
    assert "  │ Looking for anything that talks to a sensor." in shown
    assert depth


# Damage -----------------------------------------------------------------------------------------------


def test_damage_stands_in_its_place_and_the_exit_code_says_so(clew: Console, tmp_path: Path) -> None:
    torn = b'{"type":"user","uuid":"x","mess\n{"type":"assi\n'
    builder = Builder(ID).user("First").answer("One.").raw(torn).user("Second").answer("Two.")
    ran = clew("show", one(tmp_path, builder.data()), width=100)
    assert ran.code == 3
    assert ran.out.index("One.") < ran.out.index("could not be read") < ran.out.index("Second")
    assert f"! 2 lines could not be read (lines 3–4, {len(torn) - 2} B): cut off mid-record" in ran.out


def test_a_record_that_the_client_skips_is_marked(clew: Console, tmp_path: Path) -> None:
    lines = Builder(ID).user("First").answer("One.").data().split(b"\n")
    ran = clew("show", one(tmp_path, lines[0] + lines[1] + b"\n"), width=100)
    assert ran.code == 3
    assert ran.out.count("recovered from line 1, which the client skips") == 1
    assert "› First" in ran.out


def test_a_line_that_is_being_written_is_no_damage(clew: Console, tmp_path: Path) -> None:
    path = one(tmp_path, small().data() + b'{"type":"user","uuid":"u99","mess')
    assert clew("show", path).code == 3
    os.utime(path)
    ran = clew("show", path)
    assert ran.code == 0
    assert "could not be read" not in ran.out


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_a_session_without_turns(clew: Console, tmp_path: Path, data: bytes) -> None:
    path = one(tmp_path, data)
    ran = clew("show", path)
    assert (ran.code, ran.err) == (0, "Nothing was said in this session.\n")
    assert json.loads(clew("show", path, "--json").out)["turns"] == []


def test_an_unknown_type_is_told_once(clew: Console, tmp_path: Path) -> None:
    builder = Builder(ID).user("Hi")
    for _ in range(5):
        builder.line({"type": "dream", "content": "sheep"})
    out = clew("show", one(tmp_path, builder.answer("Hello.").data()), width=80).out
    assert out.count("a line of a type clew does not know: dream") == 1


@pytest.mark.parametrize("name", ["nobody", "@7", "/nowhere/x.jsonl", ""])
def test_a_wrong_name_is_an_error_with_a_next_step(clew: Console, tmp_path: Path, name: str) -> None:
    one(tmp_path, small().data())
    ran = clew("show", name, "--root", tmp_path)
    assert (ran.code, ran.out) == (1, "")
    assert "error: " in ran.err
    assert "try: " in ran.err


# Text that would act ----------------------------------------------------------------------------------


def hostile(payload: str) -> bytes:
    """A session with the payload in every field a screen shows."""
    builder = Builder(payload[:50], version=payload)
    given: dict[str, Any] = {"file_path": payload, payload: payload, "command": payload}
    builder.line({"type": "custom-title", "customTitle": payload, "sessionId": payload})
    builder.line({"type": "summary", "summary": payload, "leafUuid": payload})
    builder.line({"type": payload, "content": payload})
    builder.line({"type": "pr-link", "prUrl": payload, "prNumber": payload})
    builder.user(payload, cwd=payload, gitBranch=payload)
    builder.user([text(payload), {**image(), "source": {"media_type": payload, "data": payload}}])
    builder.user(f"<ide_selection>{payload}</ide_selection>{payload}")
    builder.user(f"<command-name>/{payload}</command-name>")
    builder.user(f"<local-command-stdout>{payload}</local-command-stdout>")
    builder.user(f"<task-notification><summary>{payload}</summary></task-notification>")
    for name in ("Bash", "Grep", "Task", "TodoWrite", "Skill", "AskUserQuestion", "Edit", payload):
        builder.answer(thinking(payload), text(payload), call(payload + name, name, given), model=payload)
        builder.result(payload + name, payload, is_error=name == "Bash", toolUseResult=payload)
    builder.answer({"type": payload, "x": payload}, {"type": "document", "title": payload})
    builder.answer(payload, isApiErrorMessage=True)
    builder.system("api_error", content=payload).system("local_command", content=payload).system(payload)
    builder.system("compact_boundary", compactMetadata={"trigger": payload, "preTokens": 5})
    builder.user(payload, isCompactSummary=True)
    return builder.raw(payload.encode("utf-8", "surrogatepass") + b"\n").data()


def every_tool(payload: str) -> bytes:
    """A session with the payload in all that is shown of calls and of what stands beside them."""
    builder = Builder(payload[:50], version=payload).user(payload, cwd=payload)
    for name, value, kept in calls_of(payload):
        builder.answer(call(payload + name, name, value), model=payload, version=payload)
        builder.result(payload + name, payload, toolUseResult=kept)
    builder.answer(
        {"type": "server_tool_use", "id": payload, "name": "web_search", "input": {"query": payload}},
        {
            "type": "web_search_tool_result",
            "tool_use_id": payload,
            "content": [{"type": "web_search_result", "title": payload, "url": payload}],
        },
    )
    builder.line({"type": "queue-operation", "operation": "enqueue", "content": payload})
    builder.line({"type": "queue-operation", "operation": "remove"})
    for kind in ("queued_command", "file", "hook_success", payload):
        part = {"type": kind, "prompt": payload, "filename": payload, "content": payload, "hookName": payload}
        builder.entry("attachment", attachment=part)
    builder.entry("progress", data={"type": "hook_progress", "hookName": payload, "command": payload})
    builder.system("stop_hook_summary", hookErrors=[payload], hookInfos=[{"command": payload}])
    builder.result(payload + "nowhere", payload)
    return builder.data()


def calls_of(payload: str) -> Iterator[tuple[str, dict[str, Any], Any]]:
    """Calls of the tools that clew knows, the payload in all that is shown of them."""
    patch = [{"oldStart": 1, "newStart": 1, "lines": [f"-{payload}", f"+{payload}x", f" {payload}", payload]}]
    changed = {"filePath": payload, "structuredPatch": patch, "content": payload, "userModified": True}
    path = {"file_path": payload, "content": payload, "old_string": payload, "new_string": f"{payload}\ny"}
    todo = {"content": payload, "status": payload, "subject": payload, "id": payload}
    yield "Edit", path, changed
    yield "Write", path, {**changed, "type": "update"}
    yield "MultiEdit", {"file_path": payload, "edits": [path]}, None
    yield "NotebookEdit", {"notebook_path": payload, "cell_id": payload, "new_source": payload}, None
    yield "Read", path, {"type": "text", "file": {"filePath": payload, "content": payload}}
    output = {"stdout": payload, "stderr": payload, "persistedOutputPath": payload}
    yield "Bash", {"command": f"{payload}\n{payload}", "description": payload}, output
    yield "BashOutput", {"bash_id": payload}, {**output, "status": payload, "command": payload}
    yield "Grep", {"pattern": payload, "path": payload, payload: payload}, {"mode": payload, "filenames": []}
    yield "TodoWrite", {"todos": [todo]}, {"oldTodos": [{"content": payload + "0"}], "newTodos": [todo]}
    yield "TaskCreate", todo, {"task": todo}
    yield (
        "TaskUpdate",
        {"taskId": payload, "status": payload},
        {"statusChange": {"from": payload, "to": payload}},
    )
    yield "Agent", {"subagent_type": payload, "prompt": payload}, {"agentId": payload, "content": payload}
    yield "WebFetch", {"url": payload, "prompt": payload}, {"url": payload, "result": payload}
    links = [{"content": [{"title": payload, "url": payload}]}, payload]
    yield "WebSearch", {"query": payload}, {"query": payload, "results": links}
    question = {
        "question": payload,
        "header": payload,
        "options": [{"label": payload, "description": payload}],
    }
    yield "AskUserQuestion", {"questions": [question]}, {"answers": {payload: payload}}
    yield "ExitPlanMode", {"plan": payload}, {"plan": payload, "filePath": payload}
    yield "Skill", {"skill": payload, "args": payload}, {"commandName": payload}
    yield f"mcp__{payload}__x", {payload: {payload: payload}}, {"structuredContent": {payload: payload}}


OPTIONS = (
    ("show",),
    ("show", "--turn", "1-", "--images"),
    ("show", "--full", "--thinking", "--agents"),
    ("show", "--grep", "a"),
    ("show", "--json"),
    ("tree",),
    ("tree", "--json"),
    ("context",),
    ("context", "--json"),
    ("check",),
    ("check", "--json"),
)


def test_no_payload_acts_on_a_terminal_by_any_command_that_reads(clew: Console, tmp_path: Path) -> None:
    for number, payload in enumerate(PAYLOADS):
        path = one(tmp_path / str(number), hostile(payload))
        for command, *options in OPTIONS:
            ran = clew(command, path, *options, width=80)
            assert_harmless(ran.out)
            assert_harmless(ran.err)
            assert ran.code in {0, 3}, (ran.err, payload)


def test_no_payload_acts_by_any_tool_in_a_pipe_or_between_colours(clew: Console, tmp_path: Path) -> None:
    for number, payload in enumerate(PAYLOADS):
        path = one(tmp_path / str(number), every_tool(payload))
        assert_harmless(clew("show", path, "--full").out)
        ran = clew("show", path, "--grep", "a", width=60, color=True)
        assert_harmless(re.sub(r"\x1b\[[0-9;]*m", "", ran.out))


def test_colours_are_the_only_escape_sequences(clew: Console, tmp_path: Path) -> None:
    for number, payload in enumerate(PAYLOADS[::7]):
        path = one(tmp_path / str(number), hostile(payload))
        for command in ("show", "tree", "context", "check"):
            ran = clew(command, path, width=80, color=True)
            assert "\x1b[" in ran.out
            assert_harmless(re.sub(r"\x1b\[[0-9;]*m", "", ran.out))


def test_an_error_names_a_hostile_session_harmlessly(clew: Console, tmp_path: Path) -> None:
    for payload in PAYLOADS[::5]:
        for options in ((), ("--json",)):
            ran = clew("show", payload, "--root", tmp_path, *options)
            assert ran.code == 1
            assert_harmless(ran.err)
