"""A thousand sessions, on a real cluster and here: the same rows, the same answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from clew.lake.asking import ask_here, plain_rows, query_text
from clew.lake.engines import LocalEngine
from clew.lake.places import Place
from clew.lake.queries import QUERIES
from clew.lake.spark import SparkEngine
from tests.acceptance.lake_lab import BUCKET, cluster, object_store, options, uploaded
from tests.lake.lab import CORPUS, KEY, built, copied, everything, forked

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.soak


def test_a_thousand_sessions_give_the_same_lake_on_both_engines(tmp_path: Path) -> None:
    source = tmp_path / "source"
    for number in range(4):  # the same messages in many hands
        copied(source / f"part{number}", CORPUS)
    forked(source)
    here, there = f"s3://{BUCKET}/here", f"s3://{BUCKET}/there"
    (tmp_path / "objects").mkdir()
    (tmp_path / "spark").mkdir()
    with object_store(tmp_path / "objects") as port, cluster(tmp_path / "spark") as (_, url):
        told = options(port)
        src = uploaded(source, "all", port)
        report = built(src, here, engine=LocalEngine(2), key=KEY, options=told)
        assert report.sessions >= 1000
        engine = SparkEngine(url)
        try:
            built(src, there, engine=engine, key=KEY, options=told)
            assert everything(here, options=told) == everything(there, options=told)
            for name in QUERIES:
                found = engine.ask(Place.parse(there, told), query_text(name))
                mine = ask_here(Place.parse(here, told), query_text(name))
                assert (found.columns, [*found.rows]) == (mine.columns, plain_rows(mine.rows)), name
        finally:
            engine.close()
