"""A lake that is brought up to date is the lake that would be built anew, however often it was cut short."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from clew.lake.asking import ask_here
from clew.lake.builds import NoLakeError, checkpoints, visible
from clew.lake.delta import LakeTable
from clew.lake.engines import LocalEngine
from clew.lake.places import Place, PlaceError
from tests.lake.lab import built, conversation, everything, forked, put

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


def grown(source: Path) -> None:
    """Change sessions in every way: grow, shrink, come, go, take another owner."""
    ada, ben = source / "core" / "ada", source / "core" / "ben"
    with (ada / "projects" / "-home-ada-lighthouse" / "s1.jsonl").open("ab") as file:
        file.write(conversation("more", wait=200_000, turns=1).data())
    put(ben, "s3", conversation("s3", wait=-9_000_000, turns=1).data())
    put(source / "ops" / "eve", "s9", conversation("s9", turns=1).data())
    # The oldest goes: who owned nothing owns it now.
    (ben / "projects" / "-home-ada-lighthouse" / "s0.jsonl").unlink()


def test_what_changed_is_read_again_and_nothing_else(tmp_path: Path) -> None:
    source, lake = tmp_path / "source", tmp_path / "lake"
    forked(source)
    first = built(source, lake)
    assert first.mapped == first.sessions == 5
    assert built(source, lake).mapped == 0
    assert len(checkpoints(Place.parse(str(lake)))) == 2
    grown(source)
    second = built(source, lake, prune=True)
    assert (second.mapped, second.removed) == (3, 1)
    built(source, tmp_path / "anew")
    assert everything(lake) == everything(tmp_path / "anew")


def test_sessions_that_are_gone_stay_unless_they_are_to_go(tmp_path: Path) -> None:
    source, lake = tmp_path / "source", tmp_path / "lake"
    forked(source)
    built(source, lake)
    before = everything(lake)
    shutil.rmtree(source / "core" / "ada")
    assert built(source, lake).removed == 0
    assert everything(lake) == before


class _EndedError(Exception):
    pass


class _Dying(LocalEngine):
    """An engine that ends after some tasks."""

    def __init__(self, tasks: int) -> None:
        super().__init__(1)
        self._left = tasks

    def run(self, tasks: Sequence[bytes]) -> Iterator[bytes]:
        for result in super().run(tasks):
            self._left -= 1
            if self._left < 0:
                raise _EndedError
            yield result


def test_a_build_that_ended_anywhere_goes_on_and_readers_never_see_half_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, lake = tmp_path / "source", tmp_path / "lake"
    forked(source)
    built(source, lake)
    before = everything(lake)
    grown(source)
    built(source, tmp_path / "anew")
    wanted = everything(tmp_path / "anew")
    original, steps = LakeTable.commit, 0

    def commit(table: LakeTable, *args: Any, **options: Any) -> int:
        nonlocal steps
        steps -= 1
        if steps < 0:
            raise _EndedError
        return original(table, *args, **options)

    monkeypatch.setattr(LakeTable, "commit", commit)
    for limit in (0, 5, 9, 14, 27):
        steps = limit
        try:
            built(source, lake, commit_every=1, prune=True)
        except _EndedError:
            monkeypatch.setattr(LakeTable, "commit", original)
            assert everything(lake) == before
            monkeypatch.setattr(LakeTable, "commit", commit)
    steps = 1000
    built(source, lake, prune=True)
    assert everything(lake) == wanted


def test_what_an_ended_build_committed_is_not_read_again(tmp_path: Path) -> None:
    source, lake = tmp_path / "source", tmp_path / "lake"
    forked(source)
    with pytest.raises(_EndedError):
        built(source, lake, engine=_Dying(3), commit_every=1)
    with pytest.raises(NoLakeError):
        visible(Place.parse(str(lake)))
    report = built(source, lake)
    assert report.resumed
    assert report.mapped == report.sessions - 3
    built(source, tmp_path / "anew")
    assert everything(lake) == everything(tmp_path / "anew")


def test_two_builds_at_once_do_not_both_go_on(tmp_path: Path) -> None:
    source, lake = tmp_path / "source", tmp_path / "lake"
    forked(source)

    class Beside(LocalEngine):
        def run(self, tasks: Sequence[bytes]) -> Iterator[bytes]:
            found = [*super().run(tasks)]
            built(source, lake)
            yield from found

    with pytest.raises(PlaceError, match="another build"):
        built(source, lake, engine=Beside(1))
    built(source, lake)
    built(source, tmp_path / "anew")
    assert everything(lake) == everything(tmp_path / "anew")


def test_a_session_that_cannot_be_read_is_told_and_stops_nothing(tmp_path: Path) -> None:
    source, lake = tmp_path / "source", tmp_path / "lake"
    forked(source)
    odd = put(source / "core" / "ada", "odd", conversation("odd").data())

    class Removing(LocalEngine):
        def run(self, tasks: Sequence[bytes]) -> Iterator[bytes]:
            odd.unlink()
            os.mkfifo(odd)
            yield from super().run(tasks)

    report = built(source, lake, engine=Removing(1))
    assert [path for path, _ in report.unread] == [str(odd)]
    assert report.mapped == report.sessions - 1
    odd.unlink()
    put(source / "core" / "ada", "odd", conversation("odd").data())
    assert built(source, lake).mapped == 1
    built(source, tmp_path / "anew")
    assert everything(lake) == everything(tmp_path / "anew")


def test_other_terms_make_all_rows_anew(tmp_path: Path) -> None:
    source, lake = tmp_path / "source", tmp_path / "lake"
    forked(source)
    built(source, lake)
    assert built(source, lake, key=b"a long enough key").mapped == 5
    found = ask_here(Place.parse(str(lake)), "SELECT count(*), count(DISTINCT message_id) FROM usage")
    assert found.rows[0][0] == found.rows[0][1]


def test_vacuum_puts_small_files_together_and_deletes_what_no_reader_needs(tmp_path: Path) -> None:
    from clew.actions.lake_building import tidy_lake

    source, lake = tmp_path / "source", tmp_path / "lake"
    forked(source)
    built(source, lake, commit_every=1)
    grown(source)
    built(source, lake)
    before = everything(lake)
    files = {path for path in lake.rglob("*.parquet") if "_delta_log" not in path.parts}
    (stray := lake / "tables" / "usage" / "stray.parquet").write_bytes(b"left by a task that was killed")
    done = tidy_lake(str(lake), hours=0, jobs=1)
    left = {path for path in lake.rglob("*.parquet") if "_delta_log" not in path.parts}
    assert done.merged > 0
    assert not stray.exists()
    assert len(left) < len(files)
    assert everything(lake) == before
    assert built(source, lake).mapped == 0
