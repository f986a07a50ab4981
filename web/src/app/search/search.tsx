// Search: results as one types, by session; what narrows them at the left.

import { Component } from "preact";
import { Icon } from "../../icons";
import { count, plural } from "../../text";
import { visibleText } from "../../visible";
import { at, saying } from "../address";
import { Failure } from "../ask";
import { events } from "../events";
import { Empty, Failed, sentence, Skeleton } from "../pieces";
import { isBuilding } from "../status";
import { TypedField } from "../typed";
import type { ViewOptions } from "../view";
import { Windowed } from "../windowed";
import { Facets, FIELDS, Narrowed } from "./facets";
import { Finding, MODES, NARROWING, placeOf, question, type Found } from "./finding";
import { GroupLine, HitLine, itemsOf, type Item } from "./hits";

const KEPT = 6;
const READ = 200; // milliseconds without a key after which all files are read, where no index can tell

/** The searches of late, so that Back is where one was, at once. */
const kept = new Map<string, { finding: Finding; cursor: number }>();

interface SearchState {
  tick: number;
  cursor: number;
  isNarrowing: boolean;
}

export class SearchView extends Component<ViewOptions, SearchState> {
  override state: SearchState = { tick: 0, cursor: -1, isNarrowing: false };
  private finding: Finding | null = null;
  /** What was found last, which stays while the next answer is on its way. */
  private shown: Finding | null = null;
  private name = "";
  private items: Item[] = [];
  private list: Windowed<Item> | null = null;
  private field: TypedField | null = null;
  private readonly ends: (() => void)[] = [];
  private readonly narrow = matchMedia("(max-width: 720px)");

  override componentWillMount(): void {
    this.turnTo(this.props.address.said);
  }

  override componentDidMount(): void {
    this.ends.push(
      this.props.app.onKey((key, event) => this.press(key, event)),
      events.listen(({ kind }) => { if (kind === "refresh") this.again(); }),
    );
    addEventListener("scroll", this.scrolled, { passive: true });
    this.nameWindow();
    const back = this.shown?.scroll ?? 0;
    if (back > 0) scrollTo({ top: back, behavior: "instant" });
    // A phone would cover the results with its keyboard.
    else if (matchMedia("(pointer: fine)").matches || !this.props.address.said["q"]) this.field?.focus();
  }

  override componentWillUnmount(): void {
    for (const end of this.ends) end();
    removeEventListener("scroll", this.scrolled);
    this.finding?.stop();
  }

  override componentWillReceiveProps({ address }: ViewOptions): void {
    this.turnTo(address.said);
  }

  /** What could be drawn is kept. */
  override componentDidUpdate(): void {
    this.nameWindow();
    if (!this.shown || this.shown !== this.finding || kept.get(this.name)?.finding === this.shown) return;
    kept.delete(this.name);
    kept.set(this.name, { finding: this.shown, cursor: this.state.cursor });
    if (kept.size > KEPT) kept.delete(kept.keys().next().value as string);
  }

  private nameWindow(): void {
    const q = this.props.address.said["q"]?.trim();
    this.props.app.title(q ? `${visibleText(q).slice(0, 60)} · Search` : "Search");
  }

  private turnTo(said: Readonly<Record<string, string>>): void {
    const asked = question(said);
    const name = JSON.stringify(asked);
    if (name === this.name) return;
    this.name = name;
    this.finding?.stop();
    const known = kept.get(name);
    if (known?.finding.found) {
      // What is known is shown at once, and asked for again: sessions grow.
      this.shown = known.finding;
      this.setState({ cursor: known.cursor });
    } else this.setState({ cursor: -1 });
    this.finding = null;
    if (asked === null) this.shown = null;
    else this.start(asked);
  }

  private start(asked: NonNullable<ReturnType<typeof question>>): void {
    const finding = new Finding(asked, () => {
      if (finding !== this.finding) {
        if (finding === this.shown) this.setState({ tick: this.state.tick + 1 });
        return;
      }
      const before = this.shown;
      if (finding.found) this.shown = finding;
      if (before && before !== finding && JSON.stringify(before.said) === this.name) {
        // The same question, asked again: what was opened stays so.
        finding.scroll = before.scroll;
        for (const [key, hits] of before.opened) {
          if (hits) finding.opened.set(key, hits);
          else void finding.open(key);
        }
      }
      this.setState({ tick: this.state.tick + 1 });
    });
    this.finding = finding;
    const { shown } = this;
    void finding.start(shown && JSON.stringify(shown.said) === this.name ? shown : null);
  }

  private again(): void {
    const asked = question(this.props.address.said);
    this.finding?.stop();
    if (asked) this.start(asked);
  }

  private readonly scrolled = (): void => {
    if (this.shown) this.shown.scroll = scrollY;
  };

  private hits(): Extract<Item, { kind: "hit" }>[] {
    return this.items.filter((item) => item.kind === "hit");
  }

