"""The real client and clew on files that nobody has looked at."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conformance.client import VERSION
from tests.conformance.compare import differences
from tests.conformance.run import run

# Answers of the client are kept by version and seed, so that a run of ten minutes can be taken up again; an
# answer counts only while the generator still makes the very bytes it was given for.
KEPT = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "clew" / "conformance" / VERSION


@pytest.mark.soak
def test_clew_agrees_with_the_client_on_1000_new_files() -> None:
    found = differences(run(range(2000, 3000), KEPT))
    seeds = ", ".join(str(each.seed) for each in found)
    print(f"\n{1000 - len(found)} of 1000 new files equal; different: {seeds or 'none'}")
    assert len(found) <= 20, "\n".join(f"seed {each.seed}:\n{each.detail}" for each in found)
