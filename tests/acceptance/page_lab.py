"""What the tests of pages share: pages on the disk, and ways to look at them without the renderer's help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from clew.export import html
from clew.export.options import Options

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

    from clew.export.story import Story


def written(told: Story, path: Path) -> Path:
    """The page of a story, in a file."""
    with path.open("wb") as file:
        for piece in html.write(told, Options()):
            file.write(piece)
    return path


def unfold(page: Page) -> int:
    """Open everything there is to open, from the top to the end, and return how many presses it took."""
    page.keyboard.press("4")
    presses: int = page.evaluate("""async () => {
        const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
        let presses = 0;
        for (const one of document.querySelectorAll("details:not([open])")) one.open = true;
        for (let y = 0; y <= document.documentElement.scrollHeight; y += 1500) {
            scrollTo(0, y);
            await frame();
            await frame();
            for (let n = 0; n < 6; n += 1) {
                const folded = [...document.querySelectorAll("main [aria-expanded=false]")];
                if (folded.length === 0) break;
                for (const one of folded) one.click();
                presses += folded.length;
                await frame();
            }
        }
        scrollTo(0, 0);
        await frame();
        return presses;
    }""")
    settle(page)
    return presses


LOOKS: Final = ((1440, "light"), (1440, "dark"), (390, "light"))
"""How wide a window is, and in which colours."""


def settle(page: Page) -> None:
    """Wait until what was asked for is drawn."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.wait_for_timeout(60)


def search(page: Page, word: str) -> str:
    """Search for a word, go to the first hit, and return what the page says of it."""
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.insert_text(word)
    for _ in range(500):
        page.wait_for_timeout(20)
        if (said := page.inner_text(".found")) and "…" not in said:
            break
    page.keyboard.press("Enter")
    settle(page)
    return page.inner_text(".found")


def hit(page: Page) -> dict[str, Any] | None:
    """The hit the page is at: its text, and whether it is on the screen and can be seen."""
    return page.evaluate("""() => {
        const [range] = CSS.highlights.get("hit-now") ?? [];
        if (!range) return null;
        const box = range.getBoundingClientRect();
        const bar = document.querySelector("header.bar").getBoundingClientRect().bottom;
        const isSeen = box.top >= bar && box.bottom <= innerHeight && box.width > 0;
        return { text: range.toString(), isSeen };
    }""")


CUT = """() => {
  const found = [];
  const { scrollWidth } = document.documentElement;
  if (scrollWidth > innerWidth) found.push(`the page is ${scrollWidth} wide`);
  const apart = "pre, .difflines, .scroll, .rail, .minimap, .skip, .said, .unseen";
  const scrolls = (element) => element.closest(apart);
  const isCutOnPurpose = (style) => style.textOverflow === "ellipsis" || style.webkitLineClamp !== "none";
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const boxes = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!node.data.trim() || !parent || scrolls(parent)) continue;
    if (/^(SCRIPT|STYLE|NOSCRIPT)$/.test(parent.tagName)) continue;
    if (!parent.checkVisibility()) continue;
    let clip = { left: 0, right: innerWidth };
    for (let at = parent; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.overflowX !== "visible" || style.overflowY !== "visible") {
        const box = at.getBoundingClientRect();
        if (isCutOnPurpose(style)) {
          clip = { left: box.left, right: box.right, bottom: box.bottom, isOnPurpose: true };
          break;
        }
        clip = { left: Math.max(clip.left, box.left), right: Math.min(clip.right, box.right) };
      }
    }
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) {
      if (box.width < 1 || box.top >= (clip.bottom ?? Infinity) - 1) continue;
      const text = node.data.trim().slice(0, 30);
      const isOut = box.left < clip.left - 1 || box.right > clip.right + 1;
      if (isOut && !clip.isOnPurpose) found.push(`cut: ${text}`);
      const right = Math.min(box.right, clip.right);
      if (right <= box.left || !parent.closest("main")) continue;
      boxes.push({ left: box.left, right, top: box.top, bottom: box.bottom, text, node });
    }
  }
  boxes.sort((a, b) => a.top - b.top);
  boxes.forEach((one, at) => {
    for (let n = at + 1; n < boxes.length && boxes[n].top < one.bottom - 3; n += 1) {
      const other = boxes[n];
      if (other.node === one.node) continue;
      // Boxes of lines may touch; letters that stand on others do not.
      const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const high = Math.min(one.bottom, other.bottom) - other.top;
      if (wide > 2 && high > 6) found.push(`on each other: ${one.text} / ${other.text}`);
    }
  });
  return [...new Set(found)].slice(0, 20);
}"""
"""Tells what text is cut off or stands on other text."""
