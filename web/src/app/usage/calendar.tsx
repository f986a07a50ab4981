// A year as a calendar: a column for each week, a square for each day, the fuller the darker.

import { Component } from "preact";
import { money, plural, tokens } from "../../text";
import type { Usage } from "../api";
import { allTokens, dayKey, dayNumber, longDay, monthName, weekday, type Measure } from "./period";

const SQUARE = 12;
const STEP = 15;
const LEFT = 32;
const TOP = 20;
export const MOST_WEEKS = 53;

interface CalendarOptions {
  usage: Usage;
  /** The last day of it. */
  until: string;
  measure: Measure;
  onPick: (first: string, last: string) => void;
}

export class Calendar extends Component<CalendarOptions, { width: number; looked: number | null }> {
  override state: { width: number; looked: number | null } = { width: 800, looked: null };
  private element: HTMLElement | null = null;
  private watcher: ResizeObserver | null = null;

  override componentDidMount(): void {
    this.watcher = new ResizeObserver(() => this.measure());
    if (this.element) this.watcher.observe(this.element);
    this.measure();
  }

  override componentWillUnmount(): void {
    this.watcher?.disconnect();
  }

  private measure(): void {
    const width = Math.floor(this.element?.clientWidth ?? 800);
    if (width !== this.state.width) this.setState({ width });
  }

  render({ usage, until, measure, onPick }: CalendarOptions, { width, looked }: { width: number; looked: number | null }) {
    const last = dayNumber(until) ?? 0;
    const weeks = Math.max(4, Math.min(MOST_WEEKS, Math.floor((width - LEFT) / STEP)));
    const first = last - weekday(last) - (weeks - 1) * 7;
    const days = new Map<number, Usage["rows"][number]>();
    for (const row of usage.rows) {
      const day = dayNumber(row.key);
      if (day !== null && day >= first && day <= last) days.set(day, row);
    }
    const value = (row: Usage["rows"][number]) => (measure === "cost" ? (row.cost_usd ?? 0) : allTokens(row.tokens));
    const most = Math.max(0, ...[...days.values()].map(value));
    const said = (day: number) => saidOf(day, days.get(day));
    const cost = sum([...days.values()].map((row) => row.cost_usd));
    const all = [...days.values()].reduce((total, row) => total + allTokens(row.tokens), 0);
    const now = looked === null ? null : Math.max(first, Math.min(last, looked));
    const squares = [];
    for (let day = first; day <= last; day += 1) {
      const row = days.get(day);
      // By the root, so that one great day does not make all others alike.
      const level = !row ? 0 : most > 0 ? 1 + Math.floor(3.999 * Math.sqrt(value(row) / most)) : 1;
      const x = LEFT + Math.floor((day - first) / 7) * STEP;
      squares.push(<rect key={day} class={`day level${level}${day === now ? " is-looked" : ""}`} x={x} y={TOP + weekday(day) * STEP} width={SQUARE} height={SQUARE} rx={2} />);
    }
    return (
      <section class="calendar" aria-labelledby="calendar-title">
        <div class="sectionhead">
          <h2 id="calendar-title">{plural(weeks, "week")} to {until}</h2>
          <span class="faint">{money(days.size === 0 ? 0 : cost)}, {tokens(all)} tokens on {plural(days.size, "day")}</span>
        </div>
        <div ref={(element) => { this.element = element; }}>
          <svg width={LEFT + weeks * STEP} height={TOP + 7 * STEP} tabIndex={0} role="slider" aria-label={`Calendar of ${weeks} weeks`}
            aria-valuemin={first} aria-valuemax={last} aria-valuenow={now ?? last} aria-valuetext={now === null ? "The arrow keys go from day to day, Enter opens the sessions of a day" : said(now)}
            onKeyDown={(event) => this.press(event, first, last, now, onPick)}
            onFocus={() => { if (looked === null) this.setState({ looked: last }); }}
            onBlur={() => this.setState({ looked: null })}
            onPointerMove={(event) => this.setState({ looked: this.at(event, first, last) })}
            onPointerLeave={(event) => { if (document.activeElement !== event.currentTarget) this.setState({ looked: null }); }}
            onClick={(event) => { const day = this.at(event, first, last); if (day !== null) onPick(dayKey(day), dayKey(day)); }}>
            {["Mon", "Wed", "Fri"].map((word, at) => <text key={word} class="tick" aria-hidden="true" x={0} y={TOP + at * 2 * STEP + 10}>{word}</text>)}
            {this.months(first, last)}
            {squares}
          </svg>
        </div>
        <p class="reads" aria-hidden="true">
          {now === null ? <span class="faint scale">less {[0, 1, 2, 3, 4].map((level) => <svg key={level} width={SQUARE} height={SQUARE}><rect class={`day level${level}`} width={SQUARE} height={SQUARE} rx={2} /></svg>)} more</span> : said(now)}
        </p>
        <table class="unseen">
          <caption>Days with use</caption>
          <thead><tr><th scope="col">day</th><th scope="col">cost</th><th scope="col">tokens</th></tr></thead>
          <tbody>{[...days].sort(([a], [b]) => a - b).map(([day, row]) => <tr key={day}><th scope="row">{longDay(day)}</th><td>{money(row.cost_usd)}</td><td>{tokens(allTokens(row.tokens))}</td></tr>)}</tbody>
        </table>
      </section>
    );
  }

  private months(first: number, last: number) {
    const begins: [number, string][] = [];
    for (let day = first; day <= last; day += 7) if (monthName(day) !== begins[begins.length - 1]?.[1]) begins.push([LEFT + ((day - first) / 7) * STEP, monthName(day)]);
    const end = LEFT + Math.ceil((last - first + 1) / 7) * STEP;
    // A month of which only a week or two are there has no room for its name.
    return begins.filter(([x], at) => (begins[at + 1]?.[0] ?? end) - x >= 30).map(([x, name]) => <text key={x} class="tick" aria-hidden="true" x={x} y={12}>{name}</text>);
  }

  private at(event: MouseEvent, first: number, last: number): number | null {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const week = Math.floor((event.clientX - box.left - LEFT) / STEP);
    const row = Math.floor((event.clientY - box.top - TOP) / STEP);
    const day = first + week * 7 + row;
    return week >= 0 && row >= 0 && row < 7 && day <= last ? day : null;
  }

  private press(event: KeyboardEvent, first: number, last: number, now: number | null, onPick: CalendarOptions["onPick"]): void {
    const moves: Record<string, number> = { ArrowLeft: -7, ArrowRight: 7, ArrowUp: -1, ArrowDown: 1, PageUp: -28, PageDown: 28 };
    const move = moves[event.key];
    if (move !== undefined) this.setState({ looked: Math.max(first, Math.min(last, (now ?? last) + move)) });
    else if (event.key === "Home") this.setState({ looked: first });
    else if (event.key === "End") this.setState({ looked: last });
    else if (event.key === "Enter" && now !== null) onPick(dayKey(now), dayKey(now));
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

function saidOf(day: number, row: Usage["rows"][number] | undefined): string {
  return row ? `${longDay(day)}: ${money(row.cost_usd)}, ${tokens(allTokens(row.tokens))} tokens` : `${longDay(day)}: nothing`;
}

function sum(costs: (number | null)[]): number | null {
  const known = costs.filter((one) => one !== null);
  return known.length === 0 ? null : known.reduce((total, one) => total + one, 0);
}
