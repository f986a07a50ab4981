"""The web app as a person sees it: `clew web` in a process of its own, and a real browser that came in."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests import browser
from tests.faces.stage import demo

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from playwright.sync_api import Browser, Page


@dataclass(slots=True)
class Served:
    """A server that runs."""

    process: subprocess.Popen[str]
    url: str
    """Lets one browser in, once."""

    @property
    def home(self) -> str:
        """The address without the code."""
        return self.url.partition("?")[0]


@contextmanager
def served(root: Path, *options: str) -> Generator[Served]:
    """Start `clew web` on a config folder; it is gone afterwards."""
    command = [sys.executable, "-m", "clew", "web", "--no-open", "--root", str(root), *options]
    env = os.environ | {"BROWSER": "true"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
    assert process.stdout is not None
    try:
        url = process.stdout.readline().strip()
        assert re.match(r"http://127\.0\.0\.1:\d+/", url), url
        yield Served(process, url)
    finally:
        process.kill()
        process.communicate()


@contextmanager
def visiting(
    running: Browser,
    server: Served,
    *,
    width: int = 1440,
    height: int = 1000,
    colours: str = "light",
) -> Generator[browser.Watched]:
    """Come in by the printed address; whatever the page asks of anybody else is noted and refused."""

    def is_own(address: str) -> bool:
        return address.startswith((server.home, "data:", "blob:"))

    with browser.watching(running, is_own, width=width, height=height, colours=colours) as watched:
        watched.page.goto(server.url, wait_until="domcontentloaded")
        watched.page.locator("#app .app").wait_for(state="attached")
        yield watched


@contextmanager
def visiting_demo(
    running: Browser, folder: Path, *, width: int, colours: str
) -> Generator[tuple[Served, browser.Watched]]:
    """Come to the list of the demo's sessions, in a window of some width."""
    with (
        served(demo(folder)) as server,
        visiting(running, server, width=width, height=844, colours=colours) as watched,
    ):
        watched.page.locator(".homerow").first.wait_for()
        yield server, watched


def go(page: Page, server: Served, address: str) -> None:
    """Open an address of the app, as a link that somebody kept would."""
    page.goto(server.home.rstrip("/") + address, wait_until="domcontentloaded")
    page.locator("#app .app").wait_for(state="attached")
