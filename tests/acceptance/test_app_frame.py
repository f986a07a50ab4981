"""The frame of the web app in a real browser: keys, going anywhere, colours, and what fails."""

from __future__ import annotations

import json
import re
import socket
from typing import TYPE_CHECKING

import pytest

from tests.acceptance.app_checks import HEADINGS, cut, faults, many_sessions
from tests.acceptance.app_lab import go, served, visiting, visiting_demo
from tests.acceptance.page_lab import LOOKS, settle
from tests.faces.stage import demo

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page, Route

pytestmark = pytest.mark.acceptance


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_every_view_is_two_keys_away_and_asks_nobody_else(tmp_path: Path, running: Browser) -> None:
    with served(demo(tmp_path)) as server, visiting(running, server) as watched:
        page = watched.page
        for key, view in (("s", "search"), ("u", "usage"), ("f", "files"), ("d", "doctor"), ("h", "home")):
            page.locator("body").click(position={"x": 1, "y": 700})
            press(page, "g", key)
            page.locator(f".view-{view}").wait_for(state="attached")
            assert ("view=" + view in page.url) == (view != "home")
            page.wait_for_function("(view) => document.title.toLowerCase().includes(view)", arg="clew")
        titles: set[str] = set()
        for view in ("", "?view=search", "?view=usage", "?view=files", "?view=doctor"):
            go(page, server, "/" + view)
            titles.add(page.title())
        assert len(titles) == 5, titles
        assert all(title.endswith(" · clew") for title in titles)
        for view in ("", "?view=search"):
            go(page, server, "/" + view)
            assert page.evaluate(HEADINGS) == [1, 1]
        assert watched.misdeeds() == []


def test_keys_are_explained_by_view_and_can_be_turned_off(tmp_path: Path, running: Browser) -> None:
    with served(demo(tmp_path)) as server, visiting(running, server) as watched:
        page = watched.page
        page.locator(".homerow").first.wait_for()
        press(page, "?")
        page.get_by_role("dialog").wait_for()
        assert "show or fold sub-agents" in page.inner_text("dialog")
        page.get_by_label("Single keys").uncheck()
        press(page, "Escape")
        page.locator("dialog").wait_for(state="detached")
        press(page, "g", "s", "?", "/")
        settle(page)
        assert page.locator(".view-home").count() == 1
        assert page.locator("dialog").count() == 0
        page.reload()
        page.locator(".homerow").first.wait_for()
        press(page, "?")
        settle(page)
        assert page.locator("dialog").count() == 0
        # What is no single key still works, and so does the way back.
        press(page, "Control+k")
        page.get_by_role("combobox", name="Go to a session or a view").wait_for()
        press(page, "Escape")
        page.get_by_role("button", name="Keys and help").click()
        page.get_by_label("Single keys").check()
        press(page, "Escape")
        page.locator("dialog").wait_for(state="detached")
        press(page, "g", "s")
        page.locator(".view-search").wait_for()
        # Letters that are typed are letters.
        page.keyboard.insert_text("x")
        press(page, "g", "h", "?")
        settle(page)
        assert page.locator(".view-search").count() == 1
        assert page.locator("dialog").count() == 0
        assert watched.misdeeds() == []


def test_escape_closes_and_then_goes_back(tmp_path: Path, running: Browser) -> None:
    with served(demo(tmp_path)) as server, visiting(running, server) as watched:
        page = watched.page
        page.locator(".homerow").first.wait_for()
        press(page, "g", "s")
        page.locator(".view-search").wait_for()
        page.wait_for_function("() => document.activeElement?.tagName === 'INPUT'")
        press(page, "Escape")
        assert page.evaluate("() => document.activeElement?.tagName") != "INPUT"
        assert "view=search" in page.url
        press(page, "Escape")
        page.locator(".view-home").wait_for()
        # There is nothing before the first step: Escape leaves nobody in the cold.
        press(page, "Escape", "Escape")
        settle(page)
        assert page.locator(".view-home").count() == 1
        assert watched.misdeeds() == []


