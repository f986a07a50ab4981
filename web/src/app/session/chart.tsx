// How the window filled: a stacked area over the turns, compactions as rules across it.

import { Component } from "preact";
import { count, plural, tokens } from "../../text";
import { visible } from "../../visible";
import type { Window } from "../api";
import type { Band } from "./kinds";

const HEIGHT = 240;
const LEFT = 48;
const RIGHT = 16;
const TOP = 28;
const BOTTOM = 24;
const ROWS = 200; // of the table that says the same

type Fill = Window["turns"][number];

interface ChartOptions {
  window: Window;
  bands: readonly Band[];
  onOpen: (turn: number) => void;
}

interface ChartState {
  width: number;
  /** The place that is looked at. */
  at: number | null;
}

export function bandSize(fill: Fill, band: Band): number {
  return band.kinds.reduce((sum, kind) => sum + (fill.by_kind[kind] ?? 0), 0);
}

function total(fill: Fill): number {
  return fill.tokens ?? Object.values(fill.by_kind).reduce((sum, size) => sum + size, 0);
}

/** 1, 2 or 5 times a power of ten, so that a few lines do. */
function stepFor(most: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, most / 4)));
  return ([1, 2, 5, 10].find((times) => power * times * 4 >= most) ?? 10) * power;
}

export class Chart extends Component<ChartOptions, ChartState> {
  override state: ChartState = { width: 800, at: null };
  private host: HTMLElement | null = null;
  private observer: ResizeObserver | null = null;

  override componentDidMount(): void {
    this.observer = new ResizeObserver(() => this.setState({ width: Math.max(240, this.host?.clientWidth ?? 800) }));
    if (this.host) this.observer.observe(this.host);
  }

  override componentWillUnmount(): void {
    this.observer?.disconnect();
  }

  private x(at: number): number {
    const { turns } = this.props.window;
    const room = this.state.width - LEFT - RIGHT;
    return turns.length < 2 ? LEFT + room / 2 : LEFT + (at / (turns.length - 1)) * room;
  }

  private move(by: number): void {
    const last = this.props.window.turns.length - 1;
    const at = this.state.at ?? (by > 0 ? -1 : last + 1);
    this.setState({ at: Math.max(0, Math.min(last, at + by)) });
  }

  private point(event: PointerEvent): void {
    const { turns } = this.props.window;
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const share = (event.clientX - box.left - LEFT) / Math.max(1, this.state.width - LEFT - RIGHT);
    this.setState({ at: Math.max(0, Math.min(turns.length - 1, Math.round(share * (turns.length - 1)))) });
  }

  private pressed(event: KeyboardEvent): void {
    const { window, onOpen } = this.props;
    const moves: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, Home: -1e9, End: 1e9 };
    const by = moves[event.key];
    if (by !== undefined) this.move(by);
    else if (event.key === "Enter" && this.state.at !== null) onOpen(window.turns[this.state.at]?.turn ?? 1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Where a compaction stands: between the turn it was made in and the next one. */
  private ruleAt(turn: number): number {
    const { turns } = this.props.window;
    const next = turns.findIndex((fill) => fill.turn > turn);
    return next < 0 ? this.x(turns.length - 1) : next === 0 ? this.x(0) : (this.x(next - 1) + this.x(next)) / 2;
  }

  /** The turns from left to right; at a compaction what was before ends, and what was after begins. */
  private points(): Point[] {
    const { turns, compactions } = this.props.window;
    const rules = new Set(compactions.map((one) => this.ruleAt(one.turn)));
    return turns.flatMap((fill, at) => {
      const x = this.x(at);
      const before = turns[at - 1];
      const middle = before ? (this.x(at - 1) + x) / 2 : 0;
      const here = { x, fill };
      return before && rules.has(middle) ? [{ x: middle, fill: before }, { x: middle, fill }, here] : [here];
    });
  }

  render({ window, bands, onOpen }: ChartOptions, { width, at }: ChartState) {
    const { turns, compactions } = window;
    const most = Math.max(1, ...turns.map(total));
    const step = stepFor(most);
    const high = Math.ceil(most / step) * step;
    const y = (size: number) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - size / high);
    const now = at === null ? null : turns[at];
    return (
      <div class="windowchart">
        <p class="readout" role="status">{now ? <Readout fill={now} bands={bands} /> : <span class="faint">Point at the chart, or use ← and →, for the figures of a turn; Enter opens it.</span>}</p>
        <div
          ref={(element) => { this.host = element; }} class="charthost" tabIndex={0} role="group"
          aria-label={`The context window over ${plural(turns.length, "turn")}: at most ${tokens(most)} tokens, ${plural(compactions.length, "compaction")}`}
          onKeyDown={(event) => this.pressed(event)} onPointerMove={(event) => this.point(event)} onPointerLeave={() => this.setState({ at: null })}
          onClick={() => now && onOpen(now.turn)}
        >
          <svg width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} aria-hidden="true">
            {Array.from({ length: Math.round(high / step) + 1 }, (_, n) => (
              <g key={n}>
                <line class="gridline" x1={LEFT} x2={width - RIGHT} y1={y(n * step)} y2={y(n * step)} />
                <text class="axis" x={LEFT - 8} y={y(n * step) + 4} text-anchor="end">{tokens(n * step)}</text>
              </g>
            ))}
            {areas(this.points(), bands, y).map(({ colour, d }) => <path key={colour} class={`band band-${colour}`} d={d} />)}
            {compactions.map((one, n) => {
              const x = this.ruleAt(one.turn);
              const isRight = x > width - 120;
              return (
                <g key={n} class="compaction">
                  <line x1={x} x2={x} y1={8} y2={HEIGHT - BOTTOM} />
                  {/* Of very many only the rules are drawn; the table has the figures. */}
                  {compactions.length <= width / 130 && <text x={x + (isRight ? -6 : 6)} y={16} text-anchor={isRight ? "end" : "start"}>{tokens(one.before)} → {tokens(one.after)}</text>}
                </g>
              );
            })}
            {at !== null && <line class="cursor" x1={this.x(at)} x2={this.x(at)} y1={TOP} y2={HEIGHT - BOTTOM} />}
            <text class="axis" x={LEFT} y={HEIGHT - 6} text-anchor="start">turn {turns[0]?.turn ?? 1}</text>
            {turns.length > 1 && <text class="axis" x={width - RIGHT} y={HEIGHT - 6} text-anchor="end">turn {turns[turns.length - 1]?.turn}</text>}
          </svg>
        </div>
        <Figures window={window} bands={bands} />
      </div>
    );
  }
}

