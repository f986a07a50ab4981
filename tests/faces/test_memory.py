"""How much memory the commands take that go through every line of a session.

A session of a gigabyte may take 200 MB. Here one of some tens of megabytes is read, and one of a tenth of
that: what the greater one takes more, a gigabyte takes more as often as it is greater.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bench.generate import one_session
from tests.builder import Builder

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks Linux for the peak")

MB = 1_000_000
GREAT, SMALL = 60 * MB, 6 * MB
_CHILD = """
import sys
from clew.faces.cli.main import run
code = run(sys.argv[1:])
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print("peak", code, peak.split()[1], file=sys.stderr)
"""


@pytest.fixture(scope="module")
def roots(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    found: dict[int, Path] = {}
    for size in (SMALL, GREAT):
        root = tmp_path_factory.mktemp("store")
        path = root / "projects" / "-p" / "11111111-2222-4333-8444-555555555555.jsonl"
        path.parent.mkdir(parents=True)
        one_session(path, size, "mixed")
        found[size] = root
    return found


def peak(root: Path, *arguments: str) -> float:
    """Run a command in a process of its own and return the most memory it held, in MB."""
    command = [sys.executable, "-c", _CHILD, *arguments, "--root", str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    word, code, kilobytes = done.stderr.split()[-3:]
    assert (word, code) == ("peak", "0"), done.stderr
    return int(kilobytes) * 1024 / MB


@pytest.mark.parametrize(
    "arguments",
    [("stats",), ("ls", "--full"), ("ls", "--json"), ("drift",), ("find", "no-such-id-anywhere")],
    ids=" ".join,
)
def test_a_gigabyte_would_take_less_than_200_mb(roots: dict[int, Path], arguments: tuple[str, ...]) -> None:
    small, great = peak(roots[SMALL], *arguments), peak(roots[GREAT], *arguments)
    growth = max(0.0, great - small) / (GREAT - SMALL)
    assert small + growth * 1000 * MB < 200


def test_a_line_of_many_megabytes_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "projects" / "-p" / "s.jsonl"
    path.parent.mkdir(parents=True)
    talk = Builder("s").prompt("Go").answer("Yes.").data()
    head, tail = Builder("s").prompt("HERE", uuid="giant").data().split(b"HERE")
    with path.open("wb") as file:
        file.write(talk + head)
        for _ in range(120):
            file.write(b"word " * (MB // 5))
        file.write(tail + talk)
    for arguments in (("stats",), ("ls", "--full"), ("drift",), ("find", "no-such-id-anywhere")):
        assert peak(tmp_path, *arguments) < 100, arguments