def test_anything_is_a_few_letters_away(tmp_path: Path, running: Browser) -> None:
    with served(demo(tmp_path)) as server, visiting(running, server) as watched:
        page = watched.page
        page.locator(".homerow").first.wait_for()
        press(page, "Control+k")
        options = page.locator(".anywhererow")
        page.locator(".anywhererow", has_text="Sold-out loaves").wait_for()
        page.keyboard.insert_text("maze solver")
        page.wait_for_function("() => document.querySelectorAll('.anywhererow').length === 2")
        assert "Maze solver" in options.nth(0).inner_text()
        press(page, "ArrowUp")
        assert options.nth(1).get_attribute("aria-selected") == "true"
        press(page, "ArrowDown", "Enter")
        page.locator(".view-session").wait_for(state="attached")
        assert "session=" in page.url
        page.go_back()
        page.locator(".homerow").first.wait_for()
        # Out of a field too; what is not found there is looked for in what was said.
        page.get_by_label("A part of the title").click()
        press(page, "Control+k")
        page.keyboard.insert_text("zebra stripes")
        press(page, "Enter")
        page.locator(".view-search").wait_for()
        assert "q=zebra" in page.url
        press(page, "Control+k")
        page.keyboard.insert_text("doct")
        press(page, "Enter")
        page.locator(".view-doctor").wait_for(state="attached")
        assert watched.misdeeds() == []


def test_more_sessions_than_fit_are_found_by_their_title(tmp_path: Path, running: Browser) -> None:
    many_sessions(tmp_path / "store", 1100)
    with served(tmp_path / "store") as server, visiting(running, server) as watched:
        page = watched.page
        press(page, "Control+k")
        page.get_by_text("1,100 sessions, the newest 1,000 at hand").wait_for()
        page.keyboard.insert_text("lamp 01099")
        page.locator(".anywhererow", has_text="Lamp 01099").wait_for()
        assert watched.misdeeds() == []


def test_colours_are_chosen_and_remembered(tmp_path: Path, running: Browser) -> None:
    ground = "() => getComputedStyle(document.body).backgroundColor"
    with served(demo(tmp_path)) as server, visiting(running, server) as watched:
        page = watched.page
        light = page.evaluate(ground)
        page.get_by_role("button", name="Colours: As the system").click()
        page.get_by_role("button", name="Colours: Light").click()
        assert page.evaluate(ground) != light
        page.reload()
        page.get_by_role("button", name="Colours: Dark").wait_for()
        assert page.evaluate(ground) != light
        press(page, "?")
        page.get_by_label("As the system").check()
        assert page.evaluate(ground) == light
        page.emulate_media(color_scheme="dark")
        assert page.evaluate(ground) != light
        assert watched.misdeeds() == []


def test_the_first_index_is_told_of_and_then_everything_is_asked_anew(
    tmp_path: Path, running: Browser
) -> None:
    done = {"is": False}
    asked: list[str] = []

    def index(route: Route) -> None:
        state = {"state": "ready"} if done["is"] else {"state": "building", "files": 95, "files_total": 134}
        whole = {"work": "reading", "files": 0, "files_total": 0, "bytes": 2, "bytes_total": 3, "note": None}
        body = whole | {"read_only": False, "version": "0"} | state
        route.fulfill(body=json.dumps(body), content_type="application/json")

    with served(demo(tmp_path)) as server, visiting(running, server) as watched:
        page = watched.page
        page.route("**/api/index", index)
        page.on("request", lambda request: asked.append(request.url))
        page.reload()
        page.get_by_text("Reading 96 of 134 sessions").wait_for()
        page.locator(".homerow").first.wait_for()
        assert faults(page) == []
        before = sum("/api/sessions?" in url for url in asked)
        done["is"] = True
        page.locator(".status").wait_for(state="detached")
        settle(page)
        assert sum("/api/sessions?" in url for url in asked) > before
        assert watched.misdeeds() == []


