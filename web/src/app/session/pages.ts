// The items of turns, fetched a page at a time as they near the screen, and forgotten again when many others were.

import type { Chunk, Mark } from "../../chunks";
import type { Flow, TurnHead } from "../../parts";
import type { Turn } from "../api";
import { ask, isAborted } from "../ask";
import { guessMarks, marksOf } from "./guesses";
import type { Strand } from "./story";

const PAGE = 40; // items
const KEPT = 30; // pages that are remembered
const KEPT_SIZE = 6_000_000; // characters in them
const AT_ONCE = 3;

/** Some items of one turn, which the server has. */
export class TurnPage implements Chunk {
  marks: readonly Mark[];
  isKnown = false;
  /** Whether it came into being while somebody was reading. */
  isLate = false;

  constructor(readonly strand: Strand, readonly turn: number, readonly first: number, public room: number, isEnd: boolean) {
    this.marks = guessMarks(strand.headOf(turn), first, room, isEnd);
  }

  get agent(): string {
    return this.strand.agent;
  }

  get from(): string {
    return this.strand.from;
  }

  get head(): TurnHead | null {
    return this.agent && this.first === 0 ? this.strand.headOf(this.turn) : null;
  }

  load(): Flow[] | null {
    return this.strand.pages.load(this);
  }

  leave(): void {
    this.strand.pages.leave(this);
  }
}

/** The pages that a turn has by what its head says. */
export function firstPages(strand: Strand, head: TurnHead): TurnPage[] {
  const items = 2 + (head.work.calls ?? 0);
  const many = Math.max(1, Math.ceil(items / PAGE));
  return Array.from({ length: many }, (_, n) => new TurnPage(strand, head.n, n * PAGE, n + 1 < many ? PAGE : Math.max(1, items - n * PAGE), n + 1 === many));
}

/** What a page that came, or came again, changed. */
export interface Arrival {
  page: TurnPage;
  added: [after: TurnPage, page: TurnPage][];
  dropped: TurnPage[];
  /** How many items there are now that were not there when it was last fetched. */
  news: number;
}

interface Kept {
  flows: Flow[];
  size: number;
  hasFailed: boolean;
}

export class Pages {
  private readonly kept = new Map<TurnPage, Kept>();
  private size = 0;
  private readonly waiting: TurnPage[] = [];
  private readonly asking = new Map<TurnPage, Promise<void>>();
  private readonly end = new AbortController();
  onArrival: (arrival: Arrival) => void = () => undefined;

  constructor(private readonly place: string, private readonly said: () => { branch?: string | undefined }) {}

  load(page: TurnPage): Flow[] | null {
    const found = this.kept.get(page);
    if (found) {
      this.kept.delete(page);
      this.kept.set(page, found);
      return found.flows;
    }
    if (!this.asking.has(page)) {
      this.leave(page);
      // What was asked for last is what somebody looks at.
      this.waiting.unshift(page);
      this.pump();
    }
    return null;
  }

  /** Nobody waits for it any more. */
  leave(page: TurnPage): void {
    const at = this.waiting.indexOf(page);
    if (at >= 0) this.waiting.splice(at, 1);
  }

  /** Fetch a page again, whether it is remembered or not. */
  renew(page: TurnPage): Promise<void> {
    const running = this.asking.get(page);
    return running ? running.then(() => this.ask(page)) : this.ask(page);
  }

  /** Fetch some pages, and wait for them, but no longer than so many milliseconds. */
  async ready(pages: readonly TurnPage[], most: number): Promise<void> {
    for (const page of [...pages].reverse()) this.load(page);
    const asked = pages.map((page) => this.asking.get(page));
    await Promise.race([Promise.allSettled(asked), new Promise((done) => setTimeout(done, most))]);
  }

  /** What is remembered of a page. */
  peek(page: TurnPage): Flow[] | null {
    return this.kept.get(page)?.flows ?? null;
  }

  /** Forget what could not be fetched, so that it is tried again; says which pages those were. */
  retry(): TurnPage[] {
    const failed = [...this.kept].filter(([, one]) => one.hasFailed).map(([page]) => page);
    for (const page of failed) this.forget(page);
    return failed;
  }

  close(): void {
    this.end.abort();
    this.waiting.length = 0;
    this.onArrival = () => undefined;
  }

  private pump(): void {
    while (this.asking.size < AT_ONCE) {
      const page = this.waiting.shift();
      if (!page) return;
      void this.ask(page);
    }
  }

  private ask(page: TurnPage): Promise<void> {
    const made = this.bring(page).finally(() => {
      this.asking.delete(page);
      this.pump();
    });
    this.asking.set(page, made);
    return made;
  }

  private async bring(page: TurnPage): Promise<void> {
    const { strand } = page;
    const next = strand.after(page);
    try {
      const answer = await ask<Turn>(`${this.place}/turns/${page.turn}`, {
        agent: strand.asked, branch: this.said().branch, from: page.first, limit: next ? next.first - page.first : PAGE,
      }, this.end.signal);
      this.take(page, answer.parts, answer.next);
    } catch (error) {
      if (isAborted(error) || this.end.signal.aborted) return;
      if (this.kept.has(page)) return; // what is there is better than a notice
      const words = error instanceof Error ? error.message : String(error);
      this.keep(page, [{ kind: "notice", level: "error", text: `This piece could not be fetched: ${words}` }], true);
      this.onArrival({ page, added: [], dropped: [], news: 0 });
    }
  }

  private take(page: TurnPage, flows: Flow[], next: number | null): void {
    const { strand } = page;
    const before = this.kept.get(page);
    const was = page.isKnown ? page.room : 0;
    const added: [TurnPage, TurnPage][] = [];
    const dropped: TurnPage[] = [];
    if (next === null) dropped.push(...strand.cutAfter(page));
    else {
      const after = strand.after(page);
      // A page may end early when what is in it is large.
      if (!after || after.first > next) {
        const room = after ? after.first - next : Math.max(1, Math.min(PAGE, (strand.headOf(page.turn).work.calls ?? 0) - next));
        const made = new TurnPage(strand, page.turn, next, room, !after);
        made.isLate = was > 0;
        strand.insert(page, made);
        added.push([page, made]);
      }
    }
    const isSame = before !== undefined && !before.hasFailed && added.length + dropped.length === 0 && isAlike(before, flows);
    this.keep(page, flows, false);
    const isCounted = was > 0 || page.isLate;
    if (!isSame) this.onArrival({ page, added, dropped, news: isCounted ? Math.max(0, flows.length - was) : 0 });
  }

  private keep(page: TurnPage, flows: Flow[], hasFailed: boolean): void {
    this.forget(page);
    const { marks, size } = marksOf(flows);
    page.marks = marks;
    page.isKnown = !hasFailed;
    if (!hasFailed) page.room = flows.length;
    this.kept.set(page, { flows, size, hasFailed });
    this.size += size;
    for (const [other] of this.kept) {
      if ((this.kept.size <= KEPT && this.size <= KEPT_SIZE) || other === page) break;
      this.forget(other);
    }
  }

  private forget(page: TurnPage): void {
    const found = this.kept.get(page);
    if (!found) return;
    this.kept.delete(page);
    this.size -= found.size;
  }
}

/** Whether a page says what it said before; of very large ones that is not worth finding out. */
function isAlike(before: Kept, flows: Flow[]): boolean {
  return before.size < 400_000 && before.flows.length === flows.length && JSON.stringify(before.flows) === JSON.stringify(flows);
}
