"""What a session did to files, against the files the real client left behind: three clients, one script.

The judge is the folder. Every file is rebuilt to the byte, but for one that Bash was the last to change: of
that the gap is named. Without the copies that the client keeps of files, a session does not tell line ends.
"""

from __future__ import annotations

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from clew.actions.file_changes import follow, restore
from tests.acceptance.file_scenes import BEFORE, BY_BASH_LAST, CLEW, Scene, play
from tests.conformance.client import install
from tests.session.test_git_patches import apply
from tests.store.test_workspace import git

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.acceptance

VERSIONS = ("2.1.325", "2.1.45", "2.0.76")
SCENES = (*((version, True) for version in VERSIONS), ("2.1.325", False), ("2.0.76", False))
CHANGED = frozenset(
    (
        *("new.txt", "src/many.py", "empty.txt", "old.txt", "crlf.txt", "cut.txt", "tabs.c", "bom.txt"),
        *("sed.txt", "shared.txt", "sub.txt", BY_BASH_LAST),
    )
)


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[tuple[str, bool], Scene]]:
    """Each client with and without copies, two at a time."""
    asked = SCENES

    def played(one: tuple[str, bool]) -> Scene:
        folder = tmp_path_factory.mktemp("scene", numbered=True)
        return play(install(one[0]), folder.resolve() / "x", keeps_copies=one[1])

    with ThreadPoolExecutor(2) as pool:
        yield dict(zip(asked, pool.map(played, asked), strict=True))


def scene_of(scenes: dict[tuple[str, bool], Scene], version: str, keeps_copies: bool) -> Scene:
    return scenes[version, keeps_copies]


def listed(scene: Scene) -> dict[str, dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(scene.clew("files", "--json"))
    return {file["path"].removeprefix(f"{scene.work}/"): file for file in found}


def left(scene: Scene, name: str, *, keeps_copies: bool) -> bytes:
    """What is in the folder, as much of it as can be known."""
    data = (scene.work / name).read_bytes()
    if name == BY_BASH_LAST:
        return b"by the client\n"
    return data if keeps_copies else data.replace(b"\r\n", b"\n")


@pytest.mark.parametrize(("version", "keeps_copies"), SCENES)
def test_the_last_version_of_every_file_is_the_file(
    scenes: dict[tuple[str, bool], Scene], version: str, keeps_copies: bool
) -> None:
    scene = scene_of(scenes, version, keeps_copies)
    files = listed(scene)
    assert files.keys() == CHANGED
    followed = follow([scene.config], str(scene.session))
    for name in CHANGED:
        assert restore(followed, name).data == left(scene, name, keeps_copies=keeps_copies), name
        assert all(step["known"] for step in files[name]["versions"]), name
    assert scene.clew("restore", "old.txt", "--turn", "1") == BEFORE["old.txt"]
    gaps = {name for name, file in files.items() if file["gaps"]}
    # Whether anything tells of what Bash did last depends on the copies, or on a client that says so.
    assert "sed.txt" in gaps <= {"sed.txt", BY_BASH_LAST}
    if keeps_copies or version == "2.1.325":
        assert BY_BASH_LAST in gaps
    turns = {name: [step["turn"] for step in file["versions"]] for name, file in files.items()}
    assert turns["new.txt"] == [1, 1, 5]
    assert turns["src/many.py"] == [1, 1, 1, 3]
    assert turns["sub.txt"] == [4, 4]
    assert turns["shared.txt"] == [3, 4]
    assert all(step["agent_id"] for step in files["sub.txt"]["versions"])


@pytest.mark.parametrize(("version", "keeps_copies"), SCENES)
def test_the_patch_makes_of_what_was_there_what_is(
    scenes: dict[tuple[str, bool], Scene], tmp_path: Path, version: str, keeps_copies: bool
) -> None:
    scene = scene_of(scenes, version, keeps_copies)
    for name, data in BEFORE.items():
        (tmp_path / name).write_bytes(data if keeps_copies else data.replace(b"\r\n", b"\n"))
    apply(tmp_path, scene.clew("patch"))
    for name in CHANGED:
        assert (tmp_path / name).read_bytes() == left(scene, name, keeps_copies=keeps_copies), name


@pytest.mark.parametrize("version", VERSIONS)
def test_the_history_ends_in_the_files(
    scenes: dict[tuple[str, bool], Scene], tmp_path: Path, version: str
) -> None:
    scene = scene_of(scenes, version, True)
    scene.clew("replay", "--into", str(tmp_path / "repo"))
    for name in CHANGED:
        assert (tmp_path / "repo" / name).read_bytes() == left(scene, name, keeps_copies=True), name
    subjects = git(tmp_path / "repo", "log", "--reverse", "--format=%s").splitlines()
    assert subjects == [f"PROMPT {number}" for number in range(1, 6)]
    assert git(tmp_path / "repo", "show", "HEAD~4:new.txt") == "a\nB\nc"


@pytest.mark.parametrize("version", VERSIONS)
def test_each_line_is_given_to_its_prompt(scenes: dict[tuple[str, bool], Scene], version: str) -> None:
    scene = scene_of(scenes, version, True)
    expected = {
        "new.txt": [("a", 1), ("B", 1), ("C", 5)],
        "sed.txt": [("one", 2), ("TWO", None), ("3", 3)],
        "crlf.txt": [("one", None), ("TWO", 2), ("more", 2), ("three", None)],
        "shared.txt": [("MAIN", 3), ("SUB", 4)],
    }
    for name, lines in expected.items():
        file = scene.work / name
        words = ["blame", str(file), "--root", str(scene.config), "--json"]
        done = subprocess.run([*CLEW, *words], capture_output=True, check=True)
        found = json.loads(done.stdout)["lines"]
        rows = file.read_bytes().decode().splitlines()
        assert [(row, one and one["turn"]) for row, one in zip(rows, found, strict=True)] == lines, name
        assert {one["prompt"] for one in found if one} == {f"PROMPT {n}" for _, n in lines if n}
