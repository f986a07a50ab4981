// What is looked for and what was found, as the address says it. Nothing here draws.

import type { Search } from "../api";
import { ask, isAborted, type Said } from "../ask";

export type Field = "prompt" | "text" | "thinking" | "tool_input" | "tool_result" | "summary" | "title";

export type Hit = Search["hits"][number] & { is_error?: boolean };
export type Group = Required<Search>["groups"][number];
export type Counted = Required<Search>["facets"]["project"][number];
export type Found = Required<Search> & { total_is_exact?: boolean };

/** What narrows a search, by the names of the API. */
export const NARROWING = ["in", "project", "tool", "model", "branch", "session", "since", "until", "errors"] as const;
export type Narrowing = (typeof NARROWING)[number];

export const MODES: [string, string, string][] = [
  ["words", "Words", "All of the words, in any order; case does not count"],
  ["literal", "Literal", "Exactly these characters"],
  ["regex", "Pattern", "A regular expression"],
];

const QUICK = 8; // sessions of the answer while one types: more than a screen has room for
const FIRST = 60; // of the answer when nobody types any more
const ALL = 1000; // and for who goes on to its end; as many hits are counted by what they are in
const QUIET = 200; // milliseconds without a key after which the whole answer is asked for
const MORE = 300; // hits of one session

/** The question of an address, or null if it has none. */
export function question(said: Readonly<Record<string, string>>): Said | null {
  const q = said["q"] ?? "";
  if (!q.trim()) return null;
  const made: Record<string, string | boolean | undefined> = { q };
  for (const name of NARROWING) if (said[name]) made[name] = said[name];
  const mode = said["mode"];
  if (mode === "literal" || mode === "regex") {
    made["mode"] = mode;
    made["ignore_case"] = !said["case"];
  } else if (said["rank"]) made["rank"] = true;
  return made;
}

type Counts = Pick<Found, "total" | "total_is_exact" | "facets" | "counted" | "counted_all">;

export class Finding {
  found: Found | null = null;
  error: unknown = null;
  isAsking = false;
  /** Whether there may be sessions with hits that are not listed. */
  isCut = false;
  /** All hits of the sessions that were opened; null while they are asked for. */
  readonly opened = new Map<string, Hit[] | null>();
  scroll = 0;
  private counts: Counts | null = null;
  private limit = FIRST;
  private quiet = 0;
  private isQuick = true;
  private abort = new AbortController();

  constructor(readonly said: Said, private readonly onChange: () => void) {}

  /**
   * Ask for a screen of sessions; once nobody types any more, for the others, and how many hits there are of what.
   * Where the same was asked `before` and is shown, nothing may become less for a moment: then for as much as that.
   */
  async start(before: Finding | null): Promise<void> {
    if (before) {
      this.limit = before.limit;
      return this.whole();
    }
    const { signal } = this.abort;
    await this.list();
    if (!signal.aborted && this.found && this.isQuick) this.quiet = setTimeout(() => void this.whole(), QUIET);
  }

  private async whole(): Promise<void> {
    const { signal } = this.abort;
    this.isQuick = false;
    await this.list();
    if (!signal.aborted && this.found && !this.found.counted_all) await this.count();
  }

  /** Ask for the sessions after the first ones, once. */
  async more(): Promise<void> {
    if (this.isAsking || !this.isCut || this.limit === ALL) return;
    clearTimeout(this.quiet);
    this.limit = ALL;
    if (this.isQuick) await this.whole();
    else await this.list();
  }

  private async list(): Promise<void> {
    this.isAsking = true;
    try {
      const how = this.isQuick ? { quick: true, limit: QUICK } : { limit: this.limit };
      const found = await ask<Search>("/api/search", { ...this.said, group: "session", facets: true, ...how }, this.abort.signal);
      this.found = { groups: [], counted: found.hits.length, counted_all: true, grouped_all: true, facets: { project: [], tool: [], field: [], model: [] }, ...found, ...this.counts };
      const { groups, total } = this.found;
      this.isCut = groups.length >= how.limit || groups.reduce((sum, group) => sum + group.count, 0) < total;
      this.error = null;
    } catch (error) {
      if (isAborted(error)) return;
      this.error = error;
    } finally {
      this.isAsking = false;
    }
    this.onChange();
  }

  /** While one types, only a few hits are read; this reads them, to say how many there are of each kind. */
  private async count(): Promise<void> {
    try {
      const { total, facets, counted = 0, counted_all = false, ...rest } = await ask<Search & { total_is_exact?: boolean }>("/api/search", { ...this.said, facets: true, limit: ALL }, this.abort.signal);
      if (!facets || !this.found) return;
      this.counts = { total, facets, counted, counted_all, total_is_exact: rest.total_is_exact ?? false };
      this.found = { ...this.found, ...this.counts };
      this.onChange();
    } catch {
      // What was counted of the first hits stays, and says that it is the least.
    }
  }

  /** What is being asked is not waited for; what was found may still be shown, and opened. */
  stop(): void {
    clearTimeout(this.quiet);
    this.abort.abort();
    this.abort = new AbortController();
  }

  /** Show all hits of a session, or only the first few again. */
  async open(key: string): Promise<void> {
    if (this.opened.has(key)) this.opened.delete(key);
    else {
      this.opened.set(key, null);
      this.onChange();
      try {
        const { hits } = await ask<{ hits: Hit[] }>("/api/search", { ...this.said, session: key, limit: MORE }, this.abort.signal);
        if (this.opened.has(key)) this.opened.set(key, hits);
      } catch {
        this.opened.delete(key);
      }
    }
    this.onChange();
  }
}

/** The item that shows a hit; where that cannot be told in time, its turn. */
export async function placeOf(hit: Hit): Promise<string> {
  const near = hit.at ?? "";
  if (!hit.key || /\.\d+$/.test(near) || hit.field === "title") return near;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), 600);
  try {
    const agent = hit.where === "sub-agent" ? hit.agent_id : null;
    const line = hit.where === "spilled" ? null : hit.line;
    const said = { line, uuid: hit.uuid, call: hit.call, agent, field: hit.field };
    return (await ask<{ at: string | null }>(`/api/sessions/${encodeURIComponent(hit.key)}/place`, said, late.signal)).at ?? near;
  } catch {
    return near;
  } finally {
    clearTimeout(timer);
  }
}
