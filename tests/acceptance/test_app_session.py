"""A session in the web app, in a real browser: read, found in, walked by keys, linked to, and harmless."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from clew.export.registry import OWN
from tests.acceptance.page_lab import CUT, LOOKS, hit, settle
from tests.acceptance.session_lab import DAMAGED, EMPTY, LOAVES, VENTS, WATER, visit
from tests.acceptance.xss import PAYLOADS
from tests.builder import Builder, call, text, thinking
from tests.faces.stage import demo, write
from tests.faces.web.stores import hostile

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser


pytestmark = pytest.mark.acceptance


def test_a_session_is_read_folded_and_walked_through_by_keys(tmp_path: Path, running: Browser) -> None:
    with visit(running, demo(tmp_path)) as reading:
        page = reading.page
        reading.read(VENTS)
        bar = reading.words("header.bar")
        assert page.inner_text("h1") == "Stop the vents from flapping at dusk"
        assert "greenhouse · calm-vents" in bar
        assert "$0.10" in bar
        assert "1 failed" in bar
        assert page.locator(".railrow").count() == 2
        work = reading.words(".workline >> nth=0")
        assert "6 calls" in work
        assert "$0.10" in work
        assert "16.3k context" in work
        assert page.locator(".call.is-failed .code").is_visible()

        reading.press("1")
        assert page.locator(".call").count() == 0
        assert "level=1" in page.url
        page.go_back()
        settle(page)
        assert page.locator(".call").count() >= 6
        reading.press("t")
        assert page.locator(".thought").count() >= 2
        reading.press("t")
        assert page.locator(".thought").count() == 0

        reading.press("J", "J")
        assert page.locator(".is-here.prompt").get_attribute("id") == "t2.1"
        reading.press("K")
        reading.press("e")
        assert "is-failed" in (page.locator(".is-here").get_attribute("class") or "")
        assert page.locator(".is-here .code").count() == 1
        reading.press("o")
        assert page.locator(".is-here .code").count() == 0
        reading.press("Enter")
        assert page.locator(".is-here .code").count() == 1
        here = page.locator(".is-here").get_attribute("id")
        reading.press("y")
        assert page.url.endswith(f"#{here}")
        reading.press("j")
        assert page.locator(".is-here").get_attribute("id") != here
        assert reading.watched.misdeeds() == []


def test_what_can_be_copied_and_exported_is_a_key_away(tmp_path: Path, running: Browser) -> None:
    with visit(running, demo(tmp_path)) as reading:
        page = reading.page
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        reading.read(VENTS)
        reading.press("r")
        line = f"cd /home/robin/greenhouse && claude --resume {VENTS}"
        assert page.evaluate("navigator.clipboard.readText()") == line
        assert "Resume line copied" in page.inner_text(".said")
        reading.press("x")
        formats = [link.get_attribute("href") or "" for link in page.locator(".menubody a").all()]
        assert [one.partition("to=")[2] for one in formats] == [one.name for one in OWN]
        with page.expect_download() as coming:
            page.locator(".menubody a", has_text="Markdown").click()
        assert coming.value.suggested_filename.endswith(".md")
        assert page.locator(".menubody").count() == 0
        page.click(".moremenu button")
        facts = page.inner_text(".menubody")
        assert "claude-sonnet-4-5-20250929" in facts
        assert VENTS in facts
        assert "2.1.325" in facts
        page.click("text=Copy as Markdown")
        reading.until("document.querySelector('.said').textContent.includes('Markdown')")
        assert "The vents are calm now" in page.evaluate("navigator.clipboard.readText()")
        page.click(".moremenu button")
        reading.press("Escape")
        assert page.locator(".menubody").count() == 0
        assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "More"
        page.click(".moremenu button")
        page.click(".menubody >> text=Trim")
        assert "view=doctor" in page.url
        assert "edit=trim" in page.url
        page.go_back()
        page.locator(".item").first.wait_for(state="attached")
        reading.press("]")
        reading.until("(name) => !location.search.includes(name)", arg=VENTS)
        assert reading.watched.misdeeds() == []


def test_a_link_opens_at_the_very_item_and_unfolds_it(tmp_path: Path, running: Browser) -> None:
    made = Builder("long")
    for turn in range(40):
        made.user(f"Prompt {turn}")
        for number in range(6):
            name = f"c{turn}-{number}"
            made.answer(call(name, "Bash", {"command": f"run {name}"})).result(
                name, f"printed by {name}\n" * 30
            )
        made.answer(f"Done {turn}.")
    write(tmp_path, "-p", {"long": made.data()})
    with visit(running, tmp_path) as reading:
        page = reading.page
        reading.read("long", "&q=printed", "t33.4")
        page.locator("[id='t33.4'].is-here").wait_for()
        settle(page)
        box = page.locator("[id='t33.4']").bounding_box()
        assert box is not None
        assert 100 < box["y"] < 500, "the upper third"
        assert "printed by c32-2" in page.inner_text("[id='t33.4']")
        assert page.locator(".slot.is-drawn").count() < 60
        assert page.locator(".railrow.is-current").inner_text().startswith(("32", "33"))
        reading.read("long", "", "t20")
        top = page.locator("#t20").bounding_box()
        assert top is not None
        assert 40 < top["y"] < 200
        page.evaluate("scrollBy(0, 2500)")
        page.wait_for_timeout(700)
        settle(page)
        assert not page.url.endswith("#t20"), "the address says where one is"
        here = page.url.rpartition("#")[2]
        page.reload()
        page.locator(".item").first.wait_for(state="attached")
        settle(page)
        assert page.url.endswith(here)
        reading.read("long", "", "t9999.9")
        assert page.locator(".item").count() > 0
        assert reading.watched.misdeeds() == []


def test_words_are_found_where_nothing_is_drawn_and_in_sub_agents(tmp_path: Path, running: Browser) -> None:
    with visit(running, demo(tmp_path)) as reading:
        page = reading.page
        reading.read(WATER)
        assert reading.find("soil").startswith("1 of ")
        seen: list[str] = []
        total = int(page.inner_text(".found").split()[-1])
        for _ in range(total - 1):
            found = hit(page)
            assert found is None or found["isSeen"]
            seen.append(page.url.rpartition("#")[2])
            if seen[-1].startswith("a-"):
                assert page.locator(".agentturns .is-here").count() == 1, "the sub-agent was opened for it"
            reading.step()
        assert any(place.startswith("a-") for place in seen)
        assert "q=soil" in page.url
        reading.press("Escape")
        assert page.locator(".searchrow").count() == 0
        assert "q=" not in page.url
        page.keyboard.press("Control+f")
        page.keyboard.type("five and nine")
        assert page.input_value(".searchrow input") == "five and nine"
        reading.until("/hit/.test(document.querySelector('.found').textContent)")
        assert reading.step() == "1 of 1"
        assert (hit(page) or {}).get("text") == "five and nine"
        reading.press("Escape")
        reading.press("/")
        page.keyboard.insert_text("there is no such thing")
        reading.until("document.querySelector('.found').textContent === 'no hits'")
        assert reading.watched.misdeeds() == []


def test_a_sub_agent_opens_in_place_and_on_a_page_of_its_own(tmp_path: Path, running: Browser) -> None:
    with visit(running, demo(tmp_path)) as reading:
        page = reading.page
        reading.read(WATER)
        top = page.evaluate("document.querySelector('.agentline').getBoundingClientRect().top")
        page.click(".agentline")
        page.locator(".agentturns .item").first.wait_for(state="attached")
        assert page.evaluate("document.querySelector('.agentline').getBoundingClientRect().top") == top
        words = page.inner_text(".agentturns .prompt >> nth=0")
        page.click(".agentpage")
        reading.until("location.search.includes('agent=')")
        page.locator(".item").first.wait_for(state="attached")
        settle(page)
        own = page.inner_text(".list > .shelf .prompt >> nth=0")
        assert own.split("\n")[-1] == words.split("\n")[-1]
        assert page.locator("#t1").count() == 1
        page.go_back()
        page.locator(".agentline").wait_for(state="attached")
        assert page.inner_text("h1") == "Water the beds only when they are thirsty"
        assert reading.watched.misdeeds() == []


def test_branches_and_what_the_model_sees_are_chosen_by_a_menu(tmp_path: Path, running: Browser) -> None:
    with visit(running, demo(tmp_path)) as reading:
        page = reading.page

        def turns() -> list[str]:
            settle(page)
            page.locator(".railrow").first.wait_for(state="attached")
            return [one.split("\n")[1] for one in page.locator(".railrow").all_inner_texts()]

        reading.read(LOAVES)
        whole = turns()
        assert len(whole) == 3
        assert page.locator(".railrow.is-off").count() == 1
        reading.press("b")
        page.locator(".menubody >> text=Branch 1").click()
        reading.until("document.querySelectorAll('.railrow').length === 2")
        assert turns() == whole[:2]
        page.go_back()
        reading.until("document.querySelectorAll('.railrow').length === 3")
        reading.press("b")
        page.locator(".menubody >> text=What the model sees").click()
        reading.until("document.querySelectorAll('.railrow').length === 2")
        assert turns() == [whole[0], whole[2]]
        assert reading.find("sold out from the form").endswith("of 1")
        assert page.url.rpartition("#")[2].startswith("t2.")

        reading.read(WATER, "&branch=seen")
        assert len(turns()) == 2, "what was before the compaction is not sent"
        reading.read(WATER, "&branch=77")
        assert "no branch" in page.inner_text(".failed")
        page.click("text=Show everything")
        page.locator(".item").first.wait_for(state="attached")
        # The last visit was to a branch that is not there, which the browser itself notes.
        assert [one for one in reading.watched.misdeeds() if "400" not in one] == []


def test_damage_stands_where_it_is_and_leads_to_its_repair(tmp_path: Path, running: Browser) -> None:
    with visit(running, demo(tmp_path)) as reading:
        page = reading.page
        reading.read(DAMAGED)
        assert "3 damaged pieces" in reading.words("header.bar")
        notice = page.locator(".notice", has_text="run of NULs")
        notice.locator("text=Show bytes").click()
        assert notice.locator(".code").is_visible()
        notice.locator("text=Preview repair").click()
        assert f"session={DAMAGED}" in page.url
        assert "edit=repair" in page.url
        reading.read(EMPTY)
        assert "nothing in the file" in page.inner_text(".empty")
        assert reading.watched.misdeeds() == []


def test_what_cannot_be_shown_says_why(tmp_path: Path, running: Browser) -> None:
    with visit(running, demo(tmp_path)) as reading:
        page = reading.page
        reading.read("no-such-session")
        assert page.locator("h1").count() == 1
        assert "no-such-session" in page.inner_text(".failed")
        reading.read(VENTS)
        page.route("**/turns/2*", lambda route: route.abort())
        page.evaluate("scrollTo(0, 1e9)")
        reading.read(VENTS, "", "t2")
        page.locator(".notice", has_text="could not be fetched").wait_for()
        assert page.inner_text("h1"), "the rest goes on working"


LONG = "\n".join(f"A line of an answer, number {n}, which is as long as lines often are." for n in range(400))


def test_folding_and_loading_never_move_what_is_read(tmp_path: Path, running: Browser) -> None:
    made = Builder("still")
    for turn in range(60):
        made.user(f"Prompt {turn}\n" + "more words\n" * (turn % 7))
        for number in range(turn % 9):
            name = f"c{turn}-{number}"
            made.answer(thinking(f"Thought {name}. " * 20), call(name, "Bash", {"command": "x"}))
            made.result(name, f"{name}\n" * 40, is_error=number == 3)
        made.answer(text(f"Done {turn}.\n\n" + LONG[: 300 * (turn % 5)]))
    write(tmp_path, "-p", {"still": made.data()})
    with visit(running, tmp_path) as reading:
        page = reading.page
        reading.read("still", "", "t30")
        page.evaluate("scrollBy(0, 150)")
        page.wait_for_timeout(300)
        for press in ("4", "3", "t", "t", "2", "3", "1", "3"):
            seen = page.evaluate("""() => [...document.querySelectorAll("[data-key]")]
                .map((one) => ({ id: one.id, top: one.getBoundingClientRect().top }))
                .filter(({ top }) => top >= 64 && top < innerHeight - 40)""")
            page.keyboard.press(press)
            page.wait_for_timeout(250)
            for one in seen:
                script = "(id) => document.getElementById(id)?.getBoundingClientRect().top ?? null"
                if (now := page.evaluate(script, one["id"])) is not None:
                    assert abs(now - one["top"]) < 2, (press, one)
                    break
        worst = page.evaluate("""async () => {
            let worst = 0;
            for (let n = 0; n < 60; n += 1) {
                scrollBy(0, -120);
                const top = (one) => one.getBoundingClientRect().top;
                const marks = [...document.querySelectorAll("[data-key]")].map((one) => [one, top(one)])
                    .filter(([, y]) => y > 80 && y < innerHeight - 200);
                await new Promise((done) => setTimeout(done, 40));
                for (const [one, y] of marks) {
                    if (one.isConnected) worst = Math.max(worst, Math.abs(top(one) - y));
                }
            }
            return worst;
        }""")
        assert worst < 2
        assert reading.watched.misdeeds() == []


def test_nothing_keeps_people_from_reading(tmp_path: Path, running: Browser) -> None:
    with visit(running, demo(tmp_path)) as reading:
        page = reading.page
        for width, colours in LOOKS:
            page.set_viewport_size({"width": width, "height": 1000})
            page.emulate_media(color_scheme="dark" if colours == "dark" else "light")
            reading.read(LOAVES)
            reading.press("4")
            assert reading.faults() == [], (width, colours)
            page.click(".moremenu button")
            assert reading.faults() == [], (width, colours)
            reading.press("Escape")
            reading.press("/")
            assert reading.faults() == [], (width, colours)


def test_nothing_is_cut_off_or_stands_on_anything(tmp_path: Path, running: Browser) -> None:
    with visit(running, demo(tmp_path)) as reading:
        page = reading.page
        for width in (360, 1024, 1920):
            page.set_viewport_size({"width": width, "height": 1000})
            for session in (VENTS, WATER, DAMAGED):
                reading.read(session)
                if session == WATER:
                    page.click(".agentline")
                    page.locator(".agentturns .item").first.wait_for(state="attached")
                settle(page)
                assert page.evaluate(CUT) == [], (width, session)
                bar = page.locator("header.bar").bounding_box()
                assert bar is not None
                assert bar["height"] <= (58 if width > 900 else 104)
            page.click(".moremenu button")
            menu = page.locator(".menubody").bounding_box()
            assert menu is not None
            assert menu["x"] >= 0
            assert menu["x"] + menu["width"] <= width
            assert menu["y"] + menu["height"] <= 1000
        page.set_viewport_size({"width": 390, "height": 800})
        reading.read(VENTS)
        page.click(".turnbutton")
        page.locator(".railrow", has_text="Lovely").click()
        settle(page)
        assert page.url.endswith("#t2")
        assert not page.locator(".side").is_visible()


def test_hostile_texts_do_nothing(tmp_path: Path, running: Browser) -> None:
    root = hostile(tmp_path)
    made = Builder("bad")
    for number, payload in enumerate(PAYLOADS):
        made.user(payload, cwd=payload, gitBranch=payload, version=payload)
        name = f"c{number}"
        made.answer(
            thinking(payload), text(payload), call(name, payload, {"command": payload, payload: payload})
        )
        made.result(name, payload, is_error=number % 2 == 0)
    made.line({"type": "ai-title", "aiTitle": PAYLOADS[1], "sessionId": "bad"})
    write(root, "-bad", {"bad": made.data()})
    with visit(running, root) as reading:
        page = reading.page
        reading.read("bad")
        reading.press("4")
        page.evaluate("""async () => {
            for (let y = 0; y <= document.documentElement.scrollHeight; y += 1200) {
                scrollTo(0, y);
                await new Promise((done) => setTimeout(done, 60));
            }
        }""")
        page.click(".moremenu button")
        reading.press("Escape")
        reading.press("r")
        reading.find("alert(1)")
        reading.press("Escape")
        for session in ("odd", "loop", "deep", "nul", "glued", "numbers", "blank"):
            reading.read(session)
            assert page.locator("h1").count() == 1, session
        reading.read("bad", "&tab=context")
        page.locator(".kindbutton").first.wait_for(state="attached")
        for button in page.locator(".kindbutton").all():
            button.click()
        page.wait_for_timeout(500)
        assert (
            page.evaluate("document.querySelectorAll('.view-session script, .view-session iframe').length")
            == 0
        )
        assert reading.watched.misdeeds() == []


def test_a_resume_line_holds_nothing_that_a_terminal_would_obey(tmp_path: Path, running: Browser) -> None:
    made = Builder("s1")
    made.user("hi", cwd="/home/it's; rm -rf ~/\x1b[201~\n$(reboot)").answer("hello")
    plain = Builder("s2")
    plain.user("hi", cwd="/home/it's $(here)").answer("hello")
    write(tmp_path, "-p", {"s1": made.data(), "s2": plain.data()})
    with visit(running, tmp_path) as reading:
        page = reading.page
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        for session, line in (
            ("s1", "claude --resume s1"),
            ("s2", "cd '/home/it'\\''s $(here)' && claude --resume s2"),
        ):
            reading.read(session)
            reading.press("r")
            assert page.evaluate("navigator.clipboard.readText()") == line, json.dumps(line)
