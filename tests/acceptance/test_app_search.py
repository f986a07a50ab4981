"""Search in a real browser: as typed, by session, narrowed, by keyboard, calm about what makes no sense."""

from __future__ import annotations

import json
import re
import subprocess
import sys
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


def searched(root: Path, *options: str) -> dict[str, Any]:
    """What `clew search` finds."""
    command = [sys.executable, "-m", "clew", "search", "--json", "--root", str(root), *options]
    return json.loads(subprocess.run(command, capture_output=True, check=False).stdout)


def summary(page: Page, *, total: int | None = None) -> str:
    """What is said of the hits, once it is said of the question that stands in the field."""
    wanted = "No hits" if total == 0 else "" if total is None else f"{total:,}"
    page.wait_for_function(
        """(wanted) => document.querySelector(".searchsummary")?.textContent.trim().startsWith(wanted)
            && document.querySelector(".searchsummary").textContent.includes("searched")""",
        arg=wanted,
    )
    return page.inner_text(".searchsummary").replace("\u00a0", " ")


def open_search(page: Page) -> None:
    page.locator(".homerow").first.wait_for()
    page.wait_for_function("() => document.querySelector('.status') === null")
    page.keyboard.press("/")
    page.wait_for_function("() => document.activeElement?.matches('.searchfield input')")


def press_end(page: Page, wanted: str) -> None:
    """Go to the end until what is wanted is so: a list that grows below has a new end each time."""
    for _ in range(100):
        page.keyboard.press("End")
        settle(page)
        page.wait_for_timeout(100)
        if page.evaluate(wanted):
            return
    raise AssertionError(wanted)


def test_hits_are_those_of_clew_search_by_session_each_with_its_place(
    tmp_path: Path, running: Browser
) -> None:
    root = demo(tmp_path)
    told = searched(root, "maze")
    with served(root) as server, visiting(running, server) as watched:
        page = watched.page
        open_search(page)
        page.keyboard.type("maze", delay=20)
        said = summary(page, total=told["total"])
        by_session = {hit["session"] for hit in told["hits"]}
        assert said.startswith(
            f"{told['total']} hits in {len(by_session)} sessions · {told['searched']} searched"
        )
        assert page.title() == "maze · Search · clew"
        assert "q=maze" in page.url
        groups = page.locator(".foundsession")
        assert groups.count() == len(by_session)
        counts = [
            int(one) for one in re.findall(r"(\d+)\shits?", page.inner_text("#hits").replace("\u00a0", " "))
        ]
        assert sum(counts) == told["total"]
        assert page.locator(".hit").count() == sum(min(3, one) for one in counts)
        # Everything that was found is there once it is asked for, with the word marked in it.
        for at in range(page.locator(".hitmore").count()):
            page.locator(".hitmore").nth(at).click()
            page.locator(".hitmore").nth(at).filter(has_text="Fewer").wait_for()
        assert page.locator(".hit").count() == told["total"]
        marks = page.locator(".hit mark").all_inner_texts()
        assert len(marks) >= told["total"]
        assert {mark.lower() for mark in marks} == {"maze"}
        places = set(page.locator(".hitplace").all_inner_texts())
        assert {"prompt", "answer", "Bash command", "Write output"} <= places, places
        turns = {text for text in page.locator(".hitturn").all_inner_texts() if text}
        assert turns <= {f"turn\u00a0{n}" for n in range(1, 9)} | {"sub-agent"}
        assert watched.misdeeds() == []


def test_a_hit_opens_the_session_at_its_place_and_back_is_where_one_was(
    tmp_path: Path, running: Browser
) -> None:
    with served(demo(tmp_path)) as server, visiting(running, server) as watched:
        page = watched.page
        open_search(page)
        page.keyboard.insert_text("greenhouse")
        summary(page)
        for _ in range(4):
            page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowUp")
        # The field keeps the focus, and says which hit it is at.
        assert page.evaluate("() => document.activeElement.getAttribute('aria-activedescendant')") == "hit-2"
        assert page.locator(".hit.is-current").get_attribute("id") == "hit-2"
        page.keyboard.press("Enter")
        page.locator(".view-session").wait_for(state="attached")
        assert re.search(r"\?view=session&q=greenhouse&session=[0-9a-f-]{36}#t\d+\.\d+$", page.url), page.url
        page.go_back()
        page.locator(".hit.is-current").wait_for()
        assert page.locator(".hit.is-current").get_attribute("id") == "hit-2"
        # Outside the field letters do the same, with the focus on the hit.
        page.keyboard.press("Escape")
        page.keyboard.press("j")
        page.wait_for_function("() => document.activeElement?.id === 'hit-3'")
        page.keyboard.press("o")
        page.get_by_role("button", name="Fewer").wait_for()
        page.keyboard.press("Enter")
        page.locator(".view-session").wait_for(state="attached")
        assert watched.misdeeds() == []


