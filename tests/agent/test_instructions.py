"""What people wrote down for the model: where it is looked for, and what is not told."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from clew.agent.instructions import LONGEST, read_instructions

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "config").mkdir()
    (tmp_path / "outer" / "project").mkdir(parents=True)
    return tmp_path / "outer" / "project"


def told(project: Path) -> list[str]:
    return [one.text for one in read_instructions(str(project.parents[1] / "config"), str(project))]


def test_the_most_general_comes_first(project: Path) -> None:
    (project.parents[1] / "config" / "CLAUDE.md").write_text("mine")
    (project.parent / "CLAUDE.md").write_text("outer")
    (project / "CLAUDE.md").write_text("here")
    (project / ".claude").mkdir()
    (project / ".claude" / "CLAUDE.md").write_text("hidden")
    (project / "CLAUDE.local.md").write_text("mine, here")
    found = read_instructions(str(project.parents[1] / "config"), str(project))
    assert [one.text for one in found] == ["mine", "outer", "here", "hidden", "mine, here"]
    assert found[0].origin == "the person's own instructions for all projects"
    assert found[-1].origin == "the person's own for this project"


def test_a_file_may_name_others_and_each_is_told_once(project: Path) -> None:
    (project / "docs").mkdir()
    (project / "CLAUDE.md").write_text("See @docs/style.md, and @docs/style.md again.")
    (project / "docs" / "style.md").write_text("Style, and @../CLAUDE.md and @more.md")
    (project / "docs" / "more.md").write_text("More.")
    assert [text.partition(" ")[0].rstrip(",") for text in told(project)] == ["See", "Style", "More."]


def test_what_stands_in_code_names_nothing(project: Path) -> None:
    (project / "CLAUDE.md").write_text("`@a.md` and\n```\n@b.md\n```\nand me@c.md")
    for name in "abc":
        (project / f"{name}.md").write_text("never")
    assert len(told(project)) == 1


@pytest.mark.parametrize(
    "name",
    ["@/etc/hostname", "@../../secret.md", "@~/secret.md", "@link.md", "@~nobody-here/a", f"@{'a' * 5000}"],
)
def test_a_project_names_nothing_outside_of_itself(
    project: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    home = project.parents[1] / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for folder in (home, project.parents[1]):
        (folder / "secret.md").write_text("secret")
    (project / "link.md").symlink_to(project.parents[1] / "secret.md")
    (project / "CLAUDE.md").write_text(f"Read {name} first.")
    assert told(project) == [f"Read {name} first."]


def test_a_file_of_a_project_that_leads_out_of_it_is_not_told(project: Path) -> None:
    (project.parents[1] / "secret.md").write_text("secret")
    (project / "CLAUDE.md").symlink_to(project.parents[1] / "secret.md")
    assert told(project) == []


def test_files_that_name_each_other_come_to_an_end(project: Path) -> None:
    for number in range(60):
        names = " ".join(f"@{other}.md" for other in range(60))
        (project / f"{number}.md").write_text(f"{number} {names}")
    (project / "CLAUDE.md").write_text("@0.md")
    assert len(told(project)) == 40


@pytest.mark.parametrize("depth", [3, 20])
def test_names_are_followed_a_few_files_deep(project: Path, depth: int) -> None:
    for number in range(depth):
        (project / f"{number}.md").write_text(f"{number} @{number + 1}.md")
    (project / "CLAUDE.md").write_text("top @0.md")
    assert len(told(project)) == min(depth, 5) + 1


def test_what_is_no_text_is_not_told(project: Path) -> None:
    (project / "CLAUDE.md").write_bytes(b"a\0b")
    os.mkfifo(project / "CLAUDE.local.md")
    (project / ".claude" / "CLAUDE.md").mkdir(parents=True)
    (project.parent / "CLAUDE.md").write_text("  \n ")
    assert told(project) == []


def test_a_long_file_is_cut_and_odd_bytes_do_no_harm(project: Path) -> None:
    (project / "CLAUDE.md").write_text("ä" * (LONGEST + 1))
    (project / "CLAUDE.local.md").write_bytes(b"\xff\xfe words \xed\xa0\x80")
    long, odd = told(project)
    assert long == "ä" * LONGEST + "\n[cut: the file is longer]"
    assert "words" in odd
    odd.encode()
