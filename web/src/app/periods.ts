// Spans of time as the lists offer them.

import { visibleText } from "../visible";

export const PERIODS: [string, string][] = [["24h", "Last 24 hours"], ["7d", "Last 7 days"], ["30d", "Last 30 days"], ["90d", "Last 90 days"]];

/** Whether it is a span that no list offers, such as a day that a chart led to. */
export function isOwnPeriod(since: string | undefined, until: string | undefined): boolean {
  return Boolean(until) || Boolean(since && !PERIODS.some(([value]) => value === since));
}

export function periodWords(since: string | undefined, until: string | undefined): string {
  const known = PERIODS.find(([value]) => value === since);
  if (known && !until) return known[1];
  if (since && until) return since === until ? visibleText(since) : `${visibleText(since)} – ${visibleText(until)}`;
  return since ? `Since ${visibleText(since)}` : `Until ${visibleText(until ?? "")}`;
}