def test_facets_narrow_and_say_how_many(tmp_path: Path, running: Browser) -> None:
    root = demo(tmp_path)
    with served(root) as server, visiting(running, server) as watched:
        page = watched.page
        page.locator(".homerow").first.wait_for()
        page.wait_for_function("() => document.querySelector('.status') === null")
        go(page, server, "/?view=search&q=the")
        everything = searched(root, "the")["total"]
        summary(page, total=everything)
        assert page.locator(".facets input[type=checkbox]:checked").count() == 7
        prompts = searched(root, "the", "--in", "prompt")["total"]
        row = page.locator(".facet", has_text="Prompts")
        assert row.locator(".facetcount").inner_text() == str(prompts)
        for word in ("Answers", "Thinking", "Commands and inputs", "Outputs", "Summaries", "Titles"):
            page.get_by_role("checkbox", name=word).uncheck()
        summary(page, total=prompts)
        assert "in=prompt" in page.url
        # To turn off the last one is to turn all on again.
        page.get_by_role("checkbox", name="Prompts").click()
        summary(page, total=everything)
        assert "in=" not in page.url
        bakery = searched(root, "the", "--project", "/home/robin/bakery")["total"]
        page.get_by_role("button", name="bakery").click()
        summary(page, total=bakery)
        page.get_by_role("button", name="Remove: project").click()
        summary(page, total=everything)
        page.go_back()
        summary(page, total=bakery)
        page.get_by_label("Last 24 hours").check()
        summary(page, total=0)
        page.get_by_text("Nothing found for “the”").wait_for()
        assert page.get_by_role("button", name="Remove all").count() == 1
        page.get_by_role("button", name="Remove: Last 24 hours").click()
        summary(page, total=bakery)
        assert watched.misdeeds() == []


def test_what_makes_no_sense_or_takes_too_long_is_said_calmly(tmp_path: Path, running: Browser) -> None:
    root = tmp_path / "store"
    folder = root / "projects" / "-home-ada"
    folder.mkdir(parents=True)
    slow = Builder("slow").user("a" * 40 + "!").answer("It has (brackets and a.b")
    (folder / "55555555-0000-4000-8000-000000000000.jsonl").write_bytes(slow.data())
    with served(root) as server, visiting(running, server) as watched:
        page = watched.page
        open_search(page)
        page.get_by_role("button", name="Pattern").click()
        page.get_by_label("Search all sessions").fill("(brackets")
        page.get_by_text("is not a pattern").wait_for()
        assert page.get_by_role("alert").count() == 0
        assert faults(page) == []
        page.get_by_role("button", name="Search for exactly these characters").click()
        summary(page, total=1)
        assert page.locator(".hit mark").inner_text() == "(brackets"
        page.get_by_role("button", name="Pattern").click()
        page.get_by_label("Search all sessions").fill("^(a+)+$")
        page.locator(".unclear").wait_for()
        page.wait_for_function(
            "() => /long|time/.test(document.querySelector('.unclear')?.textContent ?? '')"
        )
        # The page lives on meanwhile and afterwards.
        page.get_by_label("Search all sessions").fill("BRACKETS")
        summary(page, total=1)
        page.get_by_role("button", name="Match case").click()
        summary(page, total=0)
        page.get_by_role("button", name="Words").click()
        page.get_by_label("Search all sessions").fill("bracket")
        page.get_by_text("Nothing found for “bracket”").wait_for()
        page.get_by_role("button", name="brackets").click()  # did you mean
        summary(page, total=1)


