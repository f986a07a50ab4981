"""Search: a literal in the files (P6), the index of the text (P7), and questions to it (P8)."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench import corpora
from bench.generate import Recipe
from bench.measure import Command, measure, throwaway_env
from bench.peers import Job, folder_size
from bench.prose import CJK_WORDS, WORDS
from bench.report import Row
from bench.runner import megabytes
from bench.work_usage import peer_total

if TYPE_CHECKING:
    from bench.corpora import Corpus
    from bench.runner import Program, Runner

BUILD, TENTH = "clew index rebuild", "clew index rebuild, a tenth"
PEERS = {"aichat": "aichat build-index", "agentsview": "agentsview sync"}


def literal(runner: Runner, corpus: Corpus) -> None:
    """P6: one planted word, in Latin letters and in CJK, each line with it found."""
    for script, is_ascii in (("Latin", True), ("CJK", False)):
        needle = next(
            one
            for one in corpus.truth["needles"]
            if one["word"].isascii() == is_ascii and one["field"] == "tool_result"
        )
        word, work = needle["word"], f"{megabytes(runner.size)}, a {script} word"
        clew = f"clew search --literal, {script} word"
        programs: dict[str, Program] = {
            "ripgrep": runner.peer("ripgrep", "literal", Job(corpus.root, runner.home, word)),
            clew: runner.clew(corpus.root, "search", "--literal", word, "--no-index", "--json"),
        }
        for command in programs.values():
            if isinstance(command, Command):
                measure(command)
        runner.interleave(work, programs, repeat=runner.often(5), keep=(clew,))
        said = runner.outputs.get((work, clew))
        if said and (wrong := misplaced(json.loads(said[-1])["hits"], needle, corpus.root)):
            runner.fail(work, clew, wrong)
        runner.ratio("P6", work, "wall", of=clew, to="ripgrep", limit=3)


def build(runner: Runner, corpus: Corpus, only: frozenset[str]) -> None:
    """P7: the index of everything, from nothing; and its growth for P13."""
    work, home = f"{megabytes(runner.size)}, index", runner.index_home(corpus)
    programs: dict[str, Program] = {
        BUILD: runner.clew(corpus.root, "index", "rebuild", home=home, fresh=True)
    }
    jobs = {name: Job(corpus.root, runner.home / name) for name in PEERS}
    if "P7" in only:
        programs |= {program: runner.peer(name, "build", jobs[name]) for name, program in PEERS.items()}
    tenth = corpora.corpus(Recipe(runner.size // 10, runner.seed)) if "P13" in only else None
    if tenth is not None:
        small = runner.index_home(tenth)
        programs[TENTH] = runner.clew(tenth.root, "index", "rebuild", home=small, fresh=True)
    # Minutes of work, whose ratio is far from its limit, are not repeated.
    runner.interleave(work, programs, repeat=runner.repeat, once=(PEERS["agentsview"],))
    if "P7" in only:
        for name, program in PEERS.items():
            _held(runner, corpus, work, name, jobs[name])
            runner.ratio("P7", work, "wall", of=BUILD, to=program, limit=0.65 if name == "aichat" else 0.12)
        size, source = folder_size(home / "cache"), corpus.truth["bytes"]
        error = runner.error(work, BUILD)
        detail = f"{megabytes(size)} of {megabytes(source)}"
        runner.rows.append(
            Row(
                "P7",
                "the index, tables included: share of the source",
                size / source * 100,
                12,
                "%",
                detail,
                error,
            )
        )
        if runner.cost(work, PEERS["agentsview"]) is not None:
            _agentsview_total(runner, corpus, jobs["agentsview"])
    if tenth is not None:
        ratio = corpus.truth["bytes"] / tenth.truth["bytes"]
        runner.growth(work, "wall", big=BUILD, small=TENTH, bytes_ratio=ratio)


def _held(runner: Runner, corpus: Corpus, work: str, name: str, job: Job) -> None:
    """Add rows for what a peer's index holds; one that holds nothing has not done the work."""
    if runner.cost(work, PEERS[name]) is None:
        return
    held = runner.holding(name, job, corpus.words)
    if held is None or held.documents == 0:
        runner.fail(work, PEERS[name], "it indexed nothing")
        return
    share, detail = held.size / corpus.truth["bytes"] * 100, f"{held.documents:,} {held.unit}"
    runner.rows.append(Row("peer", f"{name}: index, share of the source", share, None, "%", detail))
    if held.needles is not None:
        lost = len(corpus.words) - held.needles
        detail = f"{held.needles:,} of {len(corpus.words):,} found"
        runner.rows.append(Row("peer", f"{name}: planted words not found", lost, None, "lost", detail))


