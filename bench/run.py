"""Measure clew against its targets and its peers, and print the tables.

    python -m bench.run                 the real thing: 2 GB, some minutes
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
from typing import Any

from bench import corpora, peers
from bench.generate import Recipe, parse_size
from bench.measure import Command, Cost, measure, middle, throwaway_env
from bench.peers import Job, PeerMissingError, Work
from bench.report import Line, Report, Row

TARGETS = ("P2", "P4", "P11", "P12")
VARIANT_SIZE = parse_size("200MB")
GIANT_LINE = parse_size("200MB")


class Runner:
    """One run: its options, and what it has found so far."""

    def __init__(self, *, size: int, session_size: int, seed: int, repeat: int, home: Path) -> None:
        self.size, self.session_size, self.seed, self.repeat, self.home = (
            size,
            session_size,
            seed,
            repeat,
            home,
        )
        self.lines: list[Line] = []
        self.rows: list[Row] = []
        self.outputs: dict[tuple[str, str], bytes] = {}

    # -- running ------------------------------------------------------------------------------------

    def clew(self, root: Path, *arguments: str) -> Command:
        """A clew command on a store; 3 means that it was done and the data has flaws."""
        argv = (sys.executable, "-m", "clew", *arguments, "--root", str(root))
        return Command(argv, throwaway_env(self.home), ok=(0, 3))

    def peer(self, name: str, work: Work, job: Job) -> Command | PeerMissingError:
        try:
            return peers.PEERS[name].works[work](peers.find(name), job)
        except PeerMissingError as problem:
            return problem

    def interleave(
        self,
        work: str,
        programs: dict[str, Command | PeerMissingError],
        *,
        repeat: int,
        keep: tuple[str, ...] = (),
    ) -> dict[str, Cost]:
        """Run all programs in turn, several times over; one that fails is not tried again."""
        costs: dict[str, list[Cost]] = {name: [] for name in programs}
        errors = {
            name: str(command) for name, command in programs.items() if isinstance(command, PeerMissingError)
        }
        for _ in range(repeat):
            for name, command in programs.items():
                if name in errors or isinstance(command, PeerMissingError):
                    continue
                run = measure(command, keep_output=name in keep)
                if run.error is not None:
                    errors[name] = run.error
                    continue
                costs[name].append(run.cost)
                if name in keep:
                    self.outputs[work, name] = run.output
        done = {name: middle(found) for name, found in costs.items() if found and name not in errors}
        self.lines += [Line(work, name, done.get(name), errors.get(name)) for name in programs]
        return done

    def error(self, work: str, program: str) -> str | None:
        return next((line.error for line in self.lines if (line.work, line.program) == (work, program)), None)

    def ratio(self, target: str, work: str, figure: str, *, of: str, to: str, limit: float | None) -> None:
        """Add the row for one program's wall or CPU time as a multiple of another's."""
        costs = {line.program: line.cost for line in self.lines if line.work == work}
        mine, other = costs.get(of), costs.get(to)
        what = f"{of}: {'CPU' if figure == 'cpu' else 'wall'} ÷ {to}"
        if mine is None or other is None:
            error = self.error(work, of) if mine is None else f"{to}: {self.error(work, to)}"
            self.rows.append(Row(target, what, None, limit, "×", error=error, peerless=mine is not None))
            return
        a, b = (mine.cpu, other.cpu) if figure == "cpu" else (mine.wall, other.wall)
        self.rows.append(Row(target, what, a / b, limit, "×", f"{a:.3f} s ÷ {b:.3f} s"))

    # -- the targets --------------------------------------------------------------------------------

    def usage(self, *, law: bool, speed: bool) -> None:
        """P2 and the plain part of P4, from the same runs."""
        corpus = corpora.corpus(Recipe(self.size, self.seed))
        word = next(
            n["word"] for n in corpus.truth["needles"] if n["word"].isascii() and n["field"] == "tool_result"
        )
        job = Job(corpus.root, self.home, word)
        command = self.clew(
            corpus.root, "usage", "--by", "day", "--json", "--no-index", "--jobs", "1", "--tz", "UTC"
        )
        work, of = f"{self.size / 1e6:,.0f} MB", "clew usage, 1 process"
        programs: dict[str, Command | PeerMissingError] = {of: command}
        if speed:
            programs = {
                "cat": self.peer("cat", "read", job),
                "ripgrep, one word": self.peer("ripgrep", "literal", job),
                "ccusage": self.peer("ccusage", "usage", job),
                "ccusage, 1 thread": self.peer("ccusage", "usage-one-thread", job),
            } | programs
            if isinstance(warm := programs["cat"], Command):
                measure(warm)
        self.interleave(
            work,
            programs,
            repeat=self.repeat if speed else 1,
            keep=(of, "ccusage, 1 thread"),
        )
        if speed:
            self.ratio("P2", work, "cpu", of=of, to="ccusage, 1 thread", limit=0.65)
            self.ratio("P2", work, "cpu", of=of, to="cat", limit=3.5)
            self.ratio("ripgrep", work, "wall", of=of, to="ripgrep, one word", limit=None)
            self.ratio("ripgrep", work, "wall", of="cat", to="ripgrep, one word", limit=None)
            self._peer_totals(work, corpus)
        if law:
            self._law(corpus, self.outputs.get((work, of)), self.error(work, of))

    def variants(self) -> None:
        """The rest of P4: other spellings of the same entries, by day and by model."""
        size = min(self.size, VARIANT_SIZE)
        recipes = (
            Recipe(size, self.seed),
            Recipe(size, self.seed, shuffled_keys=True),
            Recipe(size, self.seed, spaced=True),
            Recipe(size, self.seed, shuffled_keys=True, spaced=True, request_ids=False),
        )
        for recipe in recipes:
            corpus = corpora.corpus(recipe)
            for by in ("day", "model"):
                command = self.clew(corpus.root, "usage", "--by", by, "--json", "--no-index", "--tz", "UTC")
                run = measure(command, keep_output=True)
                self._law(corpus, run.output, run.error, by=by)

    def _law(
        self, corpus: corpora.Corpus, output: bytes | None, error: str | None, *, by: str = "day"
    ) -> None:
        what = f"{corpus.truth['bytes'] / 1e6:,.0f} MB, {corpus.name}: wrong sums by {by}"
        if error is not None or output is None:
            self.rows.append(Row("P4", what, None, 0, "wrong", error=error or "not run"))
            return
        wrong = differences(json.loads(output), corpus.truth, by)
        self.rows.append(Row("P4", what, len(wrong), 0, "wrong", "; ".join(wrong[:3])))

    def _peer_totals(self, work: str, corpus: corpora.Corpus) -> None:
        """How far the peer's sum of output tokens is from the truth: what its time was spent on."""
        output = self.outputs.get((work, "ccusage, 1 thread"))
        if output:
            counted = json.loads(output)["totals"]["outputTokens"]
            true = corpus.truth["total"]["tokens"]["output"]
            detail = f"{counted:,} of {true:,}"
            self.rows.append(Row("peer", "ccusage: output tokens ÷ truth", counted / true, None, "×", detail))

    def memory(self) -> None:
        """P12: peak memory of every reading command on one large session, and past one giant line."""
        for kind in ("mixed", "progress"):
            self._memory_of(corpora.giant(self.session_size, kind), limit=200, also=True)
        self._memory_of(corpora.giant(GIANT_LINE, "giant-line"), limit=100, also=False)

    def _memory_of(self, giant: corpora.Giant, *, limit: int, also: bool) -> None:
        session = str(giant.path)
        commands = {
            "usage": ("usage", "--by", "day", "--json", "--no-index", "--jobs", "1"),
            "stats": ("stats", session, "--json"),
            "ls --full": ("ls", "--json", "--full"),
            "check": ("check", session, "--json"),
            "tree": ("tree", session),
            "find": ("find", giant.last_uuid),
            "show": ("show", session),
            "context": ("context", session),
        }
        for name, arguments in commands.items():
            # These two print the giant line, so they have to hold it.
            bound = limit if also or name not in ("show", "context") else None
            costs = self.interleave(giant.name, {f"clew {name}": self.clew(giant.root, *arguments)}, repeat=1)
            cost = costs.get(f"clew {name}")
            what, error = f"clew {name}, {giant.name}: peak memory", self.error(giant.name, f"clew {name}")
            detail = f"{cost.wall:.1f} s" if cost else ""
            self.rows.append(Row("P12", what, cost.rss if cost else None, bound, "MB", detail, error))

    def start(self) -> None:
        """The `--help` half of P11."""
        job = Job(self.home, self.home)
        help_ = Command((sys.executable, "-m", "clew", "--help"), throwaway_env(self.home))
        programs = {"python -c pass": self.peer("python", "start", job), "clew --help": help_}
        for command in programs.values():
            if isinstance(command, Command):
                measure(command)
        self.interleave("start", programs, repeat=max(15, self.repeat))
        self.ratio("P11", "start", "wall", of="clew --help", to="python -c pass", limit=5)


