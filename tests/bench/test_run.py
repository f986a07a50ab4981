"""The runner: what it measures, how it judges, and that a count that is off by one is seen."""

from __future__ import annotations

import copy
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from bench.generate import Recipe, generate
from bench.measure import Command, Cost, measure, middle, throwaway_env
from bench.peers import PEERS, Job, PeerMissingError, find
from bench.report import Line, Report, Row
from bench.runner import Runner
from bench.work_usage import differences

if TYPE_CHECKING:
    from pathlib import Path


def python(home: Path, code: str, *, ok: tuple[int, ...] = (0,)) -> Command:
    return Command((sys.executable, "-c", code), throwaway_env(home), ok=ok)


def test_a_childs_peak_memory_is_its_own_and_not_that_of_the_process_that_runs_it(tmp_path: Path) -> None:
    ballast = bytearray(b"x") * 150_000_000
    small = measure(python(tmp_path, "pass"))
    large = measure(python(tmp_path, "x = bytearray(b'x') * 120_000_000"))
    assert len(ballast) == 150_000_000
    assert small.error is None
    assert small.cost.rss < 60
    assert 115 < large.cost.rss < 180


def test_cpu_time_is_counted_for_work_and_not_for_waiting(tmp_path: Path) -> None:
    idle = measure(python(tmp_path, "import time; time.sleep(0.3)")).cost
    busy = measure(
        python(tmp_path, "import time; t = time.process_time()\nwhile time.process_time() < t + 0.3: pass")
    )
    assert idle.wall >= 0.3
    assert idle.cpu < 0.2
    assert busy.cost.cpu >= 0.3


def test_a_program_that_fails_or_is_not_there_is_an_error_with_its_last_words(tmp_path: Path) -> None:
    failed = measure(python(tmp_path, "import sys; sys.exit('no such command')"))
    assert failed.error == "exit code 1: no such command"
    assert measure(python(tmp_path, "raise SystemExit(3)", ok=(0, 3))).error is None
    gone = measure(Command(("clew-no-such-program",), throwaway_env(tmp_path)))
    assert gone.error is not None
    assert gone.error.startswith("cannot be started")


def test_what_a_program_prints_is_kept_when_it_is_wanted(tmp_path: Path) -> None:
    assert measure(python(tmp_path, "print('data')"), keep_output=True).output == b"data\n"
    assert measure(python(tmp_path, "print('data')")).output == b""


def test_children_see_no_home_but_the_throw_away_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "not to be handed on")
    code = "import json, os; print(json.dumps(dict(os.environ)))"
    seen = json.loads(measure(python(tmp_path, code), keep_output=True).output)
    assert "ANTHROPIC_API_KEY" not in seen
    assert seen["HOME"] == str(tmp_path)
    assert seen["CLAUDE_CONFIG_DIR"].startswith(str(tmp_path))


def test_the_middle_is_taken_of_each_figure_by_itself() -> None:
    assert middle([Cost(1, 9, 5), Cost(2, 7, 6), Cost(3, 8, 4)]) == Cost(2, 8, 5)


@pytest.mark.parametrize(
    ("row", "verdict", "missed"),
    [
        (Row("P2", "", 0.64, 0.65, "×"), "ok", False),
        (Row("P2", "", 0.66, 0.65, "×"), "miss", True),
        (Row("P2", "", None, 0.65, "×", error="exit code 1"), "error", True),
        (Row("P2", "", None, 0.65, "×", error="npm is not installed", peerless=True), "no peer", True),
        (Row("peer", "", 1.2, None, "×"), "info", False),
        (Row("peer", "", None, None, "×", error="exit code 1"), "error", False),
    ],
)
def test_a_target_counts_as_missed_when_it_is_over_its_limit_or_was_not_measured(
    row: Row, verdict: str, missed: bool
) -> None:
    assert (row.verdict, row.missed) == (verdict, missed)


def test_both_tables_hold_every_row_and_a_bar_in_a_message_breaks_no_table() -> None:
    lines = [Line("20 MB", "cat", Cost(0.1, 0.05, 9)), Line("20 MB", "clew usage", None, "a|b")]
    report = Report("machine", "corpus", lines, [Row("P2", "usage", 0.5, 0.65, "×", "1 s ÷ 2 s")])
    assert "a|b" in report.as_text()
    markdown = report.as_text(markdown=True)
    assert r"a\|b" in markdown
    assert "| P2 | usage | 0.50 × | ≤ 0.65 × | ok | 1 s ÷ 2 s |" in markdown
    assert report.as_json()["missed"] is False


def test_a_sum_that_is_off_by_one_or_a_day_too_many_is_named(tmp_path: Path) -> None:
    generate(tmp_path / "corpus", Recipe(200_000))
    truth: dict[str, Any] = json.loads((tmp_path / "corpus" / "truth.json").read_text(encoding="utf-8"))
    rows = [{"key": key} | tally for key, tally in truth["by_day"].items()]
    answer: dict[str, Any] = {"rows": rows, "total": truth["total"]}
    assert differences(answer, truth, "day") == []
    wrong = copy.deepcopy(answer)
    wrong["rows"][0]["tokens"]["cache_write_1h"] += 1
    wrong["total"]["tokens"]["output"] -= 1
    wrong["rows"][0]["messages"] += 1
    wrong["rows"].append({"key": "1999-01-01", "tokens": {"input": 5}, "messages": 0})
    assert len(differences(wrong, truth, "day")) == 4
    assert any(
        text.startswith("1999-01-01 input: 5 instead of 0") for text in differences(wrong, truth, "day")
    )


def test_a_peer_that_is_not_the_program_it_should_be_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bench import peers

    other = peers.Peer("other", lambda _folder: tmp_path / "nothing-there", {}, says="other 1")
    monkeypatch.setitem(PEERS, "other", other)
    with pytest.raises(PeerMissingError, match="does not start"):
        find("other", tmp_path)
    echo = peers.Peer("echo", PEERS["python"].install, {}, says="other 1")
    monkeypatch.setitem(PEERS, "echo", echo)
    with pytest.raises(PeerMissingError, match="should say 'other 1'"):
        find("echo", tmp_path)


def test_cat_reads_every_session_file_and_a_missing_command_becomes_an_error_row(tmp_path: Path) -> None:
    root = tmp_path / "corpus"
    truth = generate(root, Recipe(200_000))
    command = PEERS["cat"].works["read"](find("cat", tmp_path), Job(root, tmp_path))
    read = measure(command, keep_output=True)
    assert len(read.output) == sum(inventory.size for inventory in truth.files.values())
    runner = Runner(size=1, session_size=1, seed=1, repeat=2, home=tmp_path)
    absent = python(tmp_path, "raise SystemExit('no such command')")
    runner.interleave("tiny", {"cat": command, "clew nothing": absent}, repeat=2)
    runner.ratio("P2", "tiny", "wall", of="clew nothing", to="cat", limit=1)
    assert runner.rows[-1].verdict == "error"
    assert runner.rows[-1].error == "exit code 1: no such command"
    runner.ratio("P2", "tiny", "wall", of="cat", to="cat", limit=1)
    assert runner.rows[-1].figure == 1
