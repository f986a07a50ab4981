// What an edit would do, asked for again as somebody types: one question at a time, and always the newest next.

import type { Edit as Outcome } from "../api";
import { change, Failure } from "../ask";

const PAUSE = 150; // milliseconds without a key before the server is asked

export class Preview {
  outcome: Outcome | null = null;
  /** What the outcome is of, as it was sent. */
  of = "";
  error: unknown = null;
  isAsking = false;
  private wanted = "";
  private timer = 0;
  private isEnded = false;

  constructor(private readonly place: string, private readonly changed: () => void) {}

  want(body: Record<string, unknown>): void {
    const text = JSON.stringify(body);
    if (text === this.wanted) return;
    this.wanted = text;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.send(), PAUSE);
  }

  again(): void {
    this.of = "";
    void this.send();
  }

  /** Nothing is wanted, as when what was typed makes no sense. */
  stop(): void {
    clearTimeout(this.timer);
    this.wanted = "";
  }

  end(): void {
    this.stop();
    this.isEnded = true;
  }

  /** Whether what is shown is what is wished now. */
  isOf(body: Record<string, unknown>): boolean {
    return this.of === JSON.stringify(body) && !this.isAsking;
  }

  get isRefused(): boolean {
    return this.error instanceof Failure && this.error.status === 409;
  }

  private async send(): Promise<void> {
    // A plan of a large session takes a while; what came meanwhile is asked for when it is done.
    if (this.isAsking || !this.wanted || this.wanted === this.of) return;
    const asked = this.wanted;
    this.isAsking = true;
    this.changed();
    try {
      this.outcome = await change<Outcome>(this.place, { ...(JSON.parse(asked) as Record<string, unknown>), dry_run: true });
      this.error = null;
    } catch (error) {
      this.outcome = null;
      this.error = error;
    }
    this.of = asked;
    this.isAsking = false;
    if (this.isEnded) return;
    this.changed();
    void this.send();
  }
}
