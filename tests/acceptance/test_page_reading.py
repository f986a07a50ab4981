"""Reading a page: levels, keys, links, searching, printing, and that nothing moves what is being read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from clew.view import parts
from tests import browser
from tests.acceptance.page_lab import hit, search, settle, written
from tests.export.page_stories import answer, every_kind, prompt, shell, story

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from clew.view.parts import Flow

pytestmark = pytest.mark.acceptance


@pytest.fixture
def page(tmp_path: Path, running: Browser) -> Iterator[Page]:
    """A page with a bit of everything; whatever it is made to do, it does nothing it should not."""
    with browser.opened(running, written(every_kind(), tmp_path / "page.html")) as watched:
        yield watched.page
        assert watched.misdeeds() == []


@pytest.fixture
def long(tmp_path: Path, running: Browser) -> Iterator[Page]:
    """A page of many turns, some of them long."""
    turns: list[list[Flow]] = []
    for n in range(1, 121):
        calls = [
            shell(f"step {n}.{m}", f"output {n}.{m}\n" * (m * 7 % 30), is_failed=m == 5)
            for m in range(n % 40)
        ]
        said = answer(
            "\n\n".join(f"Paragraph {m} of turn {n}. " * 12 for m in range(n % 5 + 1)), is_last=True
        )
        turns.append([prompt(f"Prompt number {n}"), parts.Thinking(f"Hm {n}. Well."), *calls, said])
    with browser.opened(running, written(story(turns), tmp_path / "long.html")) as watched:
        yield watched.page
        assert watched.misdeeds() == []


def shown(page: Page, words: str) -> bool:
    return page.evaluate("(words) => document.querySelector('.list').innerText.includes(words)", words)


def test_the_top_tells_what_session_it_is_and_what_was_taken_out(page: Page) -> None:
    top = page.inner_text("main")
    for said in (
        "/home/robin/bakery",
        "sold-out",
        "2 turns, 7 calls, 1 failed",
        "$0.24, 128k tokens · prices of 2026-02-01 · no price known for mystery-1",
        "2 secrets taken out (token: 2)",
        "3 pieces of the file could not be read",
    ):
        assert said in top.replace("\xa0", " "), said
    assert page.locator("h1").count() == 1
    assert page.locator("main").count() == 1
    assert page.locator(".turntable tbody tr").count() == 2
    assert page.title() == "Sold-out loaves stay off the order form"


def test_levels_show_more_and_more_and_failure_is_always_seen(page: Page) -> None:
    page.keyboard.press("1")
    assert shown(page, "The end.")
    assert not shown(page, "hidden-at-level-one")
    assert not shown(page, "cat orders.py")
    assert shown(page, "1 failed"), "the work line tells it"
    page.keyboard.press("2")
    assert shown(page, "hidden-at-level-one")
    assert not shown(page, "cat orders.py")
    page.keyboard.press("3")
    assert shown(page, "cat orders.py")
    assert not shown(page, "line 1 of the output")
    assert shown(page, "the-last-line failed"), "a failed call is open at its last lines"
    assert not shown(page, "line 1470 of the output")
    page.keyboard.press("4")
    assert shown(page, "line 1 of the output")
    assert shown(page, "folded-thought-word")
    page.click("text=Show all 1,482 lines")
    assert shown(page, "line 1482 of the output")


def test_html_and_controls_are_shown_as_they_were_typed(page: Page) -> None:
    assert shown(page, "and <b>this</b>.")
    assert page.locator(".list b:text('this')").count() == 0
    assert page.inner_text("[id='t2.2'] .typed") == "And now?ESC[31m red RLO turned"
    link = page.locator(".list a[href='https://example.org/x']")
    assert link.get_attribute("rel") == "noopener noreferrer"


def test_a_diff_has_line_numbers_and_marks_the_changed_word(page: Page) -> None:
    page.click("[id='t1.6'] .callline")
    settle(page)
    assert page.locator(".diff .chg").all_inner_texts()[:2] == ["1", "2"]
    assert page.locator(".diff .dl.add .ln").first.inner_text().split() == ["11"]


def test_a_sub_agent_opens_in_place(page: Page) -> None:
    page.click(".agentline")
    settle(page)
    assert shown(page, "Where are they?")
    page.click(".agentturns .callline")
    settle(page)
    assert shown(page, "agent-output-word")


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("folded-thought-word", "1 of 1"),
        ("LINE 700 OF THE OUTPUT", "1 of 2"),
        ("agent-output-word", "1 of 1"),
        ("Taste the bread", "1 of 1"),
        ("cut off mid-record", "1 of 1"),
        ('{"type":"user"', "1 of 1"),
        ("A summary.", "1 of 1"),
        ("nowhere-to-be-found", "no hits"),
    ],
)
def test_searching_finds_what_is_folded_and_opens_it(page: Page, word: str, found: str) -> None:
    page.keyboard.press("1")
    assert search(page, word) == found
    if found != "no hits":
        now = hit(page)
        assert now is not None
        assert now["text"].lower() == word.lower()
        assert now["isSeen"]


def test_hits_are_stepped_through_forwards_and_back(page: Page) -> None:
    search(page, "the output")
    total = page.inner_text(".found").partition(" of ")[2]
    assert int(total.replace(",", "")) == 1482 * 2
    page.keyboard.press("Enter")
    settle(page)
    assert page.inner_text(".found") == f"2 of {total}"
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("N")
    page.keyboard.press("N")
    settle(page)
    assert page.inner_text(".found") == f"{total} of {total}"
    page.keyboard.press("Escape")
    settle(page)
    assert page.locator(".searchrow").count() == 0
    assert page.evaluate("CSS.highlights.size") == 0


def test_keys_step_through_items_prompts_and_failures(long: Page) -> None:
    def here() -> str:
        return long.evaluate("document.querySelector('.is-here')?.id ?? ''")

    for key, wanted in (
        ("J", "t1.1"),
        ("J", "t2.1"),
        ("J", "t3.1"),
        ("K", "t2.1"),
        ("j", "t2.2"),
        ("j", "t2.3"),
    ):
        long.keyboard.press(key)
        settle(long)
        assert here() == wanted, key
    long.keyboard.press("e")
    settle(long)
    first = here()
    assert first == "t6.8", "the first failure is the sixth call of turn 6"
    long.keyboard.press("e")
    settle(long)
    assert here() == "t7.8"
    long.keyboard.press("E")
    settle(long)
    assert here() == first
    open_before = long.locator(f"[id='{first}'] .callbody").count()
    long.keyboard.press("o")
    settle(long)
    assert long.locator(f"[id='{first}'] .callbody").count() == 1 - open_before


def test_typing_in_the_search_presses_no_keys(long: Page) -> None:
    long.keyboard.press("/")
    long.keyboard.type("1234jket?")
    settle(long)
    assert long.input_value(".searchrow input") == "1234jket?"
    assert long.locator("dialog").count() == 0
    assert long.get_attribute(".levels button >> nth=2", "aria-pressed") == "true"


@pytest.mark.parametrize("place", ["t90", "t90.4", "t119.20"])
def test_an_address_leads_to_its_place(tmp_path: Path, running: Browser, place: str) -> None:
    turns = [
        [prompt(f"Prompt {n}"), *(shell(f"{n}.{m}", "x\n" * 30) for m in range(30))] for n in range(1, 121)
    ]
    path = written(story(turns), tmp_path / "page.html")
    with browser.opened(running, path) as watched:
        page = watched.page
        page.evaluate("(place) => { location.hash = place; }", place)
        settle(page)
        settle(page)
        box = page.evaluate("(place) => document.getElementById(place).getBoundingClientRect().top", place)
        assert 40 <= box <= 120
        assert watched.misdeeds() == []


def top_item(page: Page) -> tuple[str, float]:
    """The first item whose beginning is on the screen, and where it is."""
    found = page.evaluate("""() => {
        for (const one of document.querySelectorAll("[data-key]")) {
            const { top } = one.getBoundingClientRect();
            if (top >= 100 && top < innerHeight) return [one.id, top];
        }
        return null;
    }""")
    assert found
    return found[0], float(found[1])


def place_of(page: Page, key: str) -> float:
    return float(page.evaluate("(key) => document.getElementById(key).getBoundingClientRect().top", key))


def test_scrolling_up_and_down_never_jumps(long: Page) -> None:
    long.evaluate("location.hash = 't80'")
    settle(long)
    for step in [-400] * 25 + [700] * 15 + [-900] * 10:
        key, before = top_item(long)
        moved = long.evaluate("""async (step) => {
            const from = scrollY;
            scrollBy(0, step);
            const asked = scrollY - from;
            await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 30)));
            return asked;
        }""", step)  # fmt: skip
        if long.locator(f"[id='{key}']").count():
            assert abs(place_of(long, key) - (before - moved)) < 2, (step, key)


def test_what_is_pressed_stays_where_it_is(long: Page) -> None:
    long.evaluate("location.hash = 't79.12'")
    settle(long)
    buttons = long.query_selector_all(".callline[aria-expanded=false]")
    seen = [one for one in buttons if 150 < (one.bounding_box() or {"y": 0})["y"] < 900][:5]
    assert len(seen) == 5
    for one in seen:
        before = (one.bounding_box() or {"y": 0})["y"]
        one.evaluate("(button) => button.click()")
        settle(long)
        assert abs((one.bounding_box() or {"y": 0})["y"] - before) < 2


def test_another_level_keeps_what_is_read_in_its_place(long: Page) -> None:
    long.evaluate("location.hash = 't80'")
    settle(long)
    for level in ("4", "3", "2", "1", "3"):
        key = long.evaluate("""() => [...document.querySelectorAll(".prompt, .answer.is-last")]
            .find((one) => one.getBoundingClientRect().top >= 60)?.id""")
        long.evaluate("(key) => document.getElementById(key).scrollIntoView()", key)
        long.evaluate("scrollBy(0, -100)")
        settle(long)
        before = place_of(long, key)
        long.keyboard.press(level)
        settle(long)
        assert abs(place_of(long, key) - before) < 2, level


def test_on_paper_all_prompts_answers_and_diffs_stand_and_long_outputs_are_cut(page: Page) -> None:
    assert len(page.pdf(format="A4")) > 10_000
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    told = page.inner_text(".paper")
    for said in (
        "People can order what is sold out. Why?",
        "And now?",
        "It stays off the form.",
        "The end.",
        "cat orders.py",
        "shelf[loaf] -= 2",
        "1,463 earlier lines",
        "the-last-line failed",
    ):
        assert said in told, said
    assert "line 1450 of the output" not in told
    assert not page.locator("header.bar").is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator(".paper > *").count() == 0


def test_printing_by_the_browser_itself_draws_the_whole_session(long: Page) -> None:
    long.evaluate("""() => {
        addEventListener("beforeprint", () => {
            setTimeout(() => 0);
            window.__paper = document.querySelector(".paper").textContent;
        });
    }""")
    long.pdf(format="A4")
    paper: str = long.evaluate("window.__paper")
    assert all(f"Prompt number {n}" in paper for n in range(1, 121))


def test_colours_follow_the_system_until_somebody_chooses(tmp_path: Path, running: Browser) -> None:
    path = written(every_kind(), tmp_path / "page.html")
    ground = "getComputedStyle(document.body).backgroundColor"
    with browser.opened(running, path, colours="dark") as watched:
        page = watched.page
        assert page.evaluate(ground) == "rgb(20, 19, 18)"
        page.click("button[aria-label^='Colours']")
        assert page.evaluate(ground) == "rgb(251, 250, 248)"
        page.click("button[aria-label^='Colours']")
        assert page.evaluate(ground) == "rgb(20, 19, 18)"


def test_without_scripts_the_page_is_there_to_read(tmp_path: Path, running: Browser) -> None:
    path = written(every_kind(), tmp_path / "page.html")
    with browser.opened(running, path, scripts=False) as watched:
        told = watched.page.inner_text("body")
        for said in (
            "Sold-out loaves",
            "People can order what is sold out. Why?",
            "python -m pytest -q",
            "The end.",
        ):
            assert said in told
        assert watched.requests == []


def test_a_link_to_this_place_can_be_copied(long: Page) -> None:
    long.keyboard.press("J")
    long.keyboard.press("J")
    long.keyboard.press("y")
    settle(long)
    assert long.url.endswith("#t2.1")