def _agentsview_total(runner: Runner, corpus: Corpus, job: Job) -> None:
    command = runner.peer("agentsview", "usage-built", job)
    if isinstance(command, Command):
        run = measure(command, keep_output=True)
        if run.error is None:
            peer_total(runner, corpus, "agentsview", json.loads(run.output)["totals"])


def queries(runner: Runner, corpus: Corpus) -> None:
    """P8: every planted word and many common ones, the newest twenty of each, inside one process."""
    home = runner.indexed(corpus)
    asked = home / "queries.json"
    words = corpus.words + WORDS + CJK_WORDS
    asked.write_text(json.dumps(words), encoding="utf-8")
    work = f"{megabytes(runner.size)}, {len(words)} words"
    whole, alone = "clew search, each looking for new lines", "clew search, index open"
    programs: dict[str, Program] = {
        whole: inside(home, "searches", str(corpus.root), str(asked)),
        alone: inside(home, "questions", str(corpus.root), str(asked)),
    }
    runner.interleave(work, programs, repeat=runner.repeat, keep=tuple(programs), once=(whole,))
    for name, limit in ((alone, 15.0), (whole, None)):
        said: list[dict[str, Any]] = [json.loads(one) for one in runner.outputs.get((work, name), [])]
        error = runner.error(work, name)
        for kind, among in (("all", words), ("planted", corpus.words), ("common", WORDS + CJK_WORDS)):
            what = f"{name}: p95 of {len(among)} {kind} words"
            wanted = set(among)
            times = [sorted(a["seconds"] for a in one["answers"] if a["word"] in wanted) for one in said]
            runner.rows.append(_p95(what, times, limit if kind == "all" else None, error))
        lost = [text for one in said[-1:] for text in _lost(one["answers"], corpus)]
        what = f"{name}: planted words not found where they are"
        figure = len(lost) if said else None
        runner.rows.append(Row("P8", what, figure, 0, "lost", "; ".join(lost[:3]), error))


def _p95(what: str, runs: list[list[float]], limit: float | None, error: str | None) -> Row:
    if not runs:
        return Row("P8", what, None, limit, "ms", error=error or "not run")
    at = sorted(times[int(len(times) * 0.95)] for times in runs)[len(runs) // 2]
    half = sorted(times[len(times) // 2] for times in runs)[len(runs) // 2]
    worst = max(times[-1] for times in runs)
    detail = f"half of them within {half * 1000:.1f} ms, the slowest {worst * 1000:.0f} ms"
    return Row("P8", what, at * 1000, limit, "ms", detail)


def _lost(answers: list[dict[str, Any]], corpus: Corpus) -> list[str]:
    needles = {needle["word"]: needle for needle in corpus.truth["needles"]}
    found = {answer["word"]: answer["hits"] for answer in answers}
    judged = ((word, misplaced(found.get(word, []), needle, corpus.root)) for word, needle in needles.items())
    return [f"{word}: {wrong}" for word, wrong in judged if wrong]


def misplaced(hits: list[dict[str, Any]], needle: dict[str, Any], root: Path) -> str:
    """What is wrong with the hits for a planted word: lines missing, lines too many, a snippet without it."""
    true = {(str(root / place["file"]), place["line"]) for place in needle["places"]}
    got = {(hit["path"], hit["line"]) for hit in hits}
    if missing := len(true - got):
        return f"{missing} of {len(true)} lines missing"
    if more := len(got - true):
        return f"{more} lines too many"
    if any(needle["word"].casefold() not in hit["snippet"].casefold() for hit in hits):
        return "a snippet without it"
    return ""


def inside(home: Path, figure: str, *arguments: str) -> Command:
    """A child that times one figure within its own process."""
    script = str(Path(__file__).with_name("inside.py"))
    return Command((sys.executable, "-P", script, figure, *arguments), throwaway_env(home))
