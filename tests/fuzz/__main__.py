"""Put millions of damaged lines through reading, graph, check and context.

    python -m tests.fuzz --lines 2000000 --seed 1

The same seed makes the same files. A file that breaks a law is kept in `tests/fuzz/failures`.
"""

from __future__ import annotations

import argparse
import signal
import sys
import traceback
from concurrent.futures import ProcessPoolExecutor
from itertools import count
from pathlib import Path
from random import Random
from time import perf_counter
from typing import TYPE_CHECKING

from tests.fuzz.laws import CLIENTS, judge
from tests.fuzz.mutate import damaged_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FAILURES = Path(__file__).parent / "failures"
SECONDS = 10
"""More processor time than any file of a few dozen lines needs; a file that takes it hangs."""
_LOT = 10_000


class HangError(Exception):
    """A file took far too long."""


def run(seed: str, lines: int) -> tuple[int, list[tuple[str, str]]]:
    """Judge files until `lines` lines are done; return how many there were, and what went wrong where."""
    random = Random(seed)
    done = 0
    failures: list[tuple[str, str]] = []
    signal.signal(signal.SIGVTALRM, _hang)
    for n in count():
        if done >= lines:
            break
        data = damaged_file(random)
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
        try:
            done += judge(data, client=CLIENTS[n % len(CLIENTS)])
        except Exception as error:
            done += data.count(b"\n") + 1
            name = f"{seed.replace(':', '-')}-{n}.jsonl"
            last = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{type(error).__name__} {error} in {Path(last.filename).name}:{last.lineno}"
            failures.append((where, f"{name}, as {CLIENTS[n % len(CLIENTS)]}"))
            FAILURES.mkdir(exist_ok=True)
            (FAILURES / name).write_bytes(data)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return done, failures


def _hang(_signal: int, _frame: object) -> None:
    raise HangError(f"more than {SECONDS} s for one file")


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge damaged files in two processes and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--lines", type=int, default=2_000_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    started = perf_counter()
    lots = max(1, options.lines // _LOT)
    total = 0
    failed: dict[str, list[str]] = {}
    with ProcessPoolExecutor(2) as pool:
        seeds = [f"{options.seed}:{lot}" for lot in range(lots)]
        for done, failures in pool.map(run, seeds, _shares(options.lines, lots)):
            total += done
            for where, name in failures:
                failed.setdefault(where, []).append(name)
    for where, names in failed.items():
        sys.stderr.write(f"{len(names)} x {where}: {names[0]}\n")
    count_of = sum(map(len, failed.values()))
    took = perf_counter() - started
    sys.stdout.write(f"seed {options.seed}: {total} lines, {count_of} failures, {took:.0f} s\n")
    return 1 if failed else 0


def _shares(lines: int, lots: int) -> Iterator[int]:
    return (lines // lots + (lot < lines % lots) for lot in range(lots))


if __name__ == "__main__":
    sys.exit(main())
