"""Somebody who reads a session in the web app, in a real browser, and the sessions of the demo by name."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests import browser
from tests.acceptance.app_lab import go, served, visiting
from tests.acceptance.page_lab import settle

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from tests.acceptance.app_lab import Served
    from tests.browser import Watched

VENTS = "f02602cd-a308-4964-8066-e11da82c3b08"
"""Of the demo: two turns, a failed call."""

WATER = "f947ec65-b1a8-47f0-ba2a-b1cf82a2f3dd"
"""A sub-agent and a compaction."""

LOAVES = "fc79692c-2efa-49d3-b238-4e447dcd58c1"
"""A branch that was left."""

DAMAGED = "4a01ee6e-7cee-4806-bb42-035afbcbf0b0"
EMPTY = "3237c457-f4f7-44ed-acd4-68ade0ea5e05"


class Visit:
    """Somebody who reads in the app."""

    def __init__(self, server: Served, watched: Watched) -> None:
        self.server = server
        self.watched = watched
        self.page: Page = watched.page

    def read(self, session: str, more: str = "", place: str = "") -> None:
        """Open a session by its address and wait until something of it is there."""
        self.page.goto("about:blank")
        go(self.page, self.server, f"/?view=session&session={session}{more}{'#' + place if place else ''}")
        self.page.locator(".item, .empty, .failed, .context").first.wait_for(state="attached")
        settle(self.page)

    def until(self, script: str, arg: object = None) -> None:
        """Wait until something is so; what Playwright has for it is forbidden by the page's policy."""
        asked = script if script.startswith("(") else f"() => {script}"
        for _ in range(400):
            if self.page.evaluate(asked, arg):
                return
            self.page.wait_for_timeout(25)
        pytest.fail(f"never came true: {script}")

    def words(self, where: str) -> str:
        """What stands there, its spaces as plain ones."""
        return self.page.inner_text(where).replace("\u00a0", " ")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
        settle(self.page)

    def find(self, words: str) -> str:
        """Find words, go to the first hit, and return what is said of it."""
        self.press("/")
        self.page.keyboard.insert_text(words)
        self.until("/hits?$/.test(document.querySelector('.found')?.textContent ?? '')")
        return self.step()

    def step(self, key: str = "Enter") -> str:
        before = self.page.inner_text(".found")
        self.page.keyboard.press(key)
        self.until("(before) => document.querySelector('.found').textContent !== before", arg=before)
        self.page.wait_for_timeout(250)
        settle(self.page)
        return self.page.inner_text(".found")

    def faults(self) -> list[str]:
        """What axe finds."""
        self.page.evaluate(browser.axe())
        found = self.page.evaluate("() => axe.run('.view-session', { resultTypes: ['violations'] })")
        return [f"{one['id']}: {one['nodes'][0]['html'][:160]}" for one in found["violations"]]


@contextmanager
def visit(running: Browser, root: Path, **options: Any) -> Generator[Visit]:
    with served(root) as server, visiting(running, server, **options) as watched:
        yield Visit(server, watched)
