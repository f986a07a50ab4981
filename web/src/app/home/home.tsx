// Home: all sessions, the live ones first; the list itself and one line about it.

import { Component } from "preact";
import { count, money, plural } from "../../text";
import { visibleText } from "../../visible";
import { at, type Address } from "../address";
import { events } from "../events";
import { Command, Empty, Failed, Link, Skeleton } from "../pieces";
import { isBuilding } from "../status";
import type { AppHost, ViewOptions } from "../view";
import { Windowed } from "../windowed";
import { Asked, NARROWING, wanted, type Page } from "./asked";
import { Filters, Narrowed } from "./filters";
import { AgentLine, heightOf, itemsOf, ROW, SessionLine, type Item } from "./rows";

const KEPT = 6;
const SOON = 250; // milliseconds from news to asking, so that a burst is one question
const OFTEN = 1000; // and the least between two questions
const MINUTE = 60_000;

/** The lists of late, so that Back is where one was, at once. */
const kept = new Map<string, Asked>();

export class Home extends Component<ViewOptions, { tick: number }> {
  override state = { tick: 0 };
  private asked!: Asked;
  /** The list before, which stays until there is an answer to the new question. */
  private before: Asked | null = null;
  private name = "";
  private items: Item[] = [];
  private of: unknown[] = [];
  private list: Windowed<Item> | null = null;
  private readonly ends: (() => void)[] = [];
  private soon = 0;
  private askedAt = 0;
  private hovered: string | null = null;

  override componentWillMount(): void {
    this.turnTo(this.props.address);
  }

  override componentDidMount(): void {
    const { app } = this.props;
    this.ends.push(
      app.onKey((key, event) => this.press(key, event)),
      events.listen(({ kind }) => this.news(kind === "refresh" || kind === "gone")),
    );
    const minutes = setInterval(() => this.news(false), MINUTE);
    this.ends.push(() => clearInterval(minutes));
    addEventListener("scroll", this.scrolled, { passive: true });
    if (this.asked.scroll > 0) scrollTo({ top: this.asked.scroll, behavior: "instant" });
  }

  override componentWillUnmount(): void {
    for (const end of this.ends) end();
    removeEventListener("scroll", this.scrolled);
    clearTimeout(this.soon);
    this.asked.stop();
  }

  override componentWillReceiveProps({ address }: ViewOptions): void {
    this.turnTo(address);
  }

  /** What could be drawn is kept. */
  override componentDidUpdate(): void {
    if (kept.get(this.name) === this.asked || this.asked.page === null) return;
    kept.delete(this.name);
    kept.set(this.name, this.asked);
    if (kept.size > KEPT) kept.delete(kept.keys().next().value as string);
  }

  /** Ask for what an address says, unless it is what is there. What was there stays until the answer comes. */
  private turnTo(address: Address): void {
    const said = wanted(address.said);
    const name = JSON.stringify(said);
    if (name === this.name) return;
    const before = this.asked as Asked | undefined;
    before?.stop();
    this.before = before ? this.shown : null;
    this.name = name;
    const known = kept.get(name);
    const asked = new Asked(said, () => this.changed(asked));
    if (known) Object.assign(asked, { rows: known.rows, page: known.page, facets: known.facets, scroll: known.scroll, cursor: known.cursor });
    else if (before) Object.assign(asked, { facets: before.facets });
    this.asked = asked;
    void asked.renew();
  }

  /** What is on the screen. */
  private get shown(): Asked {
    const { asked, before } = this;
    return asked.page === null && !asked.error && before ? before : asked;
  }

  /** Something happened to sessions: ask soon, and not too often. */
  private news(isWhole: boolean): void {
    clearTimeout(this.soon);
    const wait = Math.max(SOON, this.askedAt + OFTEN - performance.now());
    this.soon = setTimeout(() => {
      this.askedAt = performance.now();
      void (isWhole ? this.asked.renew() : this.asked.touch());
    }, isWhole ? 0 : wait);
  }

