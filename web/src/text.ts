// Texts and figures as they are shown: counts, sizes, spans of time, money, and the one gate for addresses.

const NBSP = "\u00a0";

export function count(n: number): string {
  return n.toLocaleString("en-US");
}

/** "1 call", "7 calls". */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)}${NBSP}${n === 1 ? one : many}`;
}

/** 950, 2.6k, 614k, 57.9M. */
export function tokens(n: number): string {
  if (n < 1000) return String(n);
  const [value, unit] = n < 999_500 ? [n / 1000, "k"] : [n / 1_000_000, "M"];
  return `${value < 99.95 ? value.toFixed(1).replace(/\.0$/, "") : Math.round(value)}${unit}`;
}

export function bytes(n: number): string {
  if (n < 1000) return `${n}${NBSP}B`;
  for (const [unit, size] of [["KB", 1e3], ["MB", 1e6], ["GB", 1e9]] as const) {
    if (n < size * 999.5) return `${n / size < 9.95 ? (n / size).toFixed(1).replace(/\.0$/, "") : Math.round(n / size)}${NBSP}${unit}`;
  }
  return `${count(Math.round(n / 1e9))}${NBSP}GB`;
}

/** 0.3s, 41s, 1m 05s, 2h 10m, 3d 4h. */
export function span(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)}s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m${NBSP}${String(whole % 60).padStart(2, "0")}s`;
  const minutes = Math.round(whole / 60);
  if (minutes < 1440) return `${Math.floor(minutes / 60)}h${NBSP}${String(minutes % 60).padStart(2, "0")}m`;
  return `${Math.floor(minutes / 1440)}d${NBSP}${Math.round((minutes % 1440) / 60)}h`;
}

/** A price of nothing is nothing, an unknown one is a dash: never $0.00 for what nobody knows. */
export function money(usd: number | null | undefined): string {
  if (usd === null) return "–";
  const value = usd ?? 0;
  if (value > 0 && value < 0.01) return "<$0.01";
  return `$${value.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}

function date(ms: number): Date | null {
  const made = new Date(ms);
  return Number.isNaN(made.getTime()) ? null : made;
}

function two(n: number): string {
  return String(n).padStart(2, "0");
}

/** The time of day where the reader is. */
export function clock(ms: number): string {
  const made = date(ms);
  return made ? `${two(made.getHours())}:${two(made.getMinutes())}` : "";
}

export function day(ms: number): string {
  const made = date(ms);
  return made ? `${made.getFullYear()}-${two(made.getMonth() + 1)}-${two(made.getDate())}` : "";
}

export function moment(ms: number): string {
  return `${day(ms)} ${clock(ms)}`;
}

/** The exact moment, the same wherever it is read. */
export function iso(ms: number): string {
  return date(ms)?.toISOString() ?? "";
}

export function zone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
}

/** The address if it may be opened at all: http, https and mailto, and nothing that only looks like them. */
export function safeAddress(address: string): string | null {
  if (!/^(https?:\/\/|mailto:)[^\s\u0000-\u0020\u007f-\u009f]+$/i.test(address)) return null;
  try {
    const { protocol } = new URL(address);
    return protocol === "http:" || protocol === "https:" || protocol === "mailto:" ? address : null;
  } catch {
    return null;
  }
}

export function lineCount(text: string): number {
  let n = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) n += 1;
  return text.endsWith("\n") && n > 1 ? n - 1 : n;
}

/** The first sentence of a longer text, on one line. */
export function firstSentence(text: string): string {
  const start = text.trimStart().slice(0, 400);
  const end = /[.!?](?=\s|$)|\n\s*\n/.exec(start);
  const cut = end ? start.slice(0, end.index + 1) : start;
  const line = cut.replace(/\s+/g, " ").trim();
  return line.length > 200 ? `${line.slice(0, 199)}…` : line;
}
