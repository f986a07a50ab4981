// A session that grows while it is read: what is new is fetched, and the end is followed or what is read held still.

import type { Reader } from "../../reader";
import { events, type Happening } from "../events";
import { Outdated, type Story } from "./story";

const AT_END = 64; // pixels from the end that count as being there
const PAUSE = 5000; // milliseconds between two things that are read out
const FRESH = 60_000; // milliseconds after which what was not written to is live no more

export class Tail {
  /** Whether the end is being followed. */
  isFollowing = false;
  /** Items that came below what is on the screen. */
  news = 0;
  isLive = false;
  /** Whether all turns that there were are known, so that what comes is new. */
  isReady = false;
  /** Why the file cannot be read now. */
  gone: string | null = null;
  private isHeld = false;
  private isBusy = false;
  private isAgain = new Set<string>();
  private unsaid = 0;
  private saying = 0;
  private quiet = 0;
  private readonly ends: (() => void)[] = [];

  constructor(
    private readonly story: Story,
    private readonly reader: Reader,
    private readonly tell: { changed: () => void; say: (words: string) => void; outdated: () => void },
  ) {
    this.ends.push(events.listen((happening) => this.heard(happening)));
  }

  close(): void {
    for (const end of this.ends) end();
    clearTimeout(this.saying);
    clearTimeout(this.quiet);
  }

  setLive(is: boolean): void {
    if (is) {
      clearTimeout(this.quiet);
      this.quiet = setTimeout(() => this.setLive(false), FRESH);
    }
    if (is === this.isLive) return;
    this.isLive = is;
    this.reader.isLive = is;
    this.reader.list.redraw();
    this.tell.changed();
  }

  get isAtEnd(): boolean {
    return scrollY + innerHeight >= document.documentElement.scrollHeight - AT_END;
  }

  /** Somebody scrolled, or was taken somewhere. */
  moved(): void {
    const isAtEnd = this.isAtEnd;
    if (!isAtEnd) this.isHeld = false;
    const isFollowing = isAtEnd && !this.isHeld;
    const hasNews = this.news > 0 && isAtEnd;
    if (isAtEnd) this.news = 0;
    if (isFollowing !== this.isFollowing || hasNews) {
      this.isFollowing = isFollowing;
      this.tell.changed();
    }
  }

  toEnd(): void {
    this.isHeld = false;
    this.isFollowing = true;
    this.news = 0;
    this.reader.stay();
    this.bottom();
    this.tell.changed();
  }

  /** Follow the end, or stop following it. */
  toggle(): boolean {
    if (!this.isFollowing) {
      this.toEnd();
      return true;
    }
    this.isHeld = true;
    this.isFollowing = false;
    this.tell.changed();
    return false;
  }

  /** Items have come. */
  came(items: number): void {
    if (items <= 0) return;
    if (this.isFollowing) this.bottom();
    else this.news += items;
    this.unsaid += items;
    if (!this.saying) this.speak();
    this.tell.changed();
  }

  /** After what has come was drawn. */
  settled(): void {
    if (this.isFollowing) this.bottom();
  }

  private bottom(): void {
    scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });
  }

  private speak(): void {
    if (this.unsaid > 0) this.tell.say(`${this.unsaid} new`);
    this.unsaid = 0;
    this.saying = setTimeout(() => {
      this.saying = 0;
      if (this.unsaid > 0) this.speak();
    }, PAUSE);
  }

  private heard(happening: Happening): void {
    if (happening.kind === "refresh") {
      for (const page of this.story.pages.retry()) page.load();
      if (this.isReady) void this.refresh("");
      return;
    }
    if (happening.session !== this.story.key) return;
    const agent = happening.agent ?? "";
    if (this.story.agent ? agent !== this.story.agent : agent !== "" && !this.story.agents.has(agent)) return;
    if (happening.kind === "gone") {
      this.gone = "The file of this session cannot be read now. What was read stays here.";
      this.tell.changed();
      return;
    }
    this.gone = null;
    if (happening.kind === "changed") return this.tell.outdated();
    this.setLive(true);
    if (!this.isReady) return;
    void this.refresh(this.story.agent ? "" : agent);
  }

  /** Fetch what is new of the session, or of a sub-agent that is open; one after the other. */
  private async refresh(agent: string): Promise<void> {
    if (this.isBusy) {
      this.isAgain.add(agent);
      return;
    }
    this.isBusy = true;
    try {
      const strand = agent ? this.story.agents.get(agent) : this.story.main;
      if (strand) {
        const { added, changed } = await this.story.refresh(strand);
        for (const page of added) {
          page.isLate = true;
          this.reader.add(page);
        }
        // Not when it nears the screen: somebody waits for it.
        for (const page of added) page.load();
        if (changed.length > 0) this.reader.renew(changed);
      }
      this.tell.changed();
      this.settled();
    } catch (error) {
      // The server is gone for a moment; it tells when it is back.
      if (error instanceof Outdated) this.tell.outdated();
    } finally {
      this.isBusy = false;
      const [next] = this.isAgain;
      if (next !== undefined) {
        this.isAgain.delete(next);
        void this.refresh(next);
      }
    }
  }
}
