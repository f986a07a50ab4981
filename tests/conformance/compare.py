"""Set what the real client sent beside what `clew context` says it would send."""

from __future__ import annotations

import argparse
import difflib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from clew.session.context import context
from clew.session.session import Session
from tests.conformance.client import MODEL, VERSION, install
from tests.conformance.notation import normal, short
from tests.conformance.run import Outcome, load, measure

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Difference:
    """A seed for which the two do not agree."""

    seed: int
    features: tuple[str, ...]
    client: tuple[str, ...]
    """What the real client sent, in the short notation; one line of refusal when it refused."""

    clew: tuple[str, ...]
    detail: str
    """Where they part, in full."""


def compare(seed: int, *, version: str = VERSION) -> Difference | None:
    """Give the file of a seed to both; None when they agree."""
    return judge(measure(install(version), seed), version=version)


def judge(outcome: Outcome, *, version: str = VERSION) -> Difference | None:
    """Hold clew against what the client is known to have done."""
    ours = context(Session.read(outcome.data), client=version, model=MODEL)
    said = None if ours.refused is not None else normal(ours.messages)
    if said == outcome.messages:
        return None
    theirs = [f"refused: {outcome.refused}"] if outcome.messages is None else short(outcome.messages)
    mine = [f"refused: {ours.refused}"] if said is None else short(said)
    detail = "\n".join(difflib.unified_diff(theirs, mine, "client", "clew", lineterm="", n=1))
    if not detail:
        detail = next(
            f"client {one}\nclew   {two}"
            for one, two in zip(outcome.messages or [], said or [], strict=True)
            if one != two
        )
    return Difference(outcome.seed, outcome.features, tuple(theirs), tuple(mine), detail)


def differences(outcomes: Iterable[Outcome], *, version: str = VERSION) -> list[Difference]:
    """Every outcome clew does not agree with."""
    return [found for outcome in outcomes if (found := judge(outcome, version=version))]


def main() -> int:
    """Judge every outcome of a folder and print the differences."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.compare", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--client", default=VERSION)
    options = parser.parse_args()
    files = sorted(options.folder.glob("*.json"), key=lambda file: int(file.stem))
    differing = differences(map(load, files), version=options.client)
    for found in differing:
        sys.stdout.write(f"== seed {found.seed} ({', '.join(found.features)})\n{found.detail}\n")
    equal = len(files) - len(differing)
    sys.stdout.write(f"{equal} of {len(files)} equal ({100 * equal / max(1, len(files)):.1f} %)\n")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
