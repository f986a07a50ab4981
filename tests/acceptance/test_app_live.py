"""A session that is written while it is read: new lines appear soon, and nothing that is read moves."""

from __future__ import annotations

import statistics
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from tests.acceptance.session_lab import visit
from tests.builder import Builder, call, text

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

pytestmark = pytest.mark.acceptance

SOON = 0.3
"""Seconds from a written line to the words on the screen."""

SLACK = 5
"""How much slower a busy machine may be."""


class Writer:
    """Writes a session as the client does, a line at a time."""

    def __init__(self, root: Path, *, turns: int = 0) -> None:
        self.path = root / "projects" / "-live" / "live.jsonl"
        self.path.parent.mkdir(parents=True)
        self.made = Builder("live")
        for number in range(turns):
            self.made.user(f"Prompt {number}").answer(f"Answer {number}.\n\n" + "Some words. " * 40)
        self.written = 0
        self.flush()

    def flush(self, *, but: int = 0) -> None:
        """Write what was added, but for some bytes of its end."""
        data = self.made.data()
        end = len(data) - but
        with self.path.open("ab") as file:
            file.write(data[self.written : end])
        self.written = end


SEEN = """() => {
    window.__seen = {};
    new MutationObserver(() => {
        for (const found of document.querySelector(".list").textContent.matchAll(/mark-\\d+-/g)) {
            window.__seen[found[0]] ??= Date.now();
        }
    }).observe(document.querySelector(".list"), { subtree: true, childList: true, characterData: true });
}"""


def test_new_lines_appear_within_a_moment_and_are_followed(tmp_path: Path, running: Browser) -> None:
    writer = Writer(tmp_path, turns=12)
    with visit(running, tmp_path) as reading:
        page = reading.page
        reading.read("live")
        page.wait_for_timeout(700)
        assert page.evaluate("scrollY") > 0, "what is being written is opened at its end"
        page.evaluate(SEEN)
        took: list[float] = []
        for number in range(30):
            if number % 6 == 0:
                writer.made.user(f"Next prompt mark-{number}-")
            else:
                writer.made.answer(f"Step mark-{number}-")
            began = time.time()
            writer.flush()
            reading.until("(name) => window.__seen[name]", f"mark-{number}-")
            took.append(page.evaluate("(name) => window.__seen[name]", f"mark-{number}-") / 1000 - began)
            page.wait_for_timeout(40)
        median = statistics.median(took)
        print(f"on the screen after {median * 1000:.0f} ms (median), {max(took) * 1000:.0f} ms at most")
        assert median < SOON * SLACK
        page.wait_for_timeout(200)
        assert page.evaluate("scrollY + innerHeight >= document.documentElement.scrollHeight - 70")
        assert "live, following" in page.inner_text("header.bar")
        assert page.locator(".railrow.is-current").count() == 1
        assert page.locator(".newpill").count() == 0
        assert reading.watched.misdeeds() == []


def test_who_has_scrolled_up_is_left_alone_and_told_what_is_new(tmp_path: Path, running: Browser) -> None:
    writer = Writer(tmp_path, turns=30)
    with visit(running, tmp_path) as reading:
        page = reading.page
        reading.read("live", "", "t20")
        page.wait_for_timeout(500)
        top = "document.querySelector('#t20').getBoundingClientRect().top"
        before = page.evaluate(top)
        # The end is not on the screen, nor was it ever: what is new is counted all the same.
        for number in range(3):
            writer.made.answer(f"New words {number}")
            writer.flush()
            page.wait_for_timeout(600)
        reading.until("document.querySelector('.newpill') !== null")
        reading.until("/^[23] new$/.test(document.querySelector('.newpill').textContent)")
        assert abs(page.evaluate(top) - before) < 2
        assert page.inner_text(".unseen")
        said = page.evaluate("document.querySelector('.unseen').getAttribute('aria-live')")
        assert said == "polite"
        assert reading.faults() == []
        page.click(".newpill")
        page.wait_for_timeout(500)
        assert "New words 2" in page.inner_text(".list")
        assert page.locator(".newpill").count() == 0
        reading.press("f")
        bottom = page.evaluate("scrollY")
        writer.made.answer("Held\n\n" + "words. " * 300)
        writer.flush()
        reading.until("document.querySelector('.list').textContent.includes('Held')")
        page.wait_for_timeout(300)
        assert abs(page.evaluate("scrollY") - bottom) < 2, "f holds it still"
        assert reading.watched.misdeeds() == []


def test_a_call_that_runs_shows_for_how_long_and_ends_in_place(tmp_path: Path, running: Browser) -> None:
    writer = Writer(tmp_path, turns=2)
    with visit(running, tmp_path) as reading:
        page = reading.page
        reading.read("live")
        page.wait_for_timeout(500)
        now = datetime.now(UTC).isoformat()
        writer.made.user("Go", timestamp=now)
        writer.made.answer(call("c1", "Bash", {"command": "sleep 60"}), timestamp=now)
        writer.flush()
        page.locator(".call.is-running .elapsed").wait_for()
        first = page.inner_text(".elapsed")
        page.wait_for_timeout(1500)
        assert page.inner_text(".elapsed") != first
        writer.made.result("c1", "slept well")
        writer.flush()
        page.locator(".call.is-done", has_text="sleep 60").wait_for()
        assert page.locator(".elapsed").count() == 0
        assert reading.watched.misdeeds() == []


def test_half_a_line_is_being_written_and_no_damage(tmp_path: Path, running: Browser) -> None:
    writer = Writer(tmp_path, turns=2)
    with visit(running, tmp_path) as reading:
        page = reading.page
        writer.made.answer(text("The second half comes later."))
        writer.flush(but=40)
        reading.read("live")
        page.locator(".beingwritten").wait_for()
        assert page.locator(".notice").count() == 0
        assert "damaged" not in page.inner_text("header.bar")
        writer.flush()
        reading.until("document.querySelector('.list').textContent.includes('The second half')")
        reading.until("document.querySelector('.beingwritten') === null")
        assert reading.watched.misdeeds() == []


def test_a_file_that_is_rewritten_is_read_anew(tmp_path: Path, running: Browser) -> None:
    writer = Writer(tmp_path, turns=8)
    with visit(running, tmp_path) as reading:
        page = reading.page
        reading.read("live", "", "t5")
        page.wait_for_timeout(400)
        writer.path.write_bytes(Builder("live").user("Another beginning").answer("Another end").data())
        reading.until("document.querySelector('.list')?.textContent.includes('Another end')")
        assert page.locator(".railrow").count() == 1
        assert reading.watched.misdeeds() == []
