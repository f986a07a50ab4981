"""One run of the benchmark: how programs are run side by side, and what was found so far.

What is run, and against which limit, is the business of the `work_*` modules.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field, replace
from statistics import median
from typing import TYPE_CHECKING, Literal

from bench import peers
from bench.installing import PeerMissingError
from bench.measure import Command, Cost, measure, middle, throwaway_env
from bench.report import Line, Row

if TYPE_CHECKING:
    from pathlib import Path

    from bench.corpora import Corpus
    from bench.peers import Holding, Job, Work

Figure = Literal["wall", "cpu", "inside"]
"""Wall or CPU time of the whole process, or the `seconds` that it printed: those of the call alone."""

Program = Command | PeerMissingError


@dataclass(slots=True)
class Runner:
    """One run: its options, and what it has found so far."""

    size: int
    session_size: int
    seed: int
    repeat: int
    home: Path
    lines: list[Line] = field(default_factory=list[Line])
    rows: list[Row] = field(default_factory=list[Row])
    outputs: dict[tuple[str, str], list[bytes]] = field(default_factory=dict[tuple[str, str], list[bytes]])
    """What the programs printed that were to be kept, by the work and their name."""
    _found: dict[str, Path | PeerMissingError] = field(default_factory=dict[str, "Path | PeerMissingError"])

    # -- what is run --------------------------------------------------------------------------------

    def clew(self, root: Path, *arguments: str, home: Path | None = None, fresh: bool = False) -> Command:
        """A clew command on a store; 3 means that it was done and the data has flaws."""
        argv = (sys.executable, "-m", "clew", *arguments, "--root", str(root))
        home = home or self.home
        return Command(argv, throwaway_env(home), ok=(0, 3), fresh=home if fresh else None)

    def peer(self, name: str, work: Work, job: Job) -> Program:
        """A peer's command, or why there is none."""
        program = self.program(name)
        if isinstance(program, PeerMissingError):
            return program
        return peers.PEERS[name].works[work](program, job)

    def program(self, name: str) -> Path | PeerMissingError:
        """A peer's program; one that cannot be had is not tried again."""
        if name not in self._found:
            try:
                self._found[name] = peers.find(name)
            except PeerMissingError as problem:
                self._found[name] = problem
        return self._found[name]

    def holding(self, name: str, job: Job, words: list[str]) -> Holding | None:
        """What a peer's index came to; None where there is no such peer."""
        program, ask = self.program(name), peers.PEERS[name].holding
        return None if ask is None or isinstance(program, PeerMissingError) else ask(program, job, words)

    def index_home(self, corpus: Corpus) -> Path:
        """The home folder in whose cache the index of a corpus lies or is to be built."""
        return self.home / f"index-{corpus.root.name}"

    def indexed(self, corpus: Corpus) -> Path:
        """The same with an index in it, which is built now when no work has built it before."""
        home = self.index_home(corpus)
        if not home.exists():
            measure(self.clew(corpus.root, "index", "rebuild", home=home, fresh=True))
        return home

    # -- running ------------------------------------------------------------------------------------

    def often(self, times: int) -> int:
        """How often to run what takes so little time that three runs would be noise.

        Whoever asks for fewer than three runs wants a quick look.
        """
        return max(times, self.repeat) if self.repeat >= 3 else self.repeat

    def interleave(
        self,
        work: str,
        programs: dict[str, Program],
        *,
        repeat: int,
        keep: tuple[str, ...] = (),
        once: tuple[str, ...] = (),
    ) -> dict[str, Cost]:
        """Run all programs in turn, several times over; one that fails is not tried again."""
        costs: dict[str, list[Cost]] = {name: [] for name in programs}
        errors = {name: str(one) for name, one in programs.items() if isinstance(one, PeerMissingError)}
        for turn in range(repeat):
            for name, command in programs.items():
                if name in errors or isinstance(command, PeerMissingError) or (turn and name in once):
                    continue
                run = measure(command, keep_output=name in keep)
                if run.error is not None:
                    errors[name] = run.error
                    continue
                costs[name].append(run.cost)
                if name in keep:
                    self.outputs.setdefault((work, name), []).append(run.output)
        done = {name: middle(found) for name, found in costs.items() if found and name not in errors}
        self.lines += [Line(work, name, done.get(name), errors.get(name)) for name in programs]
        return done

    def cost(self, work: str, program: str) -> Cost | None:
        return next((one.cost for one in self.lines if (one.work, one.program) == (work, program)), None)

    def error(self, work: str, program: str) -> str | None:
        return next((one.error for one in self.lines if (one.work, one.program) == (work, program)), None)

    def fail(self, work: str, program: str, error: str) -> None:
        """Take a figure back: the program ran, and did not do what it was measured for."""
        self.lines = [
            replace(one, cost=None, error=error) if (one.work, one.program) == (work, program) else one
            for one in self.lines
        ]

    # -- judging ------------------------------------------------------------------------------------

    def figure(self, work: str, program: str, figure: Figure) -> float | None:
        """The middle of what a program took."""
        cost = self.cost(work, program)
        if cost is None or figure == "wall":
            return cost and cost.wall
        if figure == "cpu":
            return cost.cpu
        said = self.outputs.get((work, program))
        return median(json.loads(one)["seconds"] for one in said) if said else None

    def ratio(
        self,
        target: str,
        work: str,
        figure: Figure,
        *,
        of: str,
        to: str,
        limit: float | None,
        to_figure: Figure | None = None,
    ) -> None:
        """Add the row for what one program took as a multiple of what another did."""
        mine, other = self.figure(work, of, figure), self.figure(work, to, to_figure or figure)
        how = {"cpu": "CPU", "wall": "wall", "inside": "inside the process"}
        what = f"{of}: {how[figure]} ÷ {to}"
        if to_figure is not None:
            what += f" ({how[to_figure]})"
        if mine is None or other is None:
            error = self.error(work, of) if mine is None else f"{to}: {self.error(work, to)}"
            row = Row(target, what, None, limit, "×", error=error or "not run", peerless=mine is not None)
        else:
            row = Row(target, what, mine / other, limit, "×", f"{mine:.3f} s ÷ {other:.3f} s")
        self.rows.append(row)

    def growth(self, work: str, figure: Figure, *, big: str, small: str, bytes_ratio: float) -> None:
        """Add the row for how much longer ten times the bytes take; corpora are not ten times to the byte."""
        mine, other = self.figure(work, big, figure), self.figure(work, small, figure)
        what = f"{big}: time for ten times the bytes"
        if mine is None or other is None:
            error = self.error(work, big) or self.error(work, small) or "not run"
            self.rows.append(Row("P13", what, None, 11, "×", error=error))
            return
        detail = f"{mine:.3f} s ÷ {other:.3f} s for {bytes_ratio:.2f} times the bytes"
        self.rows.append(Row("P13", what, mine / other / bytes_ratio * 10, 11, "×", detail))


def megabytes(size: float) -> str:
    """A size as the rows name it."""
    return f"{size / 1e6:,.0f} MB"
