// Some turns that stand together. A long session has many shelves, and only those near the screen are in the page.

import { turnKey } from "./chunks";
import { undrawAll, type Slot, type SlotList } from "./slots";

const GAP = 24; // pixels under a turn

export class Shelf {
  readonly element = document.createElement("div");
  readonly slots: Slot[] = [];
  isFilled = false;
  private sections = new Map<number, HTMLElement>();
  /** What it came to when it was last looked at, with the numbers it came from. */
  private known: { slots: number; guessed: number; height: number } | null = null;

  constructor(private readonly list: SlotList) {
    this.element.className = "shelf";
  }

  add(slot: Slot, at: number): void {
    slot.shelf = this;
    this.slots.splice(at, 0, slot);
    this.known = null;
    if (this.isFilled) this.place(slot, at);
    else this.settle();
  }

  remove(slot: Slot): void {
    const at = this.slots.indexOf(slot);
    if (at >= 0) this.slots.splice(at, 1);
    this.known = null;
    if (!this.isFilled) return this.settle();
    this.list.host.unwatch(slot);
    slot.forgetBox();
  }

  /** Put the boxes of its turns into the page. */
  fill(): void {
    if (this.isFilled) return;
    this.isFilled = true;
    this.element.style.height = "";
    this.slots.forEach((slot, at) => this.place(slot, at));
  }

  /** Take them out again, and leave a box of the very same height. */
  empty(): void {
    if (!this.isFilled) return;
    undrawAll(this.slots);
    const { height } = this.element.getBoundingClientRect();
    for (const slot of this.slots) {
      this.list.host.unwatch(slot);
      slot.forgetBox();
    }
    this.isFilled = false;
    this.sections = new Map();
    this.element.replaceChildren();
    this.known = { slots: this.slots.length, guessed: this.guessed(), height };
    this.settle();
  }

  /** Give an empty shelf the height of what belongs there. */
  settle(): void {
    if (this.isFilled) return;
    const guessed = this.guessed();
    const isSame = this.known !== null && this.known.slots === this.slots.length && this.known.guessed === guessed;
    this.element.style.height = `${isSame ? this.known?.height : guessed}px`;
  }

  private guessed(): number {
    let height = 0;
    let turn = -1;
    for (const slot of this.slots) {
      height += slot.height + (slot.chunk.turn === turn ? 0 : GAP);
      ({ turn } = slot.chunk);
    }
    return height;
  }

  private place(slot: Slot, at: number): void {
    const { turn } = slot.chunk;
    let section = this.sections.get(turn);
    if (!section) {
      section = document.createElement("section");
      section.className = "turn";
      section.id = turnKey(this.list.agent, turn);
      this.sections.set(turn, section);
      this.element.append(section);
    }
    const next = this.slots[at + 1];
    const isBefore = next !== undefined && next.chunk.turn === turn && next.element.parentElement === section;
    section.insertBefore(slot.element, isBefore ? next.element : null);
    this.list.host.watch(slot);
  }

  /** The slot at a height of the screen, or the nearest; by what is known of them where they are not in the page. */
  at(y: number): Slot | null {
    const { slots } = this;
    if (this.isFilled) {
      let low = 0;
      let high = slots.length - 1;
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((slots[middle] as Slot).element.getBoundingClientRect().bottom > y) high = middle;
        else low = middle + 1;
      }
      return slots[low] ?? null;
    }
    let { top } = this.element.getBoundingClientRect();
    for (const slot of slots) {
      top += slot.height + (slot.chunk.first === 0 ? GAP : 0);
      if (top > y) return slot;
    }
    return slots[slots.length - 1] ?? null;
  }
}
