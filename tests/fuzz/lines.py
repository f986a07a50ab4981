"""Real lines to damage: those of the corpus, and envelopes nested in envelopes as no corpus line has them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

DATA = Path(__file__).resolve().parents[1] / "data"
_LONGEST = 24_000


@cache
def files() -> tuple[Path, ...]:
    """Every session file that comes with the tests."""
    return tuple(sorted(DATA.rglob("*.jsonl")))


@cache
def corpus() -> tuple[bytes, ...]:
    """The records of the corpus, without their line endings; a few giants are left out for speed."""
    found: set[bytes] = set()
    for path in sorted((DATA / "corpus").rglob("projects/**/*.jsonl")):
        found.update(line for line in path.read_bytes().split(b"\n") if 2 < len(line) < _LONGEST)
    return tuple(sorted(found))


def nested(random: Random) -> bytes:
    """Make a progress record that carries whole envelopes, one inside the other."""
    inner: dict[str, object] = _envelope(random, "user", {"role": "user", "content": _words(random)})
    for _ in range(random.randrange(1, 4)):
        data = {"type": "agent_progress", "message": inner, "prompt": _words(random), "agentId": _id(random)}
        inner = _envelope(random, "progress", None)
        inner["data"] = data
        if random.random() < 0.5:
            # The envelope's own ids after the nested one, or nothing at all after it.
            inner["toolUseID"] = _id(random)
    return json.dumps(inner, ensure_ascii=False, separators=(",", ":")).encode()


def _envelope(random: Random, kind: str, message: object) -> dict[str, object]:
    entry: dict[str, object] = {"parentUuid": _id(random), "isSidechain": False, "type": kind}
    if message is not None:
        entry["message"] = message
    entry.update(uuid=_id(random), sessionId=_id(random), timestamp="2026-01-02T03:04:05.678Z")
    return entry


def _id(random: Random) -> str:
    return f"{random.getrandbits(128):032x}"


_WORDS = (
    "naïve",
    'say "no"',
    "{",
    '{"type":"user","uuid":"x"}',
    "\\",
    "\n",
    "結果",
    "}{",
    "]",
    "🚀",
    "a" * 40,
)


def _words(random: Random) -> str:
    return " ".join(random.choice(_WORDS) for _ in range(random.randrange(12)))
