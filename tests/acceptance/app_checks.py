"""What is looked at in every view of the app: whether people can use it, and whether anything is cut."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Final

from tests import browser
from tests.acceptance.page_lab import CUT, settle
from tests.builder import Builder
from tests.export import hostile

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from playwright.sync_api import Page

WIDTHS: Final = (360, 1024, 1920)

STRANGE: Final = """() => [...document.querySelectorAll("#app *")].map((one) => one.tagName.toLowerCase())
    .filter((one) => [
        "script", "iframe", "object", "embed", "form", "style", "link", "meta", "base", "math", "marquee",
        "video", "audio", "textarea", "template", "img",
    ].includes(one))"""
"""Elements that no view of ours draws."""

HEADINGS: Final = (
    """() => [document.querySelectorAll("h1").length, document.querySelectorAll("main").length]"""
)


def faults(page: Page) -> list[str]:
    """What axe finds, every rule on."""
    page.evaluate(browser.axe())
    found = page.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")
    return [f"{one['id']}: {one['nodes'][0]['html'][:160]}" for one in found["violations"]]


def cut(page: Page, widths: Sequence[int] = WIDTHS) -> list[str]:
    """What text is cut off or stands on other text, at each of the widths."""
    found: list[str] = []
    for width in widths:
        page.set_viewport_size({"width": width, "height": 900})
        settle(page)
        found += [f"{width}: {one}" for one in page.evaluate(CUT)]
    return found


def many_sessions(root: Path, count: int, *, project: str = "-home-ada-lighthouse") -> list[str]:
    """Write so many small sessions, and return their titles, the newest first."""
    folder = root / "projects" / project
    folder.mkdir(parents=True)
    now = time.time()
    titles: list[str] = []
    for number in range(count):
        title = f"Lamp {number:05} of the lighthouse"
        name = f"{number:08x}-0000-4000-8000-000000000000"
        built = Builder(name).user(f"Please mend lamp {number}").answer(f"Lamp {number} is mended")
        built.line({"type": "custom-title", "customTitle": title, "sessionId": name})
        path = folder / f"{name}.jsonl"
        path.write_bytes(built.data())
        os.utime(path, (now - 7200 - number * 60, now - 7200 - number * 60))
        titles.append(title)
    return titles


def hostile_store(root: Path, payloads: Sequence[str]) -> Path:
    """Write a session for each payload, which stands in every field of it."""
    folder = root / "projects" / "-home-x"
    folder.mkdir(parents=True)
    for number, payload in enumerate(payloads):
        name = f"{number:08}-0000-4000-8000-000000000000"
        (folder / f"{name}.jsonl").write_bytes(hostile.everywhere(payload, name))
    return root
