// Ctrl K: go to anything, by a few letters of its name.

import { Component } from "preact";
import { Icon } from "../icons";
import { count } from "../text";
import { Isolated } from "../visible";
import { at, type Address, type ViewName } from "./address";
import type { SessionRow, Sessions } from "./api";
import { ask, isAborted } from "./ask";
import { lastName } from "./names";
import { age, when } from "./times";
import type { AppHost } from "./view";

const SHOWN = 40;
const ASKED = 1000;

interface Place {
  key: string;
  name: string;
  what: string;
  to: Address;
  /** In small letters, what it is found by. */
  by: string;
}

interface AnywhereState {
  query: string;
  current: number;
  rows: SessionRow[];
  total: number;
  isAsking: boolean;
  hasFailed: boolean;
}

interface AnywhereOptions {
  app: AppHost;
  views: [ViewName, string][];
  onClose: () => void;
}

export class Anywhere extends Component<AnywhereOptions, AnywhereState> {
  override state: AnywhereState = { query: "", current: 0, rows: [], total: 0, isAsking: true, hasFailed: false };
  private dialog: HTMLDialogElement | null = null;
  private list: HTMLElement | null = null;
  private asked: AbortController | null = null;
  private timer = 0;

  override componentDidMount(): void {
    this.dialog?.showModal();
    void this.fill({});
  }

  override componentDidUpdate(_: object, before: AnywhereState): void {
    if (before.current !== this.state.current || before.query !== this.state.query) this.list?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }

  override componentWillUnmount(): void {
    clearTimeout(this.timer);
    this.asked?.abort();
  }

  private async fill(said: { title?: string }): Promise<void> {
    this.asked?.abort();
    const { signal } = (this.asked = new AbortController());
    try {
      const found = await ask<Sessions>("/api/sessions", { ...said, limit: ASKED }, signal);
      const known = new Set(this.state.rows.map((row) => row.key));
      this.setState({ rows: [...this.state.rows, ...found.sessions.filter((row) => !known.has(row.key))], total: Math.max(this.state.total, found.total.sessions), isAsking: false, hasFailed: false });
    } catch (error) {
      if (!isAborted(error)) this.setState({ isAsking: false, hasFailed: true });
    }
  }

  private typed(query: string): void {
    this.setState({ query, current: 0 });
    clearTimeout(this.timer);
    // What is beyond the first thousand is asked for by its title.
    if (query.trim().length > 1 && this.state.total > this.state.rows.length) this.timer = setTimeout(() => void this.fill({ title: query.trim() }), 60);
  }

  private places(): Place[] {
    const { query, rows } = this.state;
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const views = this.props.views.map(([view, name]): Place => ({ key: `view-${view}`, name, what: "view", to: at(view), by: name.toLowerCase() }));
    const sessions = rows.map((row): Place => {
      const changed = when(row.changed);
      const name = row.title || row.first_prompt || "Untitled session";
      const what = [row.project && lastName(row.project), row.git_branch, changed !== null && age(changed)].filter(Boolean).join(" · ");
      return { key: row.key, name, what, to: at("session", { session: row.key }), by: `${name} ${row.project} ${row.git_branch ?? ""} ${row.id}`.toLowerCase() };
    });
    const fitting = [...views, ...sessions].filter(({ by }) => words.every((word) => by.includes(word)));
    // What has it in its name stands before what is only of such a project, and what begins so before both.
    const rank = ({ name }: Place) => {
      const at = words.length > 0 ? name.toLowerCase().indexOf(words[0] as string) : 0;
      return at < 0 ? 2 : at > 0 ? 1 : 0;
    };
    const sorted = fitting.map((place) => ({ place, rank: rank(place) })).sort((a, b) => a.rank - b.rank).map(({ place }) => place);
    const shown = sorted.slice(0, SHOWN);
    if (query.trim()) shown.push({ key: "search", name: `Search for “${query.trim()}”`, what: "in all sessions", to: at("search", { q: query.trim() }), by: "" });
    return shown;
  }

  private go(place: Place | undefined): void {
    if (!place) return;
    this.dialog?.close();
    this.props.app.go(place.to);
  }

  private pressed(event: KeyboardEvent, places: Place[]): void {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      const last = places.length - 1;
      const next = this.state.current + step;
      // One step past an end comes round to the other.
      const wrapped = Math.abs(step) === 1 ? (next > last ? 0 : next < 0 ? last : next) : Math.max(0, Math.min(last, next));
      this.setState({ current: wrapped });
    } else if (event.key === "Enter" && !event.isComposing) {
      event.preventDefault();
      this.go(places[this.state.current]);
    }
  }

  render({ onClose }: AnywhereOptions, { query, current, rows, total, isAsking, hasFailed }: AnywhereState) {
    const places = this.places();
    const chosen = places[current];
    return (
      <dialog class="help anywhere" aria-label="Go to anything" ref={(element) => { this.dialog = element; }} onClose={onClose} onClick={(event) => { if (event.target === this.dialog) this.dialog?.close(); }}>
        <div class="anywherefield">
          <Icon name="search" />
          <input
            type="text" role="combobox" aria-label="Go to a session or a view" aria-expanded="true" aria-controls="anywhere-list" aria-autocomplete="list" aria-activedescendant={chosen ? `any-${current}` : undefined}
            placeholder="Go to a session or a view" spellcheck={false} autocomplete="off" value={query}
            onInput={(event) => this.typed(event.currentTarget.value)} onKeyDown={(event) => this.pressed(event, places)}
          />
          <button type="button" aria-label="Close" onClick={() => this.dialog?.close()}><Icon name="close" /></button>
        </div>
        <div class="anywherelist" role="listbox" id="anywhere-list" aria-label="Places" ref={(element) => { this.list = element; }}>
          {places.map((place, n) => (
            <div key={place.key} role="option" id={`any-${n}`} aria-selected={n === current} class="anywhererow" onClick={() => this.go(place)} onPointerMove={() => { if (n !== this.state.current) this.setState({ current: n }); }}>
              <span class="anywherename"><Isolated text={place.name} /></span>
              <span class="anywherewhat"><Isolated text={place.what} /></span>
            </div>
          ))}
        </div>
        <p class="anywherefoot" role="status">
          {isAsking ? "Reading the list …" : hasFailed ? "The list of sessions could not be read." : `${count(total)} sessions${rows.length < total ? `, the newest ${count(rows.length)} at hand; the others by their title` : ""}`}
        </p>
      </dialog>
    );
  }
}
