"""`clew search`, `ls` and `usage` beside a client that writes 1,000 lines a second, tears, cuts and rewrites.

Commands are called again and again, as processes and through the library, over one index that all of them
bring up to date, and now and then without it. What each of them said is judged by the writer's own log
(see `live_truth`); when the writer has stopped, all must say just what the files hold.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pytest

from clew.actions import searching, usage
from clew.actions.indexed_listing import list_best
from clew.store.files import Store
from tests.acceptance.live_truth import Span, Truth
from tests.acceptance.live_writer import digest, lot_of, lot_word

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent.parent
STEMS = ("aaaaaaaa", "agent-bbbb", "cccccccc")
BUSY = "another clew is"

Kind = Literal["search", "ls", "usage"]


class Answer(NamedTuple):
    """What a call said, and when."""

    kind: Kind
    document: Any
    lots: tuple[str, ...]
    span: Span
    how: str


@dataclass
class Asking:
    """Asks again and again until told to stop."""

    folder: Path
    seed: int
    began: float = field(default_factory=time.monotonic)
    answers: list[Answer] = field(default_factory=list[Answer])
    errors: list[BaseException] = field(default_factory=list[BaseException])
    is_over: bool = False

    @property
    def root(self) -> Path:
        return self.folder / "config"

    def environ(self) -> dict[str, str]:
        given = {
            "HOME": str(self.folder),
            "CLAUDE_CONFIG_DIR": str(self.root),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            "PYTHONPATH": str(ROOT),
        }
        return {**os.environ, **given}

    def questions(self, dice: random.Random) -> Iterator[tuple[Kind, tuple[str, ...], bool]]:
        """Give what to ask next: the command, the lots to search for, whether without the index."""
        while not self.is_over:
            kinds: list[Kind] = ["search", "ls", "search", "usage"]
            for kind in kinds:
                # What was written lately, what was long ago, and more lines than are fetched at once.
                lots = self.lots(dice, dice.choice([1, 1, 3, 30])) if kind == "search" else ()
                yield kind, lots, dice.random() < 0.1
                if self.is_over:
                    return

    def lots(self, dice: random.Random, many: int) -> tuple[str, ...]:
        newest = int((time.monotonic() - self.began) * 10)
        numbers = [max(0, newest - dice.randrange(8)), *(dice.randrange(newest + 1) for _ in range(many))]
        return tuple({lot_word(dice.choice(STEMS[:1] * 4 + STEMS), number) for number in numbers})

    def by_commands(self) -> None:
        try:
            dice = random.Random(self.seed)
            for kind, lots, no_index in self.questions(dice):
                self.answers.append(self.command(kind, " OR ".join(lots), lots, no_index=no_index))
        except BaseException as error:
            self.errors.append(error)

    def command(self, kind: Kind, query: str, lots: tuple[str, ...], *, no_index: bool) -> Answer:
        words = [sys.executable, "-m", "clew", kind, "--json"]
        words += [query, "--all"] if kind == "search" else []
        words += ["--no-index"] if no_index else []
        words += ["--full"] if kind == "ls" else []
        start = time.monotonic()
        done = subprocess.run(words, env=self.environ(), capture_output=True, text=True, check=False)
        end = time.monotonic()
        # A list made by reading the files says so where one of them was cut meanwhile.
        is_cut = done.returncode == 3 and "got shorter while it was read" in done.stderr
        if done.returncode and not is_cut:
            raise AssertionError(f"{words}: {done.returncode}\n{done.stderr}{done.stdout}")
        span = Span(start, end, is_old=BUSY in done.stderr + done.stdout)
        return Answer(kind, json.loads(done.stdout), lots, span, "--no-index" if no_index else "command")

    def in_process(self, kind: Kind, query: str, lots: tuple[str, ...], *, no_index: bool) -> Answer:
        start = time.monotonic()
        document: Any
        match kind:
            case "search":
                request = searching.Request(
                    query, roots=[self.root], limit=None, width=1000, no_index=no_index
                )
                found = searching.search(request)
                document, notes = found.as_dict(), found.notes
            case "ls":
                store = Store.at([str(self.root)])
                listed = list_best(store, now=time.time(), full=True, use_index=not no_index)
                document, notes = [row.as_dict() for row in listed.rows], listed.notes
            case "usage":
                told = usage.usage(usage.Request(roots=[str(self.root)], use_index=not no_index))
                document, notes = told.as_json(), told.notes
        span = Span(start, time.monotonic(), is_old=any(BUSY in note for note in notes))
        return Answer(kind, document, lots, span, "--no-index" if no_index else "library")


def run(folder: Path, seconds: float, seed: int, monkeypatch: pytest.MonkeyPatch) -> tuple[Asking, Truth]:
    """Let a writer run, and ask beside it by commands and in this process."""
    asking, log = Asking(folder, seed), folder / "log.json"
    for name in ("HOME", "CLAUDE_CONFIG_DIR", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, asking.environ()[name])
    project = asking.root / "projects" / "-home-ada-lighthouse"
    project.mkdir(parents=True)
    words = [sys.executable, "-m", "tests.acceptance.live_writer", str(project), str(seconds), str(seed)]
    writer = subprocess.Popen([*words, str(log)], env=asking.environ(), cwd=ROOT)
    lane = threading.Thread(target=asking.by_commands)
    try:
        lane.start()
        for kind, lots, no_index in asking.questions(random.Random(seed + 1)):
            asking.answers.append(asking.in_process(kind, " OR ".join(lots), lots, no_index=no_index))
            asking.is_over = writer.poll() is not None
    finally:
        asking.is_over = True
        writer.kill()
        code = writer.wait()
        lane.join()
    assert not asking.errors, asking.errors
    assert code == 0
    return asking, Truth(json.loads(log.read_text()))


def judge(asking: Asking, truth: Truth) -> str:
    """Judge every answer; return the figures in a line."""
    wrong: list[str] = []
    for kind, document, lots, span, how in asking.answers:
        try:
            match kind:
                case "search":
                    truth.judge_search(document, lots, span)
                case "ls":
                    truth.judge_list(document, span)
                case "usage":
                    truth.judge_usage(document, span)
        except AssertionError as error:
            wrong.append(f"{kind} by {how}: {error}")
    assert not wrong, f"{len(wrong)} of {len(asking.answers)} answers are wrong: " + "; ".join(wrong[:9])
    many = Counter((answer.kind, answer.how) for answer in asking.answers)
    hits = sum(len(answer.document["hits"]) for answer in asking.answers if answer.kind == "search")
    old = sum(answer.span.is_old for answer in asking.answers)
    longest = max(answer.span.end - answer.span.start for answer in asking.answers)
    told = ", ".join(f"{count} {kind} by {how}" for (kind, how), count in sorted(many.items()))
    return (
        f"{len(truth.records):,} records; {told}; {hits:,} hits, {old} answers said that they may be old, "
        f"the longest took {longest:.1f} s"
    )


def judge_end(asking: Asking, truth: Truth) -> None:
    """See that nothing is missing when the writer has stopped, by whatever way it is asked for."""
    places = truth.places()
    lots = tuple({lot_of(name) for name in truth.records})
    documents: dict[Kind, list[Any]] = {"search": [], "ls": [], "usage": []}
    for kind, told in documents.items():
        for ask in (asking.command, asking.in_process):
            for no_index in (False, True):
                found = ask(kind, "lot*", lots, no_index=no_index)
                asking.answers.append(found)
                told.append(found.document)
    for answer in asking.answers[-12:-8]:
        hits: Sequence[Mapping[str, Any]] = answer.document["hits"]
        found = {
            (hit["path"], hit["offset"]): (hit["line"], str(hit["snippet"]).partition(" ")[0]) for hit in hits
        }
        told = (len(hits), answer.document["total"], sorted(found.items() ^ places.items())[:5])
        assert told == (len(places), len(places), []), f"in the end, search by {answer.how}: {told}"
    names = {name for names in truth.standing.values() for name in names}
    now = Span(truth.ended, truth.ended)
    for document in documents["ls"]:
        assert document == documents["ls"][0]
        for row in document:
            assert row["lines"] == len(truth.standing[row["path"]])
            assert row["bytes"] == Path(row["path"]).stat().st_size
    for document in documents["usage"]:
        assert document == documents["usage"][0]
        truth.judge_usage(document, now)
        assert document["total"]["messages"] == sum(int(name[-7:]) % 7 != 0 for name in names)


def test_the_judge_of_answers_finds_what_is_wrong() -> None:
    stem = "aaaaaaaa-0000-4000-8000-000000000001"
    path = f"/x/{stem}.jsonl"
    stays, goes, comes = (f"{stem}-{number:07}" for number in (1, 2, 3))
    log = {
        "records": {
            stays: [[1.0, -1.0, 0.9, -1.0]],
            goes: [[1.0, 4.0, 0.9, 4.1]],
            comes: [[6.0, -1.0, 5.9, -1.0]],
        },
        "standing": {path: [stays, comes]},
        "sizes": {path: [[0.9, 1.0, 200], [4.0, 4.1, 100], [5.9, 6.0, 200]]},
        "ended": 9.0,
    }
    truth, lots = Truth(log), (lot_of(stays),)

    def hit(name: str, offset: int, proof: str | None = None) -> dict[str, Any]:
        said = f"{name} {lot_of(name)} xx"
        return {"path": path, "offset": offset, "snippet": f"{said} {proof or digest(said)}"}

    def found(*hits: Mapping[str, Any]) -> dict[str, Any]:
        return {"hits": hits, "total": len(hits)}

    def row(**other: object) -> dict[str, Any]:
        tokens = {"output": 11}
        return {
            "path": path,
            "damaged": 0,
            "bytes": 100,
            "lines": 1,
            "messages": 1,
            "tokens": tokens,
            **other,
        }

    def total(messages: int, tokens: int, damaged: int = 0) -> dict[str, Any]:
        return {"total": {"messages": messages, "tokens": {"output": tokens}}, "damaged": damaged}

    before, between, around = Span(2.0, 3.0), Span(4.5, 5.0), Span(2.0, 8.0)
    both = found(hit(stays, 0), hit(goes, 100))
    truth.judge_search(both, lots, before)
    truth.judge_search(found(hit(stays, 0)), lots, between)
    for some in (both, found(hit(stays, 0)), found(hit(stays, 0), hit(comes, 100))):
        truth.judge_search(some, lots, around)
    truth.judge_search(found(), lots, Span(2.0, 3.0, is_old=True))
    for span, document, wrong in [
        (before, found(hit(stays, 0)), "1 records.* lost"),
        (between, both, "more often than they stood"),
        (before, found(hit(stays, 0), hit(stays, 50), hit(goes, 100)), "more often than they stood"),
        (before, found(hit(stays, 0), hit(goes, 0)), "a place twice"),
        (before, found(hit(stays, 0), hit(f"{stem}-0000009", 100)), "invented"),
        (before, found(hit(stays, 0), hit(goes, 100, "0" * 16)), "invented"),
        (before, {**both, "total": 3}, "counted otherwise"),
    ]:
        with pytest.raises(AssertionError, match=wrong):
            truth.judge_search(document, lots, span)
    truth.judge_list([row()], between)
    truth.judge_list([row(bytes=150, lines=2, messages=2, tokens={"output": 23})], around)
    for rows, wrong in [
        ([row(), row()], "a session twice"),
        ([], "lost"),
        ([row(), row(path="/y")], "invented"),
        ([row(bytes=99)], "99 bytes, and there were 100 at least"),
        ([row(lines=2)], "2 lines, and there were 1 at most"),
        ([row(messages=0)], "0 messages"),
        ([row(tokens={"output": 12})], "12 tokens"),
        ([row(damaged=1)], "damage invented"),
    ]:
        with pytest.raises(AssertionError, match=wrong):
            truth.judge_list(rows, between)
    truth.judge_usage(total(1, 11), between)
    for wrong, document in {
        "0 messages": total(0, 11),
        "12 tok": total(1, 12),
        "dam": total(1, 11, 1),
    }.items():
        with pytest.raises(AssertionError, match=wrong):
            truth.judge_usage(document, between)


@pytest.mark.parametrize("seed", [4, 5])
def test_a_busy_store_is_searched_listed_and_summed_up_without_a_mistake(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sample of six seconds; an odd seed writes by a descriptor that is held, an even one line by line."""
    asking, truth = run(tmp_path, 6, seed, monkeypatch)
    print(f"\nseed {seed}: {judge(asking, truth)}")
    judge_end(asking, truth)
    # The writer did all it can do and was asked about often, or the test proves nothing.
    assert len(truth.records) > 2000
    assert len(truth.standing) == 3
    assert sum(not answer.span.is_old for answer in asking.answers) > len(asking.answers) / 2
    assert {answer.how for answer in asking.answers} == {"command", "library", "--no-index"}


@pytest.mark.soak
@pytest.mark.parametrize("seed", [14, 15])
def test_a_busy_store_is_searched_listed_and_summed_up_for_a_minute(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking, truth = run(tmp_path, 60, seed, monkeypatch)
    print(f"\nseed {seed}: {judge(asking, truth)}")
    judge_end(asking, truth)
    assert len(truth.records) > 50_000
    assert len(asking.answers) > 60
