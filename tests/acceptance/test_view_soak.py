"""Many spoiled sessions, each drawn; the ordinary run has a tenth of them and more."""

from __future__ import annotations

import pytest

from tests.view.test_hostile_sessions import SEEDS, draw

MANY = 400


@pytest.mark.soak
def test_no_spoiled_session_is_too_strange() -> None:
    for seed in range(SEEDS, MANY):
        draw(seed)
