"""The context window of a session in the web app: the server's figures, drawn, in tables, and led from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.acceptance.page_lab import CUT, LOOKS, settle
from tests.acceptance.session_lab import EMPTY, WATER, visit
from tests.builder import Builder, call
from tests.faces.stage import demo, write

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

pytestmark = pytest.mark.acceptance


def test_the_window_is_drawn_and_every_figure_stands_in_a_table(tmp_path: Path, running: Browser) -> None:
    with visit(running, demo(tmp_path)) as reading:
        page = reading.page
        reading.read(WATER)
        page.click(".tab >> text=Context")
        page.locator(".windowchart").wait_for()
        assert "tab=context" in page.url
        told = page.evaluate(f"fetch('/api/sessions/{WATER}/window').then((answer) => answer.json())")
        measured = told["turns"][-1]["tokens"]
        assert f"{measured / 1000:.1f}k tokens" in reading.words(".contextsum")
        rows = page.locator(".kinds tbody tr").count()
        assert rows == len(told["table"])
        together = reading.words(".kinds tfoot").replace(",", "").split()
        assert str(sum(row["tokens"] for row in told["table"])) in together
        assert page.locator("path.band").count() >= 3
        before, after = (told["compactions"][0][name] for name in ("before", "after"))
        assert (
            page.locator(".compaction text").text_content() == f"{before / 1000:.1f}k → {after / 1000:.1f}k"
        )
        page.click(".figures summary")
        figures = reading.words(".figures table")
        for turn in told["turns"]:
            assert f"{turn['tokens']:,}" in figures
        # The chart by keys alone: the turn is read out, and Enter goes there.
        page.focus(".charthost")
        reading.press("ArrowRight", "ArrowRight")
        assert "Turn 2" in reading.words(".readout")
        reading.press("Enter")
        page.locator(".item").first.wait_for(state="attached")
        assert page.url.endswith("#t2")
        page.go_back()
        page.locator(".windowchart").wait_for()
        assert reading.watched.misdeeds() == []


def test_a_kind_opens_what_it_counts_and_what_is_left_out_leads_to_its_place(
    tmp_path: Path, running: Browser
) -> None:
    with visit(running, demo(tmp_path)) as reading:
        page = reading.page
        reading.read(WATER, "&tab=context")
        page.locator(".kindbutton", has_text="Calls").click()
        page.locator(".opened .sent li").first.wait_for()
        page.locator(".opened button.sentwords").first.click()
        page.locator(".is-here").wait_for()
        assert "lamp.py" in page.inner_text(".is-here")
        page.go_back()
        reason = page.locator(".leftout", has_text="before the compaction")
        reason.locator("button.kindbutton").click()
        assert reason.locator("li").count() == int(reading.words(".leftout >> nth=0").split()[0])
        reason.locator("button.sentwords").first.click()
        page.locator(".is-here").wait_for()
        assert page.url.endswith("#t1.1")
        assert reading.watched.misdeeds() == []


def test_what_is_not_known_is_said(tmp_path: Path, running: Browser) -> None:
    with visit(running, demo(tmp_path)) as reading:
        page = reading.page
        reading.read(EMPTY, "&tab=context")
        page.locator(".context p").first.wait_for()
        assert "No answer" in page.inner_text(".context")
        page.route("**/window*", lambda route: route.abort())
        reading.read(WATER, "&tab=context")
        page.locator(".context .failed").wait_for()
        page.locator(".leftout").first.wait_for()
        page.unroute("**/window*")
        page.click("text=Try again")
        page.locator(".windowchart").wait_for()


def test_nothing_keeps_people_from_the_context(tmp_path: Path, running: Browser) -> None:
    made = Builder("tools")
    for turn in range(24):
        made.user(f"Prompt {turn}")
        for tool in range(9):
            name = f"c{turn}-{tool}"
            made.answer(call(name, f"Tool-with-a-long-name-{tool}", {"x": "y" * 90})).result(name, "z" * 400)
        made.answer("Done.")
    root = demo(tmp_path)
    write(root, "-tools", {"tools": made.data()})
    with visit(running, root) as reading:
        page = reading.page
        for width, colours in LOOKS:
            page.set_viewport_size({"width": width, "height": 1000})
            page.emulate_media(color_scheme="dark" if colours == "dark" else "light")
            reading.read("tools", "&tab=context")
            page.locator(".windowchart").wait_for()
            page.click(".figures summary")
            page.locator(".kindbutton").nth(1).click()
            page.locator(".opened").first.wait_for()
            assert reading.faults() == [], (width, colours)
        for width in (360, 1024, 1920):
            page.set_viewport_size({"width": width, "height": 1000})
            reading.read(WATER, "&tab=context")
            page.locator(".windowchart").wait_for()
            settle(page)
            assert page.evaluate(CUT) == [], width
        assert reading.watched.misdeeds() == []
