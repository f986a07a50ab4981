"""Somebody who types into Search, and a clock in the page: from the last key until the hits are drawn."""

from __future__ import annotations

import math
import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from clew.errors import ClewError

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from playwright.sync_api import Browser, Page

    from tests.acceptance.app_lab import Served

_CLOCK: Final = """() => {
    const clock = window.__clock = { wanted: null, key: 0, took: null };
    const shown = () => [...document.querySelectorAll(".hit mark")]
        .map((one) => one.textContent.toLowerCase());
    const look = () => {
        const field = document.querySelector(".searchfield input");
        if (clock.wanted === null || clock.took !== null || field?.value !== clock.wanted) return;
        const marks = shown();
        const isThere = new URLSearchParams(location.search).get("q") === clock.wanted
            && document.querySelector(".searchsummary")?.textContent.includes("searched")
            && marks.length > 0 && marks.every((one) => one === clock.wanted.toLowerCase());
        if (!isThere) return;
        clock.took = -1;
        // Drawn is what a frame has shown: the task after the next frame knows.
        requestAnimationFrame(() => {
            const { port1, port2 } = new MessageChannel();
            port1.onmessage = () => { clock.took = performance.now() - clock.key; };
            port2.postMessage(null);
        });
    };
    // What is put in at once, as by an input method, has no keys.
    const note = (event) => { clock.key = event.timeStamp; };
    for (const name of ["keydown", "input"]) addEventListener(name, note, true);
    const everything = { subtree: true, childList: true, characterData: true };
    new MutationObserver(look).observe(document.body, everything);
}"""


@dataclass(frozen=True, slots=True)
class Took:
    """How long the searches took, in milliseconds, sorted."""

    each: Sequence[float]

    def share(self, part: float) -> float:
        """What so many of them took at most."""
        return self.each[max(0, math.ceil(len(self.each) * part) - 1)]

    def __str__(self) -> str:
        middle, most, slowest = self.share(0.5), self.share(0.95), self.each[-1]
        return (
            f"{len(self.each)} searches: middle {middle:.0f} ms, p95 {most:.0f} ms, slowest {slowest:.0f} ms"
        )


class NeverShownError(ClewError):
    """The hits of a word did not come."""

    code = "never-shown"


@contextmanager
def searching(running: Browser, server: Served) -> Generator[Page]:
    """Open Search with a clock in it. Nothing stands between the page and its server, as a watch would."""
    context = running.new_context(viewport={"width": 1440, "height": 1000})
    try:
        page = context.new_page()
        page.goto(server.url, wait_until="domcontentloaded")
        page.locator(".homerow").first.wait_for(timeout=120_000)
        page.goto(f"{server.home.rstrip('/')}/?view=search", wait_until="domcontentloaded")
        page.wait_for_function("() => document.activeElement?.matches('.searchfield input')")
        for _ in range(6_000):
            if page.evaluate("async () => (await (await fetch('/api/index')).json()).state") == "ready":
                break
            page.wait_for_timeout(100)
        # The page itself looks now and then, and asks at once when it knows that the index can tell.
        page.locator(".status").wait_for(state="detached")
        page.evaluate(_CLOCK)
        yield page
    finally:
        context.close()


def typed(page: Page, word: str, *, pause: float = 80) -> float:
    """Type a word, with so many milliseconds between the keys, and return how long its hits took then."""
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.locator(".howto").wait_for()
    page.evaluate("(word) => Object.assign(window.__clock, { wanted: word, took: null })", word)
    page.keyboard.type(word, delay=pause)
    for _ in range(1_000):
        took = page.evaluate("window.__clock.took")
        if took is not None and took >= 0:
            return float(took)
        page.wait_for_timeout(20)
    raise NeverShownError(f"no hits of {word!r} were shown")


def all_typed(page: Page, words: Sequence[str], *, rounds: int = 1) -> Took:
    """Type each word, and all of them again as often as is said."""
    return Took(sorted(typed(page, word) for _ in range(rounds) for word in words))


def spent(pid: int) -> float:
    """The seconds of processor that a process has had."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
