// All files that sessions touched, page by page; the filter is the page's own as long as all of them are here.

import type { Files } from "../api";
import { ask, Failure, isAborted } from "../ask";
import { indexReady } from "../index_ready";
import type { FileRow } from "./tree";

const PAGE = 1000;
const MOST = 5000; // files that are held; a longer list is narrowed by the server
const AGAIN = 1500;

export class Catalogue {
  files: readonly FileRow[] = [];
  total = 0;
  notes: readonly string[] = [];
  error: unknown = null;
  waiting: string | null = null;
  isReady = false;
  /** What the server narrowed the list to; empty for all of it. */
  private narrowed = "";
  private stopping: AbortController | null = null;
  private timer = 0;
  private seen: { from: readonly FileRow[]; part: string; made: readonly FileRow[] } | null = null;

  constructor(private readonly changed: () => void) {}

  /** The files whose path has the part in it, as far as they are here. */
  fitting(part: string): readonly FileRow[] {
    if (!part) return this.files;
    if (this.seen?.from === this.files && this.seen.part === part) return this.seen.made;
    const wanted = part.toLowerCase();
    const made = this.files.filter(({ path }) => path.toLowerCase().includes(wanted));
    this.seen = { from: this.files, part, made };
    return made;
  }

  want(part: string): void {
    const isWhole = this.isReady && this.narrowed === "" && this.files.length >= this.total;
    const wanted = isWhole ? "" : this.total > MOST || this.narrowed ? part : "";
    if ((this.isReady || this.stopping) && wanted === this.narrowed) return;
    this.load(wanted);
  }

  again(): void {
    this.load(this.narrowed);
  }

  end(): void {
    clearTimeout(this.timer);
    this.stopping?.abort();
    this.stopping = null;
  }

  private load(part: string): void {
    this.end();
    this.narrowed = part;
    const stopping = new AbortController();
    this.stopping = stopping;
    void this.read(part, stopping.signal).catch((error: unknown) => {
      if (isAborted(error) || stopping.signal.aborted) return;
      if (error instanceof Failure && error.status === 503) {
        this.waiting = error.message;
        this.timer = setTimeout(() => this.load(part), AGAIN);
      } else this.error = error;
      this.changed();
    });
  }

  private async read(part: string, signal: AbortSignal): Promise<void> {
    await indexReady(signal, (words) => {
      this.waiting = words;
      this.changed();
    });
    const held: FileRow[] = [];
    for (let from: number | null = 0; from !== null && held.length < MOST; ) {
      const page: Files = await ask<Files>("/api/files", { part, from, limit: PAGE }, signal);
      if (signal.aborted) return;
      held.push(...page.files);
      from = page.next;
      this.files = [...held];
      this.notes = page.notes;
      if (!part || !this.isReady) this.total = page.total;
      this.isReady = true;
      this.error = this.waiting = null;
      this.changed();
    }
  }
}
