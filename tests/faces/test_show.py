"""`clew show`: a session as a person reads it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from clew.faces.cli.cells import width as cells
from tests.builder import Builder, call, image, text, thinking
from tests.faces.stage import demo

if TYPE_CHECKING:
    from pathlib import Path

    from tests.faces.console import Console
from tests.faces.show_lab import ID, one, small

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
