// The days that are looked at, and how they are put together for a chart. A day is a number: days since 1970.

import type { Usage } from "../api";

const DAY = 86_400_000;

export const SPANS = ["7", "30", "90", "all"] as const;

export interface Period {
  /** The first and the last day, both counted; null where there is no end. */
  since: string | null;
  until: string | null;
  /** As in "30 days: $43.29". */
  name: string;
  /** The chosen span, null where days were given. */
  span: (typeof SPANS)[number] | null;
}

export function dayNumber(key: string): number | null {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(key)) return null;
  const ms = Date.parse(`${key}T00:00:00Z`);
  // 2026-02-30 is no day, though some readers make one of it
  return Number.isNaN(ms) || dayKey(ms / DAY) !== key ? null : ms / DAY;
}

export function dayKey(day: number): string {
  return new Date(day * DAY).toISOString().slice(0, 10);
}

const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** 0 is Monday. */
export function weekday(day: number): number {
  return (new Date(day * DAY).getUTCDay() + 6) % 7;
}

export function longDay(day: number): string {
  return `${WEEKDAYS[new Date(day * DAY).getUTCDay()]} ${dayKey(day)}`;
}

/** "3 Nov", or in January the year as well. */
export function shortDay(day: number, withYear = false): string {
  const made = new Date(day * DAY);
  return `${made.getUTCDate()} ${monthName(day)}${withYear ? ` ${made.getUTCFullYear()}` : ""}`;
}

export function monthName(day: number): string {
  return MONTHS[new Date(day * DAY).getUTCMonth()] ?? "";
}

/** What the address says of the period; without a word it is the last 30 days. */
export function periodOf(said: Readonly<Record<string, string>>, today: string): Period {
  const since = said.since && dayNumber(said.since) !== null ? said.since : null;
  const until = said.until && dayNumber(said.until) !== null ? said.until : null;
  if (since && until) return { since, until, name: since === until ? since : `${since} to ${until}`, span: null };
  if (since) return { since, until: null, name: `Since ${since}`, span: null };
  if (until) return { since: null, until, name: `Until ${until}`, span: null };
  const span = SPANS.find((one) => one === said.days) ?? "30";
  if (span === "all") return { since: null, until: null, name: "All time", span };
  const last = dayNumber(today) ?? 0;
  return { since: dayKey(last - Number(span) + 1), until: today, name: `${span} days`, span };
}

// --- buckets ---------------------------------------------------------------------------------------------------------

export type Measure = "cost" | "tokens";

export interface Bucket {
  first: number;
  last: number;
  label: string;
  /** How much of each series, in their order. */
  parts: number[];
  total: number;
  tokens: number;
  /** Null where nothing of it has a price. */
  cost: number | null;
}

export interface Chart {
  buckets: Bucket[];
  series: string[];
  first: number;
  last: number;
  step: Step;
}

export type Step = "day" | "week" | "month";
type Row = Usage["rows"][number];

const MOST_SERIES = 6;
const MOST_BARS = 130;
export const OTHERS = "other models";

export function allTokens(tokens: Usage["total"]["tokens"]): number {
  return tokens.input + tokens.output + tokens.cache_read + tokens.cache_write_5m + tokens.cache_write_1h;
}

/** How much of what was sent had been kept: null where nothing was sent. */
export function cachedShare(tokens: Usage["total"]["tokens"]): number | null {
  const sent = tokens.input + tokens.cache_read + tokens.cache_write_5m + tokens.cache_write_1h;
  return sent > 0 ? tokens.cache_read / sent : null;
}

interface Slice {
  model: string;
  cost: number | null;
  tokens: number;
}

/** A day by model; where the server does not tell that, by the only model there was, or none. */
function slices(row: Row): Slice[] {
  const told = row.by_model;
  if (told && told.length > 0) return told.map(({ model, cost_usd, tokens }) => ({ model, cost: cost_usd, tokens: allTokens(tokens) }));
  return [{ model: row.models.length === 1 ? (row.models[0] as string) : "several models", cost: row.cost_usd, tokens: allTokens(row.tokens) }];
}

