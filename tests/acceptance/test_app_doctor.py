"""The view Doctor in a real browser: what is wrong, and edits that are previewed, done and taken back."""

from __future__ import annotations

import os
import re
import time
from typing import TYPE_CHECKING

import pytest

from tests.acceptance.app_lab import served, visiting
from tests.acceptance.page_lab import settle
from tests.acceptance.view_lab import drawn, faults, flaws, harmless, opened
from tests.acceptance.xss import PAYLOADS
from tests.builder import Builder, call
from tests.export import hostile
from tests.faces.stage import demo, write

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page, Route

pytestmark = pytest.mark.acceptance

WORD = "ghp_" + "Zx81kQmW20vTbYc4LrHs96NdPeUf3aGj57Xo"


def contents(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def talk(root: Path) -> None:
    """Write a session with large results, a secret, and a call without a result."""
    made = Builder("talk")
    for number in range(6):
        made.user(f"go {number}").answer(call(f"t{number}", "Bash" if number % 2 else "Read", {"x": number}))
        made.result(f"t{number}", "word " * 400).answer(f"went {number}")
    made.user(f"login {WORD}").answer("hello")
    write(root, "-p", {"talk": made.data()})


def spoken(page: Page, selector: str) -> str:
    return page.inner_text(selector).replace("\u00a0", " ")


def damaged(root: Path) -> str:
    (found,) = (path.stem for path in root.rglob("4a01*.jsonl"))
    return found


def test_the_totals_add_up_and_problems_name_their_place(tmp_path: Path, running: Browser) -> None:
    root = demo(tmp_path)
    name = damaged(root)
    data = next(root.rglob(f"{name}.jsonl")).read_bytes()
    with served(root) as server, visiting(running, server) as watched:
        page = watched.page
        opened(page, server, "/?view=doctor")
        files, *parts = map(int, re.findall(r"\d+", page.inner_text(".totals")))
        assert files == sum(parts) == len(list(root.rglob("*.jsonl")))
        row = page.locator(".patientrow")
        assert row.count() == 1
        row.focus()
        page.keyboard.press("Enter")
        page.locator(".problem").first.wait_for()
        assert f"open={name}" in page.url
        assert row.get_attribute("aria-expanded") == "true"
        assert "still resumes" in page.inner_text(".patientbody")
        said = spoken(page, ".problem:has-text('NULs')")
        line, offset = (
            int(one.replace(",", "")) for one in re.findall(r"line ([\d,]+) byte ([\d,]+)", said)[0]
        )
        assert data[offset : offset + 8] == b"\0" * 8
        assert data[:offset].count(b"\n") == line - 1
        page.go_back()
        page.locator(".problem").first.wait_for(state="detached")
        assert page.locator(".leaving li").count() >= 3
        assert watched.misdeeds() == []


def test_a_repair_is_previewed_confirmed_done_and_taken_back_by_keyboard(
    tmp_path: Path, running: Browser
) -> None:
    root = demo(tmp_path)
    before = contents(root)
    with served(root) as server, visiting(running, server) as watched:
        page = watched.page
        opened(page, server, f"/?view=doctor&open={damaged(root)}")
        page.get_by_role("link", name="Preview repair").press("Enter")
        page.locator(".planline").wait_for()
        drawn(page)
        assert "tokens of context" in spoken(page, ".planline")
        assert page.locator(".step").count() == 5
        assert "a run of NULs" in page.inner_text(".steps")
        assert contents(root) == before, "a preview writes nothing"
        act = page.get_by_role("button", name="Make a new session …")
        act.press("Enter")
        assert page.evaluate("() => document.activeElement.textContent") == "Cancel"
        page.keyboard.press("Escape")
        page.locator("dialog").wait_for(state="detached")
        assert page.evaluate("() => document.activeElement.textContent").startswith("Make a new session")
        act.press("Enter")
        for _ in range(3):
            page.keyboard.press("Tab")
            assert not page.evaluate("() => document.activeElement.matches('.editcolumns *')"), (
                "the focus stays"
            )
        page.get_by_role("button", name="Make the new session").press("Enter")
        page.locator("#done-title").wait_for()
        assert page.evaluate("() => document.activeElement.id") == "done-title"
        after = contents(root)
        assert {**after, **before} == after
        assert len(after) == len(before) + 1
        assert "journal=" in page.url
        page.reload()
        page.get_by_role("link", name="Open the new session").wait_for()
        page.get_by_role("button", name="Undo").press("Enter")
        page.get_by_text("Taken back:").wait_for()
        assert contents(root) == before
        assert page.title() == "Repair · clew"
        page.get_by_role("link", name="Usage").click()
        page.locator(".view-usage").wait_for(state="attached")
        assert page.title() == "Usage · clew"
        assert watched.misdeeds() == []


def test_a_trim_says_what_it_saves_as_one_types(tmp_path: Path, running: Browser) -> None:
    talk(tmp_path)
    before = contents(tmp_path)
    with served(tmp_path) as server, visiting(running, server) as watched:
        page = watched.page
        opened(page, server, "/?view=doctor&session=talk&edit=trim")
        drawn(page)

        def steps() -> int:
            drawn(page)
            changed, left = re.findall(
                r"(\d+) changed (\d+) left out", re.sub(r"\s+", " ", spoken(page, ".planfacts"))
            )[0]
            return int(changed) + int(left)

        whole = steps()
        assert whole == 6
        assert "saved" in spoken(page, ".planline")
        page.get_by_label("Tools").fill("Bash")
        page.wait_for_function("() => document.querySelector('.planfacts').textContent.includes('3 changed')")
        assert steps() == 3
        assert "tools=Bash" in page.url
        page.get_by_label("Older than the last").fill("4")
        page.wait_for_function(
            "() => !document.querySelector('.planfacts').textContent.includes('3 changed')"
        )
        assert 0 < steps() < 3
        page.get_by_label("Larger than").fill("many")
        assert "a whole number" in page.inner_text(".previewing")
        page.get_by_label("Larger than").fill("999999")
        page.get_by_text("Nothing would change.").wait_for()
        assert page.get_by_role("button", name="Make a new session …").is_disabled()
        page.get_by_label("Larger than").fill("")
        page.get_by_label("Tools").fill("")
        page.get_by_label("Only what calls gave back").uncheck()
        page.get_by_label("Older than the last").fill("")
        assert "Say what is to be taken out." in page.inner_text(".previewing")
        page.get_by_label("Keep only the last").fill("1")
        page.wait_for_function("() => document.querySelector('.planfacts')?.textContent.includes('left out')")
        assert contents(tmp_path) == before
        assert watched.misdeeds() == []


def test_in_place_needs_a_second_deliberate_act_where_somebody_may_be_writing(
    tmp_path: Path, running: Browser
) -> None:
    talk(tmp_path)
    (path,) = tmp_path.rglob("talk.jsonl")
    os.utime(path, (time.time(), time.time()))
    before = path.read_bytes()
    with served(tmp_path) as server, visiting(running, server) as watched:
        page = watched.page
        opened(page, server, "/?view=doctor&session=talk&edit=trim")
        page.get_by_label("This session itself").check()
        page.locator(".refusal").wait_for()
        assert "The journal keeps the file" in page.inner_text(".editform")
        assert "somebody may be writing" in page.inner_text(".refusal")
        page.get_by_role("button", name="Preview it all the same").click()
        page.locator(".planline").wait_for()
        drawn(page)
        page.get_by_role("button", name="Trim this session …").click()
        act = page.get_by_role("button", name="Trim this session", exact=True)
        assert act.is_disabled()
        assert "somebody may be writing" in page.inner_text("dialog")
        page.get_by_label("Do it all the same").check()
        act.click()
        page.locator("#done-title").wait_for()
        assert path.read_bytes() != before
        page.get_by_role("button", name="Undo").click()
        page.get_by_text("Taken back:").wait_for()
        assert path.read_bytes() == before
        # The refused preview is an answer of the server that a browser notes.
        assert [one for one in watched.misdeeds() if "409" not in one] == []


def test_an_undo_that_would_lose_something_asks_again(tmp_path: Path, running: Browser) -> None:
    talk(tmp_path)
    (path,) = tmp_path.rglob("talk.jsonl")
    with served(tmp_path) as server, visiting(running, server) as watched:
        page = watched.page
        opened(page, server, "/?view=doctor&session=talk&edit=trim&place=1&results=1")
        page.get_by_role("button", name="Trim this session …").click()
        page.get_by_role("button", name="Trim this session", exact=True).click()
        page.locator("#done-title").wait_for()
        with path.open("ab") as file:
            file.write(b'{"type":"user","uuid":"later"}\n')
        page.get_by_role("button", name="Undo").click()
        page.get_by_role("button", name="Undo all the same").wait_for()
        assert b"later" in path.read_bytes()
        page.get_by_role("button", name="Undo all the same").click()
        page.get_by_text("Taken back:").wait_for()
        assert b"later" not in path.read_bytes()


def test_an_edit_that_was_broken_off_can_be_taken_back(tmp_path: Path, running: Browser) -> None:
    talk(tmp_path)
    before = contents(tmp_path)
    with served(tmp_path) as server, visiting(running, server) as watched:
        page = watched.page
        opened(page, server, "/?view=doctor&session=talk&edit=trim")
        page.get_by_role("button", name="Make a new session …").click()
        page.get_by_role("button", name="Make the new session").click()
        page.locator("#done-title").wait_for()
        (journal,) = re.findall(r"journal=([\w-]+)", page.url)

        def broken_off(route: Route) -> None:
            """Let the server say that this very edit is not whole."""
            answer = route.fetch()
            route.fulfill(response=answer, json={**answer.json(), "interrupted_edits": [journal]})

        page.route("**/api/doctor", broken_off)
        opened(page, server, "/?view=doctor")
        assert "1 edit broken off" in spoken(page, "main")
        assert flaws(page) == []
        page.unroute("**/api/doctor")
        page.get_by_role("button", name="Undo").click()
        page.get_by_text("1 edit broken off").wait_for(state="detached")
        assert contents(tmp_path) == before
        assert watched.misdeeds() == []


def test_a_redaction_keeps_its_patterns_out_of_the_address(tmp_path: Path, running: Browser) -> None:
    talk(tmp_path)
    with served(tmp_path) as server, visiting(running, server) as watched:
        page = watched.page
        opened(page, server, "/?view=doctor&session=talk&edit=redact")
        drawn(page)
        assert "it holds a secret" in page.inner_text(".steps")
        page.get_by_label("What else").fill("went \\d\n(broken")
        page.get_by_text("makes no sense").wait_for()
        page.get_by_label("What else").fill("went \\d")
        page.locator(".planline").wait_for()
        drawn(page)
        assert page.locator(".step").count() >= 7
        assert "went" not in page.url
        page.get_by_role("button", name="Make a new session …").click()
        page.get_by_role("button", name="Make the new session").click()
        page.locator("#done-title").wait_for()
        (new,) = (one for one in tmp_path.rglob("*.jsonl") if one.stem != "talk")
        assert WORD.encode() not in new.read_bytes()
        assert b"went 3" not in new.read_bytes()
        assert [one for one in watched.misdeeds() if "400" not in one] == []


def test_a_server_that_only_reads_says_why_nothing_can_be_done(tmp_path: Path, running: Browser) -> None:
    root = demo(tmp_path)
    with served(root, "--read-only") as server, visiting(running, server) as watched:
        page = watched.page
        for kind in ("repair", "trim", "redact"):
            opened(page, server, f"/?view=doctor&session={damaged(root)}&edit={kind}")
            page.get_by_text("--read-only").first.wait_for()
            assert page.get_by_role("button", name="Make a new session").is_disabled()
            assert page.locator("form").count() == 0
        assert watched.misdeeds() == []
        assert flaws(page) == []


def test_no_key_by_itself_changes_anything(tmp_path: Path, running: Browser) -> None:
    talk(tmp_path)
    before = contents(tmp_path)
    with served(tmp_path) as server, visiting(running, server) as watched:
        page = watched.page
        opened(page, server, "/?view=doctor&session=talk&edit=trim")
        drawn(page)
        for key in "abcdefhijklmnopqrstuvwxyzABCDEFHIJKLMNOPQRSTUVWXYZ0123456789[] ":
            page.keyboard.press(key)
        settle(page)
        assert page.locator("dialog[open]:has-text('Trim')").count() == 0
        assert contents(tmp_path) == before


def test_failures_and_a_sound_store_are_said(tmp_path: Path, running: Browser) -> None:
    write(tmp_path, "-p", {"a": Builder("a").user("hi").answer("ho").data()})
    with served(tmp_path) as server, visiting(running, server) as watched:
        page = watched.page
        opened(page, server, "/?view=doctor")
        assert "No problems" in page.inner_text("main")
        assert flaws(page) == []
        page.route("**/api/doctor", lambda route: route.abort())
        opened(page, server, "/?view=usage")
        page.get_by_role("link", name="Doctor").click()
        page.locator(".failed").wait_for()
        page.unroute("**/api/doctor")
        page.get_by_role("button", name="Try again").click()
        page.locator(".totals").wait_for()
        opened(page, server, "/?view=doctor&session=nobody&edit=trim")
        page.locator(".refusal").wait_for()


def test_nobody_is_kept_from_using_it_and_nothing_is_cut(tmp_path: Path, running: Browser) -> None:
    root = demo(tmp_path)
    name = damaged(root)
    with served(root) as server, visiting(running, server) as watched:
        page = watched.page
        for more in (f"&open={name}", f"&session={name}&edit=repair", f"&session={name}&edit=redact&place=1"):
            opened(page, server, f"/?view=doctor{more}")
            assert flaws(page) == [], more
        other = next(path.stem for path in root.rglob("f026*.jsonl"))
        opened(page, server, f"/?view=doctor&session={other}&edit=trim&turns=1")
        page.get_by_role("button", name="Make a new session …").click()
        page.locator("dialog[open]").wait_for()
        assert faults(page) == []
        page.get_by_role("button", name="Make the new session").click()
        page.locator("#done-title").wait_for()
        assert flaws(page) == []
        assert watched.misdeeds() == []


def test_hostile_texts_do_nothing(tmp_path: Path, running: Browser) -> None:
    for number, payload in enumerate(PAYLOADS):
        data = hostile.everywhere(payload)
        write(tmp_path, f"-p{number}", {f"0000{number:04}-0000-4000-8000-000000000000": data + data[:-30]})
    with served(tmp_path) as server, visiting(running, server) as watched:
        page = watched.page
        opened(page, server, "/?view=doctor")
        page.locator("button.more").click()
        assert page.locator(".patient").count() >= 60
        assert harmless(page) == []
        for number in range(0, len(PAYLOADS), 12):
            key = f"0000{number:04}-0000-4000-8000-000000000000"
            kind = ("repair", "trim", "redact")[number // 12 % 3]
            opened(page, server, f"/?view=doctor&session={key}&edit={kind}")
            assert harmless(page) == [], number
            assert watched.misdeeds() == [], number
