"""What the tests of the app's views share: waiting for a view, and looking at it in every size and colour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests import browser
from tests.acceptance.app_lab import go
from tests.acceptance.page_lab import CUT, LOOKS, settle

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.acceptance.app_lab import Served

_TAGS: Final = (
    "main section div nav header footer h1 h2 h3 p span bdi strong b a button ul ol li table caption thead "
    "tbody tfoot tr th td svg g path rect line text input label select optgroup option textarea fieldset "
    "legend form code pre dialog br"
)
FOREIGN: Final = f"""() => [...new Set([...document.querySelectorAll("main, main *, dialog, dialog *")]
    .map((one) => one.tagName.toLowerCase()))].filter((one) => !"{_TAGS}".split(" ").includes(one))"""
"""Elements that no view of ours draws."""

ADDRESSES: Final = """() => [...document.querySelectorAll("main [href], main [src], main [action]")]
    .map((one) => one.getAttribute("href") ?? one.getAttribute("src") ?? one.outerHTML)
    .filter((one) => !/^(\\/(\\?|$|api\\/usage\\.csv)|#)/.test(one))"""
"""Links that lead out of the app."""

UNSEEN: Final = """() => [...new Set(document.getElementById("app").textContent
    .match(/[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u2069\\ufeff]/g))]"""
"""What a reader would not see, and what would turn the direction of what they do."""


def opened(page: Page, server: Served, address: str) -> None:
    """Open an address of the app and wait until everything is there."""
    go(page, server, address)
    drawn(page)


def drawn(page: Page) -> None:
    """Wait until nothing is being asked for any more."""
    page.locator("main h1").wait_for(state="visible")
    page.wait_for_function(
        "() => !document.querySelector('main [aria-busy=true], main .indexing, main .is-old')"
    )
    settle(page)


def faults(page: Page) -> list[str]:
    """What axe finds, every rule on."""
    page.evaluate(browser.axe())
    found = page.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")
    return [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found["violations"]]


def flaws(page: Page) -> list[str]:
    """What is wrong with a view: for axe, in both colours and on a phone, and what is cut or covered."""
    found: list[str] = []
    for width, colours in LOOKS:
        page.emulate_media(color_scheme="dark" if colours == "dark" else "light")
        page.set_viewport_size({"width": width, "height": 900})
        settle(page)
        found += [f"{width} {colours}: {one}" for one in faults(page)]
    for width in (360, 390, 1024, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        settle(page)
        found += [f"{width}: {one}" for one in page.evaluate(CUT)]
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1440, "height": 900})
    settle(page)
    return found


def harmless(page: Page) -> list[str]:
    """What hostile text made of a view: nothing, though everything is pointed at and given the focus."""
    page.evaluate("""() => {
        for (const one of document.querySelectorAll("main *")) {
            one.dispatchEvent(new PointerEvent("pointerenter", { bubbles: true }));
            one.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
            if (one.matches("a, button, input, select, [tabindex]")) one.focus({ preventScroll: true });
        }
    }""")
    settle(page)
    return [*page.evaluate(FOREIGN), *page.evaluate(ADDRESSES), *page.evaluate(UNSEEN)]