  private press(key: string, event: KeyboardEvent): boolean {
    if (key === "/") this.field?.focus();
    else if (key === "j") this.step(1, true);
    else if (key === "k") this.step(-1, true);
    else if (key === "o") this.openAll();
    else if (key === "Enter" && !(event.target instanceof HTMLElement && event.target.closest("a, button, input, select"))) this.openCurrent();
    else return false;
    return true;
  }

  /** In the field the arrows move over the hits, and Enter opens the one. */
  private typedKey(event: KeyboardEvent): void {
    if (event.isComposing || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "ArrowDown") this.step(1, false);
    else if (event.key === "ArrowUp") this.step(-1, false);
    else if (event.key === "Enter") this.openCurrent();
    else return;
    event.preventDefault();
  }

  private step(by: 1 | -1, withFocus: boolean): void {
    const hits = this.hits();
    const next = this.state.cursor + by;
    const hit = hits[next];
    if (!hit) {
      if (hits.length > 0) this.props.app.say(by > 0 ? "That was the last hit" : "That was the first hit");
      return;
    }
    const place = this.items.indexOf(hit);
    const isFirst = this.items[place - 1]?.kind === "session";
    if (isFirst) this.list?.bring(place - 1, { above: 96, below: 80 });
    this.list?.bring(place, { above: 96, below: 80 });
    const known = kept.get(this.name);
    if (known) known.cursor = next;
    this.setState({ cursor: next }, () => {
      if (withFocus) requestAnimationFrame(() => document.getElementById(`hit-${next}`)?.focus({ preventScroll: true }));
    });
  }

  private openCurrent(): void {
    const hits = this.hits();
    const hit = hits[Math.max(0, this.state.cursor)];
    if (hit) this.open(hit);
  }

  private open(item: Extract<Item, { kind: "hit" }>): void {
    const { app, address } = this.props;
    const { hit } = item;
    const known = kept.get(this.name);
    if (known) known.cursor = item.n;
    void placeOf(hit).then((place) => app.go(at("session", { session: hit.key ?? undefined, q: address.said["q"] }, place)));
  }

  private openAll(): void {
    const hit = this.hits()[this.state.cursor];
    if (hit?.group.key && hit.group.more > 0) void this.shown?.open(hit.group.key);
  }

  private readonly heightOf = (item: Item): number => {
    if (item.kind === "session") return this.narrow.matches ? 60 : 48;
    if (item.kind === "more") return this.narrow.matches ? 44 : 36;
    return this.narrow.matches ? 56 : 32;
  };