def test_when_the_server_is_gone_what_was_read_stays_and_it_goes_on_by_itself(
    tmp_path: Path, running: Browser
) -> None:
    root = demo(tmp_path)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    with served(root, "--port", port) as server, visiting(running, server) as watched:
        page = watched.page
        page.locator(".homerow").first.wait_for()
        rows = page.locator(".homerow").count()
        server.process.kill()
        page.get_by_text("Reconnecting").wait_for()
        assert page.locator(".homerow").count() == rows
        press(page, "Control+k")
        page.get_by_text("The list of sessions could not be read").wait_for()
        press(page, "Escape")
        assert faults(page) == []
        many_sessions(root, 1, project="-home-ada-new")
        with served(root, "--port", port):
            # On a port that was asked for it still knows this browser.
            page.get_by_text("Lamp 00000 of the lighthouse").wait_for(timeout=15_000)
            page.locator(".status").wait_for(state="detached", timeout=15_000)


def test_a_server_that_does_not_know_the_browser_is_said_to_be_another(
    tmp_path: Path, running: Browser
) -> None:
    root = demo(tmp_path)
    with served(root) as server, visiting(running, server) as watched:
        page = watched.page
        page.locator(".homerow").first.wait_for()
        page.context.clear_cookies()
        server.process.kill()
        page.get_by_text("Reconnecting").wait_for()
        with served(root, "--port", server.home.rpartition(":")[2].strip("/")) as again:
            page.get_by_text("Open the address that it printed").wait_for(timeout=15_000)
            assert page.locator(".homerow").count() > 0
            other = page.context.new_page()
            other.goto(again.url)
            other.close()
            page.locator(".status").wait_for(state="detached", timeout=15_000)


def test_a_view_that_fails_says_so_and_the_others_work(tmp_path: Path, running: Browser) -> None:
    with served(demo(tmp_path)) as server, visiting(running, server) as watched:
        page = watched.page
        page.locator(".homerow").first.wait_for()
        answers = iter(('{"sessions": [null], "total": {}, "store": {}, "notes": 5, "next": null}', "<html>"))

        def broken(route: Route) -> None:
            route.fulfill(body=next(answers), content_type="application/json")

        page.route(re.compile(r"/api/sessions\?from=0"), broken, times=1)
        page.reload()
        page.get_by_role("heading", name="This view could not be drawn").wait_for()
        assert page.evaluate(HEADINGS) == [1, 1]
        press(page, "g", "s")
        page.get_by_role("heading", name="Search").wait_for()
        press(page, "Escape", "g", "h")
        page.locator(".homerow").first.wait_for()
        # An answer that is none is said where it was asked, and can be asked again.
        page.route(re.compile(r"/api/sessions\?from=0"), broken, times=1)
        page.reload()
        page.get_by_text("The answer could not be read").wait_for()
        page.get_by_role("button", name="Try again").click()
        page.locator(".homerow").first.wait_for()
        assert page.get_by_role("alert").count() == 0


@pytest.mark.parametrize(("width", "colours"), LOOKS)
def test_nothing_keeps_people_from_using_the_frame(
    tmp_path: Path, running: Browser, width: int, colours: str
) -> None:
    with visiting_demo(running, tmp_path, width=width, colours=colours) as (_, watched):
        page = watched.page
        page.keyboard.press("Tab")
        assert page.evaluate("() => document.activeElement?.textContent") == "Skip to the content"
        page.keyboard.press("Enter")
        assert page.evaluate("() => document.activeElement?.tagName") == "MAIN"
        press(page, "?")
        page.get_by_role("dialog").wait_for()
        assert faults(page) == []
        assert cut(page, (width,)) == []
        press(page, "Escape")
        page.locator("dialog").wait_for(state="detached")
        press(page, "Control+k")
        page.locator(".anywhererow").nth(8).wait_for()
        assert faults(page) == []
        assert cut(page, (width,)) == []
        assert watched.misdeeds() == []
