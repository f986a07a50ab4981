"""All recorded sessions of the real clients, gone on with by `clew run`. `make soak` runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.acceptance.test_agent_both_ways import judge
from tests.conformance.edits import sessions

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conformance.client import Client

pytestmark = pytest.mark.soak


def test_all_recorded_sessions_are_gone_on_with(tmp_path: Path, client: Client) -> None:
    judge(client, tmp_path, sessions(tenth=False))
