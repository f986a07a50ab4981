"""What `make run` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.faces.cli.first_run import main
from tests.builder import Builder
from tests.faces.stage import demo, write

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_the_users_sessions_are_listed_where_there_are_any(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    write(tmp_path, "-p", {"s": Builder("s").prompt("My very own prompt").answer("Yes.").data()})
    assert main() == 0
    told = capsys.readouterr()
    assert "My very own prompt" in told.out
    assert "made-up" not in told.err


def test_without_sessions_the_demo_is_written_and_listed_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for _ in range(2):
        assert main() == 0
        told = capsys.readouterr()
        assert "Stop the vents from flapping at dusk" in told.out
        assert "no sessions in" in told.err
        assert "made-up" in told.err
        assert str(tmp_path) in told.err


def test_a_damaged_session_of_the_user_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(demo(tmp_path)))
    assert main() == 0
    assert "Baking list" in capsys.readouterr().out


def test_a_folder_in_the_way_is_an_error_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert main() == 0
    (marker,) = tmp_path.glob("clew-demo-*/clew-demo.json")
    marker.unlink()
    capsys.readouterr()
    assert main() == 4
    assert "is not empty" in capsys.readouterr().err
