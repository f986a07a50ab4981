"""A shorter run of what `python -m tests.fuzz` and `python -m tests.fuzz.salvage` do at length."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from clew.format.lines import BytesSource
from clew.format.records import Record, scan
from tests.fuzz import __main__ as fuzz
from tests.fuzz import salvage
from tests.fuzz.laws import CLIENTS, conserved, judge
from tests.fuzz.lines import corpus, files, nested
from tests.fuzz.mutate import damaged_file

KEPT = sorted((Path(__file__).parent / "kept").glob("*.jsonl"))


@pytest.mark.parametrize("seed", range(4))
def test_damaged_lines_pass_through_reading_graph_check_and_context(seed: int) -> None:
    """Some 20,000 lines; the seeds are those of the long run, so a failure there is one here."""
    done, failures = fuzz.run(f"1:{seed}", 5_000)
    assert failures == []
    assert done >= 5_000


@pytest.mark.parametrize("client", CLIENTS)
def test_files_that_once_broke_a_law_keep_it(client: str) -> None:
    for path in KEPT:
        judge(path.read_bytes(), client=client)


@pytest.mark.parametrize("client", CLIENTS)
def test_every_sample_keeps_the_laws(client: str) -> None:
    for path in files()[:: len(CLIENTS)]:
        judge(path.read_bytes(), client=client)


def test_salvage_makes_up_nothing_and_misses_nothing() -> None:
    score = salvage.run(40_000, "1:0")
    assert score.phantoms == 0
    assert score.missed == 0
    assert score.unaccounted == 0
    assert score.recall >= 0.97
    assert score.false_flags < 0.001 * score.lines


def test_a_line_that_lost_its_head_yields_no_record_that_was_inside_it() -> None:
    random = Random(7)
    for _ in range(3_000):
        record = nested(random) if random.random() < 0.5 else random.choice(corpus())
        head = random.randrange(1, len(record))
        behind = random.choice((b"", b"", random.choice(corpus())))
        data = record[head:] + behind + b"\n"
        found = list(scan(BytesSource(data)))
        conserved(data, found)
        taken = [one.raw.strip() for one in found if isinstance(one, Record)]
        assert taken in ([], [behind])


def test_the_same_seed_makes_the_same_files() -> None:
    assert [damaged_file(Random(n)) for n in range(20)] == [damaged_file(Random(n)) for n in range(20)]


def test_the_laws_catch_what_they_are_for() -> None:
    data = b'{"type":"user","uuid":"a"}\n{"type":"us\n'
    found = list(scan(BytesSource(data)))
    conserved(data, found)
    with pytest.raises(AssertionError, match="belong to nothing"):
        conserved(data, found[:1])
    with pytest.raises(AssertionError):
        conserved(data, [found[1], found[0]])


def test_the_generator_of_damage_catches_a_salvage_that_makes_things_up() -> None:
    """An envelope nested in a torn record, taken for a record, is counted as a phantom."""
    line = salvage.Damaged(b'{"type":"user","uuid":"a"}', frozenset())
    score = salvage.Score()
    salvage.judge(score, line)
    assert (score.phantoms, score.whole, score.recall) == (1, 0, 1.0)
    salvage.judge(score, salvage.Damaged(b'{"type":"us', frozenset({(0, 11)})))
    assert (score.missed, score.recall) == (1, 0.0)


def test_a_file_that_breaks_a_law_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def broken(data: bytes, *, client: str) -> int:
        raise KeyError(client)

    monkeypatch.setattr(fuzz, "FAILURES", tmp_path / "failures")
    monkeypatch.setattr(fuzz, "judge", broken)
    done, failures = fuzz.run("9:0", 1)
    assert done >= 1
    assert "KeyError" in failures[0][0]
    assert [path.name for path in (tmp_path / "failures").iterdir()] == ["9-0-0.jsonl"]
