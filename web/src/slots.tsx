// The list of chunks on the page: which are drawn, and how high the others are.

import { render } from "preact";
import { guess, isShown, itemKey, parseKey, turnKey, type Chunk } from "./chunks";
import { FlowView, type AgentHost } from "./flow";
import type { Flow, TurnHead } from "./parts";
import { Shelf } from "./shelves";
import { day, iso } from "./text";
import { visible } from "./visible";
import { WorkLine } from "./workline";

export interface ListHost extends AgentHost {
  /** How many chunks stand in the page together, as boxes at least; those of other shelves are not in it. */
  readonly shelfRoom: number;
  /** Shown although the level hides it. */
  isForced(key: string): boolean;
  headOf(agent: string, turn: number): TurnHead | null;
  watch(slot: Slot): void;
  unwatch(slot: Slot): void;
  watchShelf(shelf: Shelf): void;
  unwatchShelf(shelf: Shelf): void;
  drawn(slot: Slot): void;
}

export class Slot {
  shelf!: Shelf;
  /** Its place in the list. */
  index = -1;
  isDrawn = false;
  /** Whether something stands in for what is on its way. */
  isWaiting = false;
  height = 0;
  private made: HTMLElement | null = null;

  constructor(readonly list: SlotList, readonly chunk: Chunk) {
    this.estimate();
  }

  /** Its box, made when it is first needed: of a long session most never are. */
  get element(): HTMLElement {
    if (!this.made) {
      this.made = document.createElement("div");
      this.made.className = "slot";
      this.made.style.height = `${this.height}px`;
    }
    return this.made;
  }

  estimate(): void {
    const { level } = this.list.host;
    const width = this.list.columns;
    let height = this.chunk.first === 0 ? 96 : 0;
    for (const mark of this.chunk.marks) height += guess(mark, level, width);
    this.setHeight(height);
  }

  private setHeight(height: number): void {
    this.height = height;
    if (this.made) this.made.style.height = `${height}px`;
  }

  draw(): void {
    this.shelf.fill();
    const flows = this.chunk.load();
    const { element } = this;
    if (!flows && this.isDrawn) return; // what is drawn stays until there is something newer
    if (!flows) {
      this.isWaiting = true;
      element.classList.add("is-waiting");
      render(<WaitingView slot={this} />, element);
      return;
    }
    this.isWaiting = false;
    element.style.height = "";
    element.classList.remove("is-waiting");
    element.classList.add("is-drawn");
    render(<ChunkView slot={this} flows={flows} />, element);
    this.isDrawn = true;
    this.list.drawn.add(this);
    this.list.host.drawn(this);
  }

  /** Take the drawing away and leave a box of the height that it has, or was measured to have. */
  undraw({ isMeasured = false } = {}): void {
    this.chunk.leave?.();
    if (!this.isDrawn && !this.isWaiting) return;
    const { element } = this;
    if (!isMeasured) this.measure();
    this.isDrawn = false;
    this.isWaiting = false;
    this.list.drawn.delete(this);
    element.classList.remove("is-drawn", "is-waiting");
    render(null, element);
    this.setHeight(this.height);
  }

  /** Let go of the box itself. */
  forgetBox(): void {
    this.undraw();
    this.made?.remove();
    this.made = null;
  }

  measure(): void {
    if (this.isDrawn && this.element.isConnected) this.height = this.element.getBoundingClientRect().height;
  }

  key(at: number): string {
    return itemKey(this.chunk, at);
  }

  isShown(at: number): boolean {
    const mark = this.chunk.marks[at];
    return mark !== undefined && (isShown(mark.letter, this.list.host.level) || this.list.host.isForced(this.key(at)));
  }
}

function headFor({ chunk, list }: Slot): TurnHead | null {
  return chunk.first === 0 ? (chunk.head ?? list.host.headOf(chunk.agent, chunk.turn)) : null;
}

function ChunkView({ slot, flows }: { slot: Slot; flows: Flow[] }) {
  const { chunk, list } = slot;
  const { host } = list;
  const head = headFor(slot);
  const work = head ? <WorkLine work={head.work} key="work" /> : null;
  // The work line stands under the prompt; a rule or a notice may be above that.
  const prompt = flows.findIndex((flow) => flow.kind === "prompt");
  return (
    <>
      {head && <TurnTop head={head} agent={chunk.agent} before={host.headOf(chunk.agent, chunk.turn - 1)} isRunning={host.mayRun?.(slot.key(0))} key="head" />}
      {prompt < 0 && work}
      {flows.map((flow, at) => {
        const key = slot.key(at);
        if (!slot.isShown(at)) return null;
        const drawn = <FlowView key={key} flow={flow} host={host} id={key} />;
        return at === prompt && work ? [drawn, work] : drawn;
      })}
    </>
  );
}

/** What is known of a turn before it is there: its number and its first words. */
function WaitingView({ slot }: { slot: Slot }) {
  const head = headFor(slot);
  if (!head) return <p class="waiting">…</p>;
  return (
    <>
      <TurnTop head={head} agent={slot.chunk.agent} before={slot.list.host.headOf(slot.chunk.agent, slot.chunk.turn - 1)} />
      <p class="waiting"><bdi>{visible(head.title)}</bdi></p>
    </>
  );
}

const STATUS: Record<string, string> = {
  incomplete: "not finished", interrupted: "interrupted", cut: "cut off", error: "ended with an error",
};

