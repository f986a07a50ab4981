"""Lists of sessions (P5), and how soon a command answers at all (P11)."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bench.measure import Command, measure, throwaway_env
from bench.peers import Job
from bench.report import Row
from bench.runner import megabytes

if TYPE_CHECKING:
    from bench.corpora import Corpus
    from bench.runner import Program, Runner

STARTS = 15
"""Runs of what takes hundredths of a second."""

SDK, QUICK, WARM = "SDK list_sessions", "clew ls, no index", "clew ls, warm index"


def lists(runner: Runner, corpus: Corpus) -> None:
    """P5: all sessions as JSON, whole process against whole process."""
    work, root = f"{megabytes(runner.size)}, all sessions", corpus.root
    programs: dict[str, Program] = {
        SDK: runner.peer("sdk", "list", Job(root, runner.home)),
        QUICK: runner.clew(root, "ls", "--all", "--json", "--no-index"),
        WARM: runner.clew(root, "ls", "--all", "--json", home=runner.indexed(corpus)),
    }
    for command in programs.values():
        if isinstance(command, Command):
            measure(command)
    runner.interleave(work, programs, repeat=runner.often(5), keep=tuple(programs))
    runner.ratio("P5", work, "wall", of=QUICK, to=SDK, limit=0.25)
    runner.ratio("P5", work, "wall", of=WARM, to=SDK, limit=0.10)
    # Much of the SDK's time is its import: beside its call alone clew's whole process looks like this.
    runner.ratio("P5", work, "wall", of=QUICK, to=SDK, limit=None, to_figure="inside")
    runner.ratio("P5", work, "wall", of=WARM, to=SDK, limit=None, to_figure="inside")
    for name in (QUICK, WARM):
        _complete(runner, corpus, work, name)


def _complete(runner: Runner, corpus: Corpus, work: str, name: str) -> None:
    """Add the row that says how many sessions a list lacks."""
    said = runner.outputs.get((work, name))
    what = f"{name}: sessions missing"
    if not said:
        runner.rows.append(Row("P5", what, None, 0, "missing", error=runner.error(work, name) or "not run"))
        return
    listed = {row["path"] for row in json.loads(said[-1])}
    missing = [path for path in corpus.sessions if str(path) not in listed]
    detail = f"{len(listed):,} listed"
    if sdk := runner.outputs.get((work, SDK)):
        detail += f", {json.loads(sdk[-1])['count']:,} by the SDK"
    runner.rows.append(Row("P5", what, len(missing), 0, "missing", detail))


def start(runner: Runner, corpus: Corpus) -> None:
    """P11: how soon help is there, and the newest sessions out of everything."""
    # The program as it is installed, and what a person types.
    program = str(Path(sys.executable).with_name("clew"))
    help_ = Command((program, "--help"), throwaway_env(runner.home))
    home = runner.indexed(corpus)
    newest = Command(
        (program, "ls", "--root", str(corpus.root)), throwaway_env(home), ok=(0, 3), on_terminal=True
    )
    warm = f"clew ls, warm index, {megabytes(runner.size)}"
    piped = f"{warm}, all rows to a file"
    programs: dict[str, Program] = {
        "python -c pass": runner.peer("python", "start", Job(runner.home, runner.home)),
        "clew --help": help_,
        warm: newest,
        piped: runner.clew(corpus.root, "ls", home=home),
    }
    for command in programs.values():
        if isinstance(command, Command):
            measure(command)
    runner.interleave("start", programs, repeat=runner.often(STARTS))
    runner.ratio("P11", "start", "wall", of="clew --help", to="python -c pass", limit=5)
    runner.ratio("P11", "start", "wall", of=warm, to="python -c pass", limit=9)
    runner.ratio("P11", "start", "wall", of=piped, to="python -c pass", limit=None)
