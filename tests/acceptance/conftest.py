"""What the acceptance tests share: the real client, installed once and kept in the user's cache."""

from __future__ import annotations

import pytest

from tests.conformance.client import Client, install


@pytest.fixture(scope="session")
def client() -> Client:
    """The client conformance is measured against."""
    return install()