interface TurnTopOptions {
  head: TurnHead;
  agent: string;
  before: TurnHead | null;
  /** Whether it is going on right now. */
  isRunning?: boolean | undefined;
}

export function TurnTop({ head, agent, before, isRunning }: TurnTopOptions) {
  const words = [isRunning && head.status === "incomplete" ? "" : STATUS[head.status], ...(head.marks ?? [])].filter(Boolean);
  const key = turnKey(agent, head.n);
  // The time of day stands at the prompt; the day only where it is another one.
  const isNewDay = typeof head.started === "number" && (typeof before?.started !== "number" || day(before.started) !== day(head.started));
  const number = <a class="turnnumber" href={`#${key}`}>{head.n > 0 ? `Turn ${head.n}` : "Before the first prompt"}</a>;
  const rest = (
    <>
      {isNewDay && <time dateTime={iso(head.started as number)}>{day(head.started as number)}</time>}
      {words.map((word) => <span class="mark">{visible(String(word))}</span>)}
    </>
  );
  const name = head.is_off ? "turnhead is-off" : "turnhead";
  return agent ? <div class={name}>{number}{rest}</div> : <h2 class={name}>{number}{rest}</h2>;
}

/** Take drawings away. All are measured first: to measure after each change would have the page laid out each time. */
export function undrawAll(slots: readonly Slot[]): void {
  for (const slot of slots) slot.measure();
  for (const slot of slots) slot.undraw({ isMeasured: true });
}

/** All chunks of a session or of a sub-agent, in order, inside an element. */
export class SlotList {
  readonly slots: Slot[] = [];
  readonly shelves: Shelf[] = [];
  /** Those that are drawn now. */
  readonly drawn = new Set<Slot>();
  private readonly firsts = new Map<number, Slot>();
  columns = 76;

  constructor(readonly host: ListHost, readonly element: HTMLElement, readonly agent: string) {
    this.measureColumns();
  }

  measureColumns(): void {
    const width = this.element.clientWidth || innerWidth;
    this.columns = Math.max(24, Math.min(76, Math.floor(width / 8)));
  }

  add(chunk: Chunk): void {
    const slot = new Slot(this, chunk);
    if (!this.firsts.has(chunk.turn)) this.firsts.set(chunk.turn, slot);
    slot.index = this.slots.length;
    this.slots.push(slot);
    let shelf = this.shelves[this.shelves.length - 1];
    // A turn is never divided.
    if (!shelf || (shelf.slots.length >= this.host.shelfRoom && shelf.slots[shelf.slots.length - 1]?.chunk.turn !== chunk.turn)) {
      shelf = new Shelf(this);
      this.shelves.push(shelf);
      this.element.append(shelf.element);
      if (this.host.shelfRoom === Infinity || this.shelves.length === 1) shelf.fill();
      if (this.host.shelfRoom !== Infinity) this.host.watchShelf(shelf);
    }
    shelf.add(slot, shelf.slots.length);
  }

  /** Put a chunk behind another of the same turn. */
  insert(after: Slot, chunk: Chunk): Slot {
    const slot = new Slot(this, chunk);
    this.slots.splice(after.index + 1, 0, slot);
    this.count(after.index + 1);
    after.shelf.add(slot, after.shelf.slots.indexOf(after) + 1);
    return slot;
  }

  remove(slot: Slot): void {
    this.slots.splice(slot.index, 1);
    this.count(slot.index);
    slot.shelf.remove(slot);
    if (this.firsts.get(slot.chunk.turn) === slot) this.firsts.delete(slot.chunk.turn);
  }

  private count(from: number): void {
    for (let n = from; n < this.slots.length; n += 1) (this.slots[n] as Slot).index = n;
  }

  indexOf(slot: Slot): number {
    return slot.index;
  }

  firstOf(turn: number): Slot | null {
    return this.firsts.get(turn) ?? null;
  }

  /** The slot at a height of the screen, or the nearest. */
  at(y: number): Slot | null {
    const { shelves } = this;
    let low = 0;
    let high = shelves.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((shelves[middle] as Shelf).element.getBoundingClientRect().bottom > y) high = middle;
      else low = middle + 1;
    }
    return shelves[low]?.at(y) ?? null;
  }

  /** Where a key is: its chunk and its place there. */
  find(key: string): { slot: Slot; at: number } | null {
    const address = parseKey(key);
    if (!address || address.agent !== this.agent) return null;
    const first = this.firstOf(address.turn);
    if (!first) return null;
    const item = Math.max(0, address.item - 1);
    for (let n = first.index; n < this.slots.length; n += 1) {
      const slot = this.slots[n] as Slot;
      if (slot.chunk.turn !== address.turn) break;
      if (item < slot.chunk.first + Math.max(1, slot.chunk.room)) return { slot, at: item - slot.chunk.first };
    }
    return null;
  }

  redraw(): void {
    for (const slot of this.slots) {
      if (slot.isDrawn) slot.draw();
      else slot.estimate();
    }
    for (const shelf of this.shelves) shelf.settle();
  }

  dispose(): void {
    for (const shelf of this.shelves) {
      this.host.unwatchShelf(shelf);
      for (const slot of shelf.slots) {
        if (shelf.isFilled) this.host.unwatch(slot);
        slot.chunk.leave?.();
        if (slot.isDrawn || slot.isWaiting) render(null, slot.element);
      }
    }
  }
}
