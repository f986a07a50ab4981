"""How much memory a bundle takes, however large the session is."""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SESSION = "0a1b2c3d-0000-4000-8000-00000000beef"
MOST = 200 << 20


def write(path: Path, size: int) -> None:
    """Write a session of about that many bytes, no two lines of it alike, with a secret now and then."""
    rng = random.Random(1)
    words = [f"{rng.getrandbits(40):x}" for _ in range(5000)]
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        number = 0
        while file.tell() < size:
            role = "assistant" if number % 2 else "user"
            said = " ".join(rng.choices(words, k=50))
            if number % 1000 == 7:
                said += f" GITHUB_TOKEN=ghp_{hashlib.sha256(said.encode()).hexdigest()[:36]}"
            line = {
                "parentUuid": f"u{number - 1}" if number else None,
                "cwd": "/home/ada/lamp",
                "sessionId": SESSION,
                "type": role,
                "uuid": f"u{number}",
                "timestamp": "2026-01-01T00:00:00.000Z",
                "message": {
                    "role": role,
                    "content": [{"type": "text", "text": said}],
                },
            }
            file.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
            number += 1


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def made(base: Path, size: int) -> Path:
    """Write a session of that size into a store; return its file."""
    if not Path("/proc/self/status").exists():
        pytest.skip("asks Linux for the peak")
    main = base / "there" / "projects" / "-home-ada-lamp" / f"{SESSION}.jsonl"
    write(main, size)
    return main


def peak(what: str, base: Path, size: int) -> int:
    """Return the most memory that a step takes."""
    words = [sys.executable, "-m", "tests.acceptance.bundle_memory", what, str(base)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    print(f"\n{what}: {int(done.stdout) >> 20} MB for {size >> 20} MB")
    return int(done.stdout)


def measure(base: Path, size: int) -> None:
    """Pack a session of that size and import it, as it is and mapped."""
    main = made(base, size)
    for what in ("pack", "plain", "mapped"):
        assert peak(what, base, size) < MOST
    assert digest(base / "plain" / main.relative_to(base / "there")) == digest(main)


@pytest.mark.acceptance
def test_a_session_of_a_tenth_of_a_gigabyte_is_never_held(tmp_path: Path) -> None:
    measure(tmp_path, 100 << 20)


@pytest.mark.acceptance
def test_to_take_secrets_out_a_session_is_not_held_either(tmp_path: Path) -> None:
    """With all that would be sent of it, it took more than four times its size."""
    size = 40 << 20
    made(tmp_path, size)
    assert peak("clean", tmp_path, size) < 80 << 20


@pytest.mark.soak
def test_a_session_of_a_gigabyte_is_never_held(tmp_path: Path) -> None:
    measure(tmp_path, 1 << 30)
    assert peak("clean", tmp_path, 1 << 30) < MOST
