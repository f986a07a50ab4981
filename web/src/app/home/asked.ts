// The list of sessions as far as it was asked for, kept up to date while sessions grow. Nothing here draws.

import type { SessionRow, Sessions, Tree, TreeAgent } from "../api";
import { ask, isAborted, type Said } from "../ask";

/** What narrows the list, by the names that the address and the API both have. */
export const NARROWING = ["title", "project", "branch", "model", "tool", "since", "until", "live", "failed", "damaged"] as const;
export type Narrowing = (typeof NARROWING)[number];

const ORDER = ["sort", "reverse"] as const;
const PAGE = 200;
const MOST = 1000; // rows of one answer
const FACETED = ["project", "branch", "model"] as const;

export type Facet = { value: string; sessions: number };
export type Facets = Record<(typeof FACETED)[number], Facet[]>;

/** An answer, with what its schema leaves open. */
export type Page = Sessions & { looked_in?: string[]; prices?: string | null; total: Sessions["total"] & { unpriced_messages?: number } };
export type Row = SessionRow & { unpriced_messages?: number };

export function wanted(said: Readonly<Record<string, string>>): Said {
  const made: Record<string, string> = {};
  for (const name of [...NARROWING, ...ORDER]) if (said[name]) made[name] = said[name];
  return made;
}

export class Asked {
  rows: Row[] = [];
  page: Page | null = null;
  facets: Facets | null = null;
  error: unknown = null;
  /** Where the list was scrolled to, and the row one was on, for who comes back. */
  scroll = 0;
  cursor: string | null = null;
  /** The sub-agents of sessions that were unfolded; null while they are asked for. */
  readonly agents = new Map<string, TreeAgent[] | null>();
  private asking: Promise<void> | null = null;
  private abort = new AbortController();

  constructor(readonly said: Said, private readonly onChange: () => void) {}

  /** How many sessions fit, whether they were asked for yet or not. */
  get total(): number {
    return Math.max(this.page?.total.sessions ?? 0, this.rows.length);
  }

  stop(): void {
    this.abort.abort();
    this.abort = new AbortController();
    this.asking = null;
  }

  /** Ask for the first page, or for all that was asked for again. */
  async renew(): Promise<void> {
    await this.one(async (signal) => {
      const rows: Row[] = [];
      const many = Math.max(PAGE, this.rows.length);
      let page: Page;
      do {
        page = await this.ask({ from: rows.length, limit: Math.min(MOST, many - rows.length) }, signal);
        rows.push(...page.sessions);
      } while (page.next !== null && rows.length < many);
      this.take(page, rows);
      void this.count(signal);
    });
  }

  /** Some sessions changed: they are among the first now. */
  async touch(): Promise<void> {
    if (this.rows.length <= PAGE) {
      await this.renew();
      return;
    }
    await this.one(async (signal) => {
      const page = await this.ask({ from: 0, limit: 100 }, signal);
      const fresh = new Set(page.sessions.map((row) => row.key));
      this.take(page, [...page.sessions, ...this.rows.filter((row) => !fresh.has(row.key))]);
    });
    if (this.rows.length > (this.page?.total.sessions ?? 0)) await this.renew();
  }

  /** Have so many rows, if there are so many. */
  async reach(many: number): Promise<void> {
    if (this.asking || this.rows.length >= many || this.rows.length >= this.total) return;
    await this.one(async (signal) => {
      while (this.rows.length < many && this.rows.length < this.total) {
        const from = this.rows.length;
        const page = await this.ask({ from, limit: Math.min(MOST, Math.max(PAGE, many - from)) }, signal);
        if (page.sessions.length === 0) break;
        const known = new Set(this.rows.map((row) => row.key));
        this.take(page, [...this.rows, ...page.sessions.filter((row) => !known.has(row.key))]);
      }
    });
  }

  /** Show or fold the sub-agents of a session. */
  async unfold(key: string): Promise<void> {
    if (this.agents.has(key)) this.agents.delete(key);
    else {
      this.agents.set(key, null);
      this.onChange();
      try {
        const { agents } = await ask<Tree>(`/api/sessions/${encodeURIComponent(key)}/tree`);
        if (this.agents.has(key)) this.agents.set(key, agents);
      } catch {
        this.agents.delete(key);
      }
    }
    this.onChange();
  }

  private ask(said: Said, signal: AbortSignal): Promise<Page> {
    return ask<Page>("/api/sessions", { ...this.said, ...said }, signal);
  }

  /** One thing is asked at a time; what fails is shown, and what is there stays. */
  private one(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { signal } = this.abort;
    const turn = (this.asking ?? Promise.resolve()).then(() => (signal.aborted ? undefined : work(signal))).then(
      () => { this.error = null; },
      (error: unknown) => { if (!isAborted(error)) this.error = error; },
    ).then(() => {
      if (this.asking === turn) this.asking = null;
      if (!signal.aborted) this.onChange();
    });
    this.asking = turn;
    return turn;
  }

  private take(page: Page, rows: Row[]): void {
    this.page = page;
    this.rows = rows;
    this.error = null;
    this.onChange();
  }

  /** Count projects, branches and models: of what fits all else, so that each choice says what it would give. */
  private async count(signal: AbortSignal): Promise<void> {
    const chosen = FACETED.filter((name) => this.said[name]);
    const of = (left: string | null) => ask<Page>("/api/sessions", { ...this.said, ...(left && { [left]: undefined }), facets: true, limit: 1 }, signal);
    try {
      const [plain, ...others] = await Promise.all([of(null), ...chosen.map(of)]);
      const made: Facets = { project: plain?.facets?.project ?? [], branch: plain?.facets?.branch ?? [], model: plain?.facets?.model ?? [] };
      chosen.forEach((name, n) => { made[name] = others[n]?.facets?.[name] ?? []; });
      this.facets = made;
      this.onChange();
    } catch {
      // The list is there without them.
    }
  }
}
