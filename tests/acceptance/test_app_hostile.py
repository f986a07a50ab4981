"""Sixty payloads in twenty-five places, through every view of the app in a real browser: nothing happens."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import pytest

from tests.acceptance.app_checks import STRANGE
from tests.acceptance.app_lab import go, served, visiting
from tests.acceptance.page_lab import unfold
from tests.acceptance.sinks import MARK, SINKS, UNSEEN, hostile_stores, mark, said
from tests.acceptance.xss import PAYLOADS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from tests.acceptance.app_lab import Served
    from tests.browser import Watched

DEEDS: Final = """() => {
    const found = [];
    for (const one of document.querySelectorAll("body *")) {
        for (const { name, value } of one.attributes) {
            if (name.startsWith("on")) found.push(`${one.tagName} ${name}`);
            if (name === "style" && /url|expression|import/i.test(value)) found.push(value);
            if (/^(href|src|action|formaction|data|srcdoc|xlink:href|poster|background)$/.test(name)) {
                const { protocol, origin } = new URL(value, location.href);
                const isPicture = /^data:image\\//.test(value);
                if (!/^(https?|mailto|blob):$/.test(protocol) && !isPicture) found.push(value);
                if (name !== "href" && origin !== location.origin && !isPicture) found.push(value);
            }
        }
    }
    return found;
}"""
"""Attributes that would do something, or lead where nobody may be led."""

POINT: Final = """() => {
    for (const one of document.querySelectorAll("main *")) {
        one.dispatchEvent(new PointerEvent("pointerenter", { bubbles: true }));
        one.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
        if (one.matches("a, button, input, select, [tabindex]")) one.focus({ preventScroll: true });
    }
}"""

FRAME: Final = "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)))"

WORDS: Final = """() => [document.title, document.body.innerText,
    ...[...document.querySelectorAll("[title], [aria-label], input, textarea, option")]
        .map((one) => `${one.title} ${one.ariaLabel ?? ""} ${one.value ?? ""}`)].join(" ")"""

ANSWERED: Final = re.compile(
    r"Failed to load resource: the server responded with a status of (400|404|409|422|503)"
)
"""What a browser writes down where the server refuses something; the page shows it."""


class Look:
    """Somebody who looks at everything, and takes note of what came to light and of what happened."""

    def __init__(self, server: Served, watched: Watched) -> None:
        self.server = server
        self.watched = watched
        self.page: Page = watched.page
        self.seen: set[str] = set()
        self.views = 0

    def at(self, address: str, *, wait: str = "main h1", unfolds: bool = False) -> None:
        """Open an address, point at everything there, and see that nothing came of it."""
        go(self.page, self.server, address)
        self.page.locator(wait).first.wait_for(state="attached")
        self.check(address, unfolds=unfolds)

    def check(self, where: str, *, unfolds: bool = False) -> None:
        page = self.page
        for _ in range(200):
            if not page.evaluate("document.querySelector('main [aria-busy=true], main .is-old') !== null"):
                break
            page.wait_for_timeout(25)
        if unfolds:
            unfold(page)
        page.evaluate(POINT)
        page.evaluate(FRAME)
        self.views += 1
        self.seen |= {SINKS[int(found)] for found in MARK.findall(page.evaluate(WORDS))}
        # Doctor has a form of its own, which is sent nowhere by itself.
        own = {"form", "textarea"} if "view=doctor" in page.url else set[str]()
        assert set(page.evaluate(STRANGE)) - own == set(), where
        assert page.evaluate(DEEDS) == [], where
        bad = [one for one in self.watched.misdeeds() if not ANSWERED.match(one)]
        assert bad == [], where


def store_views(look: Look) -> None:
    """The views that show all sessions."""
    look.at("/?all=1", wait=".homerow")
    for by in ("day", "session", "project", "model"):
        look.at(f"/?view=usage&by={by}")
    look.at("/?view=files")
    look.at("/?view=doctor")
    for word in ("snippet", "tool result", "title", "error", "export file name"):
        look.at(f"/?view=search&q={mark(word)}", wait=".searchsummary, .hit")
        look.page.wait_for_timeout(400)
        look.check(word)


MODES: Final = ("words", "literal", "regex")
EDITS: Final = ("repair", "trim", "redact")


def session_views(look: Look, key: str, payload: str, modes: Sequence[str], edits: Sequence[str]) -> None:
    """The views of one session, and what is said where its words stand in an address."""
    words = quote(said(payload, "search query"), safe="")
    path = quote(f"/maze/{said(payload, 'file path')}", safe="")
    look.at(f"/?view=session&session={key}", wait=".item", unfolds=True)
    look.page.keyboard.press("r")
    look.check("copied")
    look.at(f"/?view=session&session={key}&agent=a1", wait=".item")
    look.at(f"/?view=session&session={key}&tab=context", wait=".kindbutton, .failed, .context")
    look.at(f"/?view=session&session={key}&q={words}", wait=".item")
    for mode in modes:
        look.at(f"/?view=search&q={words}&mode={mode}", wait=".searchfield")
    look.at(f"/?view=files&path={path}")
    for edit in edits:
        look.at(f"/?view=doctor&session={key}&edit={edit}")
    hostile = quote(said(payload, "error page"), safe="")
    look.at(f"/?view=session&session={hostile}", wait="main")
    look.at(f"/?view=session&session={key}&branch={hostile}&agent={hostile}", wait="main")
    look.at(f"/?view={hostile}&project={hostile}&model={hostile}&since={hostile}#{hostile}", wait="main")
    look.at(f"/?title={hostile}&project={hostile}", wait="main")


def odd_views(look: Look) -> None:
    """The sessions whose ids are hostile, by the list; and what their exports would be called."""
    keys: list[str] = look.page.evaluate(
        "async () => (await (await fetch('/api/sessions?all=true&limit=1000')).json()).sessions"
        ".map(({ key }) => key).filter((key) => !/^\\\\d{8}-0000-4000/.test(key))"
    )
    for key in keys:
        look.at(f"/?view=session&session={quote(key, safe='')}", wait=".item, .empty, .failed")
        name: str = look.page.evaluate(
            "async (key) => (await fetch(`/api/export/${encodeURIComponent(key)}?to=md`))"
            ".headers.get('content-disposition')",
            key,
        )
        assert re.fullmatch(r'attachment; filename="[A-Za-z0-9._ ~-]+"', name), name
    assert keys


def look_at_all(
    tmp_path: Path, running: Browser, payloads: Sequence[str], *, is_sample: bool = False
) -> None:
    hostiles = hostile_stores(tmp_path / "store", payloads)
    with served(tmp_path / "store") as server, visiting(running, server) as watched:
        look = Look(server, watched)
        watched.page.locator(".homerow").first.wait_for()
        watched.page.wait_for_function("() => document.querySelector('.status') === null")
        store_views(look)
        for number, (key, payload) in enumerate(hostiles.items()):
            # Of a sample each has one way to search and one edit.
            one = slice(number % 3, number % 3 + 1) if is_sample else slice(None)
            session_views(look, key, payload, MODES[one], EDITS[one])
        odd_views(look)
    missing = set(SINKS) - look.seen - UNSEEN
    assert not missing, "what never came to light was not tried"
    print(f"{len(payloads)} payloads in {len(SINKS)} places, {look.views} views")


@pytest.mark.acceptance
def test_a_tenth_of_all_payloads_does_nothing_in_any_place_of_any_view(
    tmp_path: Path, running: Browser
) -> None:
    assert len(PAYLOADS) >= 60
    assert len(SINKS) == 25
    look_at_all(tmp_path, running, PAYLOADS[3::10], is_sample=True)


@pytest.mark.soak
@pytest.mark.parametrize("part", range(4))
def test_no_payload_does_anything_in_any_place_of_any_view(
    tmp_path: Path, running: Browser, part: int
) -> None:
    look_at_all(tmp_path, running, PAYLOADS[part::4])


@pytest.mark.acceptance
def test_what_a_payload_would_do_is_noticed(tmp_path: Path, running: Browser) -> None:
    """As if a view had put it into the page as markup; each page is watched anew."""
    hostile_stores(tmp_path / "store", PAYLOADS[:1])
    add = "(markup) => { document.querySelector('main').innerHTML += markup; }"
    with served(tmp_path / "store") as server, visiting(running, server) as watched:
        for markup in (
            "<img src=x onerror=alert(1)>",
            "<iframe src=javascript:alert(1)></iframe>",
            "<a href=javascript:alert(1)>x</a>",
            "<div style='background:url(https://evil.example/x)'>x</div>",
        ):
            look = Look(server, watched)
            look.at("/", wait=".homerow")
            watched.page.evaluate(add, markup)
            with pytest.raises(AssertionError):
                look.check(markup)
            watched.complaints.clear()
            watched.requests.clear()
