"""Whatever is only proved by `make soak` is proved by it: every such test belongs to one of its steps."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from scripts import soak

ROOT = Path(__file__).resolve().parent.parent


def collected(*places: str) -> Counter[str]:
    """How many tests each file has that only run in a soak, as pytest finds them."""
    words = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "soak", "-p", "no:cacheprovider"]
    done = subprocess.run([*words, *places], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return Counter(
        {file: int(count) for file, count in re.findall(r"^(\S+\.py): (\d+)$", done.stdout, re.MULTILINE)}
    )


def marked() -> list[str]:
    """The files that speak of it; to collect all the others takes long."""
    found = ((path, path.read_text()) for path in sorted((ROOT / "tests").rglob("test_*.py")))
    return [path.relative_to(ROOT).as_posix() for path, text in found if re.search(r"\bsoak\b", text)]


def test_every_test_that_only_runs_in_a_soak_belongs_to_one_step() -> None:
    owners: dict[str, list[str]] = {}
    for name, words in soak.STEPS.items():
        if "soak" in words:
            assert words[1:6] == ["-m", "pytest", "-m", "soak", "-s"], f"{name} chooses among tests of a file"
            for file in words[6:]:
                owners.setdefault(file, []).append(name)
    found = collected(*marked())
    assert found.total() > 1000
    assert {file: names for file, names in owners.items() if len(names) > 1} == {}, "these run twice"
    assert sorted(found.keys() - owners.keys()) == [], "no step runs these; scripts/soak.py says which does"
    assert sorted(owners.keys() - found.keys()) == [], "there is nothing to run in these"


def test_a_file_that_no_step_names_is_told() -> None:
    assert soak.soaks()[""] == []


@pytest.mark.parametrize(
    ("file", "step"),
    [
        ("tests/acceptance/test_agent_kills_soak.py", "client"),
        ("tests/acceptance/test_edit_live.py", "live"),
        ("tests/acceptance/test_view_soak.py", "exports"),
        ("tests/store/bundle/test_bundle_hostile.py", "exports"),
        ("tests/acceptance/test_faults.py", "faults"),
        ("tests/store/faults/test_faults.py", "faults"),
        ("tests/acceptance/test_client_soak.py", "conformance"),
        ("tests/edit/test_strip.py", "edits"),
        ("tests/catalog/test_kill.py", "catalog"),
        ("tests/trace/test_deliver.py", "traces"),
    ],
)
def test_a_file_is_of_the_step_that_its_place_says(file: str, step: str) -> None:
    assert file in soak.STEPS[step]
