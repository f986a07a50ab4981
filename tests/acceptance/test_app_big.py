"""Very long sessions in the web app: soon there, few things in the page, little memory, no stutter."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.acceptance.app_lab import served, visiting
from tests.acceptance.page_lab import hit, settle
from tests.acceptance.session_lab import Visit
from tests.builder import Builder, call

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.acceptance

SOON = 1.0
"""Seconds until the first words of a session that the server has open are there."""

SLACK = 5
"""How much slower a busy machine may be."""

MOST_DRAWN = 60
HEAP = 60_000_000
STILL = 200
"""Milliseconds that a page may stand still while a view is made."""

FRAME = 100
"""Milliseconds that a frame may take."""


def heap(page: Page) -> int:
    """The bytes that the page's script holds, after what it no longer needs was thrown away."""
    session: Any = page.context.new_cdp_session(page)
    session.send("HeapProfiler.enable")
    session.send("HeapProfiler.collectGarbage")
    session.send("Performance.enable")
    found = session.send("Performance.getMetrics")["metrics"]
    session.detach()
    return int(next(one["value"] for one in found if one["name"] == "JSHeapUsedSize"))


SCROLL = """async ([step, frames]) => {
    const took = [];
    let drawn = 0, rows = 0, last = performance.now();
    for (let n = 0; n < frames; n += 1) {
        scrollBy(0, step);
        await new Promise((done) => requestAnimationFrame(done));
        took.push(performance.now() - last);
        last = performance.now();
        drawn = Math.max(drawn, document.querySelectorAll(".slot.is-drawn, .slot.is-waiting").length);
        rows = Math.max(rows, document.querySelectorAll(".railrow").length);
    }
    took.sort((one, other) => one - other);
    return { drawn, rows, worst: took.at(-1), most: took[Math.floor(took.length * 0.95)] };
}"""


def first_words(reading: Visit, session: str) -> float:
    """Open a session and return how long its first words took."""
    reading.page.goto("about:blank")
    began = time.monotonic()
    address = f"{reading.server.home.rstrip('/')}/?view=session&session={session}"
    reading.page.goto(address, wait_until="commit")
    reading.page.wait_for_selector(".item.prompt", timeout=120_000)
    return time.monotonic() - began


def to_the_end(reading: Visit, words: str) -> None:
    """Go to the end of a session, whose last words are known."""
    for _ in range(100):
        reading.page.evaluate("scrollTo(0, 1e9)")
        reading.page.wait_for_timeout(100)
        if words in reading.page.inner_text(".list"):
            return
    pytest.fail(f"{words!r} was never there")


def check(scrolled: dict[str, Any]) -> None:
    usual, worst = scrolled["most"], scrolled["worst"]
    print(f"{scrolled['drawn']} pieces drawn, frames {usual:.0f} ms, {worst:.0f} ms at most")
    assert scrolled["drawn"] <= MOST_DRAWN
    assert scrolled["rows"] <= MOST_DRAWN
    assert worst < FRAME * SLACK


def test_a_hundred_thousand_entries_are_scrolled_without_stutter(tmp_path: Path, running: Browser) -> None:
    made = Builder("many")
    turns = 25_000
    for number in range(turns):
        name = f"c{number}"
        made.user(f"Prompt number {number}").answer(call(name, "Bash", {"command": f"step {number}"}))
        made.result(name, f"needle-{number}-").answer(f"Done with **{number}**.")
    path = tmp_path / "projects" / "-many" / "many.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(made.data())
    os.utime(path, (1e9, 1e9))
    with served(tmp_path, "--no-index") as server, visiting(running, server) as watched:
        page = watched.page
        reading = Visit(server, watched)
        first_words(reading, "many")
        check(page.evaluate(SCROLL, [300, 100]))  # while the rest of the turns is on its way
        reading.until("parseFloat(document.querySelector('.rail ol').style.height) === 25000 * 48")
        check(page.evaluate(SCROLL, [300, 100]))
        whole = page.evaluate("document.documentElement.scrollHeight")
        check(page.evaluate(SCROLL, [whole / 100, 105]))
        to_the_end(reading, f"Done with {turns - 1}.")
        assert page.locator(".slot").count() < 200, "what is far is not even a box"
        for level in ("1", "4", "3"):
            began = time.monotonic()
            page.keyboard.press(level)
            settle(page)
            assert time.monotonic() - began < SOON * SLACK, level
        assert reading.find("needle-12345-") == "1 of 1"
        assert (hit(page) or {}).get("isSeen")
        used = heap(page)
        nodes = page.evaluate("document.querySelectorAll('*').length")
        print(f"{used / 1e6:.1f} MB, {nodes} elements")
        assert used < HEAP
        assert nodes < 5000
        reading.press("Escape")
        page.evaluate("location.hash = 't20000.2'")
        page.locator("[id='t20000.2'].is-here").wait_for()
        reading.press("J")
        page.locator("[id='t20001.1'].is-here").wait_for()
        assert watched.misdeeds() == []


LONGEST = """
window.__longest = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.__longest = Math.max(window.__longest, entry.duration);
}).observe({ type: "longtask", buffered: true });
"""
"""Takes note of how long the page stood still at most."""


