"""Set what the real client sent beside what `clew context` says it would send."""

from __future__ import annotations

import argparse
import difflib
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.conformance.client import MODEL, VERSION, install
from tests.conformance.notation import normal, short
from tests.conformance.run import Outcome, load, measure

from clew.session.context import context
from clew.session.session import Session


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


def main() -> int:
    """Judge every outcome of a folder and print the differences."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.compare", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--client", default=VERSION)
    options = parser.parse_args()
    files = sorted(options.folder.glob("*.json"), key=lambda file: int(file.stem))
    differences = [found for file in files if (found := judge(load(file), version=options.client))]
    for found in differences:
        sys.stdout.write(f"== seed {found.seed} ({', '.join(found.features)})\n{found.detail}\n")
    equal = len(files) - len(differences)
    sys.stdout.write(f"{equal} of {len(files)} equal ({100 * equal / max(1, len(files)):.1f} %)\n")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