interface Point {
  x: number;
  fill: Fill;
}

/** One shape a band, each standing on those below it; a single turn is a column. */
function areas(points: readonly Point[], bands: readonly Band[], y: (size: number) => number): { colour: string; d: string }[] {
  const base = points.map(() => 0);
  return bands.map((band) => {
    const lower = [...base];
    points.forEach(({ fill }, at) => {
      base[at] = (base[at] as number) + bandSize(fill, band);
    });
    const point = (at: number, size: number, by = 0) => `${((points[at] as Point).x + by).toFixed(1)},${y(size).toFixed(1)}`;
    if (points.length === 1) return { colour: band.colour, d: `M${point(0, base[0] as number, -24)}L${point(0, base[0] as number, 24)}L${point(0, lower[0] as number, 24)}L${point(0, lower[0] as number, -24)}Z` };
    const over = base.map((size, at) => point(at, size));
    const under = lower.map((size, at) => point(at, size)).reverse();
    return { colour: band.colour, d: `M${[...over, ...under].join("L")}Z` };
  });
}

function Readout({ fill, bands }: { fill: Fill; bands: readonly Band[] }) {
  return (
    <>
      <strong>Turn {fill.turn}</strong>
      <span>{fill.tokens === null ? `≈ ${tokens(total(fill))}` : tokens(fill.tokens)} tokens</span>
      {bands.map((band) => ({ band, size: bandSize(fill, band) })).filter(({ size }) => size > 0).map(({ band, size }) => (
        <span key={band.name} class="nobreak"><span class={`swatch band-${band.colour}`} aria-hidden="true" />{visible(band.name)} ≈ {tokens(size)}</span>
      ))}
    </>
  );
}

/** The same figures as a table. */
function Figures({ window, bands }: { window: Window; bands: readonly Band[] }) {
  const { turns, compactions } = window;
  const every = Math.max(1, Math.ceil(turns.length / ROWS));
  const shown = turns.filter((_, n) => n % every === 0 || n === turns.length - 1);
  return (
    <details class="figures">
      <summary>The chart as a table</summary>
      <div class="scroll" tabIndex={0} role="group" aria-label="The context window by turn">
        <table class="data">
          <thead><tr><th scope="col">Turn</th><th scope="col" class="num">Tokens</th>{bands.map((band) => <th key={band.name} scope="col" class="num">≈ {visible(band.name)}</th>)}<th scope="col">Compaction</th></tr></thead>
          <tbody>
            {shown.map((fill) => (
              <tr key={fill.turn}>
                <th scope="row">{fill.turn}</th>
                <td class="num">{fill.tokens === null ? `≈ ${count(total(fill))}` : count(fill.tokens)}</td>
                {bands.map((band) => <td key={band.name} class="num">{count(bandSize(fill, band))}</td>)}
                <td>{compactions.filter((one) => one.turn === fill.turn).map((one) => `${count(one.before)} → ${count(one.after)}`).join(", ")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {(every > 1 || window.turns_total > turns.length) && <p class="faint">{plural(shown.length, "turn")} of {count(window.turns_total)}, evenly chosen.</p>}
    </details>
  );
}
