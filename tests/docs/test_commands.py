"""Every command is documented, and the help texts in the docs are those of the commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.faces.cli.registry import COMMANDS
from clew.session.problems import KINDS
from scripts import make_command_docs as docs

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

PAGE = docs.PAGE.read_text(encoding="utf-8")


def test_every_command_is_documented() -> None:
    assert docs.missing(PAGE) == []
    assert docs.documented(PAGE) == {"clew", *(command.name for command in COMMANDS)}


def test_the_page_is_up_to_date() -> None:
    assert docs.render(PAGE) == PAGE, "run scripts/make_command_docs.py"


def test_every_problem_has_its_row() -> None:
    assert all(f"| `{code}` | {kind.severity} |" in PAGE for code, kind in KINDS.items())


def test_every_help_has_an_example_and_the_shared_options() -> None:
    for command in COMMANDS:
        text = docs.help_of(command.name)
        assert "Example" in text, command.name
        assert f"clew {command.name}" in text.partition("Example")[2], command.name
        assert "\b" not in text
        if command.name != "demo":
            assert "--json" in text


def test_a_stale_page_and_a_missing_command_are_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stale = tmp_path / "commands.md"
    monkeypatch.setattr(docs, "PAGE", stale)
    stale.write_text(PAGE.replace("Read a session, turn by turn.", "Read."), encoding="utf-8")
    assert docs.main(["--check"]) == 1
    assert docs.main([]) == 0
    assert stale.read_text(encoding="utf-8") == PAGE
    stale.write_text(PAGE.replace("<!-- help: tree -->", ""), encoding="utf-8")
    assert docs.main(["--check"]) == 1
    assert "says nothing about clew tree" in capsys.readouterr().err
