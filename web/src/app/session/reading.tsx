// The Reader of a session: turns at the side, the whole as a narrow picture, and what was said and done.

import { Component, type ComponentChildren } from "preact";
import { SearchRow } from "../../bar";
import { parseKey } from "../../chunks";
import type { Level } from "../../folds";
import { highlight } from "../../highlight";
import { Icon } from "../../icons";
import { press, type KeyActs } from "../../keys";
import { Minimap } from "../../minimap";
import type { Agent, Notice } from "../../parts";
import { Rail } from "../../rail";
import { Reader } from "../../reader";
import { Search } from "../../search";
import { count } from "../../text";
import { at, saying, type Address } from "../address";
import { Failed, Link } from "../pieces";
import type { AppHost } from "../view";
import { ServerFinder } from "./finder";
import type { Arrival } from "./pages";
import type { Story } from "./story";
import { Tail } from "./tail";

const SHELF = 48; // chunks that are in the page together
const AT_WORK = 6; // milliseconds of work after which the page may do something else

export interface ReadingOptions {
  story: Story;
  address: Address;
  app: AppHost;
  isListing: boolean;
  onListing: (is: boolean) => void;
  /** The facts of the session are others now, or where one is in it. */
  onChange: () => void;
  /** The file is another one: everything has to be read anew. */
  onOutdated: () => void;
  /** Is handed this, and null when it is gone. */
  self: (reading: Reading | null) => void;
}

interface ReadingState {
  tick: number;
  turn: number;
  isSearching: boolean;
  said: string;
}

export function levelOf({ said }: Address): Level {
  const level = Number(said["level"] ?? 3);
  return level === 1 || level === 2 || level === 4 ? level : 3;
}

export class Reading extends Component<ReadingOptions, ReadingState> {
  override state: ReadingState = { tick: 0, turn: 1, isSearching: Boolean(this.props.address.said["q"]), said: "" };
  reader!: Reader;
  search!: Search;
  tail!: Tail;
  private finder!: ServerFinder;
  private minimap!: Minimap;
  private root: HTMLElement | null = null;
  private mini: HTMLElement | null = null;
  private shown = "";
  private waiting = false;
  private isStale = false;
  private placing = 0;
  /** What has come and is not drawn yet. */
  private readonly arrivals: Arrival[] = [];
  /** The place that the address has because of us. */
  private place = this.props.address.place;
  private readonly ends: (() => void)[] = [];

  override componentDidMount(): void {
    const { story, address, app } = this.props;
    const root = this.root as HTMLElement;
    this.reader = new Reader(root, story.main.byNumber, {
      namesModels: (story.session.head.models ?? []).length > 1,
      shelfRoom: SHELF,
      fetchAgent: (agent) => void this.fetchAgent(agent),
      findStarter: (agent) => void story.starterOf(agent).then((item) => item && this.reader.tellStarter(agent, item), () => undefined),
      agentEnd: (agent) => this.agentEnd(agent),
      noticeEnd: (notice) => this.noticeEnd(notice),
    });
    this.reader.level = levelOf(address);
    this.reader.thinking = address.said["thinking"] === "1";
    this.finder = new ServerFinder(story);
    this.search = new Search(this.reader, () => this.later(), this.finder);
    this.search.arrive = (key) => this.atHit(key);
    this.minimap = new Minimap(this.reader, () => this.search.keys());
    this.mini?.append(this.minimap.element);
    this.tail = new Tail(story, this.reader, {
      changed: () => this.later(),
      say: (said) => this.setState({ said }),
      outdated: () => this.props.onOutdated(),
    });
    story.pages.onArrival = (arrival) => this.arrived(arrival);
    this.reader.onChange(() => this.later());
    for (const turn of story.main.heads) for (const page of story.main.pagesOf(turn.n)) this.reader.add(page);
    this.listen("scroll", () => this.scrolled(), { passive: true });
    this.listen("resize", () => {
      this.reader.list.measureColumns();
      this.later();
    });
    // Whoever goes elsewhere is not pulled back by what arrives late.
    for (const name of ["wheel", "touchmove", "pointerdown"]) this.listen(name, () => this.reader.stay(), { passive: true });
    this.ends.push(app.onKey((key, event) => this.press(key, event)));
    const { q } = address.said;
    if (q) this.search.start(q);
    this.reader.drawNear();
    if (this.place) this.goTo(this.place);
    else if (story.session.live) this.tail.toEnd();
    void this.fetchRest();
    this.props.self(this);
    this.later();
    this.setState({ tick: 1 });
  }

  override componentWillUnmount(): void {
    this.props.self(null);
    for (const end of this.ends) end();
    clearTimeout(this.placing);
    this.search.stop();
    this.mark();
    this.tail.close();
    this.reader.dispose();
    this.props.story.pages.onArrival = () => undefined;
  }

