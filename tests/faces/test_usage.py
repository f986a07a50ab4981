"""How `clew usage` looks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from clew.actions.usage import Request, usage
from clew.faces.cli import main
from clew.faces.cli.cells import width
from clew.faces.cli.commands import usage as command
from clew.faces.cli.options import Shared
from clew.session.pricing import DATE
from tests.faces.stage import stage
from tests.session.test_usage import answer, raw, user

if TYPE_CHECKING:
    from pathlib import Path

NOW = 1_772_625_600_000  # 2026-03-04T12:00:00Z


def used(output: int, given: int = 92, cached: int = 614_000, written: int = 28_800) -> dict[str, Any]:
    split = {"ephemeral_5m_input_tokens": 800, "ephemeral_1h_input_tokens": written - 800}
    counts = {"input_tokens": given, "output_tokens": output, "cache_read_input_tokens": cached}
    return {"usage": counts | {"cache_creation_input_tokens": written, "cache_creation": split}}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    lines = [
        user(cwd="/home/ada/a rather long path/to the shop", gitBranch="main"),
        answer("a", timestamp="2026-02-03T09:00:00.000Z", message=used(10_800)),
        answer("b", timestamp="2026-02-05T09:00:00.000Z", message=used(1200, 7, 36_800, 7700)),
        answer("c", timestamp="2026-03-04T10:10:00.000Z", message=used(3, 0, 0, 800)),
        {"type": "cost-state", "totalCostUSD": 0.5},
    ]
    path = tmp_path / "store" / "projects" / "p" / "1111aaaa-0000-4000-8000-000000000000.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(raw(*lines))
    return tmp_path / "store"


def show(root: Path, by: Any = "day", *, columns: int | None = 100, wide: bool = False, **more: Any) -> str:
    there = stage(columns, ascii_only=more.pop("ascii_only", False))
    common = Shared(there.screen, (), False, False, False, None, False, False)
    result = usage(Request(by, (str(root),), tz="UTC", **more), now=NOW)
    command._Look(common, result, wide=wide).show()  # pyright: ignore[reportPrivateUsage]  # what a person sees, without a terminal
    return there.out


def headings(shown: str) -> str:
    return " ".join(shown.splitlines()[0].split())


def test_days_look_like_this(root: Path) -> None:
    assert show(root) == (
        "DAY         INPUT  OUTPUT  CACHE WRITE  CACHE READ    COST\n"
        "2026-02-03     92   10.8k        28.8k        614k   $0.52  ████████████████████\n"
        "2026-02-05      7    1.2k         7.7k       36.8k   $0.07  ██▉\n"
        "2026-03-04      0       3          800           0  <$0.01  ▏\n"
        f"total          99   12.0k        37.3k        651k   $0.59  prices of {DATE}\n"
    )


@pytest.mark.parametrize("columns", [30, 45, 60, 61, 70, 80, 100, 120, 200])
@pytest.mark.parametrize("by", ["day", "session", "model", "project", "block", "tool"])
@pytest.mark.parametrize("wide", [False, True])
def test_no_line_is_wider_than_the_terminal_and_cost_is_always_there(
    root: Path, columns: int, by: str, wide: bool
) -> None:
    shown = show(root, by, columns=columns, wide=wide)
    assert max(map(width, shown.splitlines())) <= columns
    assert "$0.5" in shown
    assert f"prices of {DATE}" in shown


def test_a_narrow_terminal_drops_columns_and_a_very_narrow_one_takes_two_lines(root: Path) -> None:
    assert headings(show(root, columns=80)) == "DAY INPUT OUTPUT CACHE WRITE CACHE READ COST"
    assert "█" in show(root, columns=82)
    assert headings(show(root, columns=60)) == "DAY INPUT OUTPUT CACHE WRITE CACHE READ COST"
    assert headings(show(root, "project", columns=60)) == "PROJECT OUTPUT CACHE WRITE CACHE READ COST"
    assert "2026-03-04 10:00–15:00" in show(root, "block", columns=60), "a time is never cut"
    first, second, *_ = show(root, columns=58).splitlines()
    assert (first, second) == ("2026-02-03", "$0.52 · 92 in · 10.8k out · 28.8k written · 614k read")


def test_wide_tells_the_two_kinds_of_cache_writes_apart(root: Path) -> None:
    heading, first, *_ = show(root, columns=120, wide=True).splitlines()
    assert headings(heading) == "DAY MESSAGES INPUT OUTPUT WRITE 5M WRITE 1H CACHE READ COST"
    assert first.split()[:8] == ["2026-02-03", "1", "92", "10.8k", "800", "28.0k", "614k", "$0.52"]


def test_a_pipe_gets_everything_and_no_bars(root: Path) -> None:
    piped = show(root, "project", columns=None)
    assert "/home/ada/a rather long path/to the shop" in piped
    assert "█" not in piped


def test_ascii_terminals_get_ascii(root: Path) -> None:
    assert show(root, "block", ascii_only=True).isascii()


def test_sessions_are_named_by_a_short_id_with_project_and_the_clients_cost(root: Path) -> None:
    heading, row, _ = show(root, "session", columns=120).splitlines()
    assert headings(heading) == "SESSION PROJECT INPUT OUTPUT CACHE WRITE CACHE READ COST CLIENT"
    assert row.startswith("1111     to the shop")
    assert "$0.59   $0.50" in row


def test_the_running_block_has_a_line_of_its_own(root: Path) -> None:
    *_, block, _, running = show(root, "block").splitlines()
    assert block.startswith("2026-03-04 10:00–15:00")
    assert (
        running == "running ███▎     2h 00m gone · 3h 00m left · <$0.01 · ≈ <$0.01 by 15:00 · <$0.01 an hour"
    )


def test_what_has_no_price_is_a_dash_and_what_is_partly_known_has_a_plus(root: Path) -> None:
    line = answer("x", timestamp="2026-02-05T09:00:00.000Z", message={"model": "who"})
    (root / "projects" / "p" / "x.jsonl").write_bytes(raw(line))
    shown = show(root, "model")
    assert [line.split()[5] for line in shown.splitlines()[1:]] == ["$0.59", "–", "$0.59+"]
    assert "$0.07+" in show(root)


# --- the whole command --------------------------------------------------------------------------------------


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main.run(["usage", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_json_is_one_document_and_jsonl_one_row_a_line(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "--json", "--root", str(root), "--tz", "UTC")
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert [row["key"] for row in document["rows"]] == ["2026-02-03", "2026-02-05", "2026-03-04"]
    code, out, _ = run(capsys, "--jsonl", "--root", str(root), "--tz", "UTC")
    assert [json.loads(line) for line in out.splitlines()] == document["rows"]


def test_what_the_figures_leave_out_is_said_on_standard_error(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    torn = raw(answer("y"))[:-9] + b"\n"
    (root / "projects" / "p" / "x.jsonl").write_bytes(
        torn + raw(answer("x", message={"model": "claude-who"}))
    )
    code, out, err = run(capsys, "--by", "model", "--root", str(root))
    assert code == 3
    assert "claude-who" in out
    assert "no price is known for 1 message of claude-who" in err
    assert "damaged lines were passed over: clew check --all" in err


def test_an_empty_store_says_where_it_looked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--root", str(tmp_path)) == (0, "", f"No sessions in {tmp_path}\n")


def test_no_usage_in_the_time_asked_for_is_said(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "--root", str(root), "--until", "2020-01-01")
    assert (code, out) == (0, "")
    assert err == f"No usage in that time in 1 file of {root}\n"


def test_a_wrong_zone_is_an_error_with_something_to_try(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, "--root", str(root), "--tz", "Moon/Base")
    assert code == 1
    assert "there is no time zone 'Moon/Base'" in err
    assert "--tz Europe/Berlin" in err


def test_hostile_names_reach_no_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "projects" / "p" / "s.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(raw(answer(message={"model": "claude\u001b[2J\u202e"})))
    for form in ((), ("--json",)):
        _, out, err = run(capsys, "--by", "model", "--root", str(tmp_path), *form)
        assert "\x1b" not in out + err
        assert "\u202e" not in out + err
