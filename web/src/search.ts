// Finding words in the whole session, drawn or not. Who looks is another matter: the page itself, or its server.

import { itemKey, parseKey, type Chunk } from "./chunks";
import type { Reader } from "./reader";
import { textsOf } from "./texts";

export interface Hit {
  key: string;
  /** Which of the matches in its item it is, from 0. */
  nth: number;
  /** Finds out the item, where only its turn is known. */
  place?: (() => Promise<string>) | undefined;
}

/** An item, and how many matches there are in it; or a turn, and how to find out the item. */
export type Found = [key: string, matches: number, place?: () => Promise<string>];

export interface Finder {
  /** Look for something, and tell what is found in the order of reading. The answer ends it. */
  find(query: string, tell: (found: Found[], state: "more" | "done" | "full") => void): () => void;
}

const MOST = 20_000;

export class Search {
  query = "";
  /** What was typed, as it was. */
  typed = "";
  hits: Hit[] = [];
  at = -1;
  /** Whether everything that arrived was looked through. */
  isDone = true;
  isFull = false;
  private end: (() => void) | null = null;
  private readonly inItem = new Map<string, number>();

  /** Is told where a step has led to. */
  arrive: (key: string) => void = () => undefined;

  constructor(private readonly reader: Reader, private readonly report: () => void, private readonly finder: Finder = new ChunkFinder(reader)) {}

  get isActive(): boolean {
    return this.query !== "";
  }

  has(key: string): boolean {
    return this.inItem.has(key) || this.inItem.has(key.replace(/\.\d+$/, ""));
  }

  keys(): Iterable<string> {
    return this.inItem.keys();
  }

  start(query: string): void {
    const wanted = query.trim().toLowerCase();
    this.typed = query;
    if (wanted === this.query) return;
    this.end?.();
    this.query = wanted;
    this.hits = [];
    this.inItem.clear();
    this.at = -1;
    this.isFull = false;
    this.isDone = wanted === "";
    this.end = wanted ? this.finder.find(wanted, (found, state) => this.take(found, state)) : null;
    this.report();
  }

  stop(): void {
    this.start("");
  }

  current(): Hit | null {
    return this.hits[this.at] ?? null;
  }

  /** Go to the next or the previous hit; the first one is the nearest below what is on the screen. */
  step(by: 1 | -1): void {
    if (this.hits.length === 0) return;
    const last = this.hits.length - 1;
    if (this.at >= 0) this.at = (this.at + by + this.hits.length) % this.hits.length;
    else this.at = by > 0 ? this.nearest() : last;
    const hit = this.current() as Hit;
    const { place } = hit;
    this.report();
    if (!place) return this.show(hit);
    void place().then((key) => {
      hit.place = undefined;
      hit.key = key;
      this.inItem.set(key, 1);
      if (this.current() === hit) this.show(hit);
    });
  }

  private show(hit: Hit): void {
    this.reader.unfold(hit.key);
    this.reader.goTo(hit.key, { upperThird: true, focus: false });
    this.arrive(hit.key);
    this.report();
  }

  /** Take an item for the current hit, as when somebody came by a link to it. */
  settleOn(key: string): void {
    const turn = key.replace(/\.\d+$/, "");
    this.at = this.hits.findIndex((hit) => hit.key === key || hit.key === turn);
    const hit = this.current();
    if (hit) {
      hit.key = key;
      hit.place = undefined;
      this.inItem.set(key, 1);
    }
    this.report();
  }

  /** The first hit at or below what is on the screen; the very first when there is none. */
  private nearest(): number {
    const here = this.reader.here();
    if (!here) return 0;
    const { turn, first } = here.slot.chunk;
    const found = this.hits.findIndex(({ key }) => {
      const address = parseKey(this.reader.placeOf(key));
      return address !== null && (address.turn > turn || (address.turn === turn && (address.item === 0 || address.item > first + here.at)));
    });
    return Math.max(0, found);
  }

  private take(found: Found[], state: "more" | "done" | "full"): void {
    for (const [key, matches, place] of found) {
      const before = this.inItem.get(key) ?? 0;
      this.inItem.set(key, before + matches);
      for (let n = 0; n < matches; n += 1) {
        if (this.hits.length >= MOST) this.isFull = true;
        else this.hits.push({ key, nth: place ? 0 : before + n, place });
      }
    }
    this.isFull ||= state === "full";
    this.isDone = state !== "more" || this.isFull;
    if (this.isFull) this.end?.();
    this.report();
  }
}

const BUDGET = 12; // milliseconds of work before the page gets a turn

/** Looks through everything that is in the page, a few chunks at a time. */
export class ChunkFinder implements Finder {
  constructor(private readonly reader: Reader) {}

  find(query: string, tell: (found: Found[], state: "more" | "done") => void): () => void {
    const chunks = this.everything();
    let isOver = false;
    const look = () => {
      if (isOver) return;
      const found: Found[] = [];
      const until = performance.now() + BUDGET;
      while (performance.now() < until) {
        const next = chunks.next();
        if (next.done) return tell(found, "done");
        found.push(...within(next.value, query));
      }
      tell(found, "more");
      setTimeout(look, 0);
    };
    // Not before the search knows how to end it.
    queueMicrotask(look);
    return () => {
      isOver = true;
    };
  }

  /** The chunks in the order of reading: a sub-agent's where it was started. */
  private *everything(): Generator<Chunk> {
    const seen = new Set<string>();
    const { chunks, started } = this.reader;
    function* of(agent: string): Generator<Chunk> {
      if (seen.has(agent)) return;
      seen.add(agent);
      const own = chunks.get(agent) ?? [];
      for (let n = 0; n < own.length; n += 1) {
        const chunk = own[n] as Chunk;
        yield chunk;
        if (started.size === 0) continue;
        for (let at = 0; at < chunk.marks.length; at += 1) {
          for (const name of started.get(itemKey(chunk, at)) ?? []) yield* of(name);
        }
      }
    }
    yield* of("");
    for (const agent of chunks.keys()) yield* of(agent);
  }
}

function within(chunk: Chunk, query: string): Found[] {
  const made: Found[] = [];
  (chunk.load() ?? []).forEach((flow, at) => {
    let found = 0;
    for (const text of textsOf(flow)) found += countIn(text.toLowerCase(), query);
    if (found > 0) made.push([itemKey(chunk, at), found]);
  });
  return made;
}

export function countIn(text: string, word: string): number {
  let n = 0;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) n += 1;
  return n;
}