  override componentDidUpdate({ address: before }: ReadingOptions): void {
    const { address } = this.props;
    if (address === before) return;
    const level = levelOf(address);
    if (level !== this.reader.level) this.reader.setLevel(level);
    const thinking = address.said["thinking"] === "1";
    if (thinking !== this.reader.thinking) this.reader.setThinking(thinking);
    const q = address.said["q"] ?? "";
    if (q !== (before.said["q"] ?? "") && q.trim().toLowerCase() !== this.search.query) {
      this.search.start(q);
      this.setState({ isSearching: q !== "" });
    }
    if (address.place !== before.place && address.place !== this.place) {
      this.place = address.place;
      if (address.place) this.goTo(address.place);
    }
  }

  private listen(name: string, act: (event: Event) => void, options?: AddEventListenerOptions): void {
    addEventListener(name, act, options);
    this.ends.push(() => removeEventListener(name, act));
  }

  // What arrives ------------------------------------------------------------------------------------

  /** What comes between two frames is drawn at once: to keep still what is read, the page is laid out each time. */
  private arrived(arrival: Arrival): void {
    this.arrivals.push(arrival);
    // What changes which pages there are cannot wait for others.
    if (arrival.added.length + arrival.dropped.length > 0 || document.hidden) this.drawArrivals();
    else if (this.arrivals.length === 1) requestAnimationFrame(() => this.drawArrivals());
  }

  private drawArrivals(): void {
    const arrivals = this.arrivals.splice(0);
    if (arrivals.length === 0 || !this.root?.isConnected) return;
    this.reader.renew(arrivals.map(({ page }) => page), { added: arrivals.flatMap(({ added }) => added), dropped: arrivals.flatMap(({ dropped }) => dropped) });
    const { main } = this.props.story;
    this.tail.came(arrivals.reduce((sum, { page, news }) => sum + (page.strand === main ? news : 0), 0));
    this.tail.settled();
  }

  private async fetchRest(): Promise<void> {
    const { story } = this.props;
    try {
      for await (const pages of story.rest()) {
        // Some at a time, so that nothing stands still.
        let began = performance.now();
        for (const page of pages) {
          this.reader.add(page);
          if (performance.now() - began < AT_WORK) continue;
          await new Promise((done) => setTimeout(done, 0));
          began = performance.now();
        }
        this.later();
      }
    } catch {
      this.props.app.say("Some turns could not be fetched");
    }
    this.tail.isReady = true;
    this.tail.settled();
  }

  private async fetchAgent(agent: Agent): Promise<void> {
    const { story, app } = this.props;
    try {
      const pages = await story.openAgent(agent.agent_id, this.reader.starters.get(agent.agent_id) ?? "");
      for (const page of pages) this.reader.add(page);
      this.later();
    } catch (error) {
      app.say(error instanceof Error ? error.message : "The sub-agent could not be fetched");
    }
  }

  private agentEnd(agent: Agent): ComponentChildren {
    const { story, app } = this.props;
    return <Link to={at("session", { session: story.key, agent: agent.agent_id })} app={app} class="agentpage">Open on its own page</Link>;
  }

  private noticeEnd(notice: Notice): ComponentChildren {
    if (typeof notice.offset !== "number") return null;
    const { story, app } = this.props;
    return <Link to={at("doctor", { session: story.key, edit: "repair" })} app={app} class="more inline">Preview repair</Link>;
  }

  // Where one is ------------------------------------------------------------------------------------

  private goTo(key: string): void {
    const address = parseKey(key);
    if (!address) return;
    const isHit = Boolean(this.props.address.said["q"]);
    if (isHit && address.item > 0) this.reader.unfold(key);
    this.reader.goTo(key, { upperThird: isHit, focus: !isHit });
  }

