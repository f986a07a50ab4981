"""A scanner that many people use to look for leaked secrets finds plenty, and after a redaction nothing.

Its rules are its own. It runs without a network and is asked to tell what it doubts, too.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from bench.installing import by_pip, cache_folder
from bench.peers import UNPLUGGED
from tests.edit.secrets_planted import SESSION, sow
from tests.faces.console import console

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.faces.console import Console

pytestmark = pytest.mark.acceptance

VERSION = "2.14.0"
CACHE = cache_folder()
"""Where programs are kept: in the user's own cache, which is looked for before a test gets another."""

SEEDS = ("one", "two", "three")


@pytest.fixture
def clew(monkeypatch: pytest.MonkeyPatch) -> Iterator[Console]:
    yield from console(monkeypatch)


@cache
def scanner() -> Path:
    install = by_pip(f"kingfisher-bin=={VERSION}", "lib/python*/site-packages/kingfisher/bin/kingfisher")
    return install(CACHE / f"kingfisher-{VERSION}")


class Finding(NamedTuple):
    """What the scanner found, without the secret itself."""

    rule: str
    path: str
    line: int


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home for the scanner, where it keeps its rules."""
    return tmp_path_factory.mktemp("scanner")


def scan(folder: Path, home: Path) -> set[Finding]:
    """Return what the scanner finds; it looks into databases as well."""
    options = ("--no-validate", "--no-update-check", "--confidence", "low", "--no-dedup", "--format", "json",
               "--git-history", "none", "--max-file-size", "0")  # fmt: skip
    done = subprocess.run(
        (str(scanner()), "scan", str(folder), *options),
        env={"HOME": str(home), "PATH": os.environ["PATH"], **UNPLUGGED},
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.returncode in {0, 200}, done.stderr.decode()[-400:]
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[0])
    assert told["metadata"]["kingfisher_version"] == VERSION
    assert told["metadata"]["summary"]["blobs_scanned"] >= sum(path.is_file() for path in folder.rglob("*"))
    return {
        Finding(one["rule"]["id"], one["finding"]["path"], one["finding"]["line"]) for one in told["findings"]
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_it_finds_plenty_in_a_session_and_nothing_in_the_new_one(
    clew: Console, tmp_path: Path, place: Path, seed: str
) -> None:
    root = tmp_path / "config"
    sow(root, seed)
    before = scan(root, place)
    assert len({one.rule for one in before}) >= 25
    assert len({one.path for one in before}) == 10, "in each file"
    old = {path for path in root.rglob("*") if path.is_file()}
    ran = clew("redact", SESSION, "--root", root)
    assert ran.code == 0, ran.err
    new = {path for path in root.rglob("*") if path.is_file()} - old
    assert len(new) == 9
    for path in old:
        path.unlink()
    assert scan(root, place) == set()


def test_it_finds_nothing_after_a_redaction_in_place_nor_in_the_index(
    clew: Console, tmp_path: Path, place: Path
) -> None:
    root = tmp_path / "config"
    sow(root)
    assert clew("redact", SESSION, "--in-place", "--root", root).code == 0
    assert clew("undo", "--forget").code == 0
    assert clew("search", "redacted", "--root", root).code == 0
    assert scan(root, place) == set()
    state = Path(os.environ["HOME"]) / ".local"
    shutil.copytree(os.environ["XDG_CACHE_HOME"], tmp_path / "kept" / "cache")
    shutil.copytree(state, tmp_path / "kept" / "state")
    (tmp_path / "kept" / "state" / "state" / "clew" / "redaction-key").unlink()
    assert scan(tmp_path / "kept", place) == set()
