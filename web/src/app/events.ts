// What happens to sessions, told by the server as it happens; one stream for the whole app.

import { ask, Failure } from "./ask";

export interface Happening {
  kind: "grown" | "changed" | "gone" | "refresh";
  session?: string;
  agent?: string | null;
  lines?: number;
  first_line?: number;
  last_line?: number;
}

type Listener = (happening: Happening) => void;

const KINDS = ["grown", "changed", "gone", "refresh"] as const;
const AGAIN = 2000;
const LATE = 300; // milliseconds for the server to begin to tell
// A browser has six connections for a server: pages that nobody looks at let theirs go.
const HIDDEN = 30_000;

export class Events {
  isConnected = true;
  /** The server is there, but does not know this browser: it was started anew. */
  isShutOut = false;
  private source: EventSource | null = null;
  private readonly listeners = new Set<Listener>();
  private readonly watchers = new Set<() => void>();
  private again = 0;
  private hiding = 0;
  private isAsleep = false;

  /** Be told; the answer ends it. */
  listen(listener: Listener): () => void {
    if (this.listeners.size === 0 && !this.source) document.addEventListener("visibilitychange", this.rest);
    this.listeners.add(listener);
    this.open();
    return () => this.listeners.delete(listener);
  }

  /** Be told when the connection is lost or comes back. */
  watch(watcher: () => void): () => void {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }

  /** Tell everybody something that the server did not say, such as that everything is to be read anew. */
  tell(happening: Happening): void {
    for (const listener of [...this.listeners]) listener(happening);
  }

  /** Try now and do not wait for the next time. */
  hurry(): void {
    clearTimeout(this.again);
    if (this.isConnected) return;
    this.source?.close();
    this.source = null;
    this.open();
  }

  private open(): void {
    if (this.source || this.isAsleep) return;
    const source = new EventSource("/api/events");
    this.source = source;
    const since = performance.now();
    source.addEventListener("hello", () => {
      if (!this.isConnected) this.connected(true);
      // What happened before is not told: whoever asked meanwhile may have missed it.
      else if (performance.now() - since > LATE) this.tell({ kind: "refresh" });
    });
    source.addEventListener("error", () => {
      if (source !== this.source) return;
      this.connected(false);
      // A browser gives up for good when it got an answer that is no stream.
      if (source.readyState !== EventSource.CLOSED) return;
      this.source = null;
      clearTimeout(this.again);
      this.again = setTimeout(() => this.open(), AGAIN);
      void this.why();
    });
    for (const kind of KINDS) {
      source.addEventListener(kind, (event) => {
        let data: Partial<Happening> = {};
        try {
          data = JSON.parse((event as MessageEvent<string>).data) as Partial<Happening>;
        } catch {
          // a refresh needs no words
        }
        if (this.isConnected) this.tell({ ...data, kind });
        else this.connected(true);
      });
    }
  }

  private async why(): Promise<void> {
    try {
      await ask("/api/index");
    } catch (error) {
      const isShutOut = error instanceof Failure && error.status === 401;
      if (isShutOut === this.isShutOut) return;
      this.isShutOut = isShutOut;
      for (const watcher of [...this.watchers]) watcher();
    }
  }

  private readonly rest = (): void => {
    clearTimeout(this.hiding);
    if (document.hidden) {
      this.hiding = setTimeout(() => {
        this.isAsleep = true;
        this.source?.close();
        this.source = null;
        clearTimeout(this.again);
      }, HIDDEN);
    } else if (this.isAsleep) {
      this.isAsleep = false;
      this.open();
      // What happened meanwhile is not known.
      this.tell({ kind: "refresh" });
    }
  };

  private connected(is: boolean): void {
    if (is === this.isConnected) return;
    this.isConnected = is;
    if (is) {
      this.isShutOut = false;
      this.tell({ kind: "refresh" });
    }
    for (const watcher of [...this.watchers]) watcher();
  }
}

export const events = new Events();