  render({ address, app }: ViewOptions, { cursor, isNarrowing }: SearchState) {
    const { said } = address;
    const q = said["q"] ?? "";
    const mode = said["mode"] ?? "words";
    const found = this.shown?.found ?? null;
    const error = this.finding?.error ?? null;
    this.items = this.shown ? itemsOf(this.shown) : [];
    const hits = this.hits();
    const narrowing = NARROWING.filter((name) => said[name]);
    const isLate = this.finding !== null && this.finding !== this.shown && this.finding.isAsking;
    return (
      <main class="page searching">
        <h1 class="searchname">Search</h1>
        <search class="searchtop">
          <div class="searchfield">
            <Icon name="search" />
            <TypedField
              handle={(field) => { this.field = field; }} class="field" label="Search all sessions" placeholder="Search prompts, answers, thinking, commands, outputs" value={q} pause={mode === "words" && app.index?.state === "ready" ? 0 : READ}
              controls="hits" active={cursor >= 0 && hits[cursor] ? `hit-${cursor}` : undefined}
              onTyped={(text) => app.go(saying(address, { q: text }), { replace: true })} onKey={(event) => this.typedKey(event)}
            />
          </div>
          <div class="modes" role="group" aria-label="How it is meant">
            {MODES.map(([value, word, title]) => <button type="button" aria-pressed={mode === value} title={title} onClick={() => app.go(saying(address, { mode: value === "words" ? undefined : value }))}>{word}</button>)}
          </div>
          {mode === "words"
            ? <button type="button" class="toggle" aria-pressed={Boolean(said["rank"])} title="The best hits first; else the newest" onClick={() => app.go(saying(address, { rank: said["rank"] ? undefined : "1" }))}>Best first</button>
            : <button type="button" class="toggle" aria-pressed={Boolean(said["case"])} onClick={() => app.go(saying(address, { case: said["case"] ? undefined : "1" }))}>Match case</button>}
          <button type="button" class="toggle facetopen" aria-expanded={isNarrowing} onClick={() => this.setState({ isNarrowing: !isNarrowing })}>Filters{narrowing.length > 0 && <span class="faint">{narrowing.length}</span>}</button>
        </search>
        <div class={isNarrowing ? "searchcolumns is-narrowing" : "searchcolumns"}>
          <Facets address={address} app={app} found={q.trim() ? found : null} />
          <div class="searchresults" aria-busy={isLate}>
            <p class="searchsummary" role="status">{q.trim() && !error && found && this.shown === this.finding ? summary(found, this.finding?.isCut ?? false, app.index !== null && isBuilding(app.index)) : "\u00a0"}</p>
            {error ? <Unclear error={error} mode={mode} onLiteral={() => app.go(saying(address, { mode: "literal" }))} again={() => this.again()} app={app} /> : null}
            {!q.trim() && <HowTo />}
            {q.trim() && !found && !error && <Skeleton rows={6} />}
            {q.trim() && !error && found && found.groups.length === 0 && (
              <Empty>
                <h2>Nothing found for “{visibleText(q.trim()).slice(0, 80)}”.</h2>
                <p>{count(found.searched)} searched{said["in"] ? "" : ", in every field"}, {MODES.find(([value]) => value === mode)?.[2].toLowerCase() ?? mode}.{found.partial && " The index is still being built: there may be more soon."}</p>
                {found.suggestions.length > 0 && <p class="narrowed">Did you mean {found.suggestions.slice(0, 5).map((word) => <button type="button" class="toggle" onClick={() => app.go(saying(address, { q: word }))}>{visibleText(word)}</button>)}</p>}
                {narrowing.length > 0 && <><p>What narrows the search; press one to take it away:</p><Narrowed address={address} app={app} names={narrowing} /></>}
                {narrowing.length === 0 && mode === "words" && <p>Words are whole words: <code>idempot*</code> finds what begins so. <button type="button" class="toggle" onClick={() => app.go(saying(address, { mode: "literal" }))}>Search inside words too</button></p>}
              </Empty>
            )}
            {q.trim() && found && !error && narrowing.length > 0 && found.groups.length > 0 && <Narrowed address={address} app={app} names={narrowing} />}
            <div id="hits" class={isLate ? "is-late" : ""}>
              {this.items.length > 0 && q.trim() && !error && (
                <Windowed
                  handle={(list) => { this.list = list; }} class="hitlist" label="Hits" items={this.items} heightOf={this.heightOf} keyOf={(item) => item.key}
                  onRange={(_, to) => { if (to >= this.items.length && scrollY > 0 && this.shown === this.finding) void this.shown?.more(); }}
                  draw={(item) => {
                    if (item.kind === "session") return <GroupLine group={item.group} q={q} app={app} isLeast={found?.grouped_all === false} />;
                    if (item.kind === "more") return <button type="button" class="hitmore" aria-expanded={item.isOpen} disabled={item.isAsking} onClick={() => void this.shown?.open(item.group.key as string)}>{item.isOpen ? "Fewer" : `${count(item.group.more)}${found?.grouped_all === false ? "+" : ""} more`}</button>;
                    return <HitLine hit={item.hit} id={`hit-${item.n}`} q={q} app={app} lead={this.narrow.matches ? 16 : 40} isCurrent={item.n === cursor} onOpen={() => this.open(item)} />;
                  }}
                />
              )}
            </div>
            {q.trim() && found && this.shown?.isCut && !this.shown.isAsking && !error && <p class="searchsummary">The {said["rank"] ? "best" : "newest"} {count(found.groups.length)} sessions are listed. More words, or a filter, find the others.</p>}
          </div>
        </div>
      </main>
    );
  }
}

/** "12 hits in 3 sessions · 134 searched · 41 ms"; what was only estimated says so. */
function summary(found: Found, isCut: boolean, isReading: boolean): string {
  const hits = `${found.total_is_exact === false ? "≈\u00a0" : ""}${plural(found.total, "hit")}`;
  const sessions = isCut ? `more than ${plural(found.groups.length, "session")}` : plural(found.groups.length, "session");
  const parts = [found.groups.length === 0 ? "No hits" : `${hits} in ${sessions}`, `${count(found.searched)} searched`, `${count(found.elapsed_ms)} ms`];
  if (isReading) parts.push("not all sessions are read yet");
  else if (found.partial) parts.push("there may be more");
  return parts.join(" · ");
}

/** A question that makes no sense, or takes too long, is no disaster. */
function Unclear({ error, mode, onLiteral, again, app }: { error: unknown; mode: string; onLiteral: () => void; again: () => void; app: ViewOptions["app"] }) {
  if (!(error instanceof Failure) || error.status !== 400) return <Failed error={error} again={again} app={app} />;
  return (
    <div class="unclear" role="status">
      <p><Icon name="info" /> {sentence(visibleText(error.message))}</p>
      {mode !== "literal" && <button type="button" class="button" onClick={onLiteral}>Search for exactly these characters</button>}
    </div>
  );
}

const HOW: [string, string][] = [
  ["refund webhook", "both words, in any order"],
  ["\"double refund\"", "these words in a row"],
  ["idempot*", "words that begin so"],
  ["refund OR credit", "one of them"],
  ["refund -test", "the first without the second"],
];

function HowTo() {
  return (
    <div class="howto">
      <p>Everything that was said and done in all sessions: {FIELDS.map(([, word]) => word.toLowerCase()).join(", ")}.</p>
      <dl>{HOW.map(([example, what]) => <div><dt><code>{example}</code></dt><dd>{what}</dd></div>)}</dl>
      <p class="faint">Case and accents do not count. Literal takes every character as it is, Pattern is a regular expression.</p>
    </div>
  );
}

