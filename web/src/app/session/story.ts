// A session as the reader has it: its facts, the heads of its turns, and what was fetched of them.

import { parseKey } from "../../chunks";
import type { TurnHead } from "../../parts";
import type { Session, Tree, TreeAgent } from "../api";
import { ask, Failure } from "../ask";
import { firstPages, Pages, type TurnPage } from "./pages";

const FIRST = 2000; // heads that are fetched before anything is drawn
const MORE = 4_000; // and then at a time
const SEEN_FIRST = 3; // turns that fill a screen, mostly

/** What stands in the address for the way that the model would be sent. */
export const SEEN = "seen";

/** The turns of the session itself, or of a sub-agent of it. */
export class Strand {
  readonly heads: TurnHead[] = [];
  readonly byNumber = new Map<number, TurnHead>();
  private readonly turns = new Map<number, TurnPage[]>();

  /** `agent` is the name in keys, `asked` the one in requests: a sub-agent may have a page of its own. */
  constructor(readonly pages: Pages, readonly agent: string, readonly asked: string | undefined, readonly from: string) {}

  headOf(turn: number): TurnHead {
    return this.byNumber.get(turn) ?? { n: turn, title: "", status: "", work: {} };
  }

  /** Take heads; the pages of those that are new. */
  add(heads: readonly TurnHead[]): TurnPage[] {
    const made: TurnPage[] = [];
    for (const head of heads) {
      const isNew = !this.byNumber.has(head.n);
      this.byNumber.set(head.n, head);
      if (!isNew) {
        this.replace(head);
        continue;
      }
      this.heads.push(head);
      const pages = firstPages(this, head);
      this.turns.set(head.n, pages);
      made.push(...pages);
    }
    return made;
  }

  private replace(head: TurnHead): void {
    // What changes is at the end.
    let at = this.heads.length - 1;
    while (at >= 0 && this.heads[at]?.n !== head.n) at -= 1;
    if (at >= 0) this.heads[at] = head;
  }

  pagesOf(turn: number): readonly TurnPage[] {
    return this.turns.get(turn) ?? [];
  }

  after(page: TurnPage): TurnPage | null {
    const pages = this.pagesOf(page.turn);
    return pages[pages.indexOf(page) + 1] ?? null;
  }

  insert(after: TurnPage, page: TurnPage): void {
    const pages = this.turns.get(page.turn);
    pages?.splice(pages.indexOf(after) + 1, 0, page);
  }

  cutAfter(page: TurnPage): TurnPage[] {
    const pages = this.turns.get(page.turn);
    return pages ? pages.splice(pages.indexOf(page) + 1) : [];
  }
}

/** Why there is nothing to go on with: the file is another one than it was. */
export class Outdated extends Error {}

export class Story {
  readonly place: string;
  readonly pages: Pages;
  readonly main: Strand;
  readonly agents = new Map<string, Strand>();
  session!: Session;
  private way: string | undefined;
  private since = -Infinity;
  private known: Promise<Tree> | null = null;

  constructor(readonly key: string, readonly agent: string, readonly branch: string) {
    this.place = `/api/sessions/${encodeURIComponent(key)}`;
    this.way = branch && branch !== SEEN ? branch : undefined;
    this.pages = new Pages(this.place, () => ({ branch: this.way }));
    this.main = new Strand(this.pages, "", agent || undefined, "");
  }

  close(): void {
    this.pages.close();
  }

  tree(): Promise<Tree> {
    this.known ??= ask<Tree>(`${this.place}/tree`);
    this.known.catch(() => {
      this.known = null;
    });
    return this.known;
  }

  /** Fetch the facts and the first turns. */
  async open(): Promise<TurnPage[]> {
    if (this.branch === SEEN) await this.findWay();
    this.session = await this.bring(this.main, 0, FIRST);
    if (this.session.turns.length === 0) {
      // Without a turn there may still be something in the file.
      return (this.session.head.lines ?? 0) === 0 ? [] : this.main.add([{ n: 0, title: "", status: "", work: {} }]);
    }
    return this.main.add(this.chosen(this.session.turns, this.session.next === null));
  }

  /** Fetch what will be seen first, for a moment: what is there when it is drawn does not have to move then. */
  async ready(place: string): Promise<void> {
    const { heads } = this.main;
    const turn = parseKey(place)?.turn;
    const found = turn === undefined ? -1 : heads.findIndex((head) => head.n === turn);
    const first = found >= 0 ? found : this.session.live ? heads.length - SEEN_FIRST : 0;
    await this.pages.ready(heads.slice(Math.max(0, first), Math.max(0, first) + SEEN_FIRST).flatMap((head) => this.main.pagesOf(head.n).slice(0, 1)), 300);
  }

  /** Fetch the heads that are still missing, some thousands at a time. */
  async *rest(): AsyncGenerator<TurnPage[]> {
    for (let next = this.session.next; next !== null; ) {
      const more = await this.bring(this.main, next, MORE);
      yield this.main.add(this.chosen(more.turns, more.next === null));
      ({ next } = more);
    }
  }

