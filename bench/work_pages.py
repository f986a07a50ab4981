"""Pages of sessions (P10): one large session as a page, and a folder of many, beside the nearest peer.

The peer takes no secrets out. clew does so by default, and that is what counts; what the page alone takes is
told beside it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bench import corpora
from bench.generate import Recipe, parse_size
from bench.peers import Job
from bench.report import Row
from bench.runner import megabytes

if TYPE_CHECKING:
    from pathlib import Path

    from bench.measure import Command
    from bench.runner import Program, Runner

SESSION = parse_size("40MB")
FOLDER = parse_size("200MB")
PEER, CLEW, UNREDACTED = "claude-code-transcripts", "clew export --to html", "clew export --no-redact"
SHARE, MEMORY = 0.4, 150


def pages(runner: Runner) -> None:
    """P10: one session, then many."""
    giant = corpora.giant(min(SESSION, runner.session_size), "mixed")
    work = f"the page of a session of {megabytes(giant.path.stat().st_size)}"
    job = Job(giant.root, runner.home, session=str(giant.path))
    page = runner.home / "page" / "page.html"
    programs: dict[str, Program] = {
        PEER: runner.peer("transcripts", "page of one", job),
        CLEW: _clew(runner, giant.root, page, str(giant.path)),
        UNREDACTED: _clew(runner, giant.root, page, str(giant.path), "--no-redact"),
    }
    runner.interleave(work, programs, repeat=runner.repeat)
    _judge(runner, work)

    corpus = corpora.corpus(Recipe(min(FOLDER, runner.size), runner.seed))
    work = f"pages of {megabytes(sum(path.stat().st_size for path in corpus.sessions))} of sessions"
    site = runner.home / "pages" / "site"
    programs = {
        PEER: runner.peer("transcripts", "pages of all", Job(corpus.root, runner.home)),
        CLEW: _clew(runner, corpus.root, site, "--all"),
    }
    runner.interleave(work, programs, repeat=runner.repeat)
    _judge(runner, work)
    made = len(list(site.glob("*.html"))) - 1
    missing = len(corpus.sessions) - made
    runner.rows.append(
        Row("P10", "sessions missing from the folder", max(0, missing), 0, "", f"{made:,} pages")
    )


def _clew(runner: Runner, root: Path, output: Path, *arguments: str) -> Command:
    """Write into a folder that is new each time: a second run would find its work done."""
    command = runner.clew(root, "export", *arguments, "--to", "html", "-o", str(output), "-q")
    return replace(command, fresh=output.parent)


def _judge(runner: Runner, work: str) -> None:
    runner.ratio("P10", work, "wall", of=CLEW, to=PEER, limit=SHARE)
    if runner.cost(work, UNREDACTED) is not None:
        runner.ratio("P10", work, "wall", of=UNREDACTED, to=PEER, limit=None)
    cost, error = runner.cost(work, CLEW), runner.error(work, CLEW)
    runner.rows.append(Row("P10", f"{work}: peak memory", cost and cost.rss, MEMORY, "MB", error=error))
