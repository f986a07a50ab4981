// The exported page: reads what stands in the file, draws the frame at once and the rest as it arrives.

import { Component, render } from "preact";
import { Bar, type Theme } from "./bar";
import { block, pickUp, type PageFacts } from "./data";
import { Facts, MoreFacts, TurnTable } from "./facts";
import { Help } from "./help";
import { highlight } from "./highlight";
import { listen } from "./keys";
import { remember, remembered } from "./memory";
import { Minimap } from "./minimap";
import type { TurnHead } from "./parts";
import { listenForPrint } from "./print";
import { Rail } from "./rail";
import { Reader } from "./reader";
import { Search } from "./search";
import { Isolated } from "./visible";

const THEMES: Theme[] = ["auto", "light", "dark"];

interface FrameState {
  tick: number;
  turn: number;
  theme: Theme;
  isSearching: boolean;
  isHelping: boolean;
  isListing: boolean;
  areAllTurns: boolean;
  areKeysOn: boolean;
  isComplete: boolean;
  said: string;
}

interface FrameOptions {
  facts: PageFacts;
  heads: TurnHead[];
}

class Frame extends Component<FrameOptions, FrameState> {
  override state: FrameState = {
    tick: 0, turn: 1, isSearching: false, isHelping: false, isListing: false, areAllTurns: false, isComplete: false, said: "",
    theme: (THEMES as string[]).includes(remembered("clew-theme") ?? "") ? (remembered("clew-theme") as Theme) : "auto",
    areKeysOn: remembered("clew-keys") !== "off",
  };
  private root: HTMLElement | null = null;
  private mini: HTMLElement | null = null;
  private paper: HTMLElement | null = null;
  private reader!: Reader;
  private search!: Search;
  private minimap!: Minimap;
  private shown = "";
  private waiting = false;
  private isStale = false;
  private saying = 0;

  override componentDidMount(): void {
    document.documentElement.dataset["theme"] = this.state.theme;
    const root = this.root as HTMLElement;
    this.reader = new Reader(root, new Map(this.props.heads.map((head) => [head.n, head])), { namesModels: (this.props.facts.head.models ?? []).length > 1 });
    this.search = new Search(this.reader, () => this.later());
    this.minimap = new Minimap(this.reader, () => this.search.keys());
    this.mini?.append(this.minimap.element);
    this.reader.onChange(() => this.later());
    listenForPrint(this.reader, this.paper as HTMLElement);
    addEventListener("scroll", () => this.scrolled(), { passive: true });
    addEventListener("resize", () => {
      this.reader.list.measureColumns();
      this.later();
    });
    addEventListener("hashchange", () => this.follow());
    listen({
      reader: this.reader,
      areOn: () => this.state.areKeysOn,
      openSearch: () => this.openSearch(true),
      isSearching: () => this.state.isSearching,
      stepSearch: (by) => (this.search.isActive ? this.search.step(by) : this.openSearch(true)),
      help: () => this.setState({ isHelping: true }),
      say: (text) => this.say(text),
      close: () => this.close(),
    });
    pickUp(
      (chunks) => {
        for (const chunk of chunks) this.reader.add(chunk);
        this.later();
      },
      () => {
        // What was taken out is known at the end of the file.
        const end = block<{ redacted?: Record<string, number> }>("end");
        if (end?.redacted) this.props.facts.redacted = end.redacted;
        this.setState({ isComplete: true });
        this.later();
      },
    );
    this.follow();
    this.setState({ tick: 1 });
  }

  /** Something changed: bring the frame up to date, once a frame of the screen. */
  private later(): void {
    this.isStale = true;
    this.scrolled();
  }

