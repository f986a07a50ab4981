"""`clew hook` and `clew statusline` as a person meets them."""

from __future__ import annotations

import importlib
import json
import os
import re
import shlex
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import clew.faces.hook
from clew.actions import hook_spool as spools
from clew.actions.hook_day_cost import day_cost
from clew.faces.cli.registry import module_of
from clew.faces.hook.statusline import status_line

if TYPE_CHECKING:
    from tests.faces.console import Console


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config").mkdir()
    return tmp_path / "config" / "settings.json"


def test_installing_shows_what_changes_and_keeps_what_was(clew: Console, settings: Path) -> None:
    settings.write_text('{\n  "model": "opus"\n}\n')
    dry = clew("hook", "install", "--dry-run")
    assert dry.code == 0
    assert "Nothing was changed" in dry.out
    assert settings.read_text() == '{\n  "model": "opus"\n}\n'
    ran = clew("hook", "install", "--statusline")
    assert ran.code == 0
    assert '+  "hooks": {' in ran.lines
    assert f"Changed {settings}." in ran.out
    assert "no endpoint yet" in ran.err
    held = json.loads(settings.read_text())
    assert [*held] == ["model", "hooks", "statusLine"]
    command = held["hooks"]["Stop"][0]["hooks"][0]["command"]
    assert command.endswith("clew hook run Stop")
    assert Path(command.split()[0]).is_absolute()
    assert "already" in clew("hook", "install", "--statusline").out
    assert clew("hook", "uninstall").code == 0
    assert settings.read_text() == '{\n  "model": "opus"\n}\n'
    assert "nothing of clew's" in clew("hook", "uninstall").out


def test_each_scope_has_its_file(clew: Console, settings: Path, tmp_path: Path) -> None:
    clew("hook", "install", "--project")
    clew("hook", "install", "--local")
    assert (tmp_path / ".claude" / "settings.json").exists()
    assert (tmp_path / ".claude" / "settings.local.json").exists()
    assert not settings.exists()
    other = tmp_path / "other"
    other.mkdir()
    done = json.loads(clew("hook", "install", "--root", other, "--json").out)
    assert done["path"] == str(other / "settings.json")
    assert done["written"]
    assert done["backup"] is None


def test_broken_settings_are_told_and_left(clew: Console, settings: Path) -> None:
    settings.write_text('{"a": 1,}')
    ran = clew("hook", "install")
    assert ran.code == 1
    assert "no valid JSON: line 1, column" in ran.err
    assert settings.read_text() == '{"a": 1,}'
    status = clew("hook", "status")
    assert status.code == 3
    assert "no valid JSON" in status.out


