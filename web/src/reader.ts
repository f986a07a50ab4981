// The reader of one session: what is open, where one is, and what is drawn.

import { itemKey, parseKey, type Chunk } from "./chunks";
import { agentKey } from "./flow";
import type { Level } from "./folds";
import type { Agent, TurnHead } from "./parts";
import type { Shelf } from "./shelves";
import { Slot, SlotList, undrawAll, type ListHost } from "./slots";
import { headerHeight, keepStill } from "./still";

const NEAR = 1500; // pixels above and below the screen that are drawn
const SHELF_NEAR = 3000; // and that are in the page at least

/** An item by its place. */
export interface Spot {
  slot: Slot;
  at: number;
}

export interface GoOptions {
  /** Where a hit is best seen. */
  upperThird?: boolean;
  focus?: boolean;
}

/** What a page can do that others cannot. */
export interface ReaderOptions {
  namesModels: boolean;
  /** How many chunks are in the page together; without it all of them. */
  shelfRoom?: number;
  /** Fetch the turns of a sub-agent, which are added when they are there. */
  fetchAgent?: (agent: Agent) => void;
  /** Find the item that started a sub-agent; `tellStarter` takes the answer. */
  findStarter?: (agent: string) => void;
  agentEnd?: ListHost["agentEnd"];
  noticeEnd?: ListHost["noticeEnd"];
}

export class Reader implements ListHost {
  level: Level = 3;
  thinking = false;
  readonly isPrint = false;
  readonly list: SlotList;
  /** All chunks by whose they are: the session's own under the empty name. */
  readonly chunks = new Map<string, Chunk[]>([["", []]]);
  /** The item that started each sub-agent, and the other way round. */
  readonly starters = new Map<string, string>();
  readonly started = new Map<string, string[]>();
  cursor: string | null = null;
  /** Whether the session is being written now. */
  isLive = false;
  readonly namesModels: boolean;
  readonly shelfRoom: number;
  readonly agentEnd: ListHost["agentEnd"];
  readonly noticeEnd: ListHost["noticeEnd"];

  private readonly folds = new Map<string, boolean>();
  private readonly unfolded = new Set<string>();
  private readonly forced = new Set<string>();
  private readonly agentLists = new Map<string, SlotList>();
  private readonly slotOf = new WeakMap<Element, Slot>();
  private readonly shelfOf = new WeakMap<Element, Shelf>();
  private readonly watcher: IntersectionObserver;
  private readonly shelfWatcher: IntersectionObserver;
  private wanted: { key: string; options: GoOptions } | null = null;
  private outlined: string | null = null;
  private awaited: { chunk: Chunk; act: () => void } | null = null;
  private readonly listeners = new Set<() => void>();

  constructor(readonly root: HTMLElement, private readonly heads: ReadonlyMap<number, TurnHead>, private readonly options: ReaderOptions) {
    this.namesModels = options.namesModels;
    this.shelfRoom = options.shelfRoom ?? Infinity;
    this.agentEnd = options.agentEnd;
    this.noticeEnd = options.noticeEnd;
    this.watcher = new IntersectionObserver((seen) => this.seen(seen), { rootMargin: `${NEAR}px 0px` });
    this.shelfWatcher = new IntersectionObserver((seen) => this.shelvesSeen(seen), { rootMargin: `${SHELF_NEAR}px 0px` });
    this.list = new SlotList(this, root, "");
  }

  // What listens to changes -------------------------------------------------------------------------

  onChange(listener: () => void): void {
    this.listeners.add(listener);
  }

  changed(): void {
    for (const listener of this.listeners) listener();
  }

  drawn(slot: Slot): void {
    // Drawing sets the classes of an item anew.
    const here = this.outlined ? document.getElementById(this.outlined) : null;
    if (here && slot.element.contains(here)) here.classList.add("is-here");
    this.changed();
  }

  // Folds -------------------------------------------------------------------------------------------

