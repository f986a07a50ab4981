// The list of chunks on the page: which are drawn, and how high the others are.

import { render } from "preact";
import { guess, isShown, itemKey, parseKey, turnKey, type Chunk } from "./chunks";
import { FlowView, type AgentHost } from "./flow";
import type { Flow, TurnHead } from "./parts";
import { day, iso } from "./text";
import { visible } from "./visible";
import { WorkLine } from "./workline";

export interface ListHost extends AgentHost {
  /** Shown although the level hides it. */
  isForced(key: string): boolean;
  headOf(agent: string, turn: number): TurnHead | null;
  watch(slot: Slot): void;
  unwatch(slot: Slot): void;
  drawn(slot: Slot): void;
}

export class Slot {
  readonly element = document.createElement("div");
  isDrawn = false;
  height = 0;

  constructor(readonly list: SlotList, readonly chunk: Chunk) {
    this.element.className = "slot";
    this.estimate();
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
    this.element.style.height = `${height}px`;
  }

  draw(): void {
    const flows = this.chunk.load();
    this.element.style.height = "";
    this.element.classList.add("is-drawn");
    render(<ChunkView slot={this} flows={flows} />, this.element);
    this.isDrawn = true;
    this.list.host.drawn(this);
  }

  /** Take the drawing away and leave a box of the very same height. */
  undraw(): void {
    if (!this.isDrawn) return;
    const height = this.element.getBoundingClientRect().height;
    this.isDrawn = false;
    this.element.classList.remove("is-drawn");
    render(null, this.element);
    this.setHeight(height);
  }

  measure(): void {
    if (this.isDrawn) this.height = this.element.getBoundingClientRect().height;
  }

  key(at: number): string {
    return itemKey(this.chunk, at);
  }

  isShown(at: number): boolean {
    const mark = this.chunk.marks[at];
    return mark !== undefined && (isShown(mark.letter, this.list.host.level) || this.list.host.isForced(this.key(at)));
  }
}

function ChunkView({ slot, flows }: { slot: Slot; flows: Flow[] }) {
  const { chunk, list } = slot;
  const { host } = list;
  const head = chunk.first === 0 ? (chunk.head ?? host.headOf(chunk.agent, chunk.turn)) : null;
  const work = head ? <WorkLine work={head.work} key="work" /> : null;
  // The work line stands under the prompt; a rule or a notice may be above that.
  const prompt = flows.findIndex((flow) => flow.kind === "prompt");
  return (
    <>
      {head && <TurnTop head={head} agent={chunk.agent} before={host.headOf(chunk.agent, chunk.turn - 1)} key="head" />}
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

const STATUS: Record<string, string> = {
  incomplete: "not finished", interrupted: "interrupted", cut: "cut off", error: "ended with an error",
};

export function TurnTop({ head, agent, before }: { head: TurnHead; agent: string; before: TurnHead | null }) {
  const words = [STATUS[head.status], ...(head.marks ?? [])].filter(Boolean);
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

/** All chunks of a session or of a sub-agent, in order, inside an element. */
export class SlotList {
  readonly slots: Slot[] = [];
  private readonly sections = new Map<number, HTMLElement>();
  private readonly firsts = new Map<number, Slot>();
  private readonly indexes = new Map<Slot, number>();
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
    let section = this.sections.get(chunk.turn);
    if (!section) {
      section = document.createElement("section");
      section.className = "turn";
      section.id = turnKey(this.agent, chunk.turn);
      this.sections.set(chunk.turn, section);
      this.firsts.set(chunk.turn, slot);
      this.element.append(section);
    }
    this.indexes.set(slot, this.slots.length);
    this.slots.push(slot);
    section.append(slot.element);
    this.host.watch(slot);
  }

  indexOf(slot: Slot): number {
    return this.indexes.get(slot) ?? -1;
  }

  firstOf(turn: number): Slot | null {
    return this.firsts.get(turn) ?? null;
  }

  /** Where a key is: its chunk and its place there. */
  find(key: string): { slot: Slot; at: number } | null {
    const address = parseKey(key);
    if (!address || address.agent !== this.agent) return null;
    const first = this.firstOf(address.turn);
    if (!first) return null;
    const item = Math.max(0, address.item - 1);
    for (let n = this.indexOf(first); n < this.slots.length; n += 1) {
      const slot = this.slots[n] as Slot;
      if (slot.chunk.turn !== address.turn) break;
      if (item < slot.chunk.first + slot.chunk.marks.length) return { slot, at: item - slot.chunk.first };
    }
    return null;
  }

  redraw(): void {
    for (const slot of this.slots) {
      if (slot.isDrawn) slot.draw();
      else slot.estimate();
    }
  }

  dispose(): void {
    for (const slot of this.slots) {
      this.host.unwatch(slot);
      if (slot.isDrawn) render(null, slot.element);
    }
  }
}
