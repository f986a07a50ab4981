"""All edits of all recorded sessions, resumed by the real clients. `make soak` runs it."""

from __future__ import annotations

import pytest

from tests.acceptance.test_edits import judge
from tests.conformance.edits import measure, sessions

pytestmark = pytest.mark.soak


def test_all_edits_are_resumed_as_clew_says() -> None:
    judge(measure(sessions(tenth=False)))
