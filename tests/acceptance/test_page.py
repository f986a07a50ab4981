"""The page in a real browser: whatever a session says is shown, and does nothing."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from clew.export.html_index import write_index
from clew.export.listed import Listed
from clew.view.parts import Head, Work
from tests import browser
from tests.acceptance.page_lab import CUT, LOOKS, settle, unfold, written
from tests.acceptance.xss import PAYLOADS
from tests.export import hostile
from tests.export.page_stories import assets, every_kind
from tests.export.test_html import everywhere
from tests.opened_stories import open_story

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.acceptance

ROOT = Path(__file__).resolve().parent.parent.parent


def test_the_renderer_that_is_checked_in_is_what_its_source_makes(tmp_path: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is needed to build the renderer")
    package = tmp_path / "web"
    shutil.copytree(ROOT / "web", package, ignore=shutil.ignore_patterns("node_modules"))
    out = tmp_path / "assets"
    out.mkdir()
    for command in (
        (npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts"),
        (npm, "run", "check"),
        (npm, "test"),
        (npm, "run", "build", "--", str(out), str(out / "html_index_assets.py")),
    ):
        done = subprocess.run(command, cwd=package, capture_output=True, text=True, check=False, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr
    for name in ("reader.js", "reader.css", "app.js", "app.css", "NOTICE.txt"):
        assert (out / name).read_bytes() == (ROOT / "src/clew/assets" / name).read_bytes(), "run make web"
    made = (out / "html_index_assets.py").read_bytes()
    assert made == (ROOT / "src/clew/export/html_index_assets.py").read_bytes(), "run make web"


def look_at_all(page: Page) -> None:
    """Do what a curious reader does: open everything, print it, point at every link."""
    unfold(page)
    page.evaluate("""() => {
        for (const one of document.querySelectorAll("a, .item, button")) {
            one.dispatchEvent(new PointerEvent("pointerenter", { bubbles: true }));
            one.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
            one.focus({ preventScroll: true });
        }
        dispatchEvent(new Event("beforeprint"));
        dispatchEvent(new Event("afterprint"));
    }""")
    settle(page)


ODD_ADDRESSES = """() => [...document.querySelectorAll("[href], [src], [action], [style*=url], [srcdoc]")]
    .map((one) => one.getAttribute("href") ?? one.getAttribute("src") ?? one.outerHTML)
    .filter((one) => !/^(#|https?:|mailto:|data:image\\/(png|jpeg|gif|webp);base64,)/.test(one))"""

STRANGE = """() => [...document.querySelectorAll("#app *")].map((one) => one.tagName.toLowerCase())
    .filter((one) => [
        "script", "iframe", "object", "embed", "form", "style", "link", "meta", "base", "math", "marquee",
        "video", "audio", "textarea", "template",
    ].includes(one))"""


UNSEEN = """() => [...new Set(document.getElementById("app").textContent
    .match(/[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u2069\\ufeff]/g))]"""
"""What a reader would not see, and what would turn the direction of what they do."""


def test_sixty_payloads_in_every_place_of_a_page_do_nothing(tmp_path: Path, running: Browser) -> None:
    assert len(PAYLOADS) >= 60
    for number, payload in enumerate(PAYLOADS):
        path = written(everywhere(payload), tmp_path / f"{number}.html")
        with browser.opened(running, path) as watched:
            watched.page.locator(".item").nth(5).wait_for(state="attached")
            look_at_all(watched.page)
            assert watched.page.evaluate("document.querySelectorAll('.agentturns section').length") == 1, (
                payload
            )
            assert watched.misdeeds() == [], payload
            assert watched.page.evaluate(ODD_ADDRESSES) == [], payload
            assert watched.page.evaluate(UNSEEN) == [], payload
            assert watched.page.evaluate(STRANGE) == [], payload
        path.unlink()


def test_payloads_in_every_field_of_a_session_do_nothing(tmp_path: Path, running: Browser) -> None:
    for number, payload in enumerate(PAYLOADS[::4]):
        name = f"0000000{number % 10}-0000-4000-8000-{number:012}"
        file = tmp_path / str(number) / "projects" / "-home-x" / f"{name}.jsonl"
        file.parent.mkdir(parents=True)
        file.write_bytes(hostile.everywhere(payload))
        told = open_story([tmp_path / str(number)], name, assets=assets())
        path = written(told, tmp_path / f"{number}.html")
        with browser.opened(running, path) as watched:
            look_at_all(watched.page)
            assert watched.misdeeds() == [], payload
            assert watched.page.evaluate(STRANGE) == [], payload


def test_without_scripts_payloads_do_nothing_either(tmp_path: Path, running: Browser) -> None:
    for number, payload in enumerate(PAYLOADS[::3]):
        path = written(everywhere(payload), tmp_path / f"{number}.html")
        with browser.opened(running, path, scripts=False) as watched:
            assert "Turn 1" in watched.page.inner_text("body")
            assert [*watched.dialogs, *watched.requests, *watched.complaints] == [], payload


def test_payloads_in_the_list_of_pages_do_nothing(tmp_path: Path, running: Browser) -> None:
    listed = [
        Listed(
            f"{said}.html",
            Head(said, said, 1, Work(), said, said, said, models=(said,), prices=said, damaged=1),
            is_gone=bool(number % 2),
        )
        for number, said in enumerate(PAYLOADS)
    ]
    path = tmp_path / "index.html"
    path.write_bytes(b"".join(write_index(listed, version=PAYLOADS[0])))
    with browser.opened(running, path) as watched:
        watched.page.fill("#filter", "onerror")
        settle(watched.page)
        assert (
            watched.page.inner_text("#found")
            == f"{sum('onerror' in one for one in PAYLOADS)} of {len(PAYLOADS)}"
        )
        watched.page.fill("#filter", "")
        assert watched.misdeeds() == []
        assert watched.page.evaluate(CUT) == []


def faults(page: Page) -> list[str]:
    """What axe finds, every rule on."""
    page.evaluate(browser.axe())
    found = page.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")
    return [f"{one['id']}: {one['nodes'][0]['html'][:160]}" for one in found["violations"]]


@pytest.mark.parametrize(("width", "colours"), LOOKS)
def test_nothing_keeps_people_from_using_the_page(
    tmp_path: Path, running: Browser, width: int, colours: str
) -> None:
    path = written(every_kind(), tmp_path / "page.html")
    with browser.opened(running, path, width=width, colours=colours) as watched:
        page = watched.page
        assert faults(page) == []
        unfold(page)
        assert faults(page) == []
        page.keyboard.press("/")
        page.keyboard.insert_text("loaf")
        settle(page)
        assert faults(page) == []
        page.keyboard.press("Escape")
        page.keyboard.press("?")
        settle(page)
        assert page.locator("dialog[open]").count() == 1
        assert faults(page) == []
        assert watched.misdeeds() == []


def test_nothing_keeps_people_from_using_the_list(tmp_path: Path, running: Browser) -> None:
    path = tmp_path / "index.html"
    head = Head("s", "A title", 3, Work(calls=8, failed=1, cost_usd=0.17), "/home/x/shop", "main", damaged=2)
    path.write_bytes(b"".join(write_index([Listed("a.html", head)] * 3, version="1")))
    for colours in ("light", "dark"):
        with browser.opened(running, path, colours=colours) as watched:
            assert faults(watched.page) == []


@pytest.mark.parametrize("width", [320, 360, 390, 720, 1024, 1440, 1920])
def test_no_text_is_cut_or_stands_on_other_text(tmp_path: Path, running: Browser, width: int) -> None:
    path = written(every_kind(), tmp_path / "page.html")
    with browser.opened(running, path, width=width) as watched:
        page = watched.page
        assert page.evaluate(CUT) == []
        unfold(page)
        assert page.evaluate(CUT) == []
        page.evaluate("scrollTo(0, 1e9)")
        settle(page)
        assert page.evaluate(CUT) == []


def test_what_can_be_pressed_on_a_phone_is_large_enough(tmp_path: Path, running: Browser) -> None:
    path = written(every_kind(), tmp_path / "page.html")
    with browser.opened(running, path, width=390, height=844) as watched:
        small = watched.page.evaluate("""() => [
            ...document.querySelectorAll("button, .railrow, .what a, summary")]
            .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 43.5)
            .map((one) => one.className + " " + one.getBoundingClientRect().height)""")
        assert small == []
        watched.page.click(".turnbutton")
        settle(watched.page)
        assert watched.page.locator(".rail .railrow").first.is_visible()
        watched.page.click(".rail .railrow >> nth=1")
        settle(watched.page)
        assert not watched.page.locator(".rail").is_visible()
