"""The view Usage in a real browser: the numbers of clew usage, every bar and row a way to its sessions."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from datetime import date
from typing import TYPE_CHECKING, Any

import pytest

from tests.acceptance.app_lab import served, visiting
from tests.acceptance.page_lab import settle
from tests.acceptance.view_lab import drawn, flaws, harmless, opened
from tests.acceptance.xss import PAYLOADS
from tests.builder import Builder
from tests.export import hostile
from tests.faces.stage import demo, write

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.acceptance

BERLIN = ("--tz", "Europe/Berlin")
"""Where the browser of the tests is."""


def told(root: Path, *options: str) -> Any:
    """What clew usage says of the same."""
    command = [sys.executable, "-m", "clew", "usage", "--root", str(root), "--json", *BERLIN, *options]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    assert done.returncode in {0, 3}, done.stderr  # one of the demo is damaged
    return json.loads(done.stdout)


def short(tokens: int) -> str:
    """A number of tokens as it is shown."""
    if tokens < 1000:
        return str(tokens)
    value, unit = (tokens / 1000, "k") if tokens < 999_500 else (tokens / 1_000_000, "M")
    return f"{value:.1f}".removesuffix(".0") + unit if value < 99.95 else f"{round(value)}{unit}"


def figures(page: Page, rows: str) -> list[list[str]]:
    return page.evaluate(
        f"""() => [...document.querySelectorAll(".usagetable {rows} tr")]
            .map((row) => [...row.children].map((cell) => cell.textContent.trim()).slice(0, 7))"""
    )


KINDS = ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h")


def shown(row: Any) -> list[str]:
    """The figures of a row as they are shown."""
    cost = row["cost_usd"]
    return [*(short(row["tokens"][kind]) for kind in KINDS), "<$0.01" if 0 < cost < 0.01 else f"${cost:.2f}"]


@pytest.mark.parametrize("by", ["day", "model", "project", "tool"])
def test_every_number_is_that_of_the_command(tmp_path: Path, running: Browser, by: str) -> None:
    root = demo(tmp_path)
    period = ("--since", "2026-01-20", "--until", "2026-03-04")
    wanted = told(root, "--by", by, *period)
    assert 1 < len(wanted["rows"]) < len(told(root)["rows"]) + 9
    with served(root) as server, visiting(running, server) as watched:
        opened(
            watched.page, server, f"/?view=usage&since=2026-01-20&until=2026-03-04&by={by}&sort=key&order=up"
        )
        made = figures(watched.page, "tbody")
        rows = sorted(wanted["rows"], key=lambda row: row["key"])
        assert made == [[row["key"], *shown(row)] for row in rows]
        total = wanted["total"]
        assert figures(watched.page, "tfoot") == [["Total", *shown(total)]]
        sent = sum(total["tokens"][kind] for kind in KINDS if kind != "output")
        everything = re.sub("([kM])$", r" \1", short(sum(total["tokens"].values())))
        assert watched.page.inner_text(".sentence").replace("\u00a0", " ") == (
            f"2026-01-20 to 2026-03-04: ${total['cost_usd']:.2f}, {everything} tokens, "
            f"{round(100 * total['tokens']['cache_read'] / sent)}% read from cache"
        )
        assert watched.misdeeds() == []


def test_bars_stand_at_their_days_and_empty_days_stay_empty(tmp_path: Path, running: Browser) -> None:
    root = demo(tmp_path)
    span = 30
    rows = told(root, "--since", "2026-02-03", "--until", "2026-03-04")["rows"]
    with served(root) as server, visiting(running, server) as watched:
        opened(watched.page, server, "/?view=usage&since=2026-02-03&until=2026-03-04")
        paths: list[str] = watched.page.evaluate(
            "() => [...document.querySelectorAll('.bars path.series')].map((one) => one.getAttribute('d'))"
        )
        wide: int = watched.page.evaluate("document.querySelector('.bars svg').clientWidth")
        # A bar is "M left low V high H right V low Z"; the axis begins after 56 pixels for the words.
        middles = {
            (float(left) + float(right)) / 2
            for left, right in re.findall(r"M([\d.]+) [\d.]+V[\d.]+H([\d.]+)V", "".join(paths))
        }
        days = sorted({int((middle - 56) / ((wide - 56) / span)) for middle in middles})
        assert days == sorted(_day(row["key"]) - _day("2026-02-03") for row in rows)
        assert 0 < len(days) < span
        by_model = told(root, "--by", "model", "--since", "2026-02-03", "--until", "2026-03-04")["rows"]
        assert len(paths) == len(by_model)


def _day(key: str) -> int:
    return date.fromisoformat(key).toordinal()


def test_the_last_thirty_days_are_shown_first_and_a_choice_is_a_step_back(
    tmp_path: Path, running: Browser
) -> None:
    root = demo(tmp_path)
    with served(root) as server, visiting(running, server) as watched:
        page = watched.page
        page.clock.set_fixed_time("2026-03-04T10:00:00Z")
        opened(page, server, "/?view=usage")
        wanted = told(root, "--since", "2026-02-03", "--until", "2026-03-04")["total"]
        assert page.inner_text(".sentence").startswith(f"30 days: ${wanted['cost_usd']:.2f}")
        page.get_by_role("link", name="7 days").click()
        page.wait_for_function("() => document.querySelector('.sentence')?.textContent.startsWith('7 days')")
        assert "days=7" in page.url
        page.get_by_role("link", name="All", exact=True).click()
        page.wait_for_function(
            "() => document.querySelector('.sentence')?.textContent.startsWith('All time')"
        )
        every = told(root)["total"]
        assert f"${every['cost_usd']:.2f}" in page.inner_text(".sentence")
        page.go_back()
        page.wait_for_function("() => document.querySelector('.sentence')?.textContent.startsWith('7 days')")
        page.go_back()
        page.wait_for_function("() => document.querySelector('.sentence')?.textContent.startsWith('30 days')")
        page.get_by_label("From").fill("2026-02-20")
        page.wait_for_function(
            "() => document.querySelector('.sentence')?.textContent.startsWith('2026-02-20 to')"
        )
        assert watched.misdeeds() == []


def test_the_charts_work_by_keyboard_and_pointer_and_lead_to_their_sessions(
    tmp_path: Path, running: Browser
) -> None:
    root = demo(tmp_path)
    days = [row["key"] for row in told(root, "--since", "2026-02-03", "--until", "2026-03-04")["rows"]]
    address = "/?view=usage&since=2026-02-03&until=2026-03-04"
    with served(root) as server, visiting(running, server) as watched:
        page = watched.page
        opened(page, server, address)
        chart = page.locator(".bars svg")
        chart.focus()
        page.keyboard.press("Home")
        assert "2026-02-03" in (chart.get_attribute("aria-valuetext") or "")
        for _ in range(_day(days[0]) - _day("2026-02-03")):
            page.keyboard.press("ArrowRight")
        said = chart.get_attribute("aria-valuetext") or ""
        assert days[0] in said
        assert "$" in said
        assert days[0] in page.inner_text(".chart .reads")
        page.keyboard.press("Enter")
        page.locator(".view-home").wait_for(state="attached")
        assert f"since={days[0]}" in page.url
        assert f"until={days[0]}" in page.url
        page.go_back()
        drawn(page)
        box = page.locator(".bars svg").bounding_box()
        assert box is not None
        x = box["x"] + 56 + (box["width"] - 56) * (_day(days[-1]) - _day("2026-02-03") + 0.5) / 30
        page.mouse.move(x, box["y"] + 100)
        assert days[-1] in page.inner_text(".chart .reads")
        page.mouse.click(x, box["y"] + 100)
        page.locator(".view-home").wait_for(state="attached")
        assert f"since={days[-1]}&until={days[-1]}" in page.url
        page.go_back()
        drawn(page)
        calendar = page.locator(".calendar svg[role=slider]")
        calendar.focus()
        assert "2026-03-04" in (calendar.get_attribute("aria-valuetext") or "")
        page.keyboard.press("ArrowLeft")
        assert "2026-02-25" in (calendar.get_attribute("aria-valuetext") or "")
        page.keyboard.press("Enter")
        page.locator(".view-home").wait_for(state="attached")
        assert "since=2026-02-25" in page.url
        assert watched.misdeeds() == []


def test_rows_are_sorted_by_any_column_and_lead_to_their_sessions(tmp_path: Path, running: Browser) -> None:
    root = demo(tmp_path)
    rows = told(root, "--by", "project")["rows"]
    with served(root) as server, visiting(running, server) as watched:
        page = watched.page
        opened(page, server, "/?view=usage&days=all&by=project")
        for kind, word in zip(KINDS, ("Input", "Output", "Cache read"), strict=False):
            page.get_by_role("button", name=word, exact=True).click()
            settle(page)
            wanted = [row["key"] for row in sorted(rows, key=lambda row: -row["tokens"][kind])]
            assert [row[0] for row in figures(page, "tbody")] == wanted
            assert page.locator("th[aria-sort=descending]").inner_text().strip() == word
            page.get_by_role("button", name=word, exact=True).click()
            settle(page)
            assert [row[0] for row in figures(page, "tbody")] == wanted[::-1]
        addresses = page.eval_on_selector_all(
            ".usagetable .what a", "(all) => all.map((one) => one.getAttribute('href'))"
        )
        assert all(one.startswith("/?project=%2Fhome%2F") for one in addresses)
        opened(page, server, "/?view=usage&days=all&by=session")
        page.wait_for_function("() => document.querySelector('.usagetable').textContent.includes('vents')")
        page.locator(".usagetable .what a").first.click()
        page.locator(".view-session").wait_for(state="attached")


def test_what_has_no_price_is_a_dash_with_a_note(tmp_path: Path, running: Browser) -> None:
    made = Builder("odd").user("go").answer("went", model="my-own-model").data()
    write(tmp_path, "-p", {"odd": made})
    with served(tmp_path) as server, visiting(running, server) as watched:
        page = watched.page
        opened(page, server, "/?view=usage&days=all&by=model")
        assert "–" in page.inner_text(".sentence")
        assert page.inner_text(".usagetable tbody .cost") == "–"
        assert "my-own-model" in page.inner_text(".usagefoot")
        assert "$0.00" not in page.inner_text("main")
        assert flaws(page) == []


def test_the_table_can_be_kept_as_csv(tmp_path: Path, running: Browser) -> None:
    root = demo(tmp_path)
    wanted = told(root, "--by", "model", "--since", "2026-02-01")
    with served(root) as server, visiting(running, server) as watched:
        opened(watched.page, server, "/?view=usage&since=2026-02-01&by=model")
        with watched.page.expect_download() as got:
            watched.page.get_by_role("link", name="Download CSV").click()
        with got.value.path().open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert [int(row["output"]) for row in rows] == [row["tokens"]["output"] for row in wanted["rows"]]


def test_nothing_and_failures_are_said_and_the_rest_goes_on(tmp_path: Path, running: Browser) -> None:
    root = demo(tmp_path)
    with served(root) as server, visiting(running, server) as watched:
        page = watched.page
        opened(page, server, "/?view=usage&since=2020-01-01&until=2020-01-31")
        assert "nothing was used" in page.inner_text("main")
        assert flaws(page) == []
        page.get_by_role("button", name="Look at all time").click()
        page.locator(".sentence").wait_for()
        assert watched.misdeeds() == []
        page.route("**/api/usage?by=model*", lambda route: route.abort())
        page.get_by_role("link", name="Model").click()
        page.locator(".failed").wait_for()
        assert page.locator(".bars").is_visible()
        page.unroute("**/api/usage?by=model*")
        page.get_by_role("button", name="Try again").click()
        page.locator(".usagetable").wait_for()
        page.route("**/api/usage?**", lambda route: route.abort())
        page.get_by_role("link", name="7 days").click()
        page.locator(".failed").first.wait_for()
        assert "does not answer" in page.inner_text(".failed >> nth=0")


def test_nobody_is_kept_from_using_it_and_nothing_is_cut(tmp_path: Path, running: Browser) -> None:
    root = demo(tmp_path)
    with served(root) as server, visiting(running, server) as watched:
        page = watched.page
        for address in ("&days=all", "&since=2026-02-03&until=2026-03-04&show=tokens&by=session"):
            opened(page, server, f"/?view=usage{address}")
            assert flaws(page) == []
        for table in (".chart table", ".calendar table"):
            assert page.locator(f"{table} tbody tr").count() > 3, "what is drawn is told too"
        assert watched.misdeeds() == []


def test_hostile_texts_do_nothing(tmp_path: Path, running: Browser) -> None:
    for number, payload in enumerate(PAYLOADS):
        write(
            tmp_path,
            f"-p{number % 7}",
            {f"0000{number:04}-0000-4000-8000-000000000000": hostile.everywhere(payload)},
        )
    with served(tmp_path) as server, visiting(running, server) as watched:
        for by in ("day", "model", "project", "tool", "session"):
            opened(watched.page, server, f"/?view=usage&days=all&by={by}")
            if watched.page.locator("button.more").count():
                watched.page.locator("button.more").click()
            assert harmless(watched.page) == [], by
            assert watched.misdeeds() == [], by
