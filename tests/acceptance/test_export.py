"""Exports before judges of others: a scanner for secrets, and the reader of the trajectory format."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from clew.export.registry import OWN
from tests.acceptance.test_redaction import CACHE, SEEDS, scan
from tests.edit.secrets_planted import SESSION, sow
from tests.export import test_data_formats, test_html, test_md, test_text
from tests.export.contract import ExporterContract, recorded
from tests.faces.console import console

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.faces.console import Console

pytestmark = pytest.mark.acceptance

FORMATS = [exporter.name for exporter in OWN]
HARBOR = "0.25.0"
"""Of Harbor, which the trajectory format comes from; its models are read from its wheel."""

_JUDGE = """
import json, sys
sys.path.insert(0, sys.argv[1])
from harbor.utils.trajectory_validator import TrajectoryValidator
for path in sys.argv[2:]:
    judge = TrajectoryValidator()
    print(json.dumps([path, judge.validate(path), judge.get_errors()[:3]]))
"""


@pytest.fixture
def clew(monkeypatch: pytest.MonkeyPatch) -> Iterator[Console]:
    yield from console(monkeypatch)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home for the scanner, where it keeps its rules."""
    return tmp_path_factory.mktemp("scanner")


@pytest.mark.parametrize("seed", SEEDS)
def test_a_scanner_finds_plenty_in_exports_and_nothing_when_they_are_redacted(
    clew: Console, tmp_path: Path, place: Path, seed: str
) -> None:
    root = tmp_path / "config"
    sow(root, seed)
    for way in ("--no-redact", "--redact"):
        folder = tmp_path / way.strip("-")
        folder.mkdir()
        for name in FORMATS:
            ran = clew("export", SESSION, "--to", name, way, "--root", root, "-o", folder)
            assert ran.code == 0, ran.err
        found = scan(folder, place)
        if way == "--redact":
            assert found == set()
        else:
            assert len({one.path for one in found}) == len(FORMATS)
            assert len({one.rule for one in found}) >= 20


@pytest.mark.parametrize("name", FORMATS)
def test_every_recorded_session_is_valid_in_every_format(name: str) -> None:
    suites = [
        found
        for module in (test_data_formats, test_html, test_md, test_text)
        for found in vars(module).values()
        if isinstance(found, type) and issubclass(found, ExporterContract) and vars(found).get("name") == name
    ]
    assert len(suites) == 1
    suites[0]().validate_recorded(1)


def wheel() -> Path:
    folder = CACHE / f"harbor-{HARBOR}"
    path = folder / f"harbor-{HARBOR}-py3-none-any.whl"
    if not path.exists():
        # It wants a newer Python than ours for the rest of it; the models are read by any.
        options = ("--no-deps", "--only-binary", ":all:", "--python-version", "3.13", "--quiet")
        subprocess.run(
            (sys.executable, "-m", "pip", "download", *options, f"harbor=={HARBOR}", "-d", str(folder)),
            check=True,
            timeout=300,
        )
    return path


def test_the_reader_of_trajectories_takes_every_recorded_session(clew: Console, tmp_path: Path) -> None:
    for at, path in enumerate(recorded()):
        ran = clew("export", path, "--to", "atif", "--root", path.parents[2], "-o", tmp_path / f"{at}.json")
        assert ran.code in {0, 3}, ran.err
    files = sorted(map(str, tmp_path.glob("*.json")))
    assert len(files) == len(recorded())
    done = subprocess.run(
        (sys.executable, "-c", _JUDGE, str(wheel()), *files), capture_output=True, check=True, timeout=300
    )
    judged = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(judged) == len(files)
    assert [one for one in judged if not one[1]] == []
