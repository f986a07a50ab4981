"""What is said of the fence, and what is asked of it. That it holds is tested with the real one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clew.agent import sandbox
from clew.agent.sandbox import Sandbox
from tests.agent.running.bench import environ


def fake(folder: Path, script: str) -> str:
    """Write a program that stands in for bubblewrap."""
    program = folder / "bwrap"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return str(program)


def found(tmp_path: Path, program: str, **options: Any) -> Sandbox:
    project = tmp_path / "project"
    project.mkdir(exist_ok=True)
    return Sandbox.find(str(project), environ=environ(tmp_path), program=program, **options)


def test_without_one_commands_run_as_they_are_and_it_is_said(tmp_path: Path) -> None:
    missing = Sandbox.find(str(tmp_path), environ={"PATH": str(tmp_path), "HOME": str(tmp_path)})
    assert missing.state.kind == "missing"
    assert not missing.state.is_on
    assert "without a sandbox" in missing.state.words
    assert missing.wrap(["ls"], cwd="/") == ["ls"]
    assert Sandbox.off().state.kind == "off"
    missing.close()


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (
            "echo 'No permissions to create a new namespace' >&2; exit 1",
            "No permissions to create a new namespace",
        ),
        ("exit 3", "exit code 3"),
        ("exec sleep 20", "did not answer"),
    ],
)
def test_one_that_does_not_work_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, words: str
) -> None:
    monkeypatch.setattr(sandbox, "_PROBE", 0.5)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    broken = found(tmp_path, fake(tmp_path, script))
    assert broken.state.kind == "broken"
    assert words in broken.state.words
    assert broken.wrap(["ls"], cwd="/") == ["ls"]
    assert not list(tmp_path.glob("clew-shell-*"))


def test_a_file_that_is_no_program_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "bwrap").write_text("text")
    assert found(tmp_path, str(tmp_path / "bwrap")).state.kind == "broken"


def test_the_fence_is_asked_for_what_is_promised(tmp_path: Path) -> None:
    home = tmp_path
    for place in (".ssh", "keys", ".config/gcloud", ".claude"):
        (home / place).mkdir(parents=True)
    (home / ".netrc").write_text("secret")
    (home / ".claude" / ".credentials.json").write_text("{}")
    (home / ".aws").symlink_to(home / "keys")
    project = tmp_path / "project"
    (project / ".git" / "hooks").mkdir(parents=True)
    (project / ".git" / "config").write_text("")
    (project / ".vscode").symlink_to(home)
    fence = found(tmp_path, fake(tmp_path, "exit 0"), hidden=[str(home / "keys"), str(home / "not there")])
    line = fence.wrap(["ls"], cwd=str(project))
    fence.close()
    assert fence.state.kind == "on"
    assert line[-4:] == ["--chdir", str(project), "--", "ls"]
    joined = " ".join(line)
    for part in (
        "--unshare-net", "--unshare-pid", "--unshare-user", "--die-with-parent", "--cap-drop ALL",
        "--ro-bind / /", f"--bind {project} {project}", f"--bind {project}/.git {project}/.git",
        f"--ro-bind {project}/.git/hooks {project}/.git/hooks", f"--ro-bind {project}/.git/config",
        f"--tmpfs {home}/.ssh", f"--tmpfs {home}/keys", f"--ro-bind /dev/null {home}/.netrc",
        f"--ro-bind /dev/null {home}/.claude/.credentials.json", f"--tmpfs {home}/.config/gcloud",
    ):  # fmt: skip
        assert part in joined, part
    assert ".vscode" not in joined
    assert "not there" not in joined
    # What hides lies over what opens: a project that is the home itself opens nothing.
    assert line.index(f"{home}/.ssh") > line.index(str(project))


def test_its_temporary_files_are_thrown_away(tmp_path: Path) -> None:
    fence = found(tmp_path, fake(tmp_path, "exit 0"))
    line = fence.wrap(["ls"], cwd="/")
    place = line[line.index("--bind") + 1]

    assert Path(place).is_dir()
    fence.close()
    fence.close()
    assert not Path(place).exists()
