// One question to the server and what it said last, kept until the next answer is there.

import { ask, Failure, isAborted, path, type Said } from "./ask";
import { indexReady } from "./index_ready";

const AGAIN = 1500; // milliseconds until the server is asked again that said it is busy

/** `question` is what the value is the answer to, so that a number never stands under the words of another. */
export class Answer<T, Q = null> {
  value: T | null = null;
  question: Q | null = null;
  error: unknown = null;
  isAsking = false;
  /** What the server has to do first, in its words. */
  waiting: string | null = null;
  private address = "";
  private stopping: AbortController | null = null;
  private timer = 0;
  private last: (() => void) | null = null;

  /** `needsIndex` is for what only the index can tell. */
  constructor(private readonly changed: () => void, private readonly needsIndex = false) {}

  /** Ask, unless this is what was asked last. */
  want(place: string, said: Said, question: Q): void {
    const address = path(place, said);
    if (address === this.address) return;
    this.address = address;
    this.last = () => void this.send(place, said, question);
    this.last();
  }

  /** Ask the same once more; what is there stays meanwhile. */
  again(): void {
    this.last?.();
  }

  /** Nothing is asked any more, and nothing is there. */
  clear(): void {
    this.end();
    this.address = "";
    this.last = null;
    this.value = this.question = this.error = this.waiting = null;
  }

  /** Nobody waits for an answer any more. */
  end(): void {
    clearTimeout(this.timer);
    this.stopping?.abort();
    this.stopping = null;
    this.isAsking = false;
  }

  private async send(place: string, said: Said, question: Q): Promise<void> {
    this.end();
    const stopping = new AbortController();
    this.stopping = stopping;
    this.isAsking = true;
    this.changed();
    try {
      if (this.needsIndex) {
        await indexReady(stopping.signal, (words) => {
          this.waiting = words;
          this.changed();
        });
      }
      const value = await ask<T>(place, said, stopping.signal);
      if (stopping.signal.aborted) return;
      this.value = value;
      this.question = question;
      this.error = this.waiting = null;
    } catch (error) {
      if (isAborted(error) || stopping.signal.aborted) return;
      if (error instanceof Failure && error.status === 503) {
        this.waiting = error.message;
        this.timer = setTimeout(() => this.last?.(), AGAIN);
        this.changed();
        return;
      }
      this.error = error;
      this.value = this.question = this.waiting = null;
    }
    this.isAsking = false;
    this.changed();
  }
}
