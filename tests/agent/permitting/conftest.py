"""What the tests of permissions share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.agent.permitting.places import Place

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place.make(tmp_path)
