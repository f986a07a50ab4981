// Finding words in the whole session, drawn or not, a few chunks at a time.

import { itemKey, parseKey, type Chunk } from "./chunks";
import type { Reader } from "./reader";
import { textsOf } from "./texts";

export interface Hit {
  key: string;
  /** Which of the matches in its item it is, from 0. */
  nth: number;
}

const BUDGET = 12; // milliseconds of work before the page gets a turn
const MOST = 20_000;

export class Search {
  query = "";
  hits: Hit[] = [];
  at = -1;
  /** Whether everything that arrived was looked through. */
  isDone = true;
  isFull = false;
  private run = 0;
  private readonly inItem = new Map<string, number>();

  constructor(private readonly reader: Reader, private readonly report: () => void) {}

  get isActive(): boolean {
    return this.query !== "";
  }

  has(key: string): boolean {
    return this.inItem.has(key);
  }

  keys(): Iterable<string> {
    return this.inItem.keys();
  }

  start(query: string): void {
    const wanted = query.trim().toLowerCase();
    if (wanted === this.query) return;
    this.query = wanted;
    this.hits = [];
    this.inItem.clear();
    this.at = -1;
    this.isFull = false;
    this.run += 1;
    this.isDone = wanted === "";
    if (wanted) this.look(this.run, this.everything());
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
    this.reader.unfold(hit.key);
    this.reader.goTo(hit.key, { upperThird: true, focus: false });
    this.report();
  }

  /** The first hit at or below what is on the screen; the very first when there is none. */
  private nearest(): number {
    const here = this.reader.here();
    if (!here) return 0;
    const { turn, first } = here.slot.chunk;
    const found = this.hits.findIndex(({ key }) => {
      const address = parseKey(this.reader.placeOf(key));
      return address !== null && (address.turn > turn || (address.turn === turn && address.item > first + here.at));
    });
    return Math.max(0, found);
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

  private look(run: number, chunks: Generator<Chunk>): void {
    const until = performance.now() + BUDGET;
    while (performance.now() < until) {
      const next = chunks.next();
      if (next.done || this.isFull) {
        this.isDone = true;
        this.report();
        return;
      }
      this.lookAt(next.value);
    }
    this.report();
    setTimeout(() => {
      if (run === this.run) this.look(run, chunks);
    }, 0);
  }

  private lookAt(chunk: Chunk): void {
    chunk.load().forEach((flow, at) => {
      const key = itemKey(chunk, at);
      let found = 0;
      for (const text of textsOf(flow)) found += countIn(text.toLowerCase(), this.query);
      if (found === 0) return;
      this.inItem.set(key, found);
      for (let nth = 0; nth < found; nth += 1) {
        if (this.hits.length >= MOST) this.isFull = true;
        else this.hits.push({ key, nth });
      }
    });
  }
}

export function countIn(text: string, word: string): number {
  let n = 0;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) n += 1;
  return n;
}