def test_many_hits_are_few_rows_and_the_last_question_counts(tmp_path: Path, running: Browser) -> None:
    many_sessions(tmp_path / "store", 600)
    with served(tmp_path / "store") as server, visiting(running, server) as watched:
        page = watched.page
        open_search(page)
        # Of 1,200 hits and more few are drawn, and the rest is spoken of.
        page.get_by_label("Search all sessions").fill("lamp")
        summary(page)
        assert page.locator(".windowedrow").count() <= 60
        page.keyboard.press("Escape")
        press_end(page, "() => scrollY > 0")
        assert page.locator(".windowedrow").count() <= 60
        # Who goes to the end gets hundreds, and is told that there are more.
        press_end(page, "() => /than \\d{3}\\s/.test(document.querySelector('.searchsummary').textContent)")
        press_end(
            page,
            """() => {
                const last = [...document.querySelectorAll(".windowedrow")].at(-1);
                const { bottom } = last.getBoundingClientRect();
                return last.ariaPosInSet === last.ariaSetSize && Number(last.ariaSetSize) >= 1000
                    && bottom > 0 && bottom <= innerHeight;
            }""",
        )
        page.get_by_text("More words, or a filter, find the others").wait_for()
        assert page.locator(".windowedrow").count() <= 60
        # Who opens one of the last hits and comes back is where they were, with as many hits around.
        page.locator(".hit").last.click()
        page.locator(".view-session").wait_for(state="attached")
        page.go_back()
        page.locator(".windowedrow").first.wait_for()
        far = page.evaluate("scrollY")
        assert far > 10_000
        for _ in range(40):
            page.wait_for_timeout(25)
            assert page.evaluate("scrollY") == far
        # A search that is overtaken is not waited for: the last one counts.
        page.keyboard.press("/")
        page.keyboard.type("lamp 599", delay=15)
        page.locator(".foundsession", has_text="Lamp 00599").wait_for()
        assert page.locator(".foundsession").count() == 1
        assert watched.misdeeds() == []


@pytest.mark.parametrize(("width", "colours"), LOOKS)
def test_nothing_keeps_people_from_using_search(
    tmp_path: Path, running: Browser, width: int, colours: str
) -> None:
    with visiting_demo(running, tmp_path, width=width, colours=colours) as (server, watched):
        page = watched.page
        page.wait_for_function("() => document.querySelector('.status') === null")
        go(page, server, "/?view=search")
        assert faults(page) == []
        assert cut(page) == []
        page.set_viewport_size({"width": width, "height": 844})
        go(page, server, "/?view=search&q=zebra&project=/home/robin/bakery&in=prompt&since=7d")
        page.get_by_text("Nothing found").wait_for()
        assert faults(page) == []
        assert cut(page, (width, 360)) == []
        page.set_viewport_size({"width": width, "height": 844})
        go(page, server, "/?view=search&q=greenhouse")
        page.locator(".hit").first.wait_for()
        page.keyboard.press("Escape")
        page.keyboard.press("j")
        if width <= 720:
            page.get_by_role("button", name="Filters").click()
        assert faults(page) == []
        assert cut(page) == []
        assert watched.misdeeds() == []


def test_whatever_was_found_is_shown_and_does_nothing(tmp_path: Path, running: Browser) -> None:
    root = hostile_store(tmp_path / "store", PAYLOADS)
    with served(root) as server, visiting(running, server) as watched:
        page = watched.page
        open_search(page)
        for word in ("alert", "evil", "x"):
            page.get_by_label("Search all sessions").fill(word)
            page.wait_for_function(
                "(word) => document.querySelector('.hit mark')?.textContent.toLowerCase() === word", arg=word
            )
            for y in range(0, 12_000, 900):
                page.evaluate("(y) => scrollTo(0, y)", y)
                settle(page)
                assert page.evaluate(STRANGE) == []
        # What is looked for is a text like any other, in the field, the window's name and what is said of it.
        for payload in PAYLOADS[::6]:
            page.get_by_label("Search all sessions").fill(payload)
            page.wait_for_timeout(120)
            assert page.evaluate(STRANGE) == []
        page.set_viewport_size({"width": 390, "height": 844})
        page.evaluate("() => scrollTo(0, 0)")
        page.get_by_label("Search all sessions").fill("alert")
        page.locator(".hit mark").first.wait_for()
        assert cut(page, (390, 1440)) == []
        refused = "Failed to load resource: the server responded with a status of 400 (Bad Request)"
        assert [one for one in watched.misdeeds() if one != refused] == []