def rich(root: Path, megabytes: int) -> Path:
    """Write a session of so many megabytes that has everything a view could show."""
    path = root / "projects" / "-rich" / "rich.jsonl"
    made = Builder("rich")
    output = "a line of what a program printed\n" * 300
    for number in range(megabytes * 1_000_000 // 40_000):
        made.user(f"turn {number} needle-{number}-")
        for at in range(4):
            name = f"t{number}-{at}"
            made.answer(call(name, "Bash", {"command": f"make {at}"})).result(name, output)
        if number % 25 == 0:
            given = {"file_path": f"/src/part{number % 4}.py", "content": f"one\ntwo {number}\n"}
            result = {"type": "create", "filePath": given["file_path"], "content": given["content"]}
            made.answer(call(f"w{number}", "Write", given))
            made.result(f"w{number}", "done", toolUseResult={**result, "originalFile": None})
        if number == 7:
            given = {"description": "look", "prompt": "look", "subagent_type": "Explore"}
            made.answer(call("task", "Task", given))
            made.result("task", "looked", toolUseResult={"agentId": "a1", "status": "completed"})
        made.answer("done")
    agent = Builder("rich").user("look", isSidechain=True, agentId="a1")
    for number in range(200):
        agent.answer(f"saw {number}", isSidechain=True, agentId="a1")
    (path.with_suffix("") / "subagents").mkdir(parents=True)
    (path.with_suffix("") / "subagents" / "agent-a1.jsonl").write_bytes(agent.data())
    path.write_bytes(made.data())
    os.utime(path, (1e9, 1e9))
    return path


VIEWS = {
    "home": ("/?all=1", ".homerow"),
    "search": ("/?view=search&q=%22needle+1234%22", ".hit mark"),
    "search in it": ("/?view=search&q=printed&session=rich", ".hit mark"),
    "reader": ("/?view=session&session=rich", ".item.prompt"),
    "last turn": ("/?view=session&session=rich#t2500", "[id='t2500.1']"),
    "sub-agent": ("/?view=session&session=rich&agent=a1", ".item"),
    "context": ("/?view=session&session=rich&tab=context", ".kindbutton"),
    "usage": ("/?view=usage&by=session&since=2026-01-01", "tbody tr"),
    "files": ("/?view=files", ".treerow"),
    "a file": ("/?view=files&path=%2Fsrc%2Fpart0.py", ".version"),
    "doctor": ("/?view=doctor", ".totals"),
    "trim": ("/?view=doctor&session=rich&edit=trim", ".editform"),
}
"""By what it shows: an address, and what is there once it shows something."""


def test_every_view_of_a_hundred_megabytes_is_there_within_a_second(tmp_path: Path, running: Browser) -> None:
    assert rich(tmp_path, 100).stat().st_size > 100_000_000
    with served(tmp_path) as server, visiting(running, server) as watched:
        page, reading = watched.page, Visit(server, watched)
        page.add_init_script(LONGEST)
        until_read(page)
        cold = first_words(reading, "rich")
        warm = first_words(reading, "rich")
        print(f"first words after {warm:.2f} s, {cold:.2f} s cold, moved by {watched.shift():.3f}")
        assert warm < SOON * SLACK
        assert watched.shift() <= 0.05
        check(page.evaluate(SCROLL, [300, 100]))
        to_the_end(reading, "turn 2499")
        used = heap(page)
        print(f"{used / 1e6:.1f} MB")
        assert used < HEAP
        took: dict[str, float] = {}
        still: dict[str, float] = {}
        reading.read("rich")
        began = time.monotonic()
        assert reading.find("needle-2345-") == "1 of 1"
        for _ in range(400):
            if (hit(page) or {}).get("isSeen"):
                break
            page.wait_for_timeout(25)
        took["find in it"] = time.monotonic() - began
        assert (hit(page) or {}).get("isSeen")
        reading.press("Escape")
        began = time.monotonic()
        page.keyboard.press("End")
        page.locator("[id='t2500.1']").wait_for(state="attached")
        took["to the end"] = time.monotonic() - began
        # What all of the session is read for is read once.
        for address in ("sessions/rich/context?messages=0", "sessions/rich/window", "files", "doctor"):
            page.evaluate("async (path) => (await fetch(path)).text()", f"/api/{address}")
        for name, (address, shown) in VIEWS.items():
            page.goto("about:blank")
            began = time.monotonic()
            page.goto(f"{server.home.rstrip('/')}{address}", wait_until="commit")
            page.wait_for_selector(shown, timeout=30_000, state="attached")
            took[name] = time.monotonic() - began
            page.wait_for_timeout(200)
            still[name] = page.evaluate("window.__longest")
        print("".join(f"\n{name}: {seconds:.2f} s, stood still for {still.get(name, 0):.0f} ms"
                      for name, seconds in took.items()))  # fmt: skip
        assert max(took.values()) < SOON * SLACK, took
        assert max(still.values()) < STILL * SLACK, still
        assert watched.misdeeds() == []


def until_read(page: Page) -> None:
    """Wait until the index is there, and with it the lists."""
    page.locator(".homerow").first.wait_for(timeout=120_000)
    page.locator(".status").wait_for(state="detached", timeout=120_000)
