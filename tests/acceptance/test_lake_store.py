"""An object store that fails, is slow or refuses, and builds that are killed: the lake comes out right."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from clew.lake.builds import checkpoints
from clew.lake.places import Place, PlaceError
from tests.acceptance.lake_lab import BUCKET, begun, between, killed, object_store, options, uploaded
from tests.lake.lab import CORPUS, KEY, Row, built, copied, everything, forked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.acceptance

DEVELOPERS = 16


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with object_store(tmp_path_factory.mktemp("objects")) as port:
        yield port


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("source")
    copied(folder, CORPUS[::8][:DEVELOPERS])
    forked(folder)
    return folder


@pytest.fixture(scope="module")
def objects(store: int, source: Path) -> tuple[str, dict[str, list[Row]]]:
    """The source as objects, and all rows that belong into its lake."""
    url = uploaded(source, "source", store)
    lake = f"s3://{BUCKET}/wanted"
    assert not built(url, lake, key=KEY, options=options(store)).unread
    return url, everything(lake, options=options(store))


def test_a_store_that_answers_503_again_and_again_is_asked_again(
    store: int, objects: tuple[str, dict[str, list[Row]]]
) -> None:
    url, wanted = objects
    lake = f"s3://{BUCKET}/busy"
    with between(store, every=4) as proxy:
        assert not built(url, lake, key=KEY, options=options(proxy.port)).unread
        assert proxy.refused() > 20
    assert everything(lake, options=options(store)) == wanted


def test_a_slow_store_gives_the_same_lake(store: int, objects: tuple[str, dict[str, list[Row]]]) -> None:
    url, wanted = objects
    with between(store, delay=0.01) as proxy:
        lake = f"s3://{BUCKET}/slow"
        built(url, lake, key=KEY, options=options(proxy.port))
    assert everything(lake, options=options(store)) == wanted


def test_an_object_that_cannot_be_read_is_told_and_read_the_next_time(
    store: int, objects: tuple[str, dict[str, list[Row]]]
) -> None:
    url, wanted = objects
    lake = f"s3://{BUCKET}/refusing"

    with between(store, endings=["/s1.jsonl", "/agent-abc.jsonl"]) as proxy:
        report = built(url, lake, key=KEY, options=options(proxy.port))
    told = sorted(path.rpartition("/")[2] for path, _ in report.unread)
    assert told == ["s1.jsonl", "s3.jsonl"]  # of the second only a sub-agent
    assert report.mapped == report.sessions - 1
    again = built(url, lake, key=KEY, options=options(store))
    assert again.mapped == 2
    assert everything(lake, options=options(store)) == wanted


def test_a_store_that_stops_answering_in_the_middle_leaves_what_readers_saw(store: int, source: Path) -> None:
    url, lake, told = f"s3://{BUCKET}/growing", f"s3://{BUCKET}/stopping", options(store)
    uploaded(source / "core", "growing/core", store)
    built(url, lake, key=KEY, options=told)
    before = everything(lake, options=told)
    for team in ("team0", "team1"):
        uploaded(source / team, f"growing/{team}", store)
    for limit in (3, 15, 30):
        # Then nothing is taken any more: refused for good, not for a while.
        with between(store, puts=limit) as proxy, pytest.raises(PlaceError):
            built(url, lake, key=KEY, options=options(proxy.port), commit_every=200_000)
        assert everything(lake, options=told) == before
    built(url, lake, key=KEY, options=told)
    built(url, f"s3://{BUCKET}/anew", key=KEY, options=told)
    assert everything(lake, options=told) == everything(f"s3://{BUCKET}/anew", options=told)


def test_builds_that_are_killed_anywhere_end_right(source: Path, tmp_path: Path) -> None:
    built(source, tmp_path / "anew")
    wanted = everything(tmp_path / "anew")
    lake = Place.parse(str(tmp_path / "lake"))
    arguments = ("build", str(source), lake.url, "--no-redact", "--jobs", "2", "--commit-every", "300KB")
    for number in range(6):
        process = begun(tmp_path, *arguments)
        seen = len(checkpoints(lake))
        ends = time.monotonic() + 60
        while len(checkpoints(lake)) <= seen and process.poll() is None and time.monotonic() < ends:
            time.sleep(0.01)
        time.sleep(0.03 * number)  # somewhere behind it
        if process.poll() is not None:
            process.communicate()
            break
        killed(process)
        assert _gone(process.pid)
    built(source, lake.url)
    assert everything(lake.url) == wanted


def _gone(group: int) -> bool:
    """Wait until nothing is left that a killed clew had started."""
    ends = time.monotonic() + 20
    while time.monotonic() < ends:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False
