"""`clew demo`."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from clew.actions.demo import write_demo
from clew.faces.cli.commands import demo as face
from clew.faces.cli.main import run
from tests.faces.stage import NOW, stage

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion


@pytest.mark.parametrize("width", [60, 120])
def test_the_demo_says_what_it_wrote_and_what_to_try(
    tmp_path: Path, width: int, snapshot: SnapshotAssertion
) -> None:
    result = write_demo(tmp_path / "demo", now=NOW)
    on = stage(width)
    # The folder of a test is never the same.
    object.__setattr__(result, "directory", Path("/tmp/demo"))
    face.show(on.screen, result)
    assert on.out == snapshot


def test_every_line_to_try_works_as_it_stands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With a folder whose name a shell would take apart."""
    result = write_demo(tmp_path / "a demo; for 'you'", now=NOW)
    for line, _ in face.to_try(result):
        program, *arguments = shlex.split(line)
        assert program == "clew"
        assert run(arguments) in {0, 3}, capsys.readouterr().err
        assert capsys.readouterr().out


def test_json_lists_what_was_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["demo", str(tmp_path / "demo"), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert len(document["sessions"]) == 10
    assert all(Path(session["path"]).is_file() for session in document["sessions"])


def test_a_folder_that_holds_something_else_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.txt").write_text("x")
    assert run(["demo", str(tmp_path)]) == 4
    assert "is not empty" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_without_a_folder_it_goes_to_the_temporary_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert run(["demo", "--json"]) == 0
    assert Path(json.loads(capsys.readouterr().out)["directory"]).parent == tmp_path


def test_a_link_in_the_place_of_the_demo_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    first = face.demo_folder()
    (tmp_path / "other").mkdir()
    first.symlink_to(tmp_path / "other")
    second = face.demo_folder()
    assert second != first
    assert second.parent == tmp_path