  private scrolled(): void {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      const turn = this.reader.top()?.chunk.turn ?? 1;
      this.minimap.follow();
      if (this.isStale) {
        this.isStale = false;
        this.mark();
        this.minimap.refresh();
        this.setState({ turn, tick: this.state.tick + 1 });
      } else if (turn !== this.state.turn) this.setState({ turn });
    });
  }

  private mark(): void {
    const hit = this.search.current();
    const shown = hit ? `${this.search.query} ${this.search.at}` : this.search.query;
    highlight(this.root as HTMLElement, this.search.query, (key) => this.search.has(key), hit, shown !== this.shown);
    this.shown = shown;
  }

  private follow(): void {
    let key = location.hash.slice(1);
    try {
      key = decodeURIComponent(key);
    } catch {
      // then it is taken as it stands
    }
    if (key === "top") scrollTo({ top: 0, behavior: "instant" });
    else if (key) this.reader.goTo(key);
  }

  private openSearch(open: boolean): void {
    if (!open) this.search.stop();
    this.setState({ isSearching: open }, () => {
      const field = document.querySelector<HTMLInputElement>(".searchrow input");
      if (open && field) {
        field.focus();
        field.select();
      }
    });
  }

  private close(): void {
    if (this.state.isHelping) return; // the dialog closes itself
    if (this.state.isListing) this.setState({ isListing: false });
    else if (this.state.isSearching) this.openSearch(false);
  }

  private say(text: string): void {
    clearTimeout(this.saying);
    this.setState({ said: text });
    this.saying = setTimeout(() => this.setState({ said: "" }), 2500);
  }

  private turnTheme(): void {
    const theme = THEMES[(THEMES.indexOf(this.state.theme) + 1) % THEMES.length] as Theme;
    document.documentElement.dataset["theme"] = theme;
    remember("clew-theme", theme);
    this.setState({ theme });
    this.minimap.refresh();
    this.say(theme === "auto" ? "Colours of your system" : theme === "light" ? "Light" : "Dark");
  }

  private pick(turn: number): void {
    history.pushState(null, "", `#t${turn}`);
    this.setState({ isListing: false });
    this.reader.goTo(`t${turn}`);
  }

  render({ facts, heads }: FrameOptions, state: FrameState) {
    const { reader, search } = this;
    return (
      <>
        <a class="skip" href="#t1">Skip to the first turn</a>
        <Bar
          facts={facts} level={reader?.level ?? 3} theme={state.theme} turn={state.turn} turns={heads.length}
          search={search} isSearching={state.isSearching} isComplete={state.isComplete}
          onLevel={(level) => reader.setLevel(level)} onTheme={() => this.turnTheme()}
          onHelp={() => this.setState({ isHelping: true })} onTurns={() => this.setState({ isListing: !state.isListing })}
          onSearch={(open) => this.openSearch(open)}
        />
        <div class={state.isListing ? "columns is-listing" : "columns"}>
          <div class="side">
            <Rail heads={heads} current={state.turn} onPick={(turn) => this.pick(turn)} />
            <div class="minihost" ref={(element) => { this.mini = element; }} />
          </div>
          <main id="top">
            <Top facts={facts} heads={heads} isAll={state.areAllTurns} isComplete={state.isComplete} showAll={() => this.setState({ areAllTurns: true })} />
            <Body onRoot={(element) => { this.root = element; }} onPaper={(element) => { this.paper = element; }} />
            {state.isComplete && heads.length === 0 && <p class="nothing">There are no turns in this session.</p>}
          </main>
        </div>
        <div class={state.said ? "said is-shown" : "said"} role="status">{state.said}</div>
        {state.isHelping && (
          <Help areKeysOn={state.areKeysOn} onClose={() => this.setState({ isHelping: false })} onKeys={(on) => {
            remember("clew-keys", on ? "on" : "off");
            this.setState({ areKeysOn: on });
          }} />
        )}
      </>
    );
  }
}

interface TopOptions {
  facts: PageFacts;
  heads: TurnHead[];
  isAll: boolean;
  isComplete: boolean;
  showAll: () => void;
}

/** What stands above the turns; it changes when all is read or the whole table is wanted, and never on scrolling. */
class Top extends Component<TopOptions> {
  override shouldComponentUpdate(next: TopOptions): boolean {
    return next.isAll !== this.props.isAll || next.isComplete !== this.props.isComplete;
  }

  render({ facts, heads, isAll, showAll }: TopOptions) {
    return (
      <>
        <h1><Isolated text={facts.head.title || "Untitled session"} /></h1>
        <Facts facts={facts} />
        <MoreFacts facts={facts} />
        <TurnTable heads={heads} isAll={isAll} showAll={showAll} />
      </>
    );
  }
}

/** The places that are filled by hand; the frame never draws into them again. */
class Body extends Component<{ onRoot: (element: HTMLElement | null) => void; onPaper: (element: HTMLElement | null) => void }> {
  override shouldComponentUpdate(): boolean {
    return false;
  }

  render({ onRoot, onPaper }: { onRoot: (element: HTMLElement | null) => void; onPaper: (element: HTMLElement | null) => void }) {
    return (
      <>
        <div class="list" ref={onRoot} />
        <div class="paper" ref={onPaper} aria-hidden="true" />
      </>
    );
  }
}

function start(): void {
  const facts = block<PageFacts>("facts");
  const app = document.getElementById("app");
  if (!facts || !app) return;
  app.replaceChildren();
  render(<Frame facts={facts} heads={block<TurnHead[]>("turns") ?? []} />, app);
}

start();