def differences(answer: dict[str, Any], truth: dict[str, Any], by: str) -> list[str]:
    """Every sum in which a `clew usage --json` document and the truth disagree, in words."""
    wrong: list[str] = []

    def compare(name: str, got: dict[str, Any], true: dict[str, Any]) -> None:
        sums = {"messages": got["messages"]} | got["tokens"]
        wrong.extend(
            f"{name} {kind}: {sums.get(kind, 0):,} instead of {count:,}"
            for kind, count in ({"messages": true["messages"]} | true["tokens"]).items()
            if sums.get(kind, 0) != count
        )

    nothing: dict[str, Any] = {"messages": 0, "tokens": dict.fromkeys(truth["total"]["tokens"], 0)}
    rows: dict[str, Any] = {row["key"]: row for row in answer["rows"]}
    groups: dict[str, Any] = truth[f"by_{by}"]
    compare("total", answer["total"], truth["total"])
    for key in sorted(groups.keys() | rows.keys()):
        compare(key, rows.get(key, nothing), groups.get(key, nothing))
    return wrong


def run(*, size: int, session_size: int, seed: int, repeat: int, only: tuple[str, ...]) -> Report:
    """Measure the chosen targets."""
    with tempfile.TemporaryDirectory(prefix="clew-bench-") as home:
        runner = Runner(size=size, session_size=session_size, seed=seed, repeat=repeat, home=Path(home))
        if "P11" in only:
            runner.start()
        if "P2" in only or "P4" in only:
            runner.usage(law="P4" in only, speed="P2" in only)
        if "P4" in only:
            runner.variants()
        if "P12" in only:
            runner.memory()
        version = platform.python_version()
        machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {version}"
        sizes = f"{size / 1e6:,.0f} MB, one session of {session_size / 1e6:,.0f} MB"
        return Report(machine, f"{sizes}, seed {seed}; middle of {repeat}", runner.lines, runner.rows)


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
