"""Pages of very long sessions: soon there, nothing moves, and their end can be reached."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from clew.view.parts import Head, TurnHead, Work
from clew.view.timeline import TurnView
from tests import browser
from tests.acceptance.page_lab import hit, search, settle, written
from tests.export.page_stories import START, answer, prompt, shell, story

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

    from clew.export.story import Story
    from clew.view.parts import Flow

pytestmark = pytest.mark.acceptance

SOON = 1.0
"""Seconds until the first words are there."""

SLACK = 5
"""How much slower a busy machine may be."""


def long_story(turns: int, calls: int, output: str) -> Story:
    """A story that is made while it is written."""
    heads = [
        TurnHead(n, f"Prompt number {n}", "complete", Work(calls=calls, failed=n % 7 == 0), started=START + n)
        for n in range(1, turns + 1)
    ]

    def flow(n: int) -> Iterator[Flow]:
        yield prompt(f"Prompt number {n}")
        for m in range(calls):
            yield shell(f"step {n}.{m}", f"{output}needle-{n}-{m}", is_failed=n % 7 == 0 and m == 0)
        yield answer(f"Done with **{n}**.", is_last=True)

    def views() -> Iterator[TurnView]:
        for head in heads:
            yield TurnView(head, lambda n=head.n: flow(n))

    head = Head("5e55", "A long session", turns, Work(calls=turns * calls), started=START)
    return story([], head=head, heads=heads, turns_of=views)


def test_a_hundred_megabytes_are_there_at_once_and_can_be_read_to_the_end(
    tmp_path: Path, running: Browser
) -> None:
    line = "a line of an output that is neither short nor long, as there are many <of> them\n"
    path = written(long_story(1000, 50, line * 22), tmp_path / "big.html")
    assert path.stat().st_size > 100_000_000
    context = running.new_context(viewport={"width": 1440, "height": 1000})
    page = context.new_page()
    page.add_init_script(browser.WATCH)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    began = time.monotonic()
    page.goto(path.as_uri(), wait_until="commit")
    page.wait_for_selector(".item.prompt", timeout=30_000)
    first = time.monotonic() - began
    is_loading = page.evaluate("document.readyState") == "loading"
    page.wait_for_load_state("domcontentloaded", timeout=120_000)
    settle(page)
    painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime") / 1000
    whole = time.monotonic() - began
    print(f"first words after {first:.2f} s, first paint {painted:.2f} s, whole after {whole:.2f} s")
    assert is_loading, "the first words are there before the whole page is"
    assert first < SOON * SLACK
    assert painted < SOON * SLACK
    assert page.evaluate("window.__shift") <= 0.01
    assert page.evaluate("document.querySelectorAll('.item').length") < 1500, "only what is near is drawn"
    page.keyboard.press("End")
    page.evaluate("scrollTo(0, 1e9)")
    for _ in range(50):
        page.wait_for_timeout(100)
        if page.locator("[id='t1000.52']").count():
            break
    page.evaluate("scrollTo(0, 1e9)")
    settle(page)
    assert "Done with 1000." in page.inner_text(".list")
    assert page.locator(".railrow.is-current").inner_text().startswith("1000")
    assert search(page, "needle-777-33") == "1 of 1"
    assert (hit(page) or {}).get("isSeen")
    assert complaints == []
    context.close()


def test_a_hundred_thousand_items_do_not_freeze_the_page(tmp_path: Path, running: Browser) -> None:
    path = written(long_story(2000, 49, ""), tmp_path / "many.html")
    with browser.opened(running, path) as watched:
        page = watched.page
        settle(page)
        assert page.locator(".slot").count() >= 2000
        for level in ("1", "4", "2", "3"):
            began = time.monotonic()
            page.keyboard.press(level)
            settle(page)
            assert time.monotonic() - began < SOON * SLACK, level
        worst = page.evaluate("""async () => {
            let worst = 0, last = performance.now();
            for (let n = 0; n < 120; n += 1) {
                scrollBy(0, 300);
                await new Promise((done) => requestAnimationFrame(done));
                worst = Math.max(worst, performance.now() - last);
                last = performance.now();
            }
            return worst;
        }""")
        print(f"the longest frame while scrolling: {worst:.0f} ms")
        assert worst < 1000
        page.evaluate("location.hash = 't1999.10'")
        settle(page)
        assert page.locator("[id='t1999.10']").is_visible()
        assert watched.misdeeds() == []


def test_nothing_moves_while_a_page_is_read_in(tmp_path: Path, running: Browser) -> None:
    path = written(long_story(60, 12, "one\ntwo\nthree\n"), tmp_path / "page.html")
    for width in (390, 1440):
        with browser.opened(running, path, width=width) as watched:
            settle(watched.page)
            assert watched.shift() <= 0.01
