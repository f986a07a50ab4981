"""A whole run of the benchmark on two megabytes: what it finds out, and that it can find the opposite."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from bench import corpora, peers, run, work_search, work_trace, work_usage
from bench.generate import Recipe
from bench.installing import PeerMissingError
from bench.peers import PEERS, Holding
from bench.runner import Runner

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bench.corpora import Corpus
    from bench.report import Report, Row

SIZE = 2_000_000
HERE = tuple(target for target in run.TARGETS if target not in {"P12", "T1"})
"""What can be measured with two megabytes."""
FROM_REGISTRIES = ("ccusage", "ripgrep", "sdk", "aichat", "agentsview", "transcripts")


OTHERS = ("ccusage", "ripgrep", "SDK", "aichat", "agentsview", "claude-code-transcripts")
"""Their names in the rows."""


def _not_here(_folder: Path) -> Path:
    raise PeerMissingError("there is no network")


@pytest.fixture(scope="module")
def _small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]  # used by pytest
    """No peer that comes over the network, few words, a cache of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        for name in FROM_REGISTRIES:
            patch.setitem(PEERS, name, replace(PEERS[name], install=_not_here))
        patch.setattr(work_search, "WORDS", ["parser"])
        patch.setattr(work_search, "CJK_WORDS", ["検索"])
        yield


@pytest.fixture(scope="module")
def corpus(_small: None) -> Corpus:
    return corpora.corpus(Recipe(SIZE))


@pytest.fixture(scope="module")
def report(corpus: Corpus) -> Report:
    return run.run(size=SIZE, session_size=SIZE, seed=1, repeat=1, only=HERE)


def rows(report: Report, target: str, what: str = "") -> list[Row]:
    found = [row for row in report.rows if row.target == target and what in row.what]
    assert found, (target, what)
    return found


def test_every_target_has_rows_and_they_come_in_the_order_of_the_targets(report: Report) -> None:
    seen = list(dict.fromkeys(row.target for row in report.rows))
    assert seen == list(HERE)


def test_what_needs_a_peer_that_cannot_be_had_says_so_and_nothing_about_clew(report: Report) -> None:
    ratios = [row for row in report.rows if any(f"÷ {name}" in row.what for name in OTHERS)]
    assert {row.target for row in ratios} == {"P1", "P2", "P3", "P5", "P6", "P7", "P9", "P10"}
    for row in ratios:
        if "last page" in row.what:
            continue
        assert row.verdict == "no peer", row
        assert "there is no network" in (row.error or "")
    assert report.missed


def test_every_sum_is_the_truth_with_and_without_an_index_and_after_new_lines(report: Report) -> None:
    laws = rows(report, "P4")
    assert [row for row in laws if row.verdict != "ok"] == []
    assert len([row for row in laws if "from the index" in row.what]) == 1
    assert len([row for row in laws if "new lines" in row.what]) == 2


def test_the_warm_answer_is_compared_with_itself_after_each_new_line(report: Report) -> None:
    for row in rows(report, "P3", "one new line"):
        assert row.limit == 1.3
        assert row.figure is not None


def test_no_session_is_missing_from_a_list_and_no_planted_word_from_a_search(report: Report) -> None:
    for row in (*rows(report, "P5", "missing"), *rows(report, "P8", "not found")):
        assert (row.figure, row.limit) == (0, 0), row


def test_queries_and_the_line_table_are_timed_inside_their_process(report: Report) -> None:
    for row in rows(report, "P8", "p95"):
        assert row.figure is not None
        assert row.figure > 0
    table = next(row for row in rows(report, "P9", "line table: peak memory"))
    assert table.verdict == "ok"


def test_every_session_gets_its_page(report: Report) -> None:
    assert [row.figure for row in rows(report, "P10", "missing")] == [0]
    assert all(row.verdict == "ok" for row in rows(report, "P10", "peak memory"))


def test_the_share_of_the_index_and_the_growth_of_time_are_measured(report: Report) -> None:
    assert (rows(report, "P7", "share of the source")[0].figure or 0) > 1
    assert len(rows(report, "P13", "ten times the bytes")) == 2
    assert len(rows(report, "P13", "1,000 more files")) == 2


