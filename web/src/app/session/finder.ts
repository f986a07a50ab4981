// Finding words in the session by asking the server: it looks through what was never fetched too.

import { parseKey, turnKey } from "../../chunks";
import type { Finder, Found } from "../../search";
import type { Search as Answer } from "../api";
import { ask, isAborted } from "../ask";
import type { Story } from "./story";

const PAUSE = 90; // milliseconds without a key before it is looked for
const MOST = 1000;

type Told = Answer["hits"][number] & { at?: string | null; call?: string | null };

/** Each text that holds the words is one stop. Its turn is known at once, its item when somebody goes there. */
export class ServerFinder implements Finder {
  /** Why the last search came to nothing. */
  failure: unknown = null;

  constructor(private readonly story: Story) {}

  find(query: string, tell: (found: Found[], state: "done" | "full") => void): () => void {
    const end = new AbortController();
    this.failure = null;
    const timer = setTimeout(() => {
      void this.look(query, end.signal).then(
        ({ found, isFull }) => !end.signal.aborted && tell(found, isFull ? "full" : "done"),
        (error: unknown) => {
          if (isAborted(error) || end.signal.aborted) return;
          this.failure = error;
          tell([], "done");
        },
      );
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      end.abort();
    };
  }

  private async look(q: string, signal: AbortSignal): Promise<{ found: Found[]; isFull: boolean }> {
    const said = { q, session: this.story.key, ignore_case: true, limit: MOST };
    let answer = await ask<Answer>("/api/search", { ...said, mode: "literal" }, signal);
    // Words that stand apart are looked for one by one, as the search over all sessions does.
    if (answer.total === 0 && /\s/.test(q)) answer = await ask<Answer>("/api/search", { ...said, mode: "words" }, signal);
    return { found: await this.places(answer.hits), isFull: answer.total > answer.hits.length };
  }

  /** The hits in the order of reading; those of a sub-agent where it was started, as far as that is known. */
  private async places(hits: readonly Told[]): Promise<Found[]> {
    const { agent } = this.story;
    const numbered = await this.story.numbers();
    const starters = new Map<string, string | null>();
    const made: { found: Found; by: number[] }[] = [];
    for (const hit of hits) {
      const whole = parseKey(hit.at ?? (hit.turn ? `t${hit.turn}` : ""));
      if (!whole || (agent && whole.agent !== agent)) continue;
      const own = agent ? "" : whole.agent;
      const turn = whole.agent ? whole.turn : numbered(whole.turn);
      if (turn === null) continue;
      if (own && !starters.has(own)) starters.set(own, await this.story.starterOf(own).catch(() => null));
      const starter = own ? parseKey(starters.get(own) ?? "") : null;
      const by = [starter?.turn ?? (own ? 1e9 : turn), starter?.item ?? 0, own ? turn : 0, hit.line ?? 0, hit.field === "tool_result" ? 1 : 0];
      made.push({ found: [turnKey(own, turn), 1, () => this.itemOf(hit, own, turn)], by });
    }
    return made.sort((one, other) => compare(one.by, other.by)).map(({ found }) => found);
  }

  /** The item that shows a hit; its turn where no item does. */
  private async itemOf(hit: Told, agent: string, turn: number): Promise<string> {
    const where = hit as Told & { where?: string | null };
    try {
      const { item } = await ask<{ item: number }>(`${this.story.place}/place`, {
        line: where.where === "spilled" ? undefined : hit.line, uuid: hit.uuid, call: hit.call, field: hit.field, agent: agent || this.story.agent,
      });
      return item ? `${turnKey(agent, turn)}.${item}` : turnKey(agent, turn);
    } catch {
      return turnKey(agent, turn);
    }
  }
}

function compare(one: readonly number[], other: readonly number[]): number {
  for (let n = 0; n < one.length; n += 1) {
    const by = (one[n] as number) - (other[n] as number);
    if (by !== 0) return by;
  }
  return 0;
}
