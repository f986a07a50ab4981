"""Token totals: P1 and P2 without an index, P3 with one, and P4, that they are true."""

from __future__ import annotations

import copy
import json
import os
from typing import TYPE_CHECKING, Any

from bench import corpora
from bench.generate import Recipe, parse_size
from bench.measure import Command, measure, middle
from bench.peers import Job
from bench.report import Line, Row
from bench.runner import megabytes

if TYPE_CHECKING:
    from pathlib import Path

    from bench.corpora import Corpus
    from bench.runner import Program, Runner

VARIANT_SIZE = parse_size("200MB")
APPENDS = 11
"""Runs with nothing new and with one new line: each takes tenths of a second, and three would be noise."""

ONE, TWO, WARM = "clew usage, 1 process", "clew usage, no index", "clew usage, warm index"
DAYS = ("usage", "--by", "day", "--json", "--tz", "UTC")


def totals(runner: Runner, corpus: Corpus, only: frozenset[str]) -> None:
    """P1, P2, P3 and the plain part of P4, from the same runs."""
    work, root = megabytes(runner.size), corpus.root
    word = next(
        n["word"] for n in corpus.truth["needles"] if n["word"].isascii() and n["field"] == "tool_result"
    )
    job = Job(root, runner.home, word)
    programs: dict[str, Program] = {}
    if only & {"P1", "P2", "P3"}:
        programs |= {"cat": runner.peer("cat", "read", job), "ccusage": runner.peer("ccusage", "usage", job)}
    if "P2" in only:
        programs["ccusage, 1 thread"] = runner.peer("ccusage", "usage-one-thread", job)
    if only & {"P2", "P4"}:
        programs[ONE] = runner.clew(root, *DAYS, "--no-index", "--jobs", "1")
    if "P1" in only:
        programs[TWO] = runner.clew(root, *DAYS, "--no-index")
    if only & {"P3", "P4"}:
        programs[WARM] = runner.clew(root, *DAYS, home=runner.indexed(corpus))
    for name in ("cat", WARM):
        if isinstance(command := programs.get(name), Command):
            measure(command)  # the page cache is warm, and so is the index
    repeat = runner.repeat if only & {"P1", "P2", "P3"} else 1
    runner.interleave(work, programs, repeat=repeat, keep=("ccusage", ONE, TWO, WARM))
    if "P1" in only:
        runner.ratio("P1", work, "wall", of=TWO, to="ccusage", limit=0.65)
    if "P2" in only:
        runner.ratio("P2", work, "cpu", of=ONE, to="ccusage, 1 thread", limit=0.65)
        runner.ratio("P2", work, "cpu", of=ONE, to="cat", limit=3.5)
    if "P3" in only:
        runner.ratio("P3", work, "wall", of=WARM, to="ccusage", limit=0.10)
    if "P4" in only:
        for name, how in ((ONE, "plain, 1 process"), (WARM, "plain, from the index")):
            said = runner.outputs.get((work, name))
            law(runner, corpus, said[-1] if said else None, runner.error(work, name), how)
    if said := runner.outputs.get((work, "ccusage")):
        peer_total(runner, corpus, "ccusage", json.loads(said[-1])["totals"])


def appended(runner: Runner, corpus: Corpus) -> None:
    """P3 after one new line, in an ordinary session and in the largest one; every line has to be counted."""
    for name, path in (("an ordinary session", corpus.ordinary), ("the largest session", corpus.largest)):
        size = path.stat().st_size
        _append(runner, corpus, path, f"{name} of {size / 1e6:,.1f} MB")


def _append(runner: Runner, corpus: Corpus, path: Path, name: str) -> None:
    command = runner.clew(corpus.root, *DAYS, home=runner.indexed(corpus))
    work = f"{megabytes(runner.size)}, {name}"
    still, grown = "clew usage, nothing new", f"clew usage, one new line in {name}"
    before, truth = path.stat(), copy.deepcopy(corpus.truth)
    measure(command)
    found: dict[str, list[Any]] = {still: [], grown: []}
    output, error = b"", None
    try:
        for number in range(runner.often(APPENDS)):
            found[still].append(measure(command).cost)
            new_answer(path, number, truth)
            run = measure(command, keep_output=True)
            found[grown].append(run.cost)
            output, error = run.output, run.error or error
    finally:
        os.truncate(path, before.st_size)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        # What comes next finds the index as it was. More than a little that is new only a search takes in.
        measure(runner.clew(corpus.root, "search", "nothing-like-this", home=runner.indexed(corpus)))
    runner.lines += [Line(work, name, middle(costs), error) for name, costs in found.items()]
    runner.ratio("P3", work, "wall", of=grown, to=still, limit=1.3)
    lines = f"plain, after {len(found[grown])} new lines in {name}"
    law(runner, corpora.Corpus(corpus.name, corpus.root, truth), output, error, lines)