def test_a_run_leaves_the_kept_corpus_as_it_was(report: Report, corpus: Corpus) -> None:
    sizes = {name: (corpus.root / name).stat().st_size for name in corpus.truth["files"]}
    assert sizes == {name: facts["bytes"] for name, facts in corpus.truth["files"].items()}
    assert not list(corpus.root.parent.glob("run-*"))


def test_only_the_two_sessions_that_are_written_to_are_copied(corpus: Corpus) -> None:
    with corpora.to_write_in(corpus) as copied:
        assert copied.sessions[-1] == copied.largest
        own = {
            name for name in corpus.truth["files"] if not (copied.root / name).samefile(corpus.root / name)
        }
        assert own == {str(path.relative_to(copied.root)) for path in (copied.ordinary, copied.largest)}
        with copied.largest.open("ab") as data:
            data.write(b"more\n")
    facts = corpus.truth["files"][str(corpus.largest.relative_to(corpus.root))]
    assert corpus.largest.stat().st_size == facts["bytes"]


def test_a_hit_too_many_or_too_few_or_without_the_word_is_seen(corpus: Corpus) -> None:
    needle = next(one for one in corpus.truth["needles"] if one["places"])
    right: list[dict[str, Any]] = [
        {"path": str(corpus.root / place["file"]), "line": place["line"], "snippet": f"… {needle['word']} …"}
        for place in needle["places"]
    ]
    judge = work_search.misplaced
    assert judge(right, needle, corpus.root) == ""
    assert "missing" in judge([], needle, corpus.root)
    assert "too many" in judge([*right, {**right[0], "line": 10**6}], needle, corpus.root)
    assert judge([{**right[0], "snippet": "…"}, *right[1:]], needle, corpus.root) == "a snippet without it"


def test_a_new_answer_that_is_not_counted_is_a_wrong_sum(corpus: Corpus, tmp_path: Path) -> None:
    runner = Runner(size=SIZE, session_size=SIZE, seed=1, repeat=1, home=tmp_path)
    old = {
        "rows": [{"key": key} | tally for key, tally in corpus.truth["by_day"].items()],
        "total": corpus.truth["total"],
    }
    answer = json.dumps(old).encode()
    work_usage.law(runner, corpus, answer, None, "before")
    truth = copy.deepcopy(corpus.truth)
    with corpora.to_write_in(corpus) as copied:
        before = copied.ordinary.read_bytes()
        work_usage.new_answer(copied.ordinary, 0, truth)
        after = copied.ordinary.read_bytes()
    assert after.startswith(before)
    assert json.loads(after[len(before) :])["type"] == "assistant"
    work_usage.law(runner, replace(corpus, truth=truth), answer, None, "after")
    assert [row.verdict for row in runner.rows] == ["ok", "miss"]


def test_a_peer_that_indexed_nothing_gives_no_figure(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def idle(_program: Path, job: peers.Job) -> peers.Command:
        return peers.Command(("true",), {"PATH": "/usr/bin:/bin"}, fresh=job.home)

    def empty(_program: Path, _job: peers.Job, _words: list[str]) -> Holding:
        return Holding(0, "sessions", 0)

    for name in ("aichat", "agentsview"):
        lazy = peers.Peer(name, PEERS["cat"].install, {"build": idle, "usage-built": idle}, holding=empty)
        monkeypatch.setitem(PEERS, name, lazy)
    runner = Runner(size=SIZE, session_size=SIZE, seed=1, repeat=1, home=tmp_path)
    work_search.build(runner, corpus, frozenset({"P7"}))
    ratios = [row for row in runner.rows if "wall ÷" in row.what]
    assert [row.verdict for row in ratios] == ["no peer", "no peer"]
    assert all("it indexed nothing" in (row.error or "") for row in ratios)


@pytest.mark.usefixtures("_small")
def test_turns_that_are_sent_are_counted_where_they_arrive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_trace, "TURNS", 3)
    monkeypatch.setattr(work_trace, "LARGE", 200_000)
    runner = Runner(size=SIZE, session_size=SIZE, seed=1, repeat=1, home=tmp_path)
    work_trace.sending(runner)
    work_trace.memory(runner)
    assert [(row.target, row.error) for row in runner.rows] == [("T1", None)] * 3
    assert all(row.figure for row in runner.rows)
    assert "spans" in runner.rows[0].detail
