"""Growth (P13): what ten times the bytes cost, cold; and what more files cost, warm.

The growth of the index build is measured where the build is, in `work_search`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench import corpora
from bench.generate import Recipe
from bench.measure import Command, measure
from bench.report import Row
from bench.runner import megabytes
from bench.work_usage import DAYS

if TYPE_CHECKING:
    from bench.corpora import Corpus
    from bench.runner import Program, Runner

WARM_RUNS = 9
LISTED = ("ls", "--all", "--json")


def growth(runner: Runner, big: Corpus) -> None:
    """P13 for usage and for lists."""
    small = corpora.corpus(Recipe(runner.size // 10, runner.seed))
    work = f"{megabytes(runner.size)} and a tenth of it"
    cold, cold_small = "clew usage, cold", "clew usage, cold, a tenth"
    programs: dict[str, Program] = {
        cold: runner.clew(big.root, *DAYS, "--no-index"),
        cold_small: runner.clew(small.root, *DAYS, "--no-index"),
    }
    warm = {"clew usage, warm": DAYS, "clew ls, warm": LISTED}
    for name, arguments in warm.items():
        for corpus, where in ((big, ""), (small, ", a tenth")):
            home = runner.indexed(corpus)
            programs[name + where] = runner.clew(corpus.root, *arguments, home=home)
    for command in programs.values():
        if isinstance(command, Command):
            measure(command)
    runner.interleave(work, programs, repeat=runner.often(WARM_RUNS))
    bytes_ratio = big.truth["bytes"] / small.truth["bytes"]
    runner.growth(work, "wall", big=cold, small=cold_small, bytes_ratio=bytes_ratio)
    more = len(big.truth["files"]) - len(small.truth["files"])
    for name in warm:
        _by_files(runner, work, name, more)


def _by_files(runner: Runner, work: str, name: str, more: int) -> None:
    """Add the row for the warm cost of a thousand more files, whatever their bytes."""
    what, small = f"{name}: wall for 1,000 more files", f"{name}, a tenth"
    a, b = runner.figure(work, name, "wall"), runner.figure(work, small, "wall")
    if a is None or b is None:
        error = runner.error(work, name) or runner.error(work, small) or "not run"
        runner.rows.append(Row("P13", what, None, None, "ms", error=error))
        return
    detail = f"{b:.3f} s, and {a:.3f} s with {more:,} more files"
    runner.rows.append(Row("P13", what, (a - b) / more * 1e6, None, "ms", detail))
