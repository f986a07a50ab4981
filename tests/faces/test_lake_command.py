"""`clew lake` as a person meets it."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.faces.console import console
from tests.lake.lab import conversation, put

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.faces.console import Console


@pytest.fixture
def clew(monkeypatch: pytest.MonkeyPatch) -> Iterator[Console]:
    yield from console(monkeypatch)


def test_a_lake_is_built_asked_and_tidied_up(clew: Console, tmp_path: Path) -> None:
    put(tmp_path / "source" / "core" / "ada", "s1", conversation("s1").data())
    put(tmp_path / "source" / "core" / "ben", "s2", conversation("s2").data() + b"{torn\n")
    lake = tmp_path / "lake"
    ran = clew("lake", "build", tmp_path / "source", lake, "--jobs", 1)
    assert ran.code == 3  # one of them is damaged
    assert ran.lines[0].startswith("2 sessions built of 2")
    assert "s2.jsonl: 1 damaged line" in ran.err
    document = json.loads(clew("lake", "build", tmp_path / "source", lake, "--json", "--jobs", 1).out)
    assert (document["built"], document["unchanged"], document["redacted"]) == (0, 2, True)
    rows = json.loads(clew("lake", "query", "usage-by-team-day", "--lake", lake, "--json").out)
    assert [(row["team"], row["messages"], row["developers"]) for row in rows] == [("core", 8, 2)]
    assert "core" in clew("lake", "query", "SELECT team FROM sessions", "--lake", lake, width=80).out
    assert json.loads(clew("lake", "vacuum", lake, "--json", "--jobs", 1).out)["files_deleted"] == 0


def test_the_names_of_queries_are_listed(clew: Console) -> None:
    ran = clew("lake", "query")
    assert ran.code == 0
    assert [line.split()[0] for line in ran.lines][:2] == ["usage-by-team-day", "cost-by-model"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("build", "x"), "from where, and to where?"),
        (("build", "x", "x"), "among the sessions"),
        (("build", "x", "y", "--engine", "flink"), "no engine"),
        (("build", "x", "y", "--commit-every", "much"), "no size"),
        (("build", "x", "y", "--storage-option", "nothing"), "no option"),
        (("query", "retention"), "which lake?"),
        (("query", "retention", "--lake", "nowhere"), "no finished lake"),
        (("query", "retention", "--lake", "nowhere", "--engine", "sqlite"), "no engine"),
        (("vacuum",), "which lake?"),
        (("vacuum", "nowhere"), "no finished lake"),
    ],
)
def test_what_makes_no_sense_is_told(
    clew: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = clew("lake", *arguments)
    assert ran.code == 1
    assert told in ran.err


IMPATIENT = """
from clew.lake import spark
spark.PATIENCE = 0.5
from clew.__main__ import start
start()
"""


def test_a_cluster_that_does_not_answer_is_said_soon_and_without_its_token(tmp_path: Path) -> None:
    put(tmp_path / "source", "s1", conversation("s1").data())
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    # Nobody listens there any more. By a script: Spark takes a program without a file for a test of its own.
    script = tmp_path / "impatient.py"
    script.write_text(IMPATIENT)
    engine = f"sc://127.0.0.1:{port}/;token=very-secret"
    where = (str(tmp_path / "source"), str(tmp_path / "lake"))
    command = [sys.executable, str(script), "lake", "build", *where, "--engine", engine]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode == 1
    assert f"nobody answers at sc://127.0.0.1:{port}:" in ran.stderr
    assert "secret" not in ran.stdout + ran.stderr
