"""What `make run` starts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from clew.faces.cli import first_run
from clew.faces.cli.first_run import has_browser, main
from tests.builder import Builder
from tests.faces.stage import demo, write
from tests.faces.web.lab import Visitor

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(name="started")
def _started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Give the commands that were run, none of which really is."""
    found: list[list[str]] = []

    def run(arguments: list[str]) -> int:
        found.append(list(arguments))
        return 0

    monkeypatch.setattr(first_run, "run", run)
    return found


def test_the_users_sessions_are_served_where_there_are_any(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    started: list[list[str]],
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    write(tmp_path, "-p", {"s": Builder("s").prompt("My very own prompt").answer("Yes.").data()})
    assert main(["--read-only"]) == 0
    told = capsys.readouterr().err
    assert str(tmp_path) in told
    assert "made-up" not in told
    assert started == [["web", "--no-open", "--read-only"]], "nobody sits before a test"


def test_without_sessions_the_demo_is_written_and_served_and_that_is_said(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    started: list[list[str]],
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for _ in range(2):
        assert main() == 0
        told = capsys.readouterr().err
        assert "no sessions in" in told
        assert "made-up" in told
        assert str(tmp_path) in told
    (command, again) = started
    assert command == again
    (root,) = tmp_path.glob("clew-demo-*")
    assert command == ["web", "--root", str(root), "--no-open"]


def test_what_is_started_is_a_server_that_lets_one_in_and_ends(tmp_path: Path) -> None:
    environ = {**os.environ, "CLAUDE_CONFIG_DIR": str(demo(tmp_path)), "CI": "1"}
    command = [sys.executable, "-m", "clew.faces.cli.first_run"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ, text=True
    ) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            visitor = Visitor(int(url.partition("127.0.0.1:")[2].partition("/")[0]))
            visitor.come_in(url)
            assert visitor.get("/api/sessions").json["total"]["sessions"] > 5
            process.send_signal(signal.SIGINT)
            rest, told = process.communicate(timeout=20)
        finally:
            process.kill()
    assert (process.returncode, rest) == (0, "")
    assert "Your sessions in" in told


def test_a_browser_is_opened_only_before_somebody() -> None:
    screen = {"DISPLAY": ":0"}
    assert has_browser(screen, is_terminal=True, platform="linux")
    assert has_browser({"WAYLAND_DISPLAY": "w"}, is_terminal=True, platform="linux")
    assert has_browser({}, is_terminal=True, platform="darwin")
    assert not has_browser(screen, is_terminal=False, platform="linux")
    assert not has_browser({**screen, "CI": "true"}, is_terminal=True, platform="linux")
    assert not has_browser({}, is_terminal=True, platform="linux")


def test_a_folder_in_the_way_is_an_error_that_names_it(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    started: list[list[str]],
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert main() == 0
    (marker,) = tmp_path.glob("clew-demo-*/clew-demo.json")
    marker.unlink()
    capsys.readouterr()
    assert main() == 4
    assert "is not empty" in capsys.readouterr().err
    assert len(started) == 1
