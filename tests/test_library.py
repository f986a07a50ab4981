"""`import clew`, and the examples of its documentation."""

from __future__ import annotations

import doctest
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import clew
from tests.builder import Builder
from tests.conftest import ROOT
from tests.faces.stage import demo, write

if TYPE_CHECKING:
    from pathlib import Path


def test_the_examples_of_the_documentation_hold(tmp_path: Path) -> None:
    path = ROOT / "docs" / "python.md"
    examples = doctest.DocTestParser().get_doctest(
        path.read_text(encoding="utf-8"), {"demo": demo(tmp_path)}, "python.md", str(path), 0
    )
    report: list[str] = []
    outcome = doctest.DocTestRunner(verbose=False).run(examples, out=report.append)
    assert outcome.attempted > 15
    assert outcome.failed == 0, "".join(report)


def test_importing_clew_imports_nothing_that_is_heavy() -> None:
    code = "import sys; before = set(sys.modules); import clew; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["clew"]


def test_every_public_name_is_there() -> None:
    for name in clew.__all__:
        assert getattr(clew, name) is not None
        assert name in dir(clew)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        clew.nonsense  # noqa: B018  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]  # what is tested


def test_a_session_is_opened_by_path(tmp_path: Path) -> None:
    (path,) = write(tmp_path, "-p", {"s": Builder("s").prompt("Hi").answer("Yes.").data()})
    assert len(clew.open(path)) == len(clew.open(str(path))) == 2


def test_the_users_own_sessions_are_listed_without_roots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    write(tmp_path, "-p", {"s": Builder("s").prompt("Hi").answer("Yes.").data(), "empty": b""})
    assert [row.id for row in clew.sessions()] == ["s"]
    assert clew.open("@1").name == "s"
