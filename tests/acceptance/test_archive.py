"""Sessions that were archived, deleted and put back, resumed by the real client."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conformance.client import PROMPT, resume
from tests.conformance.notation import without_prompt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.conformance.client import Client

CORPUS = Path(__file__).parents[1] / "data" / "corpus"


def scenarios() -> list[Path]:
    """Every recorded scenario: a config folder of the client."""
    return sorted(path.parent for path in CORPUS.glob("*/*/projects"))


def tree(folder: Path) -> dict[str, str]:
    """Every file below a folder, with its digest."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def archive(what: str, *, root: Path, folder: Path) -> None:
    """Run `clew archive`, all sessions, with a home that is nobody's."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "clew", "archive", what, "--json", "--root", str(root)),
            *("--archive", str(folder), *(() if what == "verify" else ("--all",))),
        ],
        env={"HOME": str(folder.parent), "PATH": os.environ.get("PATH", ""), "CLAUDE_CONFIG_DIR": str(root)},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, f"{what}: {done.stderr.decode()}"


def belonging(root: Path) -> list[Path]:
    """Every file that belongs to a session: transcripts, and whatever is called by the id of one."""
    # A session may have lost its own file and have others left, in a folder of its name.
    ids = {path.stem for path in root.glob("projects/*/*") if path.suffix == ".jsonl" or path.is_dir()}
    files = [path for path in root.rglob("*") if path.is_file()]
    found = [path for path in files if path.suffix == ".jsonl" and path.is_relative_to(root / "projects")]
    found += [path for path in files if any(id_ in str(path.relative_to(root)) for id_ in ids)]
    return sorted({*found})


def put_back(scenario: Path, place: Path) -> Path:
    """Archive all sessions of a scenario, delete them, and put them back; return the config folder."""
    root, kept = place / "config", place / "archive"
    shutil.copytree(scenario, root)
    whole = tree(root)
    archive("add", root=root, folder=kept)
    assert tree(root) == whole, "to archive changes nothing"
    stored = tree(kept)
    archive("add", root=root, folder=kept)
    assert tree(kept) == stored, "a second time there is nothing to write"
    for path in belonging(root):
        path.unlink()
    archive("get", root=root, folder=kept)
    assert tree(root) == whole
    archive("verify", root=root, folder=kept)
    return root


def check(client: Client, chosen: Sequence[Path], place: Path) -> tuple[int, int]:
    """Check scenarios; return how many sessions there were and how many of them the client resumes."""

    def one(number: int) -> tuple[int, int]:
        scenario = chosen[number]
        back = put_back(scenario, place / str(number))
        sessions = resumed = 0
        for path in sorted(scenario.glob("projects/*/*.jsonl")):
            if path.name.startswith("agent-"):
                continue
            old = resume(client, path.read_bytes())
            new = resume(client, (back / path.relative_to(scenario)).read_bytes())
            sessions += 1
            resumed += new.messages is not None
            told = f"{scenario.relative_to(CORPUS)} {path.stem}"
            assert (old.messages is None) == (new.messages is None), told
            assert without_prompt(old.messages or (), PROMPT) == without_prompt(new.messages or (), PROMPT), (
                told
            )
        return sessions, resumed

    with ThreadPoolExecutor(2) as pool:
        counts = list(pool.map(one, range(len(chosen))))
    return sum(one[0] for one in counts), sum(one[1] for one in counts)


@pytest.mark.acceptance
def test_a_tenth_of_the_scenarios_comes_back_from_the_archive_and_is_resumed(
    client: Client, tmp_path: Path
) -> None:
    chosen = scenarios()[4::10]
    assert len({path.parent for path in chosen}) > 4, "of most versions"
    sessions, resumed = check(client, chosen, tmp_path)
    print(f"\n{len(chosen)} scenarios, {sessions} sessions put back, {resumed} resumed")
    assert resumed > sessions // 2


@pytest.mark.soak
def test_all_scenarios_come_back_from_the_archive_and_are_resumed(client: Client, tmp_path: Path) -> None:
    chosen = scenarios()
    sessions, resumed = check(client, chosen, tmp_path)
    print(f"\n{len(chosen)} scenarios, {sessions} sessions put back, {resumed} resumed")
    assert resumed > sessions // 2
