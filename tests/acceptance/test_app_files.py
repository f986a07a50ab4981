"""The view Files in a real browser: what sessions did to files, found by keyboard and by link."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from tests.acceptance.app_lab import served, visiting
from tests.acceptance.page_lab import settle
from tests.acceptance.view_lab import flaws, harmless, opened
from tests.acceptance.xss import PAYLOADS
from tests.builder import Builder, call
from tests.faces.stage import demo, write

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.acceptance

VENTS = "/home/robin/greenhouse/vents.py"
WATERING = "/home/robin/greenhouse/watering.py"


def wrote(made: Builder, path: str, text: str, before: str | None) -> Builder:
    """Add a turn that writes a file, as the client keeps it."""
    number = len(made.data())
    made.user(f"write {path[:20]}").answer(call(f"t{number}", "Write", {"file_path": path, "content": text}))
    result: dict[str, Any] = {
        "type": "create" if before is None else "update",
        "filePath": path,
        "content": text,
        "structuredPatch": [],
        "originalFile": before,
    }
    return made.result(f"t{number}", "written", toolUseResult=result).answer("done")


def rows(page: Page) -> list[str]:
    return page.eval_on_selector_all(".treerow .treename", "(all) => all.map((one) => one.textContent)")


def test_the_tree_is_gone_through_by_keyboard_and_folded(tmp_path: Path, running: Browser) -> None:
    with served(demo(tmp_path)) as server, visiting(running, server) as watched:
        page = watched.page
        opened(page, server, "/?view=files")
        assert rows(page)[:5] == ["/home/robin", "bakery", "order.html", "orders.py", "stock.py"]
        assert page.locator(".treerow").first.inner_text().split() == ["/home/robin", "+89", "−17"]
        page.locator(".treerow").first.focus()
        page.keyboard.press("ArrowDown")
        assert page.evaluate("() => document.activeElement.textContent").startswith("bakery")
        page.keyboard.press("ArrowLeft")
        settle(page)
        assert rows(page)[:3] == ["/home/robin", "bakery", "greenhouse"]
        assert page.locator(".treerow >> nth=1").get_attribute("aria-expanded") == "false"
        page.keyboard.press("End")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("Enter")
        page.locator(".filename").wait_for()
        assert page.inner_text(".filename") == "grow.py"
        assert page.title() == "grow.py · clew"
        assert "path=%2Fhome%2Frobin%2Fmaze%2Fgrow.py" in page.url
        page.go_back()
        page.locator(".filename").wait_for(state="detached")
        assert page.title() == "Files · clew"
        assert watched.misdeeds() == []


def test_a_filter_narrows_as_one_types_and_is_in_the_address(tmp_path: Path, running: Browser) -> None:
    with served(demo(tmp_path)) as server, visiting(running, server) as watched:
        page = watched.page
        opened(page, server, "/?view=files")
        page.locator("input[type=search]").fill("MAZE/")
        settle(page)
        assert rows(page) == ["/home/robin/maze", "grow.py", "solve.py"]
        assert "part=MAZE" in page.url
        page.locator("input[type=search]").fill("no such file")
        assert "No path has" in page.inner_text(".empty")
        page.get_by_role("button", name="Show all files").click()
        settle(page)
        assert len(rows(page)) > 9
        page.go_back()
        settle(page)
        assert "No path has" in page.inner_text(".empty")


def test_versions_lead_to_their_turns_and_to_what_changed(tmp_path: Path, running: Browser) -> None:
    with served(demo(tmp_path)) as server, visiting(running, server) as watched:
        page = watched.page
        opened(page, server, f"/?view=files&path={WATERING}")
        page.locator(".version").first.wait_for()
        assert page.locator(".versionturn").all_inner_texts() == ["turn 2", "turn 1"]
        address = page.locator(".versionturn").first.get_attribute("href") or ""
        assert address.startswith("/?view=session&session=f947")
        assert address.endswith("#t2")
        page.get_by_role("link", name="diff").first.click()
        page.locator(".difflines").wait_for()
        assert page.locator(".dl.add").count() == 5
        assert page.locator(".dl.del").count() == 1
        page.locator(".pick select >> nth=0").select_option(label="before the session")
        page.wait_for_function("() => document.querySelectorAll('.dl.add').length > 5")
        page.go_back()
        page.wait_for_function("() => document.querySelectorAll('.dl.add').length === 5")
        page.get_by_role("link", name="Text", exact=True).click()
        page.locator(".showing pre").wait_for()
        assert "def " in page.inner_text(".showing pre")
        assert watched.misdeeds() == []


def test_any_two_versions_are_compared_even_of_two_sessions(tmp_path: Path, running: Browser) -> None:
    path = "/home/x/a.txt"
    one, two = "".join(f"line {n}\n" for n in range(30)), "".join(f"line {n}\n" for n in range(30) if n != 12)
    three = two.replace("line 20\n", "line twenty\n")
    first, second = Builder("first", version="2.1.325"), Builder("second")
    wrote(wrote(first, path, one, None), path, two, one)
    wrote(second, path, three, two)
    write(tmp_path, "-home-x", {"second": second.data(), "first": first.data()})
    with served(tmp_path) as server, visiting(running, server) as watched:
        page = watched.page
        opened(page, server, f"/?view=files&path={path}&tab=diff&from=first@1&to=second@1")
        page.locator(".difflines").wait_for()
        assert [text.strip() for text in page.locator(".dl.del .tx").all_inner_texts()] == [
            "line 12",
            "line 20",
        ]
        assert [text.strip() for text in page.locator(".dl.add .tx").all_inner_texts()] == ["line twenty"]
        opened(page, server, f"/?view=files&path={path}&tab=diff&from=second@0&to=first@2")
        assert "can only be compared" in page.inner_text(".failed")
        assert watched.misdeeds() == []


def test_gaps_and_versions_that_nobody_tells_are_named(tmp_path: Path, running: Browser) -> None:
    path = "/home/x/a.txt"
    made = wrote(wrote(Builder("talk"), path, "one\n", None), path, "three\n", "two\n")
    made.user("edit").answer(call("e", "Edit", {"file_path": path, "old_string": "x", "new_string": "y"}))
    made.result("e", "edited", toolUseResult={"filePath": path, "oldString": "x", "newString": "y"}).answer(
        "ok"
    )
    write(tmp_path, "-home-x", {"talk": made.data()})
    with served(tmp_path) as server, visiting(running, server) as watched:
        page = watched.page
        opened(page, server, f"/?view=files&path={path}")
        page.locator(".history .notice").first.wait_for()
        assert "Between turns 1 and 2 something else changed the file" in page.inner_text(".history")
        assert page.locator(".version").first.inner_text().split()[-3:] == ["text", "not", "told"]
        assert flaws(page) == []
        assert watched.misdeeds() == []


def test_each_line_names_the_turn_that_wrote_it_or_that_nobody_knows(
    tmp_path: Path, running: Browser
) -> None:
    with served(demo(tmp_path)) as server, visiting(running, server) as watched:
        page = watched.page
        opened(page, server, f"/?view=files&path={VENTS}&tab=blame")
        page.locator(".blameline").first.wait_for()
        assert "No session tells who wrote 15 of 18 lines." in page.inner_text(".showing").replace(
            "\u00a0", " "
        )
        assert page.inner_text(".blameline >> nth=0").startswith("not told")
        line = page.locator(".blameline >> nth=3")
        assert "CLOSE_BELOW = 21.0" in line.inner_text()
        assert "The roof vents" in line.inner_text()
        line.locator("a").click()
        page.locator(".view-session").wait_for(state="attached")
        assert page.url.endswith("#t1")
        assert watched.misdeeds() == []


def test_a_great_many_files_and_lines_are_drawn_a_few_at_a_time(tmp_path: Path, running: Browser) -> None:
    made = Builder("many")
    for number in range(300):
        wrote(made, f"/home/x/d{number % 20:02}/f{number:03}.txt", "x\n", None)
    wrote(made, "/home/x/long.txt", "".join(f"line {n}\n" for n in range(5000)), None)
    write(tmp_path, "-home-x", {"many": made.data()})
    with served(tmp_path) as server, visiting(running, server) as watched:
        page = watched.page
        opened(page, server, "/?view=files")
        assert rows(page)[:2] == ["/home/x", "d00"], "folders are folded"
        page.locator("input[type=search]").fill("d")
        settle(page)
        assert 20 < page.locator(".treerow").count() <= 60
        page.locator(".treerow").first.focus()
        page.keyboard.press("End")
        settle(page)
        assert page.evaluate("() => document.activeElement.textContent").startswith("f299.txt")
        assert page.locator(".treerow").count() <= 60
        opened(page, server, "/?view=files&path=/home/x/long.txt&tab=blame")
        page.locator(".blameline").first.wait_for()
        page.evaluate("() => document.querySelector('.blame').scrollTo(0, 1e9)")
        page.get_by_text("line 4999", exact=True).wait_for()
        assert page.locator(".blameline").count() <= 60
        assert watched.misdeeds() == []


def test_failures_are_said_and_nothing_is_cut(tmp_path: Path, running: Browser) -> None:
    (tmp_path / "none" / "projects").mkdir(parents=True)
    with served(tmp_path / "none") as server, visiting(running, server) as watched:
        opened(watched.page, server, "/?view=files")
        watched.page.get_by_text("No session has changed a file yet.").wait_for()
        assert flaws(watched.page) == []
        assert watched.misdeeds() == []
    with served(demo(tmp_path)) as server, visiting(running, server) as watched:
        page = watched.page
        for more in (
            "",
            f"&path={VENTS}&tab=diff",
            f"&path={VENTS}&tab=blame",
        ):
            opened(page, server, f"/?view=files{more}")
            assert flaws(page) == [], more
        assert watched.misdeeds() == []
        opened(page, server, "/?view=files&path=/etc/passwd")
        page.get_by_text("No session changed this file.").wait_for()
        opened(page, server, "/?view=files&path=/etc/passwd&tab=blame")
        page.locator(".failed").wait_for()
        assert page.locator(".filetree").is_visible()


def test_hostile_texts_do_nothing(tmp_path: Path, running: Browser) -> None:
    made = Builder(PAYLOADS[0])
    for payload in PAYLOADS:
        wrote(made, f"/home/x/{payload}", payload, payload)
    write(tmp_path, "-home-x", {"00000000-0000-4000-8000-000000000000": made.data()})
    with served(tmp_path) as server, visiting(running, server) as watched:
        page = watched.page
        opened(page, server, "/?view=files&part=/")
        assert harmless(page) == []
        paths: list[str] = page.evaluate(
            "async () => (await (await fetch('/api/files')).json()).files.map((one) => one.path)"
        )
        assert len(paths) >= 60
        # Of a path with a NUL in it the server tells nothing.
        for number, path in enumerate([one for one in paths if "\0" not in one][::5]):
            tab = ("history", "diff", "text", "blame")[number % 4]
            opened(page, server, f"/?view=files&tab={tab}&path={quote(path, safe='')}")
            page.locator(".filename").wait_for()
            assert harmless(page) == [], path
            # A path that means another one is refused, which a browser notes.
            assert [one for one in watched.misdeeds() if "400" not in one] == [], path
