"""One large session: how soon its end is on the screen (P9), and how much memory reading it takes (P12)."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

from bench import corpora
from bench.generate import parse_size
from bench.measure import Command, measure
from bench.peers import Job
from bench.report import Row
from bench.runner import megabytes
from bench.work_search import inside

if TYPE_CHECKING:
    from bench.corpora import Corpus, Giant
    from bench.generate import Kind
    from bench.runner import Program, Runner

KINDS: tuple[Kind, ...] = ("mixed", "progress")
GIANT_LINE = parse_size("200MB")
INDEXED = {
    "index rebuild": ("index", "rebuild", "--json"),
    "search": ("search", "parser", "--json"),
    "usage, warm index": ("usage", "--by", "day", "--json"),
    "sql": ("sql", "SELECT count(*) FROM turns", "--json"),
}
"""Commands that build an index or use it, in this order."""

SDK, PAGE, TABLE = "SDK get_session_messages", "clew, last page", "clew, line table"


def page(runner: Runner, corpus: Corpus) -> None:
    """P9: fifty messages, and the table of all lines, each inside its process."""
    path = corpus.largest
    work = f"a session of {megabytes(path.stat().st_size)}"
    job = Job(corpus.root, runner.home, session=path.stem)
    programs: dict[str, Program] = {
        SDK: runner.peer("sdk", "page", job),
        PAGE: inside(runner.home, "last-page", str(path)),
        TABLE: inside(runner.home, "line-table", str(path)),
    }
    for command in programs.values():
        if isinstance(command, Command):
            measure(command)
    runner.interleave(work, programs, repeat=runner.often(5), keep=tuple(programs))
    for name in (SDK, PAGE, TABLE):
        said = runner.outputs.get((work, name))
        if said and json.loads(said[-1])["count"] < 1:
            runner.fail(work, name, "it found nothing")
    runner.ratio("P9", work, "inside", of=PAGE, to=SDK, limit=0.08)
    runner.ratio("P9", work, "inside", of=TABLE, to=SDK, limit=0.2)
    for name in (PAGE, TABLE):
        cost, error = runner.cost(work, name), runner.error(work, name)
        runner.rows.append(Row("P9", f"{name}: peak memory", cost and cost.rss, 60, "MB", error=error))


def memory(runner: Runner) -> None:
    """P12: peak memory of every reading command on one large session, and past one giant line."""
    giants = [corpora.giant(runner.session_size, kind) for kind in KINDS]
    giants.append(corpora.giant(GIANT_LINE, "giant-line"))
    # Memory does not mind company, and one after the other these take ten minutes. Two at a time, each with a
    # runner of its own, so that the rows come in order.
    runners = [replace(runner, lines=[], rows=[]) for _ in giants]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(_memory_of, runners, giants))
    for own in runners:
        runner.lines += own.lines
        runner.rows += own.rows


def _memory_of(runner: Runner, giant: Giant) -> None:
    also, limit = (False, 100) if giant.name.endswith("giant-line") else (True, 200)
    session = str(giant.path)
    for name, arguments in _reading(session, giant.last_uuid).items():
        # These two print the giant line, so they have to hold it.
        bound = limit if also or name not in ("show", "context") else None
        _peak(runner, giant, name, runner.clew(giant.root, *arguments), bound)
    home = runner.home / f"index-{giant.root.name}"
    for number, (name, arguments) in enumerate(INDEXED.items()):
        command = runner.clew(giant.root, *arguments, home=home, fresh=number == 0)
        _peak(runner, giant, name, command, limit)


def _peak(runner: Runner, giant: Giant, name: str, command: Command, limit: int | None) -> None:
    program = f"clew {name}"
    cost = runner.interleave(giant.name, {program: command}, repeat=1).get(program)
    what, detail = f"{program}, {giant.name}: peak memory", f"{cost.wall:.1f} s" if cost else ""
    error = runner.error(giant.name, program)
    runner.rows.append(Row("P12", what, cost and cost.rss, limit, "MB", detail, error))


def _reading(session: str, last: str) -> dict[str, tuple[str, ...]]:
    """The commands that read files, without an index."""
    return {
        "usage": ("usage", "--by", "day", "--json", "--no-index", "--jobs", "1"),
        "stats": ("stats", session, "--json"),
        "ls --full": ("ls", "--json", "--full", "--no-index"),
        "check": ("check", session, "--json"),
        "tree": ("tree", session),
        "find": ("find", last),
        "show": ("show", session),
        "context": ("context", session),
        "search --literal": ("search", "--literal", "parser", "--json"),
    }
