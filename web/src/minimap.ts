// The whole session as a narrow picture: who spoke, what failed, where the hits are, and where one is.

import type { Letter } from "./chunks";
import type { Reader } from "./reader";

const WIDTH = 14;

const COLOURS: Record<Letter, string> = { p: "--user", a: "--text-3", A: "--text-2", t: "--think", c: "--line", x: "--err", n: "--line", m: "--line", r: "--warn", w: "--warn" };

export class Minimap {
  readonly element = document.createElement("div");
  private readonly canvas = document.createElement("canvas");
  private readonly view = document.createElement("div");
  private waiting = false;
  private isDrawn = false;

  constructor(private readonly reader: Reader, private readonly hits: () => Iterable<string>) {
    this.element.className = "minimap";
    this.element.setAttribute("aria-hidden", "true");
    this.view.className = "miniview";
    this.element.append(this.canvas, this.view);
    this.element.addEventListener("pointerdown", (event) => this.jump(event));
    this.element.addEventListener("pointermove", (event) => event.buttons === 1 && this.jump(event));
  }

  /** Draw it anew, soon: all items are looked at for it, so not with every change. */
  refresh(): void {
    if (this.waiting) return;
    this.waiting = true;
    setTimeout(() => requestAnimationFrame(() => {
      this.waiting = false;
      for (const slot of this.reader.list.drawn) slot.measure();
      this.draw();
      // The more there is, the longer it takes, and the less one more change shows.
    }), this.isDrawn ? 250 + this.reader.list.slots.length / 20 : 0);
  }

  private bounds(): { from: number; height: number } {
    const box = this.reader.root.getBoundingClientRect();
    return { from: box.top + scrollY, height: Math.max(1, box.height) };
  }

  follow(): void {
    const { from, height } = this.bounds();
    const room = this.element.clientHeight;
    if (room === 0) return;
    const top = Math.max(0, Math.min(1, (scrollY - from) / height)) * room;
    const bottom = Math.max(0, Math.min(1, (scrollY + innerHeight - from) / height)) * room;
    this.view.style.transform = `translateY(${top}px)`;
    this.view.style.height = `${Math.max(6, bottom - top)}px`;
  }

  private jump(event: PointerEvent): void {
    const { from, height } = this.bounds();
    const box = this.element.getBoundingClientRect();
    scrollTo({ top: from + ((event.clientY - box.top) / box.height) * height - innerHeight / 2, behavior: "instant" });
  }

  private draw(): void {
    const room = this.element.parentElement?.clientHeight ?? 0;
    const { slots } = this.reader.list;
    this.element.hidden = slots.length === 0;
    if (room === 0 || slots.length === 0) return;
    const total = slots.reduce((sum, slot) => sum + slot.height, 0) || 1;
    // A short session is a short picture: a twelfth of its height, as far as there is room.
    const height = Math.min(room - 24, Math.max(24, Math.round(total / 12)));
    this.element.style.height = `${height}px`;
    const scale = devicePixelRatio || 1;
    this.canvas.width = WIDTH * scale;
    this.canvas.height = height * scale;
    const paint = this.canvas.getContext("2d");
    if (!paint) return;
    paint.scale(scale, scale);
    const style = getComputedStyle(document.documentElement);
    const known = new Map<string, string>();
    const colour = (name: string) => {
      const found = known.get(name) ?? style.getPropertyValue(name).trim();
      known.set(name, found);
      return found;
    };
    this.isDrawn = true;
    const hits = new Set(this.hits());
    const found: number[] = [];
    const failed: number[] = [];
    let y = 0;
    let last = -1;
    // Prompts are always seen, as long as there is room between them.
    const areFew = slots.length < height / 6;
    for (const slot of slots) {
      const share = (slot.height / total) * height;
      const { marks } = slot.chunk;
      // Of many turns on one pixel only what must be seen is looked at.
      if (share < 0.2 && Math.floor(y) === last && hits.size === 0 && !marks.some((mark) => mark.letter === "x")) {
        y += share;
        continue;
      }
      const lines = marks.reduce((sum, mark) => sum + Math.min(mark.lines, 30), 0) || 1;
      marks.forEach((mark, at) => {
        const size = (Math.min(mark.lines, 30) / lines) * share;
        if (mark.letter === "x") failed.push(y);
        if (hits.size > 0 && (hits.has(slot.key(at)) || (slot.chunk.first + at === 0 && hits.has(`t${slot.chunk.turn}`)))) found.push(y);
        // Many items share a pixel in a long session.
        if (Math.floor(y) !== last || (areFew && mark.letter === "p")) {
          paint.fillStyle = colour(COLOURS[mark.letter] ?? "--line");
          const wide = mark.letter === "p" ? WIDTH - 4 : mark.letter === "a" || mark.letter === "A" ? 7 : 4;
          paint.fillRect(2, y, wide, Math.max(areFew && mark.letter === "p" ? 2 : 1, size - 0.6));
          last = Math.floor(y);
        }
        y += size;
      });
    }
    paint.fillStyle = colour("--err");
    for (const at of failed) paint.fillRect(2, at, WIDTH - 4, 2);
    paint.fillStyle = colour("--accent");
    for (const at of found) paint.fillRect(WIDTH - 5, at, 5, 1.5);
    this.follow();
  }
}