def test_the_status_tells_all_there_is(
    clew: Console, settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = clew("hook")
    assert ran.code == 0
    assert "clew hook install" in ran.err
    assert "none: nothing is sent" in ran.out
    clew("hook", "install")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://127.0.0.1:9999/v1/traces")
    file = Path(os.environ["HOME"]) / ".config" / "clew" / "trace.toml"
    file.parent.mkdir(parents=True)
    file.write_text('[[endpoint]]\nurl = "http://127.0.0.1:4318/v1/traces"\n')
    spool = spools.spool_of(os.environ)
    spools.append(spool, b'{"transcript_path": "/x.jsonl", "ms": 1}')
    spools.log(spool, "worker: \x1b[31mit is down")
    Path(spool.last).write_text(
        json.dumps({"ended_ms": 1_770_000_000_000, "turns_sent": 7, "errors": ["boom"]})
    )
    told = clew("hook", "status")
    assert told.code == 0
    for words in (
        "hooks for SessionStart, Stop",
        "127.0.0.1:4318",
        "1 session",
        "7 turns sent, boom",
        "it is down",
    ):
        assert words in told.out
    assert "\x1b" not in told.out
    assert "127.0.0.1:9999" not in told.out  # the client does not pass that on
    assert "127.0.0.1:9999/v1/traces is named by an OTEL_" in told.err
    document = json.loads(clew("hook", "status", "--json").out)
    assert document["installed"]
    assert document["waiting"] == 1
    assert document["last_run"]["turns_sent"] == 7
    assert document["settings"][0]["scope"] == "user"


def test_a_command_that_is_gone_and_a_plugin_are_told(clew: Console, settings: Path) -> None:
    hook = {"type": "command", "command": "'/gone away/clew' hook run Stop"}
    plugins = {"clew@clew": True, "clew@old": False, "other@clew": True}
    document = {"hooks": {"Stop": [{"hooks": [hook]}]}, "enabledPlugins": plugins, "disableAllHooks": True}
    settings.write_text(json.dumps(document))
    told = clew("hook", "status")
    assert told.code == 3
    assert "there is no '/gone away/clew'" in told.out
    assert "the plugin clew@clew," in told.out
    assert "clew@old" not in told.out
    assert "turned off" in told.out


@pytest.mark.parametrize(
    "words", [("run",), ("work",), ("install", "Stop"), ("status", "--dry-run"), ("plugin", "--statusline")]
)
def test_what_makes_no_sense_is_refused(clew: Console, settings: Path, words: tuple[str, ...]) -> None:
    ran = clew("hook", *words)
    assert ran.code == 1
    assert ran.out == ""
    assert not settings.exists()


def test_the_plugin_is_where_it_says(clew: Console) -> None:
    folder = Path(clew("hook", "plugin").out.strip())
    assert json.loads((folder / ".claude-plugin" / "plugin.json").read_text())["name"] == "clew"
    skill = (folder / "skills" / "past-sessions" / "SKILL.md").read_text()
    assert "clew search" in skill


DOCS = Path(__file__).resolve().parents[2] / "docs" / "hooks.md"
SKILL = Path(clew.faces.hook.__file__).parent / "plugin" / "skills" / "past-sessions" / "SKILL.md"


@pytest.mark.parametrize("page", [DOCS, SKILL])
def test_every_command_that_is_taught_is_one(page: Path) -> None:
    blocks = re.findall(r"```bash\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    taught = [line for block in blocks for line in block.splitlines() if line.startswith("clew ")]
    assert len(taught) >= 4
    for line in taught:
        _, name, *arguments = shlex.split(line, comments=True)
        command = importlib.import_module(module_of(name)).command
        # It raises for an option that there is not. A command remembers the names it is first asked with.
        command.make_context(name, arguments, help_option_names=["-h", "--help"])


WHOLE = {
    "session_id": "s",
    "transcript_path": "/x/s.jsonl",
    "cwd": "/x",
    "model": {"id": "claude-sonnet-4-5-20250929", "display_name": "Sonnet 4.5"},
    "workspace": {"current_dir": "/x", "project_dir": "/x"},
    "version": "2.1.325",
    "cost": {"total_cost_usd": 0.3512, "total_duration_ms": 45_000, "total_api_duration_ms": 2300},
    "context_window": {
        "total_input_tokens": 41_000,
        "total_output_tokens": 900,
        "context_window_size": 200_000,
        "used_percentage": 21,
        "remaining_percentage": 79,
        "current_usage": {
            "input_tokens": 12,
            "output_tokens": 900,
            "cache_creation_input_tokens": 1000,
            "cache_read_input_tokens": 41_000,
        },
    },
}
NO_COLOR = {"HOME": "/nonexistent", "NO_COLOR": "1"}


def line(document: object, environ: dict[str, str] | None = None) -> str:
    return status_line(json.dumps(document).encode(), NO_COLOR if environ is None else environ)


def test_the_line_tells_model_context_and_cost() -> None:
    assert line(WHOLE) == "Sonnet 4.5 · context 42k/200k 21% · $0.35"


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({}, ""),
        (None, ""),
        ([1], ""),
        ({"model": "opus"}, "opus"),
        ({"model": {"id": "claude-x"}}, "claude-x"),
        ({"model": {"display_name": 7}, "cost": []}, ""),
        ({"cost": {"total_cost_usd": 0}}, "$0.00"),
        ({"cost": {"total_cost_usd": 0.001}}, "<$0.01"),
        ({"cost": {"total_cost_usd": 1234.5}}, "$1,234.50"),
        ({"cost": {"total_cost_usd": -1}}, ""),
        ({"cost": {"total_cost_usd": 1e300}}, ""),
        ({"cost": {"total_cost_usd": True}}, ""),
        ({"context_window": {"used_percentage": 8.4, "current_usage": None}}, "context 8%"),
        ({"context_window": {"context_window_size": 1_000_000, "current_usage": {"input_tokens": 999}}},
         "context 999/1M 0%"),
        ({"context_window": {"context_window_size": 0, "current_usage": {"input_tokens": 5}}}, "context 5"),
        ({"context_window": {"used_percentage": 10**30}}, ""),
    ],
)  # fmt: skip
def test_what_is_missing_is_left_out(document: object, expected: str) -> None:
    assert line(document) == expected


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"model": NaN}', b"1e999"])
def test_nonsense_gives_an_empty_line(data: bytes) -> None:
    assert status_line(data, NO_COLOR) == ""


def test_nothing_from_the_client_steers_the_terminal() -> None:
    name = "\x1b]52;c;ZXZpbA==\x07\x9b31m\u202eSon\nnet\u2028\x00" + "x" * 500
    shown = line({"model": {"display_name": name}, "cost": {"total_cost_usd": "\x1b[2J"}})
    assert len(shown) <= 40
    assert all(c.isprintable() for c in shown)
    assert "\u202e" not in shown


def test_color_marks_a_full_context_unless_it_is_not_wanted() -> None:
    document = {"context_window": {"used_percentage": 93}}
    assert line(document, {"HOME": "/nonexistent"}) == "context \x1b[31m93%\x1b[0m"
    assert line({"context_window": {"used_percentage": 71}}, {"HOME": "/x"}) == "context \x1b[33m71%\x1b[0m"
    assert line(document) == "context 93%"