  /** Draw what came, and keep in its place the row that somebody is on, or else reads. */
  private changed(asked: Asked): void {
    if (asked !== this.asked) return;
    const { list } = this;
    const held = list && this.held();
    const hadFocus = held && document.activeElement?.id === `row-${held.key}`;
    const before = held ? list.topOf(this.items.indexOf(held)) : 0;
    this.setState({ tick: this.state.tick + 1 }, () => {
      if (!held || this.list !== list) return;
      const found = this.items.findIndex(({ key }) => key === held.key);
      const moved = found < 0 ? 0 : list.topOf(found) - before;
      if (moved !== 0) scrollBy({ top: moved, behavior: "instant" });
      // A row that is moved in the page loses the focus.
      if (hadFocus && document.activeElement === document.body) document.getElementById(`row-${held.key}`)?.focus({ preventScroll: true });
    });
  }

  private held(): Item | undefined {
    const focused = document.activeElement?.closest(".windowedrow")?.querySelector<HTMLElement>("[id^=row-]")?.id.slice(4);
    const on = focused ?? this.hovered;
    if (on) return this.items.find(({ key }) => key === on);
    return scrollY > 0 ? this.items[this.list?.firstSeen(0) ?? 0] : undefined;
  }

  private readonly scrolled = (): void => {
    this.asked.scroll = scrollY;
  };

  private press(key: string, event: KeyboardEvent): boolean {
    const isInList = event.target instanceof HTMLElement && event.target.closest(".homelist") !== null;
    if (key === "j" || (key === "ArrowDown" && isInList)) return this.step(1);
    if (key === "k" || (key === "ArrowUp" && isInList)) return this.step(-1);
    const { cursor } = this.asked;
    const row = this.asked.rows.find((one) => one.key === cursor);
    if (key === "o" && row && row.agents > 0) void this.asked.unfold(row.key);
    else if (key === "Enter" && row && !(event.target instanceof HTMLElement && event.target.closest("a, button, input, select"))) this.props.app.go(at("session", { session: row.key }));
    else return false;
    return true;
  }

  private step(by: 1 | -1): boolean {
    const { asked, list } = this;
    if (!list || asked.rows.length === 0) return true;
    const here = asked.rows.findIndex(({ key }) => key === asked.cursor);
    const first = this.items[list.firstSeen(0) - (scrollY > 0 ? 0 : 1)];
    const next = here < 0 ? Math.max(0, asked.rows.findIndex(({ key }) => key === first?.key)) : here + by;
    const row = asked.rows[next];
    if (!row) {
      this.props.app.say(by > 0 ? "That was the last session" : "That was the first session");
      return true;
    }
    asked.cursor = row.key;
    list.bring(this.items.findIndex(({ key }) => key === row.key), { above: 16, below: 80 });
    // The row may have to be drawn first.
    this.setState({ tick: this.state.tick + 1 }, () => requestAnimationFrame(() => document.getElementById(`row-${row.key}`)?.focus({ preventScroll: true })));
    return true;
  }

  private drawn(): Item[] {
    const { rows, agents } = this.shown;
    const of = [rows, ...agents.keys(), ...agents.values()];
    if (of.length !== this.of.length || of.some((one, n) => one !== this.of[n])) {
      this.of = of;
      this.items = itemsOf(rows, agents);
    }
    return this.items;
  }

