"""Home in a real browser: the list, what narrows it, a thousand sessions, and some that are being written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.acceptance.app_checks import STRANGE, cut, faults, hostile_store, many_sessions
from tests.acceptance.app_lab import go, served, visiting, visiting_demo
from tests.acceptance.page_lab import LOOKS, settle
from tests.acceptance.xss import PAYLOADS
from tests.builder import Builder
from tests.faces.stage import demo

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.acceptance


def titles(page: Page) -> list[str]:
    page.locator(".homerow, .empty").first.wait_for()
    return page.locator(".hometitle").all_inner_texts()


def listed(root: Path) -> list[dict[str, Any]]:
    """What `clew ls` says of the same sessions."""
    command = [sys.executable, "-m", "clew", "ls", "--json", "--full", "--root", str(root)]
    told = json.loads(subprocess.run(command, capture_output=True, check=False).stdout)
    return [row for row in told if row["kind"] == "conversation"]


def wait_for_titles(page: Page, count: int) -> list[str]:
    page.wait_for_function("(n) => document.querySelectorAll('.homerow').length === n", arg=count)
    return titles(page)


def test_the_list_says_what_clew_ls_says(tmp_path: Path, running: Browser) -> None:
    root = demo(tmp_path)
    told = listed(root)
    with served(root) as server, visiting(running, server, width=1600) as watched:
        page = watched.page
        assert len(titles(page)) == len(told) == 8
        page.wait_for_function("() => !document.querySelector('.of-turns')?.textContent.includes('…')")
        for at, row in enumerate(told):
            shown = page.locator(".homerow").nth(at).inner_text().replace("\u00a0", " ").split("\n")
            said = " ".join(shown)
            assert row["title"] in said
            assert f"{row['turns']} turn" in said
            assert f"{row['tool_calls']} call" in said
            assert (f"{row['failed_calls']} failed" in said) == bool(row["failed_calls"])
            assert f"${row['cost_usd']:.2f}" in said
            assert ("damaged" in said) == bool(row["damaged"])
            assert row["project"].rpartition("/")[2] in said
            height = page.locator(".homeline").nth(at).evaluate("(one) => one.parentElement.offsetHeight")
            assert height == 56
            assert page.locator(".homerow").nth(at).locator("button, a").count() == 0
        totals = page.inner_text(".hometotals").replace("\u00a0", " ")
        assert "8 sessions + 2 sub-agents + 2 empty" in totals
        assert f"${sum(row['cost_usd'] for row in told):.2f} at prices of" in totals
        page.get_by_role("link", name="1 damaged: Doctor").click()
        page.locator(".view-doctor").wait_for(state="attached")
        assert watched.misdeeds() == []


def test_what_narrows_the_list_is_in_the_address_and_back_takes_it_away(
    tmp_path: Path, running: Browser
) -> None:
    with served(demo(tmp_path)) as server, visiting(running, server) as watched:
        page = watched.page
        assert len(titles(page)) == 8
        page.get_by_label("Project").select_option(label="bakery (3)")
        bakery = wait_for_titles(page, 3)
        assert "project=%2Fhome%2Frobin%2Fbakery" in page.url
        assert "3 of 8" in page.inner_text(".hometotals").replace("\u00a0", " ")
        # Other projects are still to be had, and each choice says what it gives.
        page.get_by_label("Project").locator("option", has_text="greenhouse (3)").wait_for(state="attached")
        page.get_by_role("button", name="Failed").click()
        assert wait_for_titles(page, 1) == ["Sold-out loaves stay off the order form"]
        assert "failed=1" in page.url
        page.go_back()
        assert wait_for_titles(page, 3) == bakery
        page.go_back()
        assert len(wait_for_titles(page, 8)) == 8
        page.get_by_label("A part of the title").fill("maze")
        assert len(wait_for_titles(page, 2)) == 2
        page.get_by_label("A part of the title").fill("")
        wait_for_titles(page, 8)
        page.get_by_label("Order").select_option("title")
        page.wait_for_function("() => document.querySelector('.hometitle').textContent.startsWith('Baking')")
        page.go_back()  # typing left no steps
        page.wait_for_function("() => document.querySelector('.hometitle').textContent.startsWith('Stop')")
        # A link that somebody kept.
        go(page, server, "/?model=opus&since=2020-01-01&until=2030-01-01")
        assert len(titles(page)) == 1
        assert "2020-01-01 – 2030-01-01" in page.inner_text(".filters")
        # What fits nothing says what is in the way.
        go(page, server, "/?damaged=1&failed=1&branch=sold-out")
        page.get_by_text("No session fits.").wait_for()
        page.get_by_role("button", name="Remove: damaged").click()
        assert wait_for_titles(page, 1) == ["Sold-out loaves stay off the order form"]
        assert watched.misdeeds() == []


def test_the_list_works_by_keyboard(tmp_path: Path, running: Browser) -> None:
    with served(demo(tmp_path)) as server, visiting(running, server) as watched:
        page = watched.page
        all_titles = titles(page)
        here = "() => document.activeElement?.querySelector('.hometitle')?.textContent ?? ''"
        for key, at in (("j", 0), ("j", 1), ("j", 2), ("k", 1), ("ArrowDown", 2)):
            page.keyboard.press(key)
            page.wait_for_function(f"(title) => ({here})() === title", arg=all_titles[at])
        page.keyboard.press("o")
        page.locator("a.agentrow").wait_for()
        assert "agent=" in (page.locator("a.agentrow").get_attribute("href") or "")
        page.keyboard.press("o")
        page.locator("a.agentrow").wait_for(state="detached")
        page.keyboard.press("Enter")
        page.locator(".view-session").wait_for(state="attached")
        page.go_back()
        page.locator(".homerow").first.wait_for()
        page.keyboard.press("j")
        page.wait_for_function(f"(title) => ({here})() === title", arg=all_titles[3])
        assert watched.misdeeds() == []


SCROLL = """async () => {
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    const seen = new Set();
    let most = 0, slowest = 0, before = performance.now();
    for (let y = 0; y <= document.documentElement.scrollHeight; y += 400) {
        scrollTo(0, y);
        await frame();
        const now = performance.now();
        slowest = Math.max(slowest, now - before);
        before = now;
        const rows = document.querySelectorAll(".homerow");
        most = Math.max(most, document.querySelectorAll(".windowedrow").length);
        for (const row of rows) seen.add(row.querySelector(".hometitle").textContent);
        if (rows.length === 0) await new Promise((done) => setTimeout(done, 50));
    }
    return { seen: seen.size, most, slowest };
}"""


def test_a_thousand_sessions_scroll_and_few_are_drawn(tmp_path: Path, running: Browser) -> None:
    written = many_sessions(tmp_path / "store", 1000)
    with served(tmp_path / "store") as server, visiting(running, server) as watched:
        page = watched.page
        page.locator(".homerow").first.wait_for()
        page.wait_for_function("() => document.querySelector('.hometotals')?.textContent.includes('1,000')")
        page.wait_for_function("() => document.querySelector('.status') === null")
        # Straight to the end, as with the End key: what was not asked for yet is asked for.
        page.keyboard.press("End")
        page.get_by_text(written[-1]).wait_for()
        page.evaluate("() => scrollTo(0, 0)")
        settle(page)
        found = page.evaluate(SCROLL)
        assert found["seen"] == 1000
        assert found["most"] <= 60
        assert found["slowest"] < 500, found  # five times what a frame may take
        # Where one was is where one comes back to.
        page.evaluate("() => scrollTo(0, 20000)")
        settle(page)
        row = page.locator(".homerow").nth(14)
        title = row.locator(".hometitle").inner_text()
        where = page.evaluate("scrollY")
        row.click()
        page.locator(".view-session").wait_for(state="attached")
        page.go_back()
        page.get_by_text(title).wait_for()
        settle(page)
        assert abs(page.evaluate("scrollY") - where) < 2
        assert watched.misdeeds() == []


def test_what_is_written_comes_to_the_top_and_moves_nothing_that_one_is_on(
    tmp_path: Path, running: Browser
) -> None:
    root = tmp_path / "store"
    written = many_sessions(root, 80)
    last = root / "projects" / "-home-ada-lighthouse" / f"{40:08x}-0000-4000-8000-000000000000.jsonl"
    with served(root) as server, visiting(running, server) as watched:
        page = watched.page
        page.locator(".homerow").first.wait_for()
        page.wait_for_function("() => document.querySelector('.status') === null")
        for _ in range(5):
            page.keyboard.press("j")
        page.wait_for_function(
            "(title) => document.activeElement?.querySelector('.hometitle')?.textContent === title",
            arg=written[4],
        )
        top = "() => document.activeElement.getBoundingClientRect().top"
        before = page.evaluate(top)
        with last.open("ab") as file:
            file.write(Builder("x").user("One more", uuid="n1").answer("There it is", uuid="n2").data())
        page.wait_for_function("() => document.querySelector('.hometitle').textContent.includes('00040')")
        assert page.locator(".homerow").first.inner_text().count("live") == 1
        assert page.evaluate("() => document.activeElement.textContent").startswith(written[4])
        assert abs(page.evaluate(top) - before) < 1
        # A session that is new is there too; one that is gone is not.
        fresh = last.with_name(f"{500:08x}-0000-4000-8000-000000000000.jsonl")
        fresh.write_bytes(Builder("y").user("Paint the tower white").answer("White it is").data())
        page.locator(".hometitle", has_text="Paint the tower white").wait_for()
        assert abs(page.evaluate(top) - before) < 1
        fresh.unlink()
        page.locator(".hometitle", has_text="Paint the tower white").wait_for(state="detached")
        assert abs(page.evaluate(top) - before) < 1
        assert watched.misdeeds() == []


def test_columns_drop_in_their_order(tmp_path: Path, running: Browser) -> None:
    with served(demo(tmp_path)) as server, visiting(running, server) as watched:
        page = watched.page
        page.locator(".of-activity path").first.wait_for(state="attached")
        dropped: list[list[str]] = []
        for width in (1440, 1090, 950, 830, 390):
            page.set_viewport_size({"width": width, "height": 900})
            settle(page)
            row = page.locator(".homeline", has_text="failed").first
            gone = [
                name
                for name in ("activity", "calls", "branch", "failures", "cost")
                if not row.locator(f".of-{name}, .home{name}").first.is_visible()
            ]
            dropped.append(gone)
        assert dropped == [
            [],
            ["activity"],
            ["activity", "calls"],
            ["activity", "calls", "branch"],
            ["activity", "calls", "branch"],
        ]


def test_an_empty_store_says_where_was_looked_and_what_can_be_done(tmp_path: Path, running: Browser) -> None:
    root = tmp_path / "nothing"
    (root / "projects").mkdir(parents=True)
    with served(root) as server, visiting(running, server) as watched:
        page = watched.page
        page.get_by_text("There are no sessions here yet.").wait_for()
        said = page.inner_text("main")
        assert str(root) in said
        assert "clew web --root FOLDER" in said
        assert "clew demo" in said
        assert page.locator(".filters").count() == 0
        assert faults(page) == []
        assert cut(page) == []
        # The first one that is written appears by itself.
        first = root / "projects" / "-home-ada" / "a1a1a1a1-0000-4000-8000-000000000000.jsonl"
        first.parent.mkdir()
        first.write_bytes(Builder("a1").user("Light the lamp").answer("It is lit").data())
        page.locator(".homerow").first.wait_for()
        assert watched.misdeeds() == []


@pytest.mark.parametrize(("width", "colours"), LOOKS)
def test_nothing_keeps_people_from_using_the_list(
    tmp_path: Path, running: Browser, width: int, colours: str
) -> None:
    with visiting_demo(running, tmp_path, width=width, colours=colours) as (server, watched):
        page = watched.page
        if width > 720:
            page.locator(".homefold").first.click()
            page.locator("a.agentrow").wait_for()
        else:
            page.get_by_role("button", name="Filters").click()
        assert faults(page) == []
        go(page, server, "/?damaged=1&failed=1&branch=sold-out")
        page.get_by_text("No session fits.").wait_for()
        assert faults(page) == []
        go(page, server, "/")
        page.locator(".homerow").first.wait_for()
        assert cut(page) == []
        assert watched.misdeeds() == []


def test_whatever_sessions_say_is_shown_and_does_nothing(tmp_path: Path, running: Browser) -> None:
    root = hostile_store(tmp_path / "store", PAYLOADS)
    long = "A" * 5000
    damaged = Builder("long").user(long, cwd=f"/{long}", gitBranch=long).answer(long).raw(b"{\xff\x00 torn\n")
    (root / "projects" / "-home-x" / "ffffffff-0000-4000-8000-000000000000.jsonl").write_bytes(damaged.data())
    os.utime(root / "projects" / "-home-x", (time.time(), time.time()))
    with served(root) as server, visiting(running, server) as watched:
        page = watched.page
        page.locator(".homerow").first.wait_for()
        page.wait_for_function("() => document.querySelector('.status') === null")
        shown = page.evaluate(SCROLL)
        assert shown["seen"] > len(PAYLOADS) * 0.8  # some say the same
        page.evaluate("() => scrollTo(0, 0)")
        settle(page)
        assert page.evaluate(STRANGE) == []
        page.evaluate("""() => {
            for (const one of document.querySelectorAll("#app a, #app button, #app select")) {
                one.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
                one.focus({ preventScroll: true });
            }
        }""")
        page.keyboard.press("Control+k")
        page.locator(".anywhererow").nth(20).wait_for()
        assert page.evaluate(STRANGE) == []
        page.keyboard.press("Escape")
        assert cut(page, (390, 1440)) == []
        assert watched.misdeeds() == []
