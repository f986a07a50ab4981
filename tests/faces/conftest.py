"""What the tests of the faces share: the command line, run in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.faces.console import console

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.faces.console import Console


@pytest.fixture
def clew(monkeypatch: pytest.MonkeyPatch) -> Iterator[Console]:
    """Return what runs a command as a person would."""
    yield from console(monkeypatch)
