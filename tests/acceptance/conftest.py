"""What the acceptance tests share: the real client and a browser, kept in the user's cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests import browser
from tests.conformance.client import Client, install
from tests.debian import program

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def client() -> Client:
    """The client conformance is measured against."""
    return install()


@pytest.fixture(scope="session")
def tmux() -> str:
    """The terminal that tests type into, by its program."""
    found = program("tmux")
    if found is None:
        pytest.skip("needs tmux, or apt-get to install it")
    return found


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A real browser that nothing is open in."""
    with browser.browser(tmp_path_factory.mktemp("browser")) as found:
        yield found