def new_answer(path: Path, number: int, truth: dict[str, Any]) -> None:
    """Append an answer to a session, and its usage to the truth."""
    with path.open("rb") as data:
        data.seek(-min(1_000_000, path.stat().st_size), os.SEEK_END)
        tail = data.read()
    last: dict[str, Any] = json.loads(tail[tail.rindex(b"\n", 0, -1) + 1 :]) if tail.count(b"\n") > 1 else {}
    day = max(truth["by_day"])
    usage = {"input_tokens": 3, "output_tokens": 7, "cache_read_input_tokens": 11}
    entry = {
        "parentUuid": last.get("uuid"),
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/dev/src/clew",
        "sessionId": path.stem,
        "version": "2.1.325",
        "type": "assistant",
        "requestId": f"req_new{path.stem}{number}",
        "message": {
            "id": f"msg_new{path.stem}{number}",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5-20250929",
            "content": [{"type": "text", "text": f"One more answer, number {number}."}],
            "stop_reason": "end_turn",
            "usage": usage | {"cache_creation_input_tokens": 0},
        },
        "uuid": f"c1e70000-0000-4000-a000-{number:012x}",
        "timestamp": f"{day}T12:00:00.000Z",
    }
    with path.open("ab") as data:
        data.write(json.dumps(entry, separators=(",", ":")).encode() + b"\n")
    for tally in (truth["total"], truth["by_day"][day]):
        tally["messages"] += 1
        for kind, name in (("input", "input"), ("output", "output"), ("cache_read", "cache_read_input")):
            tally["tokens"][kind] += usage[f"{name}_tokens"]


def variants(runner: Runner) -> None:
    """The rest of P4: other spellings of the same entries, by day and by model."""
    size = min(runner.size, VARIANT_SIZE)
    recipes = (
        Recipe(size, runner.seed),
        Recipe(size, runner.seed, shuffled_keys=True),
        Recipe(size, runner.seed, spaced=True),
        Recipe(size, runner.seed, shuffled_keys=True, spaced=True, request_ids=False),
    )
    for recipe in recipes:
        corpus = corpora.corpus(recipe)
        for by in ("day", "model"):
            run = measure(
                runner.clew(corpus.root, "usage", "--by", by, "--json", "--no-index", "--tz", "UTC"),
                keep_output=True,
            )
            law(runner, corpus, run.output, run.error, corpus.name, by=by)


def law(
    runner: Runner, corpus: Corpus, output: bytes | None, error: str | None, how: str, *, by: str = "day"
) -> None:
    """Add the row that says in how many sums an answer and the truth differ."""
    what = f"{megabytes(corpus.truth['bytes'])}, {how}: wrong sums by {by}"
    if error is not None or not output:
        runner.rows.append(Row("P4", what, None, 0, "wrong", error=error or "not run"))
        return
    wrong = differences(json.loads(output), corpus.truth, by)
    runner.rows.append(Row("P4", what, len(wrong), 0, "wrong", "; ".join(wrong[:3])))


def peer_total(runner: Runner, corpus: Corpus, name: str, said: dict[str, Any]) -> None:
    """How far a peer's sums are from the truth: what its time was spent on."""
    true = corpus.truth["total"]["tokens"]
    pairs = {
        "output": (said["outputTokens"], true["output"]),
        "input and cache": (
            said["inputTokens"] + said["cacheCreationTokens"] + said["cacheReadTokens"],
            true["input"] + true["cache_read"] + true["cache_write_5m"] + true["cache_write_1h"],
        ),
    }
    for kind, (counted, right) in pairs.items():
        detail = f"{counted:,} of {right:,}"
        runner.rows.append(Row("peer", f"{name}: {kind} tokens ÷ truth", counted / right, None, "×", detail))


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
