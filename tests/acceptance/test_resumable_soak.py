"""Many edits of made sessions, resumed by the real client. `make soak` runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.acceptance.test_resumable import judge, measure

if TYPE_CHECKING:
    from tests.conformance.client import Client

pytestmark = pytest.mark.soak


def test_300_edits_of_made_sessions_are_resumed(client: Client) -> None:
    judge(measure(client, range(8000, 8500), 300), 300)
