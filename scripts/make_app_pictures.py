"""Take the pictures of the web app for docs/web.md: every view on the demo, light, dark and on a phone.

python scripts/make_app_pictures.py [--fonts DIR]
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests import browser  # noqa: E402
from tests.acceptance.app_lab import Served, go, served, visiting  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Page

OUT = ROOT / "docs" / "images"
LOOKS = (("", "light", 1440, 900), ("-dark", "dark", 1440, 900), ("-phone", "light", 390, 844))


def places(page: Page) -> dict[str, str]:
    """The address of each view; the session is the one with most work that is whole."""
    found: list[dict[str, Any]] = page.evaluate(
        "fetch('/api/sessions?limit=100').then((found) => found.json()).then((found) => found.sessions)"
    )
    whole = [row for row in found if not row["damaged"] and (row["title"] or "").isascii()]
    session = max(whole, key=lambda row: (row["turns"] or 0, row["failed_calls"] or 0))["key"]
    return {
        "home": "/",
        "search": "/?view=search&q=water",
        "session": f"/?view=session&session={session}",
        "context": f"/?view=session&session={session}&tab=context",
        "usage": "/?view=usage",
        "files": "/?view=files",
        "doctor": "/?view=doctor",
    }


def take(server: Served, page: Page, name: str) -> None:
    """Take a picture of every view."""
    page.wait_for_timeout(1500)
    for view, address in places(page).items():
        go(page, server, address)
        page.wait_for_timeout(1500)
        if view == "files":
            page.locator("a, button").filter(has_text="watering.py").first.click()
            page.wait_for_timeout(1000)
        page.mouse.move(0, 0)
        page.screenshot(path=OUT / f"web-{view}{name}.png", animations="disabled")


def main() -> int:
    """Take all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fonts", type=Path, help="fonts for scripts that this machine has none for")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        os.environ |= {"HOME": folder, "CLAUDE_CONFIG_DIR": folder, "XDG_STATE_HOME": folder}
        if args.fonts is not None:
            (home / ".fonts").symlink_to(args.fonts.resolve())
        from clew.actions.demo import write_demo

        write_demo(home / "demo", now=datetime.now(UTC))
        with browser.browser(home) as running:
            for name, colours, width, height in LOOKS:
                with (
                    served(home / "demo") as server,
                    visiting(running, server, width=width, height=height, colours=colours) as watched,
                ):
                    take(server, watched.page, name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
