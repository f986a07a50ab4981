// Stacked bars on a true time axis. One path for each series, so that a year of days is a handful of elements.

import { Component } from "preact";
import { money, tokens } from "../../text";
import { visible } from "../../visible";
import { marks, shortDay, ticks, type Bucket, type Chart, type Measure } from "./period";

const HEIGHT = 220;
const TOP = 8;
const BOTTOM = 24;
const LEFT = 56;

interface BarsOptions {
  chart: Chart;
  measure: Measure;
  label: string;
  /** What is said of a bar. */
  says: (bucket: Bucket) => string;
  onPick: (bucket: Bucket) => void;
  /** Which bar the pointer or the keys are on. */
  onLook: (at: number | null) => void;
  looked: number | null;
}

export class Bars extends Component<BarsOptions, { width: number }> {
  override state = { width: 800 };
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
    const width = Math.max(160, Math.floor(this.element?.clientWidth ?? 800));
    if (width !== this.state.width) this.setState({ width });
  }

  /** Where a day begins, in pixels from the left. */
  private x(day: number): number {
    const { first, last } = this.props.chart;
    return LEFT + ((day - first) / (last - first + 1)) * (this.state.width - LEFT);
  }

  private at(event: MouseEvent): number | null {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const x = event.clientX - box.left;
    const found = this.props.chart.buckets.findIndex((one) => x >= this.x(one.first) && x < this.x(one.last + 1));
    return found < 0 ? null : found;
  }

  private readonly press = (event: KeyboardEvent) => {
    const { chart, looked, onLook, onPick } = this.props;
    const last = chart.buckets.length - 1;
    const from = looked ?? last;
    const to: Record<string, number> = { ArrowLeft: from - 1, ArrowDown: from - 1, ArrowRight: from + 1, ArrowUp: from + 1, Home: 0, End: last, PageUp: from - 7, PageDown: from + 7 };
    const wanted = to[event.key];
    if (wanted !== undefined) onLook(Math.max(0, Math.min(last, wanted)));
    else if (event.key === "Enter" && looked !== null && chart.buckets[looked]) onPick(chart.buckets[looked]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  render({ chart, measure, label, says, onPick, onLook, looked }: BarsOptions, { width }: { width: number }) {
    const most = Math.max(0, ...chart.buckets.map((one) => one.total));
    const levels = ticks(most);
    const top = levels[levels.length - 1] || 1;
    const y = (value: number) => TOP + (1 - value / top) * (HEIGHT - TOP - BOTTOM);
    const now = looked === null ? null : (chart.buckets[looked] ?? null);
    const said = now ? says(now) : `${chart.buckets.length} bars; the arrow keys go from one to the next, Enter opens its sessions`;
    return (
      <div class="bars" ref={(element) => { this.element = element; }}>
        <svg width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} tabIndex={0} role="slider" aria-label={label}
          aria-valuemin={0} aria-valuemax={chart.buckets.length - 1} aria-valuenow={looked ?? chart.buckets.length - 1} aria-valuetext={said} aria-orientation="horizontal"
          onKeyDown={this.press}
          onFocus={() => { if (looked === null) onLook(chart.buckets.length - 1); }}
          onBlur={() => onLook(null)}
          onPointerMove={(event) => onLook(this.at(event))}
          onPointerLeave={(event) => { if (document.activeElement !== event.currentTarget) onLook(null); }}
          onClick={(event) => { const found = this.at(event); const one = found === null ? null : chart.buckets[found]; if (one) onPick(one); }}>
          {levels.map((level) => (
            <g key={level} aria-hidden="true">
              <line class={level === 0 ? "axis" : "grid"} x1={LEFT} x2={width} y1={y(level)} y2={y(level)} />
              {(level > 0 || levels.length === 1) && <text class="tick" x={LEFT - 8} y={y(level) + 4} text-anchor="end">{level === 0 ? "" : tickText(level, measure)}</text>}
            </g>
          ))}
          {now && <rect class="looked" x={this.x(now.first)} width={this.x(now.last + 1) - this.x(now.first)} y={TOP} height={HEIGHT - TOP - BOTTOM} />}
          {chart.series.map((name, at) => <path key={name} class={`series series${at}`} d={this.outline(at, y)} />)}
          {this.words(width)}
        </svg>
      </div>
    );
  }

  private outline(series: number, y: (value: number) => number): string {
    const made: string[] = [];
    for (const one of this.props.chart.buckets) {
      const value = one.parts[series] ?? 0;
      if (value <= 0) continue;
      let below = 0;
      for (let n = 0; n < series; n += 1) below += one.parts[n] ?? 0;
      const [left, right] = this.sides(one);
      // Whatever is there is seen: a bar is at least a pixel high.
      const low = y(below);
      const high = Math.min(y(below + value), low - 1);
      made.push(`M${left.toFixed(1)} ${low.toFixed(1)}V${high.toFixed(1)}H${right.toFixed(1)}V${low.toFixed(1)}Z`);
    }
    return made.join("");
  }

  private sides(one: Bucket): [number, number] {
    const left = this.x(one.first);
    const wide = this.x(one.last + 1) - left;
    const bar = Math.min(40, Math.max(1, wide * 0.76));
    return [left + (wide - bar) / 2, left + (wide + bar) / 2];
  }

  private words(width: number) {
    const { first, last } = this.props.chart;
    const days = marks(first, last, Math.max(2, Math.floor((width - LEFT) / 72)));
    const isLong = last - first > 300;
    const half = (this.x(first + 1) - this.x(first)) / 2;
    return days.map((day) => {
      const x = this.x(day) + half;
      const edge = x < LEFT + 20 ? "start" : x > width - 24 ? "end" : "middle";
      return <text key={day} class="tick" aria-hidden="true" x={edge === "start" ? this.x(day) : edge === "end" ? Math.min(width, x + half) : x} y={HEIGHT - 6} text-anchor={edge}>{isLong ? shortDay(day, true).replace(/^1 /, "") : shortDay(day)}</text>;
    });
  }
}

function tickText(value: number, measure: Measure): string {
  if (measure === "tokens") return tokens(value);
  return value < 10 ? `$${value.toFixed(value < 0.1 ? 3 : 2).replace(/(\.\d\d)0$/, "$1")}` : `$${value.toLocaleString("en-US", { maximumFractionDigits: 1 })}`;
}

/** The same for those who do not see the chart. */
export function BarsTable({ chart, measure, caption }: { chart: Chart; measure: Measure; caption: string }) {
  const told = (value: number) => (measure === "cost" ? money(value) : tokens(value));
  return (
    <table class="unseen">
      <caption>{caption}</caption>
      <thead><tr><th scope="col">{chart.step}</th>{chart.series.map((name) => <th key={name} scope="col">{visible(name)}</th>)}</tr></thead>
      <tbody>
        {chart.buckets.filter((one) => one.tokens > 0).map((one) => (
          <tr key={one.first}><th scope="row">{one.label}</th>{one.parts.map((value, at) => <td key={at}>{value > 0 ? told(value) : ""}</td>)}</tr>
        ))}
      </tbody>
    </table>
  );
}