def test_the_command_answers_at_once_and_never_fails() -> None:
    environ = {**os.environ, "NO_COLOR": "1"}
    command = [sys.executable, "-P", "-m", "clew", "statusline"]
    times: list[float] = []
    for data in [json.dumps(WHOLE).encode(), b"", b"nonsense"] * 3:
        start = time.perf_counter()
        done = subprocess.run(command, input=data, env=environ, capture_output=True, check=False)
        times.append(time.perf_counter() - start)
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout.count(b"\n") == 1
    assert min(times) < 0.1
    with subprocess.Popen(command, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as open_end:
        assert open_end.wait(5) == 0
    closed = subprocess.run(["sh", "-c", '"$@" <&- >&-', "sh", *command], env=environ, check=False)
    assert closed.returncode == 0


def test_the_line_is_to_be_had_as_data() -> None:
    command = [sys.executable, "-P", "-m", "clew", "statusline", "--json"]
    done = subprocess.run(command, input=json.dumps(WHOLE).encode(), capture_output=True, check=True)
    facts = json.loads(done.stdout)
    assert facts["model"] == "Sonnet 4.5"
    assert facts["context_tokens"] == 42_012
    assert facts["session_cost_usd"] == 0.3512


def today(clew: Console, root: Path) -> float:
    rows = json.loads(clew("usage", "--by", "day", "--since", "1d", "--json", "--root", root).out)["rows"]
    midnight = time.strftime("%Y-%m-%d")
    return sum(row["cost_usd"] or 0 for row in rows if row["key"] == midnight)


def test_the_day_costs_what_usage_says_of_it(
    clew: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from clew.actions.demo import write_demo

    noon = datetime.combine(datetime.now(tz=UTC).date(), datetime.min.time(), UTC) + timedelta(hours=12)
    root = write_demo(tmp_path / "demo", now=noon).directory
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(root))
    now = time.time()
    assert day_cost(os.environ, session="x", spent=1.0, now=now) is None  # there is no index
    clew("index", "rebuild")
    spent = today(clew, root)
    assert spent > 0.01
    found = day_cost(os.environ, session="x", spent=None, now=now, limit=5)
    assert found is not None
    assert found.is_exact
    assert found.dollars == pytest.approx(spent, abs=1e-9)
    # What the running session has cost since comes on top.
    newest = json.loads(clew("ls", "--json", "--full", "--limit", "1").out)[0]
    more = day_cost(os.environ, session=newest["id"], spent=newest["cost_usd"] + 2.5, now=now, limit=5)
    assert more is not None
    assert more.dollars == pytest.approx(spent + 2.5, abs=1e-6)
    later = day_cost(os.environ, session="x", spent=None, now=now + 1000, limit=5)
    assert later is None or not later.is_exact  # None if that is tomorrow
    assert day_cost(os.environ, session="x", spent=1.0, now=now + 90_000, limit=5) is None  # of another day
    assert day_cost(os.environ, session="x", spent=1.0, now=now, limit=-1) is None  # it would take too long
    line = status_line(json.dumps(WHOLE).encode(), {**os.environ, "NO_COLOR": "1"})
    assert f"· today ${spent + 0.3512:,.2f}" in line


def test_a_damaged_index_only_shortens_the_line(
    clew: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from clew.actions.demo import write_demo

    root = write_demo(tmp_path / "demo", now=datetime.now(tz=UTC)).directory
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(root))
    clew("index", "rebuild")
    for path in Path(os.environ["XDG_CACHE_HOME"]).rglob("shard-*.db*"):
        path.write_bytes(b"not a database" * 1000)
    assert line(WHOLE, {**os.environ, "NO_COLOR": "1"}) == "Sonnet 4.5 · context 42k/200k 21% · $0.35"


def test_the_line_needs_the_standard_library_alone(
    clew: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from clew.actions.demo import write_demo

    root = write_demo(tmp_path / "demo", now=datetime.now(tz=UTC)).directory
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(root))
    clew("index", "rebuild")
    program = """
import os, sys
def end(code):
    os.write(2, "\\n".join(sys.modules).encode())
    real(code)
real, os._exit = os._exit, end
sys.argv = ["clew", "statusline"]
import clew.__main__
clew.__main__.start()
"""
    told = json.dumps(WHOLE).encode()
    done = subprocess.run([sys.executable, "-P", "-c", program], input=told, capture_output=True, check=True)
    bare = subprocess.run(
        [sys.executable, "-P", "-c", "import sys; print(*sys.modules)"], capture_output=True, check=True
    )
    names = set(done.stderr.decode().split()) - set(bare.stdout.decode().split())
    assert "clew.actions.hook_day_cost" in names
    assert {name.partition(".")[0] for name in names} - set(sys.stdlib_module_names) == {"clew"}
