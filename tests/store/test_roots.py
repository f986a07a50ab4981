"""Which config folders are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from clew.store.roots import find_roots

if TYPE_CHECKING:
    from pathlib import Path


def test_a_named_root_comes_before_everything_else(tmp_path: Path) -> None:
    (tmp_path / "named").mkdir()
    (tmp_path / ".claude").mkdir()
    found = find_roots(
        [str(tmp_path / "named")], environ={"CLAUDE_CONFIG_DIR": str(tmp_path)}, home=str(tmp_path)
    )
    assert found.found == found.looked_in == (str(tmp_path / "named"),)


def test_the_variable_is_a_list_with_commas(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    value = f"{tmp_path}/a, {tmp_path}/missing,,{tmp_path}/b"
    found = find_roots(environ={"CLAUDE_CONFIG_DIR": value}, home="/nowhere")
    assert found.found == (f"{tmp_path}/a", f"{tmp_path}/b")
    assert found.looked_in == (f"{tmp_path}/a", f"{tmp_path}/missing", f"{tmp_path}/b")


def test_a_folder_with_a_comma_in_its_name_is_one_folder(tmp_path: Path) -> None:
    (tmp_path / "a,b").mkdir()
    assert find_roots(environ={"CLAUDE_CONFIG_DIR": f"{tmp_path}/a,b"}).found == (f"{tmp_path}/a,b",)


@pytest.mark.parametrize("environ", [{}, {"CLAUDE_CONFIG_DIR": ""}, {"CLAUDE_CONFIG_DIR": "  "}])
def test_without_a_variable_both_folders_of_the_home_are_looked_in(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    (tmp_path / ".config" / "claude").mkdir(parents=True)
    found = find_roots(environ=environ, home=str(tmp_path))
    assert found.looked_in == (f"{tmp_path}/.claude", f"{tmp_path}/.config/claude")
    assert found.found == (f"{tmp_path}/.config/claude",)


def test_home_and_environment_are_read_at_the_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".claude").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert find_roots().found == (f"{tmp_path}/.claude",)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    assert find_roots().found == (str(tmp_path),)


def test_the_same_folder_by_two_names_is_read_once(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".config").mkdir()
    (tmp_path / ".config" / "claude").symlink_to(tmp_path / ".claude")
    found = find_roots(environ={}, home=str(tmp_path))
    assert found.found == (f"{tmp_path}/.claude",)
    assert len(found.looked_in) == 2


def test_nothing_is_expanded_in_what_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home" / "x").mkdir(parents=True)
    assert find_roots(["~/x", "$HOME/x", "home/../home/x/"]).looked_in == (
        f"{tmp_path}/~/x",
        f"{tmp_path}/$HOME/x",
        f"{tmp_path}/home/x",
    )


@pytest.mark.parametrize("name", ["a\0b", "", "x" * 5000])
def test_a_name_no_folder_can_have_is_not_found(name: str) -> None:
    assert find_roots([name], environ={}, home="/nowhere").found == ()


def test_a_file_is_no_root(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"")
    assert find_roots([str(tmp_path / "f")]).found == ()