  private bring(strand: Strand, from: number, limit: number): Promise<Session> {
    return ask<Session>(this.place, { agent: strand.asked, branch: this.way, from, limit });
  }

  /** The way to where the client would go on, and since when: what a compaction put into few words is not sent. */
  private async findWay(): Promise<void> {
    const tree = await this.tree();
    this.way = tree.leaves.find((leaf) => leaf.active)?.uuid ?? undefined;
    try {
      const { compactions } = await ask<{ compactions: { time: string | null }[] }>(`${this.place}/window`, { limit: 1 });
      const last = compactions[compactions.length - 1]?.time;
      if (last) this.since = Date.parse(last);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
    }
  }

  private chosen(heads: readonly TurnHead[], isEnd: boolean): readonly TurnHead[] {
    // The turn in which it was made stays: the summary stands at its end.
    const first = heads.findIndex((head) => typeof head.ended !== "number" || !(head.ended < this.since));
    if (first < 0) return isEnd ? heads.slice(-1) : [];
    return heads.slice(Math.max(0, first - 1));
  }

  /** Fetch the turns of a sub-agent that stands in an item of the session. */
  async openAgent(agent: string, from: string): Promise<TurnPage[]> {
    const known = this.agents.get(agent);
    if (known) return [];
    const strand = new Strand(this.pages, agent, agent, from);
    this.agents.set(agent, strand);
    try {
      const made: TurnPage[] = [];
      for (let next: number | null = 0; next !== null; ) {
        const found: Session = await this.bring(strand, next, MORE);
        made.push(...strand.add(found.turns));
        ({ next } = found);
      }
      return made;
    } catch (error) {
      this.agents.delete(agent);
      throw error;
    }
  }

  /** What a turn of the whole session is called on the way that is shown; null where it is not on it. */
  async numbers(): Promise<(turn: number) => number | null> {
    if (!this.way) return (turn) => turn;
    const all = new Map<number, string>();
    for (let next: number | null = 0; next !== null; ) {
      const found: Session = await ask<Session>(this.place, { agent: this.main.asked, from: next, limit: MORE });
      for (const head of found.turns) if (head.uuid) all.set(head.n, head.uuid);
      ({ next } = found);
    }
    const here = new Map(this.main.heads.map((head) => [head.uuid, head.n]));
    return (turn) => here.get(all.get(turn)) ?? null;
  }

  /** The item that a sub-agent was started in. */
  async starterOf(agent: string): Promise<string | null> {
    const search = (agents: readonly TreeAgent[], parent: string | undefined): { call: string | null; parent: string | undefined } | null => {
      for (const one of agents) {
        if (one.agent_id === agent) return { call: one.started_by, parent };
        const found = search(one.children, one.agent_id);
        if (found) return found;
      }
      return null;
    };
    const found = search((await this.tree()).agents, undefined);
    if (!found?.call) return null;
    const place = await ask<{ at: string }>(`${this.place}/place`, { call: found.call, agent: found.parent });
    return place.at;
  }

  /** Fetch what is new: the last turn again, and those after it. Gives the pages that are new. */
  async refresh(strand: Strand): Promise<{ added: TurnPage[]; changed: TurnPage[] }> {
    const { heads } = strand;
    const last = heads[heads.length - 1];
    const at = strand === this.main ? Math.max(0, (this.session.head.turns || 0) - 1) : Math.max(0, heads.length - 1);
    const pages = last ? this.openPages(strand, last.n) : [];
    const [found] = await Promise.all([this.bring(strand, at, FIRST), ...pages.map((page) => this.pages.renew(page))]);
    const [first] = found.turns;
    if (last && last.n > 0 && first && first.n === last.n && first.uuid !== last.uuid) throw new Outdated();
    if (found.head.turns < heads.length && last && last.n > 0 && strand === this.main && !this.branch) throw new Outdated();
    const isFirst = last?.n === 0 && found.turns.length > 0;
    if (isFirst) throw new Outdated();
    if (strand === this.main) this.session = { ...this.session, ...found, turns: this.session.turns, next: this.session.next };
    const added = strand.add(this.chosen(found.turns, true));
    const changed = last && JSON.stringify(last) !== JSON.stringify(strand.headOf(last.n)) ? strand.pagesOf(last.n).slice(0, 1) : [];
    return { added, changed };
  }

  /** The pages of a turn that may still change: the last one, those with calls that run, the one with its last answer. */
  private openPages(strand: Strand, turn: number): TurnPage[] {
    const pages = strand.pagesOf(turn);
    return pages.filter((page, at) => {
      if (at === pages.length - 1) return true;
      return this.pages.peek(page)?.some((flow) => (flow.kind === "call" && (flow.state === "running" || flow.state === "missing")) || (flow.kind === "answer" && flow.is_last)) ?? false;
    });
  }
}
