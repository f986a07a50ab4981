"""Whatever the document lets one ask, and much that it does not, the server answers as the document says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from schemathesis.generation import GenerationMode

from tests.acceptance.web_schema import ask_everything
from tests.faces.web.lab import running
from tests.faces.web.stores import demo, hostile

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

EACH = 20
"""Requests to each address here; the soak sends ten times as many."""


@pytest.mark.acceptance
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_no_request_makes_the_server_fail(tmp_path: Path, mode: GenerationMode) -> None:
    with running(demo(tmp_path)) as visitor:
        found = ask_everything(visitor, examples=EACH, mode=mode)
    assert found.total() > 15 * EACH
    if mode is GenerationMode.POSITIVE:
        assert found[200] > found.total() / 8, found


@pytest.mark.soak
@pytest.mark.parametrize("make", [demo, hostile])
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_no_request_of_thousands_makes_the_server_fail(
    tmp_path: Path, mode: GenerationMode, make: Callable[[Path], Path]
) -> None:
    with running(make(tmp_path)) as visitor:
        assert ask_everything(visitor, examples=10 * EACH, mode=mode).total() > 150 * EACH
