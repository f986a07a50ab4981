"""Salvage judged by a generator that knows the truth: which bytes of each damaged line were whole records.

Of the damaged lines 70 % are torn records with another one spliced on, 10 % are records glued together and
20 % have runs of NULs, as a survey of real files found; every fourth record carries envelopes nested in it.

    python -m tests.fuzz.salvage --lines 400000 --seed 1
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from random import Random
from time import perf_counter
from typing import TYPE_CHECKING

from clew.format.lines import BytesSource
from clew.format.records import Fragment, Record, scan
from tests.fuzz.lines import corpus, nested

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True, slots=True)
class Damaged:
    """A damaged line, and where its whole records are."""

    raw: bytes
    whole: frozenset[tuple[int, int]]


@dataclass(slots=True)
class Score:
    """What salvage made of the lines."""

    lines: int = 0
    whole: int = 0
    recovered: int = 0
    flagged: int = 0
    phantoms: int = 0
    false_flags: int = 0
    unaccounted: int = 0
    examples: list[bytes] = field(default_factory=list[bytes])

    def add(self, other: Score) -> None:
        """Take the figures of another run in."""
        for name in ("lines", "whole", "recovered", "flagged", "phantoms", "false_flags", "unaccounted"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.examples.extend(other.examples)

    @property
    def recall(self) -> float:
        """The share of the whole records that were recovered outright."""
        return self.recovered / self.whole if self.whole else 1.0

    @property
    def missed(self) -> int:
        """How many whole records were neither recovered nor flagged."""
        return self.whole - self.recovered - self.flagged

    def __str__(self) -> str:
        return (
            f"{self.lines} damaged lines, {self.whole} whole records in them: {self.recovered} recovered "
            f"({self.recall:.2%}), {self.flagged} flagged, {self.missed} missed; {self.phantoms} phantoms, "
            f"{self.false_flags} false flags, {self.unaccounted} lines with bytes unaccounted for"
        )


def damaged(random: Random) -> Damaged:
    """Make one damaged line."""
    raw = bytearray()
    whole: set[tuple[int, int]] = set()

    def torn() -> None:
        record = _record(random)
        raw.extend(record[: random.randrange(1, len(record))])

    def intact() -> None:
        record = _record(random)
        whole.add((len(raw), len(raw) + len(record)))
        raw.extend(record)

    def nuls() -> None:
        raw.extend(b"\0" * random.randrange(1, 700))

    lot = random.random()
    parts: Sequence[Callable[[], None]]
    if lot < 0.70:
        parts = random.choices(
            [
                (torn, intact),
                (torn, torn, intact),
                (torn, intact, intact),
                (torn, intact, torn),
                (torn, torn),
            ],
            [80, 6, 6, 4, 4],
        )[0]
    elif lot < 0.80:
        parts = (intact,) * random.choice((2, 2, 2, 3))
    else:
        parts = random.choice(
            [(nuls, intact), (intact, nuls), (torn, nuls, intact), (nuls,), (intact, nuls, intact)]
        )
    for part in parts:
        part()
    return Damaged(bytes(raw), frozenset(whole))


def _record(random: Random) -> bytes:
    return nested(random) if random.random() < 0.25 else random.choice(corpus())


def judge(score: Score, line: Damaged) -> None:
    """Compare what salvage finds in a line with the truth."""
    score.lines += 1
    score.whole += len(line.whole)
    taken: set[tuple[int, int]] = set()
    flags: list[Fragment] = []
    at = 0
    conserved = True
    for item in scan(BytesSource(line.raw + b"\n")):
        conserved &= item.offset >= at and not line.raw[at : item.offset].strip()
        at = item.offset + item.length
        if isinstance(item, Record):
            taken.add((item.offset, item.offset + len(item.raw)))
        elif item.is_probable:
            flags.append(item)
    score.unaccounted += not (conserved and not line.raw[at:].strip())
    phantoms = taken - line.whole
    score.recovered += len(line.whole & taken)
    score.phantoms += len(phantoms)
    lost = line.whole - taken
    for flag in flags:
        inside = {
            place for place in lost if flag.offset <= place[0] and place[1] <= flag.offset + flag.length
        }
        score.flagged += len(inside)
        lost -= inside
        score.false_flags += not inside
    if (phantoms or lost) and len(score.examples) < 20:
        score.examples.append(line.raw)


def run(lines: int, seed: str) -> Score:
    """Judge so many lines; the same seed makes the same lines."""
    random = Random(seed)
    score = Score()
    for _ in range(lines):
        judge(score, damaged(random))
    return score


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge salvage in two processes and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--lines", type=int, default=400_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--examples", action="store_true", help="print lines that went wrong")
    options = parser.parse_args(arguments)
    parts = 20
    started = perf_counter()
    total = Score()
    with ProcessPoolExecutor(2) as pool:
        counts = [options.lines // parts + (part < options.lines % parts) for part in range(parts)]
        for score in pool.map(run, counts, [f"{options.seed}:{part}" for part in range(parts)]):
            total.add(score)
    sys.stdout.write(f"seed {options.seed}: {total}; {perf_counter() - started:.0f} s\n")
    if options.examples:
        sys.stdout.writelines(f"{example!r}\n" for example in total.examples)
    good = not total.phantoms and not total.missed and not total.unaccounted and total.recall >= 0.97
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
