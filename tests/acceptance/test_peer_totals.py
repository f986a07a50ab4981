"""The tokens of small stores, by clew and by the two programs it is most often compared with.

The truth of each store is known by construction. Clew gives it. What ccusage 20.0.24 and agentsview 0.46.1
give was measured, and is measured again here; they are right where nothing is written down for them. When a
figure changes another version has been pinned, and docs/costs.md should be read again.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bench.installing import cache_folder
from bench.peers import PEERS, Job, find
from tests.session.usage_cases import CASES

if TYPE_CHECKING:
    from bench.peers import Work
    from clew.session.pricing import Tokens
    from tests.session.usage_cases import Case

pytestmark = pytest.mark.acceptance

PAGE = Path(__file__).parents[2] / "docs" / "costs.md"
CACHE = cache_folder()
"""Where programs are kept: in the user's own cache, which is looked for before a test gets another."""

Counts = tuple[int, int, int, int]
"""Input, output, read from the cache, written to it."""

CCUSAGE: dict[str, Counts] = {
    # It searches the lines for `"usage":{`, without a blank.
    "respelled": (0, 0, 0, 0),
    # Lines are one answer only by message id and request id together; without the latter each is its own.
    "without request ids": (500, 200, 5_000, 1_000),
    "resumed copy": (600, 240, 6_000, 1_200),
    "streamed": (600, 1_004, 6_000, 1_200),
    # A line that is no JSON is passed over, with the answer at its end.
    "torn": (200, 80, 2_000, 400),
}
AGENTSVIEW: dict[str, Counts] = {
    # Known by both ids, as above, once the lines stand in two files.
    "resumed copy": (600, 240, 6_000, 1_200),
    # Of two ways that a session took, one counts.
    "rewound": (300, 120, 3_000, 600),
    # A sub-agent's file is looked for below the session's folder alone.
    "sub-agent": (100, 40, 1_000, 200),
    # The last line of an answer counts, whatever it says.
    "streamed": (200, 301, 2_000, 400),
    # Only the total counts.
    "one hour": (200, 80, 2_000, 5_100),
    "torn": (200, 80, 2_000, 400),
}
BOTH = (CCUSAGE, AGENTSVIEW)


def counts(truth: Tokens) -> Counts:
    return truth.input, truth.output, truth.cache_read, truth.cache_write_5m + truth.cache_write_1h


@pytest.fixture(params=CASES, ids=lambda case: case.name)
def case(request: pytest.FixtureRequest) -> Case:
    return request.param


@pytest.fixture
def job(case: Case, tmp_path: Path) -> Job:
    """The store of a case on the disk, and a home for the program that reads it."""
    job = Job(tmp_path / "config", tmp_path / "peer")
    project = job.projects / "-home-ada-lighthouse"
    for folder in (project, job.home):
        folder.mkdir(parents=True)
    for name, data in case.files.items():
        (project / name).write_bytes(data)
    return job


@cache
def program_of(peer: str) -> Path:
    """The installed program, asked once for its version."""
    return find(peer, CACHE)


def totals_of(peer: str, job: Job, *works: Work) -> Counts:
    """What a program says of a store, once it has done all of `works`."""
    program = program_of(peer)
    said = ""
    for work in works:
        command = PEERS[peer].works[work](program, job)
        done = subprocess.run(
            command.argv, env=command.env, capture_output=True, text=True, check=True, timeout=60
        )
        said = done.stdout
    found: dict[str, Any] = json.loads(said)["totals"]
    names = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheCreationTokens")
    first, second, third, fourth = (int(found[name]) for name in names)
    return first, second, third, fourth


@pytest.mark.parametrize("more", [(), ("--no-index",)], ids=["index", "files"])
def test_clew_tells_the_truth(case: Case, job: Job, more: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "clew", "usage", "--json", "--root", str(job.root), *more]
    done = subprocess.run(command, env=dict(os.environ), capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)["total"]
    assert tuple(found["tokens"].values()) == (
        case.truth.input,
        case.truth.output,
        case.truth.cache_read,
        case.truth.cache_write_5m,
        case.truth.cache_write_1h,
    )
    assert found["messages"] == case.answers


def test_ccusage_says_what_was_measured(case: Case, job: Job) -> None:
    assert totals_of("ccusage", job, "usage") == CCUSAGE.get(case.name, counts(case.truth))


def test_agentsview_says_what_was_measured(case: Case, job: Job) -> None:
    assert totals_of("agentsview", job, "build", "usage-built") == AGENTSVIEW.get(
        case.name, counts(case.truth)
    )


def test_each_of_them_is_wrong_in_five_cases_at_least() -> None:
    truths = {case.name: counts(case.truth) for case in CASES}
    for measured in BOTH:
        assert len(measured) >= 5
        assert all(truths[name] != figure for name, figure in measured.items())


def test_the_page_on_costs_has_these_figures() -> None:
    page = PAGE.read_text(encoding="utf-8").partition("## Against other programs")[2]
    rows = [line.strip("| ").split(" | ")[1:] for line in page.splitlines() if line.startswith("| ")][1:]
    told = [
        (f"{case.truth.total:,}", *(f"{sum(of[case.name]):,}" if case.name in of else "–" for of in BOTH))
        for case in CASES
    ]
    assert [tuple(row) for row in rows] == told
