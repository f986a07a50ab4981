"""Where edits are committed in these tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.store.faults.jobs import old_session

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    old_session(tmp_path / "config" / "projects" / "slug")
    return tmp_path / "config" / "projects" / "slug"


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"
