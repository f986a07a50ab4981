// Some things only the index can tell. Whoever asks for them waits for it here, instead of being refused again and again.

import type { Index } from "./api";
import { ask } from "./ask";
import { plural } from "../text";

const LOOK = 400; // milliseconds between two looks

let isReady = false;

/** Wait until the index is there, or is known not to come; `waiting` is told how far it is. */
export async function indexReady(signal: AbortSignal, waiting: (words: string) => void): Promise<void> {
  while (!isReady) {
    const index = await ask<Index>("/api/index", {}, signal);
    isReady = index.state !== "building" && index.state !== "waiting";
    if (isReady) return;
    waiting(index.files_total > 0 ? `Reading ${index.files.toLocaleString("en-US")} of ${plural(index.files_total, "file")}; this comes when all are read.` : "The index is being built; this comes when it is there.");
    await new Promise((done) => setTimeout(done, LOOK));
    signal.throwIfAborted();
  }
}