  pick(turn: number): void {
    this.place = `t${turn}`;
    this.props.onListing(false);
    this.props.app.go({ ...this.props.address, place: this.place });
    this.reader.goTo(this.place);
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
      if (!this.root?.isConnected) return;
      const turn = this.reader.top()?.chunk.turn ?? 1;
      this.minimap.follow();
      this.tail.moved();
      if (turn !== this.state.turn) this.keepPlace();
      if (this.isStale) {
        this.isStale = false;
        this.mark();
        this.minimap.refresh();
        this.setState({ turn, tick: this.state.tick + 1 });
        this.props.onChange();
      } else if (turn !== this.state.turn) this.setState({ turn });
    });
  }

  /** The address says in which turn one is, a moment after one has come there. */
  private keepPlace(): void {
    clearTimeout(this.placing);
    this.placing = setTimeout(() => {
      const turn = this.reader.top()?.chunk.turn;
      const here = parseKey(this.place);
      if (!turn || scrollY === 0 || this.search.at >= 0) return;
      // A place that is still on the screen is a better name for where one is.
      const box = here && document.getElementById(this.place)?.getBoundingClientRect();
      if ((here?.agent === "" && here.turn === turn) || (box && box.top < innerHeight && box.bottom > 0)) return;
      this.place = `t${turn}`;
      this.props.app.go({ ...this.props.address, place: this.place }, { replace: true });
    }, 400);
  }

  private mark(): void {
    const hit = this.search.current();
    const shown = hit ? `${this.search.query} ${this.search.at}` : this.search.query;
    highlight(this.root as HTMLElement, this.search.query, (key) => this.search.has(key), hit, shown !== this.shown);
    this.shown = shown;
    // Who came by a link to a hit is at that hit.
    if (!hit && this.search.isDone && this.search.hits.length > 0 && this.search.has(this.place)) this.search.settleOn(this.place);
  }

  // Keys --------------------------------------------------------------------------------------------

  private acts(): KeyActs {
    return {
      reader: this.reader,
      areOn: () => true,
      openSearch: () => this.openSearch(true),
      isSearching: () => this.state.isSearching,
      stepSearch: (by) => (this.search.isActive ? this.step(by) : this.openSearch(true)),
      help: () => undefined,
      say: (text) => this.props.app.say(text),
      close: () => undefined,
      chosen: () => this.chosen(),
    };
  }

  private press(key: string, event: KeyboardEvent): boolean {
    if (key === "Escape") {
      if (this.props.isListing) this.props.onListing(false);
      else if (this.state.isSearching) this.openSearch(false);
      else return false;
      return true;
    }
    if (key === "Ctrl F") {
      // The first press finds in all of the session, the second is the browser's own.
      if (this.state.isSearching) return false;
      this.openSearch(true);
      return true;
    }
    if (key === "f") {
      this.props.app.say(this.tail.toggle() ? "Following the end" : "Holding still");
      return true;
    }
    if (key === "?") return false;
    return press(key, this.acts(), event.target);
  }

  /** Another level, or thinking, was chosen by a key. */
  private chosen(): void {
    const { level, thinking } = this.reader;
    this.props.app.go(saying({ ...this.props.address, place: this.place }, { level: level === 3 ? undefined : String(level), thinking: thinking ? "1" : undefined }));
  }

  setLevel(level: Level): void {
    this.reader.setLevel(level);
    this.chosen();
  }

  openSearch(open: boolean): void {
    if (!open) {
      this.search.stop();
      this.type("");
    }
    this.setState({ isSearching: open }, () => {
      const field = document.querySelector<HTMLInputElement>(".searchrow input");
      if (open && field) {
        field.focus();
        field.select();
      }
      this.later();
    });
  }

  private type(q: string): void {
    if ((this.props.address.said["q"] ?? "") === q) return;
    this.props.app.go(saying({ ...this.props.address, place: this.place }, { q }), { replace: true });
  }

  private step(by: 1 | -1): void {
    this.search.step(by);
  }

  /** The address says at which hit one is. */
  private atHit(key: string): void {
    this.place = key;
    this.props.app.go({ ...this.props.address, place: key }, { replace: true });
  }

  render({ story, isListing }: ReadingOptions, { turn, isSearching, said }: ReadingState) {
    const { tail } = this;
    const { heads } = story.main;
    return (
      <>
        {isSearching && this.search && (
          <div class="finding underbar">
            <SearchRow search={this.search} onClose={() => this.openSearch(false)} onType={(q) => this.type(q)} onStep={(by) => this.step(by)} />
            {this.finder.failure ? <Failed error={this.finder.failure} /> : null}
          </div>
        )}
        <div class={isListing ? "columns is-listing" : "columns"}>
          <div class="side">
            <Rail heads={heads} current={turn} onPick={(n) => this.pick(n)} />
            <div class="minihost" ref={(element) => { this.mini = element; }} />
          </div>
          <div class="reading">
            {tail?.gone && <p class="gonefile warn"><Icon name="warning" /> {tail.gone}</p>}
            <List onRoot={(element) => { this.root = element; }} />
            {story.session.writing && <p class="beingwritten"><span class="livedot" aria-hidden="true" /> A line is being written</p>}
          </div>
        </div>
        {tail && tail.news > 0 && (
          <button type="button" class="newpill" onClick={() => tail.toEnd()}><Icon name="down" />{count(tail.news)} new</button>
        )}
        <div class="unseen" role="status" aria-live="polite">{said}</div>
      </>
    );
  }
}

/** The place that is filled by hand; the frame never draws into it again. */
class List extends Component<{ onRoot: (element: HTMLElement | null) => void }> {
  override shouldComponentUpdate(): boolean {
    return false;
  }

  render({ onRoot }: { onRoot: (element: HTMLElement | null) => void }) {
    return <div class="list" ref={onRoot} />;
  }
}
