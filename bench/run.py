"""Measure clew against its targets and its peers, and print the tables.

    python -m bench.run                 the real thing: 2 GB, some twenty minutes
    python -m bench.run --size 200MB    a quick look

Programs that are compared take turns in one interleaved run, and the middle of three counts: on a machine
that does other things too, only ratios from the same minutes mean something. The exit code is 1 when a target
is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bench import (
    corpora,
    work_growth,
    work_lake,
    work_lists,
    work_pages,
    work_search,
    work_session,
    work_trace,
    work_usage,
)
from bench.generate import Recipe, parse_size
from bench.report import Report
from bench.runner import Runner, megabytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.corpora import Corpus
    from bench.report import Row

TARGETS = ("P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9", "P10", "P11", "P12", "P13", "T1",
           "L1", "L2", "L3", "L4")  # fmt: skip


def run(*, size: int, session_size: int, seed: int, repeat: int, only: tuple[str, ...]) -> Report:
    """Measure the chosen targets."""
    kept = corpora.corpus(Recipe(size, seed))
    with tempfile.TemporaryDirectory(prefix="clew-bench-") as home, corpora.to_write_in(kept) as corpus:
        runner = Runner(size=size, session_size=session_size, seed=seed, repeat=repeat, home=Path(home))
        for targets, work in works(runner, corpus, frozenset(only)):
            if chosen := targets & set(only):
                print(f"{', '.join(sorted(chosen))} …", file=sys.stderr)
                work()
        version = platform.python_version()
        machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {version}"
        sizes = f"{megabytes(size)}, one session of {megabytes(session_size)}"
        return Report(machine, f"{sizes}, seed {seed}; middle of {repeat}", runner.lines, in_order(runner))


def works(
    runner: Runner, corpus: Corpus, only: frozenset[str]
) -> list[tuple[set[str], Callable[[], object]]]:
    """What is done, in this order, and the targets it is for. The first leaves an index for the others."""
    return [
        ({"P7", "P13"}, lambda: work_search.build(runner, corpus, only)),
        ({"P11"}, lambda: work_lists.start(runner, corpus)),
        ({"P1", "P2", "P3", "P4"}, lambda: work_usage.totals(runner, corpus, only)),
        ({"P3"}, lambda: work_usage.appended(runner, corpus)),
        ({"P4"}, lambda: work_usage.variants(runner)),
        ({"P5"}, lambda: work_lists.lists(runner, corpus)),
        ({"P6"}, lambda: work_search.literal(runner, corpus)),
        ({"P8"}, lambda: work_search.queries(runner, corpus)),
        ({"P9"}, lambda: work_session.page(runner, corpus)),
        ({"P10"}, lambda: work_pages.pages(runner)),
        ({"P13"}, lambda: work_growth.growth(runner, corpus)),
        ({"P12"}, lambda: work_session.memory(runner)),
        ({"T1"}, lambda: work_trace.sending(runner)),
        ({"T1"}, lambda: work_trace.memory(runner)),
        ({"L1", "L2"}, lambda: work_lake.building(runner)),
        ({"L3", "L4"}, lambda: work_lake.growing(runner)),
    ]


def in_order(runner: Runner) -> list[Row]:
    """The rows by target; what is said of peers comes last."""
    return sorted(runner.rows, key=lambda row: TARGETS.index(row.target) if row.target in TARGETS else 99)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.run", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--size", type=parse_size, default=parse_size("2GB"), help="of the corpus (2GB)")
    parser.add_argument("--session-size", type=parse_size, help="of the one large session (half the corpus)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=3, help="runs of which the middle counts (3)")
    parser.add_argument("--only", default=",".join(TARGETS), help=f"targets to measure ({','.join(TARGETS)})")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--markdown", action="store_true", help="print Markdown tables")
    args = parser.parse_args()
    only = tuple(args.only.upper().split(","))
    if unknown := set(only) - set(TARGETS):
        parser.error(f"no such target: {', '.join(sorted(unknown))}")
    report = run(
        size=args.size,
        session_size=args.session_size or args.size // 2,
        seed=args.seed,
        repeat=args.repeat,
        only=only,
    )
    print(
        json.dumps(report.as_json(), indent=1) if args.json else report.as_text(markdown=args.markdown),
        end="",
    )
    sys.exit(report.missed)


if __name__ == "__main__":
    main()