/** Put the days of a period together; every day of it is there, the empty ones too. */
export function chartOf(rows: readonly Row[], period: Period, measure: Measure, today: string): Chart {
  const days = new Map<number, Row>();
  for (const row of rows) {
    const day = dayNumber(row.key);
    if (day !== null) days.set(day, row);
  }
  const known = [...days.keys()];
  const end = dayNumber(period.until ?? today) ?? 0;
  const first = period.since ? (dayNumber(period.since) as number) : Math.min(end, ...known);
  const last = Math.max(first, period.until ? end : Math.max(end, ...known));
  const series = seriesOf([...days.values()], measure);
  const step: Step = last - first < MOST_BARS ? "day" : last - first < MOST_BARS * 7 ? "week" : "month";
  const buckets: Bucket[] = [];
  for (let at = first; at <= last; ) {
    const stop = Math.min(last, endOf(at, step));
    buckets.push(bucket(at, stop, days, series, measure, step));
    at = stop + 1;
  }
  return { buckets, series, first, last, step };
}

function endOf(day: number, step: Step): number {
  if (step === "day") return day;
  if (step === "week") return day + 6 - weekday(day);
  const made = new Date(day * DAY);
  return Date.UTC(made.getUTCFullYear(), made.getUTCMonth() + 1, 0) / DAY;
}

function seriesOf(rows: Row[], measure: Measure): string[] {
  const sums = new Map<string, number>();
  for (const row of rows) {
    for (const one of slices(row)) sums.set(one.model, (sums.get(one.model) ?? 0) + (measure === "cost" ? (one.cost ?? 0) : one.tokens));
  }
  const names = [...sums].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)).map(([name]) => name);
  return names.length > MOST_SERIES ? [...names.slice(0, MOST_SERIES - 1), OTHERS] : names;
}

function bucket(first: number, last: number, days: Map<number, Row>, series: string[], measure: Measure, step: Step): Bucket {
  const parts = series.map(() => 0);
  let tokens = 0;
  let cost: number | null = null;
  for (let day = first; day <= last; day += 1) {
    const row = days.get(day);
    if (!row) continue;
    tokens += allTokens(row.tokens);
    if (row.cost_usd !== null) cost = (cost ?? 0) + row.cost_usd;
    for (const one of slices(row)) {
      const found = series.indexOf(one.model);
      const place = found < 0 ? series.length - 1 : found;
      parts[place] = (parts[place] ?? 0) + (measure === "cost" ? (one.cost ?? 0) : one.tokens);
    }
  }
  const label = step === "day" ? longDay(first) : `${dayKey(first)} to ${dayKey(last)}`;
  return { first, last, label, parts, total: parts.reduce((sum, one) => sum + one, 0), tokens, cost };
}

// --- axes ------------------------------------------------------------------------------------------------------------

/** Round values from nothing to the top, about four of them. */
export function ticks(most: number): number[] {
  if (!(most > 0)) return [0];
  const rough = most / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((one) => one * power >= rough) ?? 10) * power;
  const made: number[] = [];
  for (let n = 0; n * step < most + step * 0.999; n += 1) made.push(n * step);
  return made;
}

/** Days that get a word under the chart, so many at most: mondays or firsts of a month where that is enough. */
export function marks(first: number, last: number, most: number): number[] {
  const span = last - first + 1;
  if (span <= most) return Array.from({ length: span }, (_, n) => first + n);
  const weeks = Math.ceil(span / 7 / most);
  if (weeks <= 3) {
    const monday = first + ((7 - weekday(first)) % 7);
    return range(monday, last, weeks * 7);
  }
  const firsts: number[] = [];
  for (let day = first; day <= last; day = endOf(day, "month") + 1) if (new Date(day * DAY).getUTCDate() === 1) firsts.push(day);
  const every = [1, 2, 3, 6, 12, 24, 60, 120].find((one) => firsts.length / one <= most) ?? 240;
  return firsts.filter((day) => (new Date(day * DAY).getUTCFullYear() * 12 + new Date(day * DAY).getUTCMonth()) % every === 0);
}

function range(from: number, to: number, step: number): number[] {
  const made: number[] = [];
  for (let at = from; at <= to; at += step) made.push(at);
  return made;
}