  isOpen(key: string, byDefault: boolean): boolean {
    const set = this.folds.get(key);
    if (set !== undefined) return set;
    if (this.unfolded.size > 0 && !key.endsWith("#large") && !key.includes("/agent:") && this.unfolded.has(key.split(/[/#]/, 1)[0] as string)) return true;
    return byDefault;
  }

  toggle(key: string, byDefault: boolean, pressed: Element): void {
    const open = !this.isOpen(key, byDefault);
    const slot = this.slotAround(pressed);
    keepStill(this.onScreen(), () => {
      this.folds.set(key, open);
      slot?.draw();
    }, pressed);
  }

  private slotAround(element: Element): Slot | null {
    for (let at: Element | null = element; at; at = at.parentElement) {
      const slot = this.slotOf.get(at);
      if (slot) return slot;
    }
    return null;
  }

  /** Show an item with all that is in it, whatever the level hides. */
  unfold(key: string): void {
    this.unfolded.add(key);
    this.forced.add(key);
    for (const fold of [...this.folds.keys()]) {
      if (fold === key || fold.startsWith(`${key}/`) || fold.startsWith(`${key}#`)) this.folds.delete(fold);
    }
  }

  isForced(key: string): boolean {
    return this.forced.has(key);
  }

  setLevel(level: Level): void {
    keepStill(this.onScreen(), () => {
      this.level = level;
      this.folds.clear();
      this.unfolded.clear();
      this.forced.clear();
      this.list.redraw();
      for (const list of this.agentLists.values()) list.redraw();
    });
    this.changed();
  }

  setThinking(open: boolean): void {
    keepStill(this.onScreen(), () => {
      this.thinking = open;
      this.list.redraw();
      for (const list of this.agentLists.values()) list.redraw();
    });
    this.changed();
  }

  mayRun(id: string): boolean {
    if (!this.isLive) return false;
    const address = parseKey(id);
    const { slots } = (address?.agent && this.agentLists.get(address.agent)) || this.list;
    return address?.turn === slots[slots.length - 1]?.chunk.turn;
  }

  // Chunks ------------------------------------------------------------------------------------------

  headOf(agent: string, turn: number): TurnHead | null {
    return agent ? null : (this.heads.get(turn) ?? null);
  }

  add(chunk: Chunk): void {
    const own = this.chunks.get(chunk.agent);
    if (chunk.from && !this.starters.has(chunk.agent)) {
      this.starters.set(chunk.agent, chunk.from);
      this.started.set(chunk.from, [...(this.started.get(chunk.from) ?? []), chunk.agent]);
    }
    if (own) own.push(chunk);
    else this.chunks.set(chunk.agent, [chunk]);
    if (chunk.agent === "") this.list.add(chunk);
    else {
      const list = this.agentLists.get(chunk.agent);
      if (list?.slots.length === 0) list.element.textContent = "";
      list?.add(chunk);
    }
    this.resume();
  }

  /** Go on to where somebody wanted to be, as far as that is there now. */
  private resume(): void {
    if (this.wanted) this.goTo(this.wanted.key, this.wanted.options);
  }

  tellStarter(agent: string, item: string): void {
    if (this.starters.has(agent)) return;
    this.starters.set(agent, item);
    this.started.set(item, [...(this.started.get(item) ?? []), agent]);
    this.resume();
  }

  /** Somebody goes elsewhere: what arrives late no longer pulls them away. */
  stay(): void {
    this.wanted = null;
    this.awaited = null;
  }

  /** Fetch what a slot holds, and then do something. */
  whenKnown(slot: Slot, act: () => void): void {
    this.awaited = { chunk: slot.chunk, act };
    slot.chunk.load();
  }

  /** The place of a chunk in the page, if it has one. */
  slotOfChunk(chunk: Chunk): Slot | null {
    const list = chunk.agent === "" ? this.list : this.agentLists.get(chunk.agent);
    const found = list?.find(itemKey(chunk, 0))?.slot ?? null;
    return found?.chunk === chunk ? found : null;
  }

  /** Chunks have arrived or changed, some are new behind them, some are no more: all in one go. */
  renew(chunks: readonly Chunk[], { added = [], dropped = [] }: { added?: readonly [after: Chunk, chunk: Chunk][]; dropped?: readonly Chunk[] } = {}): void {
    keepStill(this.onScreen(), () => {
      for (const chunk of dropped) {
        const slot = this.slotOfChunk(chunk);
        slot?.list.remove(slot);
        const own = this.chunks.get(chunk.agent);
        own?.splice(own.indexOf(chunk), 1);
      }
      for (const [after, chunk] of added) {
        const slot = this.slotOfChunk(after);
        slot?.list.insert(slot, chunk);
        const own = this.chunks.get(chunk.agent);
        own?.splice(own.indexOf(after) + 1, 0, chunk);
      }
      for (const chunk of chunks) {
        const slot = this.slotOfChunk(chunk);
        if (!slot) continue;
        if (slot.isDrawn || slot.isWaiting) slot.draw();
        else {
          slot.estimate();
          slot.shelf.settle();
        }
      }
    });
    this.resume();
    const { awaited } = this;
    if (awaited && chunks.includes(awaited.chunk)) {
      this.awaited = null;
      awaited.act();
    }
    this.changed();
  }

  /** The item of the session itself that a key is in: of a sub-agent's, the call that started it. */
  placeOf(key: string): string {
    let at = key;
    for (let depth = 0; depth < 20; depth += 1) {
      const agent = parseKey(at)?.agent;
      const starter = agent ? this.starters.get(agent) : undefined;
      if (!starter) break;
      at = starter;
    }
    return at;
  }

  mountAgent(agent: Agent, into: HTMLElement): () => void {
    // One that two items tell of is drawn once: its items have one address, and a ring of them would not end.
    if (this.agentLists.has(agent.agent_id)) {
      into.textContent = "The turns of this sub-agent are open at another place of this page.";
      return () => undefined;
    }
    const list = new SlotList(this, into, agent.agent_id);
    this.agentLists.set(agent.agent_id, list);
    for (const chunk of this.chunks.get(agent.agent_id) ?? []) list.add(chunk);
    if (list.slots.length === 0) {
      into.textContent = this.options.fetchAgent ? "Loading …" : "The turns of this sub-agent are not in this page.";
      this.options.fetchAgent?.(agent);
    }
    for (const slot of list.slots.slice(0, 2)) slot.draw();
    return () => {
      list.dispose();
      this.agentLists.delete(agent.agent_id);
    };
  }

  watch(slot: Slot): void {
    this.slotOf.set(slot.element, slot);
    this.watcher.observe(slot.element);
  }

  unwatch(slot: Slot): void {
    this.watcher.unobserve(slot.element);
  }

  watchShelf(shelf: Shelf): void {
    this.shelfOf.set(shelf.element, shelf);
    this.shelfWatcher.observe(shelf.element);
  }

  unwatchShelf(shelf: Shelf): void {
    this.shelfWatcher.unobserve(shelf.element);
  }

  /** Nothing is watched any more. */
  dispose(): void {
    this.watcher.disconnect();
    this.shelfWatcher.disconnect();
    for (const list of this.agentLists.values()) list.dispose();
    this.list.dispose();
    this.listeners.clear();
  }

  private shelvesSeen(entries: IntersectionObserverEntry[]): void {
    keepStill(this.onScreen(), () => {
      for (const entry of entries) {
        const shelf = this.shelfOf.get(entry.target);
        if (entry.isIntersecting) shelf?.fill();
        else if (shelf?.isFilled && !isHeld(shelf.element)) shelf.empty();
      }
    });
  }

  private seen(entries: IntersectionObserverEntry[]): void {
    const near: Slot[] = [];
    const far: Slot[] = [];
    for (const entry of entries) {
      const slot = this.slotOf.get(entry.target);
      if (!slot) continue;
      if (entry.isIntersecting && !slot.isDrawn && !slot.isWaiting) near.push(slot);
      else if (!entry.isIntersecting && (slot.isDrawn || slot.isWaiting) && !isHeld(slot.element)) far.push(slot);
    }
    if (near.length + far.length === 0) return;
    keepStill(this.onScreen(), () => {
      undrawAll(far);
      for (const slot of near) slot.draw();
    });
    this.changed();
  }

  // Where one is ------------------------------------------------------------------------------------

  /** The chunk at the top of the screen. */
  top(): Slot | null {
    return this.list.at(headerHeight() + 24);
  }

  /** The item at the top of the screen, or the one the cursor is on. */
  here(): Spot | null {
    if (this.cursor) {
      const element = document.getElementById(this.cursor);
      const box = element?.getBoundingClientRect();
      if (box && box.bottom > headerHeight() && box.top < innerHeight) return this.list.find(this.cursor);
    }
    const slot = this.top();
    if (!slot) return null;
    for (let at = 0; at < slot.chunk.marks.length; at += 1) {
      const box = document.getElementById(slot.key(at))?.getBoundingClientRect();
      if (box && box.bottom > headerHeight() + 8) return { slot, at };
    }
    return { slot, at: 0 };
  }

  /** The next item, forwards or backwards, that is as it should be. */
  next(from: Spot | null, step: 1 | -1, isWanted: (spot: Spot) => boolean): Spot | null {
    const { slots } = this.list;
    let n = from ? this.list.indexOf(from.slot) : 0;
    let at = from ? from.at + step : 0;
    while (n >= 0 && n < slots.length) {
      const slot = slots[n] as Slot;
      for (; at >= 0 && at < slot.chunk.marks.length; at += step) {
        if (isWanted({ slot, at })) return { slot, at };
      }
      n += step;
      at = step > 0 ? 0 : (slots[n]?.chunk.marks.length ?? 0) - 1;
    }
    return null;
  }

  /** Bring a turn or an item onto the screen. False while it has not arrived. */
  goTo(key: string, options: GoOptions = {}): boolean {
    const { upperThird = false, focus = true } = options;
    const address = parseKey(key);
    if (!address) return false;
    const element = this.reveal(key);
    if (!element) {
      this.wanted = { key, options };
      // The place is known before what stands there is.
      const slot = this.list.find(this.placeOf(key))?.slot;
      if (slot) scrollToElement(slot.element, upperThird);
      return false;
    }
    this.wanted = null;
    this.cursor = address.item > 0 ? key : this.firstItem(key);
    for (const old of this.root.querySelectorAll(".is-here")) old.classList.remove("is-here");
    this.outlined = address.item > 0 ? key : null;
    if (address.item > 0) element.classList.add("is-here");
    scrollToElement(element, upperThird);
    // Drawing what is near now may shift it by what the estimates were off: draw it, then look again.
    this.drawNear();
    scrollToElement(element, upperThird);
    if (focus && address.item > 0) element.focus({ preventScroll: true });
    this.changed();
    return true;
  }

  private firstItem(key: string): string {
    return `${key}.1`;
  }

  /** The element of a key, drawn if it was not, its sub-agent opened if it is in one. */
  reveal(key: string): HTMLElement | null {
    const address = parseKey(key);
    if (!address) return null;
    const list = address.agent ? this.openAgent(address.agent) : this.list;
    const spot = list?.find(address.item > 0 ? key : `${key}.1`);
    if (!spot) return null;
    if (address.item > 0 && !spot.slot.isShown(spot.at)) this.forced.add(key);
    spot.slot.draw();
    if (!spot.slot.isDrawn) return null;
    if (address.item === 0) return spot.slot.element.closest<HTMLElement>("section");
    // A place that is no more, as after an edit: the last one of its piece stands for it.
    return document.getElementById(key) ?? document.getElementById(spot.slot.key(Math.max(0, spot.slot.chunk.marks.length - 1)));
  }

  private openAgent(agent: string): SlotList | null {
    const open = this.agentLists.get(agent);
    if (open) return open;
    const starter = this.starters.get(agent);
    if (!starter) {
      this.options.findStarter?.(agent);
      return null;
    }
    this.folds.set(agentKey(starter, agent), true);
    this.forced.add(starter);
    return this.reveal(starter) ? (this.agentLists.get(agent) ?? null) : null;
  }

  private onScreen(): Element[] {
    return this.around().map((slot) => slot.element);
  }

  /** Draw what is on the screen now, not when it is found to be there. */
  drawNear(): void {
    for (const slot of this.around()) if (!slot.isDrawn) slot.draw();
  }

  private around(): Slot[] {
    const top = this.top();
    if (!top) return [];
    const index = this.list.indexOf(top);
    const found: Slot[] = [];
    for (let n = Math.max(0, index - 1); n < this.list.slots.length; n += 1) {
      const slot = this.list.slots[n] as Slot;
      slot.shelf.fill();
      if (slot.element.getBoundingClientRect().top > innerHeight) break;
      found.push(slot);
    }
    return found;
  }
}

/** Whether somebody is at work in it: what has the focus or is selected is not taken away. */
function isHeld(element: Element): boolean {
  if (element.contains(document.activeElement)) return true;
  const selection = getSelection();
  return selection !== null && !selection.isCollapsed && selection.containsNode(element, true);
}

function scrollToElement(element: Element, upperThird: boolean): void {
  const box = element.getBoundingClientRect();
  const header = headerHeight();
  const room = innerHeight - header;
  const isSeen = box.top >= header + 8 && box.bottom <= innerHeight - 8;
  if (isSeen && !upperThird) return;
  const goal = header + (upperThird ? room / 3 : 16);
  scrollBy({ top: box.top - goal, behavior: "instant" });
}
