"""The lake (L1-L4): what a build costs beside `clew usage`, on two cores, and when little changed."""

from __future__ import annotations

import json
import os
import shutil
from datetime import datetime
from typing import TYPE_CHECKING

from bench import corpora
from bench.generate import Recipe, parse_size
from bench.measure import Command, measure
from bench.report import Row
from bench.runner import megabytes

if TYPE_CHECKING:
    from pathlib import Path

    from bench.corpora import Corpus
    from bench.runner import Runner

LARGEST = parse_size("200MB")
"""How much of a corpus is enough: what is measured is work for each byte."""

MANY = parse_size("800MB")
"""Some thousand sessions: what a build costs that has nothing to do is to be little beside them."""

ONE, TWO, PLAIN = "clew lake build, 1 process", "clew lake build, 2 processes", "clew lake build --no-redact"
USAGE = "clew usage --no-index, 1 process"
_TIME = b'"timestamp":"'


def building(runner: Runner) -> None:
    """L1: a lake from nothing, beside the quickest way there is to read the same files; L2: by two."""
    corpus = _corpus(runner, min(runner.size, LARGEST))
    work = f"{megabytes(corpus.truth['bytes'])}, lake"
    lake = runner.home / "lake"
    runner.interleave(
        work,
        {
            USAGE: runner.clew(corpus.root, "usage", "--no-index", "--jobs", "1", "--json"),
            ONE: _build(runner, corpus.root, lake, "--jobs", "1"),
            TWO: _build(runner, corpus.root, lake, "--jobs", "2"),
            PLAIN: _build(runner, corpus.root, lake, "--jobs", "1", "--no-redact"),
        },
        repeat=runner.repeat,
    )
    # A throughput of 0.15 times is a cost of 6.67 times.
    runner.ratio("L1", work, "cpu", of=ONE, to=USAGE, limit=1 / 0.15)
    runner.ratio("L1", work, "cpu", of=PLAIN, to=USAGE, limit=None)
    # Beside the limit: of so few sessions, whose files are all of one age, more is start and small files.
    runner.ratio("L2", work, "wall", of=TWO, to=ONE, limit=None)
    _by_two(runner)


def _by_two(runner: Runner) -> None:
    """L2: on some thousand sessions, as what a second process takes to start is little beside them."""
    home = runner.home / "lake-by-two"
    small = _corpus(runner, min(runner.size, MANY) // 4)
    _copied(small, home / "source", 4)
    work = f"{megabytes(4 * small.truth['bytes'])}, lake"
    runner.interleave(
        work,
        {
            name: _build(runner, home / "source", home / "lake", "--jobs", jobs)
            for name, jobs in ((ONE, "1"), (TWO, "2"))
        },
        repeat=runner.repeat,
    )
    runner.ratio("L2", work, "wall", of=TWO, to=ONE, limit=1 / 1.7)
    shutil.rmtree(home, ignore_errors=True)


def growing(runner: Runner) -> None:
    """L3, L4: one session in a hundred changed; four times the sessions."""
    home = runner.home / "lake-growing"
    small = _corpus(runner, min(runner.size, MANY) // 4)
    costs: dict[int, float] = {}
    for copies in (1, 4):
        source = home / f"source{copies}"
        files = _copied(small, source, copies)
        lake = home / f"lake{copies}"
        whole = measure(_build(runner, source, lake, "--jobs", "1"), keep_output=True)
        if whole.error is not None:
            runner.rows.append(Row("L4", "four times the sessions", None, 4.4, "×", error=whole.error))
            return
        costs[copies] = whole.cost.cpu
        if copies == 1:
            continue
        # Of every size, as they are: from the middle of each hundred.
        for path in sorted(files, key=lambda path: path.stat().st_size)[min(50, len(files) // 2) :: 100]:
            with path.open("ab") as file:
                file.write(b'{"type":"summary","summary":"One more line."}\n')
        command = _build(runner, source, lake, "--jobs", "1")
        again = measure(Command(command.argv, command.env, ok=command.ok), keep_output=True)
        built = 0 if again.error else json.loads(again.output)["built"]
        detail = f"{again.cost.cpu:.2f} s ÷ {whole.cost.cpu:.2f} s for {built} of {len(files)} sessions"
        figure = None if again.error else again.cost.cpu / whole.cost.cpu * 100
        what = "a hundredth of the sessions changed: CPU of a full build"
        runner.rows.append(Row("L3", what, figure, 5, "%", detail, again.error))
    detail = f"{costs[4]:.2f} s ÷ {costs[1]:.2f} s"
    runner.rows.append(Row("L4", "four times the sessions: CPU", costs[4] / costs[1], 4.4, "×", detail))
    shutil.rmtree(home, ignore_errors=True)


def _corpus(runner: Runner, size: int) -> Corpus:
    return corpora.corpus(Recipe(size, runner.seed))


def _build(runner: Runner, source: Path, lake: Path, *options: str) -> Command:
    """A build into a folder that is emptied first."""
    made = runner.clew(source, "lake", "build", str(source), str(lake), *options, "--json")
    at = made.argv.index("--root")
    return Command((*made.argv[:at], *made.argv[at + 2 :]), made.env, ok=made.ok, fresh=lake)


def _copied(corpus: Corpus, source: Path, copies: int) -> list[Path]:
    """Make developers of a corpus, each with messages of their own; return their session files."""
    found: list[Path] = []
    for number in range(copies):
        root = source / f"dev{number}"
        for path in sorted((corpus.root / "projects").rglob("*")):
            if not path.is_file():
                continue
            target = root / path.relative_to(corpus.root)
            target.parent.mkdir(parents=True, exist_ok=True)
            # Other ids of messages: what developers have in common is nothing.
            data = path.read_bytes().replace(b'"id":"msg_', f'"id":"msg_{number}'.encode())
            target.write_bytes(data)
            os.utime(target, (written := _last_time(data), written))
            if path.parent.parent.name == "projects" and not path.name.startswith("agent-"):
                found.append(target)
    return found


def _last_time(data: bytes) -> float:
    """Return when a session was written last, which is when a client's files were changed last."""
    told = data[data.rfind(_TIME) + len(_TIME) :].partition(b'"')[0] if _TIME in data else b""
    return datetime.fromisoformat(told.decode()).timestamp() if told else 0.0