  render({ address, app }: ViewOptions) {
    const { asked, shown } = this;
    const { page } = shown;
    const items = this.drawn();
    const narrowing = NARROWING.filter((name) => address.said[name]);
    const isNothing = page !== null && shown.rows.length === 0;
    const isLate = shown !== asked;
    return (
      <main class="page home" aria-busy={isLate || page === null}>
        <div class="homehead">
          <h1>Sessions</h1>
          {page && !(isNothing && narrowing.length === 0) && <Totals page={page} app={app} isNarrowed={narrowing.length > 0} />}
        </div>
        {!(isNothing && narrowing.length === 0) && <Filters address={address} app={app} facets={asked.facets} page={page} />}
        {page?.partial && app.index && isBuilding(app.index) && <p class="homenote">Turns, calls and cost are still being read; they appear as soon as they are known.</p>}
        {app.index?.state === "failed" && <p class="homenote">There is no index: {visibleText(app.index.note ?? "it could not be built")}. Everything works from the files themselves, more slowly.</p>}
        {page?.notes.map((note) => <p class="homenote">{visibleText(note)}</p>)}
        {asked.error ? <Failed error={asked.error} app={app} again={() => void asked.renew()} /> : null}
        {page === null && !asked.error && <Skeleton rows={10} />}
        {isNothing && (narrowing.length > 0 ? (
          <Empty>
            <h2>No session fits.</h2>
            <p>{plural(page.store.sessions, "session")} looked at. What narrows the list; press one to take it away:</p>
            <Narrowed address={address} app={app} names={narrowing} />
          </Empty>
        ) : <Nothing page={page} app={app} />)}
        {shown.rows.length > 0 && (
          <div onPointerOver={(event) => { this.hovered = (event.target as Element).closest(".windowedrow")?.querySelector("[id^=row-]")?.id.slice(4) ?? null; }} onPointerLeave={() => { this.hovered = null; }} onFocusIn={(event) => {
            const id = (event.target as Element).closest("[id^=row-]")?.id;
            if (id) asked.cursor = id.slice(4);
          }}>
            <Windowed
              handle={(list) => { this.list = list; }} class="homelist" label="Sessions" items={items} heightOf={heightOf} keyOf={(item) => item.key} rest={(shown.total - shown.rows.length) * ROW}
              onRange={(_, to, beyond) => { if (!isLate && to >= items.length - 40) void asked.reach(asked.rows.length + Math.ceil(beyond / ROW) + 40); }}
              draw={(item) => {
                if (item.kind === "waiting") return <p class="agentrow faint">Looking for its sub-agents …</p>;
                if (item.kind === "agent") return <AgentLine row={item.row} agent={item.agent} depth={item.depth} app={app} />;
                return <SessionLine row={item.row} id={`row-${item.key}`} app={app} isPartial={page?.partial ?? false} isUnfolded={shown.agents.has(item.key)} onUnfold={() => void asked.unfold(item.key)} />;
              }}
            />
          </div>
        )}
      </main>
    );
  }
}

/** "134 sessions + 38 sub-agents + 1 empty", as Doctor adds up, and what is not in the list. */
function Totals({ page, app, isNarrowed }: { page: Page; app: AppHost; isNarrowed: boolean }) {
  const { total, store } = page;
  const unpriced = total.unpriced_messages ?? 0;
  return (
    <p class="hometotals">
      <span>
        {isNarrowed ? `${count(total.sessions)} of ${plural(store.sessions, "session")}` : plural(store.sessions, "session")}
        {store.agents > 0 && ` + ${plural(store.agents, "sub-agent")}`}{store.other > 0 && ` + ${count(store.other)} empty`}
      </span>
      {total.cost_usd !== null && <span title={unpriced > 0 ? `${plural(unpriced, "message")} of models without a price are not in it` : undefined}>{money(total.cost_usd)}{unpriced > 0 && "+"}{page.prices && ` at prices of ${page.prices}`}</span>}
      {store.skipped > 0 && <span class="warn">{plural(store.skipped, "file")} not readable</span>}
      {(total.damaged > 0 || store.other > 0 || store.skipped > 0) && <Link to={at("doctor")} app={app}>{total.damaged > 0 ? `${count(total.damaged)} damaged: ` : ""}Doctor</Link>}
    </p>
  );
}

/** There is not one session: where was looked, and what can be done. */
function Nothing({ page, app }: { page: Page; app: AppHost }) {
  const folders = page.looked_in ?? [];
  return (
    <Empty>
      <h2>There are no sessions here yet.</h2>
      {folders.length > 0 && <p>Looked in {folders.map((folder, n) => <>{n > 0 && ", "}<code>{visibleText(folder)}</code></>)}. New sessions appear here by themselves.</p>}
      {page.store.other > 0 && <p>{plural(page.store.other, "file")} there {page.store.other === 1 ? "has" : "have"} no conversation: <Link to={at("doctor")} app={app}>Doctor</Link></p>}
      <p>Choose another folder:</p>
      <Command line="clew web --root FOLDER" app={app} />
      <p>Or look at the demo:</p>
      <Command line="clew demo clew-demo && clew web --root clew-demo" app={app} />
    </Empty>
  );
}
