// Folding and loading never move what is being read: changes are made, then the scroll is set right.

/** The part of the screen that the header covers. */
export function headerHeight(): number {
  let height = 0;
  for (const bar of document.querySelectorAll("header.bar, .underbar")) height += bar.getBoundingClientRect().height;
  return height;
}

interface Mark {
  element: Element;
  top: number;
}

/** What is on the screen and would be missed, best first. */
function marks(slots: Iterable<Element>): Mark[] {
  const from = headerHeight();
  const found: Mark[] = [];
  const straddling: Mark[] = [];
  for (const slot of slots) {
    const box = slot.getBoundingClientRect();
    if (box.bottom <= from || box.top >= innerHeight) continue;
    if (!slot.classList.contains("is-drawn")) {
      straddling.push({ element: slot, top: box.top });
      continue;
    }
    for (const item of slot.querySelectorAll("[data-key], .turnhead")) {
      const { top, bottom } = item.getBoundingClientRect();
      if (bottom <= from || top >= innerHeight) continue;
      (top >= from ? found : straddling).push({ element: item, top });
    }
  }
  return [...found, ...straddling];
}

/** Make a change, and keep in its place what was pressed or else what is read; `slots` are those on the screen. */
export function keepStill(slots: Iterable<Element>, change: () => void, pressed: Element | null = null): void {
  const kept: Mark[] = pressed ? [{ element: pressed, top: pressed.getBoundingClientRect().top }] : [];
  if (scrollY > 0 || pressed) kept.push(...marks(slots));
  change();
  for (const { element, top } of kept) {
    if (!element.isConnected) continue;
    const box = element.getBoundingClientRect();
    if (box.height === 0 && box.width === 0) continue;
    const moved = box.top - top;
    if (Math.abs(moved) >= 0.5) scrollBy({ top: moved, behavior: "instant" });
    return;
  }
}
