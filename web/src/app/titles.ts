// What sessions are called, for lists that only know their keys: taken from the list of sessions, page by page, once.

import type { SessionRow, Sessions } from "./api";
import { ask } from "./ask";

const PAGE = 1000;
const FRESH = 60_000; // milliseconds after which a title may have changed

export interface Titled {
  title: string | null;
  project: string;
}

class Titles {
  private readonly known = new Map<string, Titled>();
  private readonly missing = new Set<string>();
  private reading: Promise<void> | null = null;
  private read = 0;

  of(key: string): Titled | null {
    return this.known.get(key) ?? null;
  }

  /** Find out what some sessions are called; `changed` is called when more is known. */
  want(keys: readonly string[], changed: () => void): void {
    const isOld = Date.now() - this.read > FRESH;
    if (isOld) this.missing.clear();
    const open = keys.filter((key) => !this.known.has(key) && !this.missing.has(key));
    if (open.length === 0) return;
    this.reading ??= this.look(open).finally(() => { this.reading = null; });
    void this.reading.then(changed, () => undefined);
  }

  private async look(keys: readonly string[]): Promise<void> {
    for (let from: number | null = 0; from !== null && keys.some((key) => !this.known.has(key)); ) {
      const page: Sessions = await ask<Sessions>("/api/sessions", { all: true, from, limit: PAGE });
      for (const row of page.sessions) this.keep(row);
      from = page.next;
    }
    this.read = Date.now();
    for (const key of keys) if (!this.known.has(key)) this.missing.add(key);
  }

  private keep(row: SessionRow): void {
    const named = { title: row.title || row.first_prompt, project: row.project };
    this.known.set(row.key, named);
    if (!this.known.has(row.id)) this.known.set(row.id, named);
  }
}

export const titles = new Titles();
