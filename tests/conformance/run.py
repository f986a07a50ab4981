"""Run the real client over made session files and keep what it sent, one JSON file a seed.

    python -m tests.conformance.run --seeds 0-199 --out DIR

A seed whose file is there already is passed over, so a run can be stopped and taken up again. Each file
holds the session's bytes (base64), the features in it, and either the messages the client sent, in normal
form and without the prompt, or the words with which it refused.
"""

from __future__ import annotations

import argparse
import base64
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from tests.conformance.client import PROMPT, VERSION, Client, install, resume
from tests.conformance.generator import generate
from tests.conformance.notation import without_prompt

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.conformance.notation import Json, Message


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the client did with the file of a seed."""

    seed: int
    data: bytes
    features: tuple[str, ...]
    messages: list[Message] | None
    """What it sent, in normal form and without the prompt; None when it refused."""

    refused: str | None


def measure(client: Client, seed: int) -> Outcome:
    """Give the file of a seed to the client."""
    sample = generate(seed)
    sent = resume(client, sample.data)
    messages = None if sent.messages is None else without_prompt(sent.messages, PROMPT)
    return Outcome(seed, sample.data, tuple(sorted(sample.features)), messages, sent.refused)


def save(outcome: Outcome, file: Path) -> None:
    """Write an outcome, whole or not at all."""
    body: dict[str, Json] = {
        "seed": outcome.seed,
        "features": list(outcome.features),
        "file": base64.b64encode(outcome.data).decode(),
        "messages": cast("Json", outcome.messages),
        "refused": outcome.refused,
    }
    fresh = file.with_suffix(".part")
    fresh.write_text(json.dumps(body, ensure_ascii=False, indent=1), encoding="utf-8")
    fresh.replace(file)


def load(file: Path) -> Outcome:
    """Read an outcome back."""
    body = cast("dict[str, Json]", json.loads(file.read_text(encoding="utf-8")))
    return Outcome(
        seed=cast(int, body["seed"]),
        data=base64.b64decode(cast(str, body["file"])),
        features=tuple(cast("list[str]", body["features"])),
        messages=cast("list[Message] | None", body["messages"]),
        refused=cast("str | None", body["refused"]),
    )


def run(seeds: Iterable[int], out: Path, *, version: str = VERSION, workers: int = 2) -> list[Outcome]:
    """Measure every seed that is not in `out` yet, and return all of them."""
    out.mkdir(parents=True, exist_ok=True)
    client = install(version)

    def one(seed: int) -> Outcome:
        file = out / f"{seed}.json"
        if file.exists():
            found = load(file)
            # A changed generator makes other bytes from the same seed; then the old answer is no answer.
            if found.data == generate(seed).data:
                return found
        outcome = measure(client, seed)
        save(outcome, file)
        return outcome

    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(one, seeds))


def span(words: str) -> range:
    """Read `7` or `0-199`, both ends included."""
    first, _, last = words.partition("-")
    return range(int(first), int(last or first) + 1)


def main() -> int:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.run", description=__doc__)
    parser.add_argument("--seeds", type=span, default=span("0-199"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--client", default=VERSION)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    outcomes = run(options.seeds, options.out, version=options.client, workers=options.workers)
    refused = sum(outcome.messages is None for outcome in outcomes)
    sys.stderr.write(f"{len(outcomes)} seeds, {refused} refused\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
