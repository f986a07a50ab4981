"""Many kills of `clew run`. `make soak` runs it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.acceptance.test_agent_kills import bear

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.soak


def test_sessions_bear_200_kills_at_random_moments(tmp_path: Path) -> None:
    bear(tmp_path, 200, seed=int(os.environ.get("SEED", "11")))
