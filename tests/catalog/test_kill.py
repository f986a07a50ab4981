"""A build that is killed at any moment: the next one goes on, and ends as if nothing had been."""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from typing import TYPE_CHECKING

import pytest

from clew.catalog.catalog import Catalog, Options, Progress
from tests.catalog.stores import Tree, content, lines

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="kill -9")


def _filled(root: Path) -> Tree:
    tree = Tree(root)
    for number in range(40):
        name = f"-home-ada-{number % 3}/{number:08x}-1111-4111-8111-111111111111"
        tree.write(f"{name}.jsonl", lines(range(number, number + 60)))
        if number % 5 == 0:
            tree.write(f"{name}/subagents/agent-{number}.jsonl", lines(range(300, 330)))
    return tree


def _killed(tree: Tree, cache: Path, options: Options, chance: random.Random) -> bool:
    """Update in another process and kill it at a moment of `chance`; say whether it was still at work."""
    here, there = os.pipe()
    child = os.fork()
    if child == 0:
        try:

            def begun(_progress: Progress) -> None:
                os.write(there, b".")

            Catalog.open(tree.store(), cache=cache).update(options=options, tell=begun)
        finally:
            os._exit(0)
    os.close(there)
    os.read(here, 1)
    time.sleep(chance.random() ** 2 * 0.25)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    os.close(here)
    return os.WIFSIGNALED(status)


def _survives(tmp_path: Path, deaths: int, seed: int) -> None:
    """Kill that many builds at work; after each second one or so the next update must make all right."""
    tree = _filled(tmp_path / "root")
    cache = tmp_path / "cache"
    with Catalog.open(tree.store(), cache=tmp_path / "right") as right:
        right.update(options=Options(details=True))
        expected = content(right)
    chance = random.Random(seed)
    while deaths > 0:
        options = Options(
            jobs=chance.choice([1, 1, 2]),
            start_method="fork",
            batch=chance.choice([2_000, 50_000, 1 << 26]),
            two_stages=chance.random() < 0.5,
            details=chance.random() < 0.5,
        )
        deaths -= _killed(tree, cache, options, chance)
        if chance.random() < 0.5:
            with Catalog.open(tree.store(), cache=cache) as catalog:
                # Processes that the killed one had started keep what they read, and end.
                while not (done := catalog.update(options=Options(jobs=1, details=True))).is_current:
                    time.sleep(0.01)
                assert done.notes == ()
                assert content(catalog) == expected
            shutil.rmtree(cache)


def test_a_build_that_is_killed_goes_on_the_next_time(tmp_path: Path) -> None:
    _survives(tmp_path, 5, 1)


@pytest.mark.soak
def test_builds_that_are_killed_200_times_go_on(tmp_path: Path) -> None:
    _survives(tmp_path, 200, 2)
