"""A lake built and asked on a real Spark cluster is the lake built and asked here, row for row.

A standalone master with two workers and a Connect server, and an S3 stand-in for both to read and write.
"""

from __future__ import annotations

import shutil
import threading
import time
from typing import TYPE_CHECKING

import pytest

from clew.lake.asking import ask_here, plain_rows, query_text
from clew.lake.builds import checkpoints
from clew.lake.engines import LocalEngine
from clew.lake.places import Place
from clew.lake.queries import QUERIES
from clew.lake.spark import SparkEngine
from tests.acceptance.lake_lab import BUCKET, Cluster, begun, cluster, killed, object_store, options, uploaded
from tests.lake.lab import CORPUS, KEY, built, copied, everything, forked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.acceptance

DEVELOPERS = 40
"""So many have a hundred sessions."""


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cluster, str]]:
    with cluster(tmp_path_factory.mktemp("spark")) as made:
        yield made


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with object_store(tmp_path_factory.mktemp("objects")) as port:
        yield port


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hundred recorded sessions of two teams, and some that share messages."""
    folder = tmp_path_factory.mktemp("source")
    copied(folder, CORPUS[:DEVELOPERS])
    forked(folder)
    return folder


def test_both_engines_build_the_same_lake_and_answer_alike(
    spark: tuple[Cluster, str], store: int, source: Path
) -> None:
    told = options(store)
    src = uploaded(source, "all", store)
    here, there = f"s3://{BUCKET}/here", f"s3://{BUCKET}/there"
    report = built(src, here, engine=LocalEngine(1), key=KEY, options=told)
    assert report.sessions >= 100
    assert not report.unread
    engine = SparkEngine(spark[1])
    try:
        assert engine.width == 2
        other = built(src, there, engine=engine, key=KEY, options=told)
        assert (other.mapped, other.secrets) == (report.mapped, report.secrets)
        wanted = everything(here, options=told)
        assert everything(there, options=told) == wanted
        assert len(wanted["usage"]) > 100
        for name in QUERIES:
            found = engine.ask(Place.parse(there, told), query_text(name))
            mine = ask_here(Place.parse(here, told), query_text(name))
            assert (found.columns, [*found.rows]) == (mine.columns, plain_rows(mine.rows)), name
            assert found.rows, name
    finally:
        engine.close()


def test_a_change_is_settled_alike(spark: tuple[Cluster, str], tmp_path: Path) -> None:
    source = tmp_path / "source"
    forked(source)
    copied(source, CORPUS[:4])
    engine = SparkEngine(spark[1])
    try:
        built(source, tmp_path / "there", engine=engine)
        (source / "core" / "ben" / "projects" / "-home-ada-lighthouse" / "s0.jsonl").unlink()
        with (source / "core" / "ada" / "projects" / "-home-ada-lighthouse" / "s2.jsonl").open("ab") as file:
            file.write(b'{"type":"summary"}\n')
        report = built(source, tmp_path / "there", engine=engine, prune=True)
        assert (report.mapped, report.removed) == (1, 1)
    finally:
        engine.close()
    built(source, tmp_path / "anew")
    assert everything(tmp_path / "there") == everything(tmp_path / "anew")


def test_a_driver_that_is_killed_is_gone_on_with(
    spark: tuple[Cluster, str], source: Path, tmp_path: Path
) -> None:
    lake = tmp_path / "lake"
    arguments = (
        "build",
        str(source),
        str(lake),
        "--engine",
        spark[1],
        "--no-redact",
        "--commit-every",
        "1MB",
    )
    process = begun(tmp_path, *arguments)
    ends = time.monotonic() + 120
    while not checkpoints(Place.parse(str(lake))) and process.poll() is None and time.monotonic() < ends:
        time.sleep(0.05)
    assert process.poll() is None, "it was done before it could be killed"
    killed(process)
    engine = SparkEngine(spark[1])
    try:
        report = built(source, lake, engine=engine)
    finally:
        engine.close()
    assert report.resumed
    assert 0 < report.mapped < report.sessions
    built(source, tmp_path / "anew")
    assert everything(lake) == everything(tmp_path / "anew")


def test_a_worker_that_is_killed_costs_nothing_but_time(
    spark: tuple[Cluster, str], source: Path, tmp_path: Path
) -> None:
    made, url = spark
    for number in range(3):  # so that there is something to do meanwhile
        shutil.copytree(source, tmp_path / "source" / f"copy{number}")
    engine = SparkEngine(url)
    timer = threading.Timer(1.5, made.kill_worker)
    try:
        timer.start()
        report = built(tmp_path / "source", tmp_path / "lake", engine=engine)
        assert timer.finished.is_set(), "it was done before the worker was killed"
        timer.join()
    finally:
        timer.cancel()
        engine.close()
        made.start_worker()
    assert not report.unread
    built(tmp_path / "source", tmp_path / "anew", engine=LocalEngine(1))
    assert everything(tmp_path / "lake") == everything(tmp_path / "anew")
