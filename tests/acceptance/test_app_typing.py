"""How soon hits are drawn after the last key, in a real browser, and what the server is asked till then."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Error

from bench import corpora
from bench.generate import Recipe, generate
from bench.prose import CJK_WORDS
from tests.acceptance.app_lab import served
from tests.acceptance.typing_lab import all_typed, searching, spent, typed
from tests.builder import Builder
from tests.conformance.client import CACHE
from tests.faces.stage import write

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page, Request, Route

    from tests.acceptance.app_lab import Served

SOON: Final = 150.0
"""Milliseconds from the last key until the hits are drawn."""

SLACK: Final = 5
"""How much slower a machine may be that does other things too."""

COMMON: Final = (
    "the", "which", "function", "session", "deploy", "although", "truncate", "careful", "previous", "because",
    "release", "timeout", "widget", "window", "config", "rebase", "digest", "perhaps",
)  # fmt: skip
"""In nearly every session of a corpus."""


def _words(needles: list[dict[str, Any]]) -> list[str]:
    """Thirty words: what is everywhere, what is in a few lines, and what is written without spaces."""
    rare = [one["word"] for one in needles if one["word"].isascii()][:9]
    assert len(rare) == 9
    return [*COMMON, *rare, *CJK_WORDS[:3]]


def _asked(page: Page) -> list[dict[str, str]]:
    """Every search that is asked for from now on."""
    found: list[dict[str, str]] = []

    def note(request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.path == "/api/search":
            found.append({name: values[0] for name, values in parse_qs(parts.query).items()})

    page.on("request", note)
    return found


def _late(route: Route) -> None:
    """Hold an answer back for a while; whoever asked may have gone meanwhile."""
    route.request.frame.page.wait_for_timeout(200)
    with suppress(Error):
        route.continue_()


def _told(server: Served, page: Page, words: list[str], *, rounds: int) -> float:
    """Type all words, print what that took, and return the slowest."""
    typed(page, words[0])
    before = spent(server.process.pid)
    took = all_typed(page, words, rounds=rounds)
    server_time = (spent(server.process.pid) - before) / len(took.each)
    print(f"\n{took}; {server_time * 1000:.0f} ms of the server's processor for each word")
    return took.each[-1]


@pytest.mark.acceptance
def test_hits_are_drawn_soon_after_the_last_key(tmp_path: Path, running: Browser) -> None:
    generate(tmp_path / "store", Recipe(40_000_000, 1))
    truth = json.loads((tmp_path / "store" / "truth.json").read_bytes())
    words = _words(truth["needles"])
    with served(tmp_path / "store") as server, searching(running, server) as page:
        assert _told(server, page, words[::3], rounds=1) < SOON * SLACK


@pytest.mark.acceptance
def test_a_key_asks_at_once_for_a_screen_of_hits_and_the_rest_when_nobody_types(
    tmp_path: Path, running: Browser
) -> None:
    generate(tmp_path / "store", Recipe(4_000_000, 1))
    with served(tmp_path / "store") as server, searching(running, server) as page:
        typed(page, "the")
        page.wait_for_timeout(1_500)
        asked = _asked(page)
        typed(page, "session", pause=90)
        page.wait_for_timeout(1_500)
        typing = [one for one in asked if "quick" in one]
        assert [one["q"] for one in typing] == ["s", "se", "ses", "sess", "sessi", "sessio", "session"]
        assert all(int(one["limit"]) <= 12 for one in typing)
        rest = asked[len(typing) :]
        assert rest, "the rest is asked for"
        assert all(one["q"] == "session" for one in rest), "and only of what was typed at last"
        assert any("group" in one for one in rest)
        # Whoever goes on typing while the rest is on its way has no use for it.
        asked.clear()
        page.route("**/api/search?**limit=60**", _late)
        typed(page, "because", pause=330)
        lengths = [len(one["q"]) for one in asked]
        assert lengths == sorted(lengths), "nothing more is asked of what was typed before"
        assert len(lengths) > 7
        page.unroute("**/api/search?**limit=60**")
        # Who holds a key down does not write a new address with each letter: browsers refuse that.
        asked.clear()
        page.keyboard.type("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", delay=5)
        page.wait_for_timeout(600)
        assert len([one for one in asked if "quick" in one]) < 15
        assert asked[-1]["q"] == "because" + "x" * 30


@pytest.mark.acceptance
def test_hits_that_were_not_all_counted_have_a_plus(tmp_path: Path, running: Browser) -> None:
    loud = Builder("loud").user("go")
    for number in range(1_300):
        loud.answer(f"word and again {number}")
    quiet = Builder("quiet").user("another word").answer("once")
    write(tmp_path / "store", "-p", {"loud": loud.data(), "quiet": quiet.data()})
    with served(tmp_path / "store") as server, searching(running, server) as page:
        typed(page, "word")
        page.wait_for_timeout(1_500)
        said = page.inner_text(".foundfacts").replace("\u00a0", " ")
        assert re.search(r"\d+\+ hits", said), said
        assert page.locator(".hitmore").first.inner_text().endswith("+ more")
        assert "1,301 hits" in page.inner_text(".searchsummary").replace("\u00a0", " ")
        typed(page, "another")
        page.wait_for_timeout(800)
        assert page.inner_text(".foundfacts").replace("\u00a0", " ").endswith("1 hit")


@pytest.mark.soak
def test_hits_in_two_gigabytes_are_drawn_soon_after_the_last_key(
    tmp_path: Path, running: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both as people type, and by somebody who thinks between the keys, while the rest is asked for."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(CACHE.parent.parent))
    corpus = corpora.corpus(Recipe(2_000_000_000, 1))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    words = _words(corpus.truth["needles"])
    with served(corpus.root) as server, searching(running, server) as page:
        slowest = _told(server, page, words, rounds=3)
        apart = sorted(typed(page, word, pause=400) for word in words[::5])
        print(f"with 0.4 s between the keys: slowest {apart[-1]:.0f} ms")
        assert slowest < SOON * SLACK
        assert apart[-1] < SOON * SLACK


@pytest.mark.acceptance
def test_the_clock_would_notice_hits_that_come_late(tmp_path: Path, running: Browser) -> None:
    """A server that takes its time is seen to."""
    generate(tmp_path / "store", Recipe(1_000_000, 1))
    with served(tmp_path / "store") as server, searching(running, server) as page:
        quick = min(typed(page, "the") for _ in range(3))
        page.route("**/api/search?**", _late)
        assert typed(page, "session") > quick + 150
