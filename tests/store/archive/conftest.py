"""Where sessions are, and where they are archived, in these tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "config"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "data" / "archive"
