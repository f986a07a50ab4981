// Marking matches in what is drawn, without touching the drawing.

import { headerHeight } from "./still";
import type { Hit } from "./search";

const MOST = 3000;

/** The matches inside an element as ranges, also where a match spans several nodes. */
export function rangesIn(element: Element, word: string): Range[] {
  const nodes: Text[] = [];
  const starts: number[] = [];
  let whole = "";
  // Numbers of lines are no text of the session, and the items of a sub-agent are looked at by themselves.
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT, (node) => {
    const apart = node.parentElement?.closest(".nums, .ln, .here, .agentturns");
    return apart && element.contains(apart) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT;
  });
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    nodes.push(node as Text);
    starts.push(whole.length);
    whole += (node as Text).data;
  }
  const lower = whole.toLowerCase();
  if (lower.length !== whole.length) return []; // some letters change their length; the item is outlined all the same
  const made: Range[] = [];
  let n = 0;
  const place = (at: number): [Text, number] => {
    while (n + 1 < nodes.length && (starts[n + 1] as number) <= at) n += 1;
    return [nodes[n] as Text, at - (starts[n] as number)];
  };
  for (let at = lower.indexOf(word); at >= 0 && made.length < MOST; at = lower.indexOf(word, at + word.length)) {
    const range = document.createRange();
    range.setStart(...place(at));
    const [last, offset] = place(at + word.length - 1);
    range.setEnd(last, offset + 1);
    made.push(range);
  }
  return made;
}

function isSupported(): boolean {
  return typeof CSS !== "undefined" && "highlights" in CSS && typeof Highlight !== "undefined";
}

/** Mark all matches of a word in the drawn items that have any, and bring the current one onto the screen. */
export function highlight(root: Element, word: string, has: (key: string) => boolean, hit: Hit | null, isNew: boolean): void {
  if (!isSupported()) return;
  CSS.highlights.delete("hit");
  CSS.highlights.delete("hit-now");
  if (!word) return;
  const all = new Highlight();
  let n = 0;
  for (const item of root.querySelectorAll("[data-key]")) {
    const key = item.getAttribute("data-key") ?? "";
    if (!has(key) || n > MOST) continue;
    const ranges = rangesIn(item, word);
    n += ranges.length;
    for (const range of ranges) all.add(range);
    if (hit?.key === key && ranges.length > 0) {
      const now = ranges[Math.min(hit.nth, ranges.length - 1)] as Range;
      const current = new Highlight(now);
      current.priority = 1;
      CSS.highlights.set("hit-now", current);
      if (isNew) bring(now);
    }
  }
  CSS.highlights.set("hit", all);
}

function bring(range: Range): void {
  const inner = range.startContainer.parentElement?.closest("pre, .difflines, .scroll");
  const box = range.getBoundingClientRect();
  if (inner) {
    const outer = inner.getBoundingClientRect();
    if (box.right > outer.right || box.left < outer.left) inner.scrollLeft += box.left - outer.left - 48;
  }
  const header = headerHeight();
  if (box.top < header + 8 || box.bottom > innerHeight - 8) {
    scrollBy({ top: box.top - header - (innerHeight - header) / 3, behavior: "instant" });
  }
}
