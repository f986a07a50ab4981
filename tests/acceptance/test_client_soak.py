"""The real client and clew on files that nobody has looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.conformance.compare import differences
from tests.conformance.run import run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.soak
def test_clew_agrees_with_the_client_on_1000_new_files(tmp_path: Path) -> None:
    found = differences(run(range(1000, 2000), tmp_path))
    assert len(found) <= 20, "\n".join(f"seed {each.seed}:\n{each.detail}" for each in found)
