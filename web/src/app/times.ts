// How long ago something was, as the lists say it.

import { day } from "../text";

/** now, 5m, 2h, 3d; after a month the day itself. */
export function age(ms: number, now = Date.now()): string {
  const minutes = Math.floor((now - ms) / 60_000);
  if (Number.isNaN(minutes)) return "";
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes}m`;
  if (minutes < 1440) return `${Math.floor(minutes / 60)}h`;
  return minutes < 43_200 ? `${Math.floor(minutes / 1440)}d` : day(ms);
}

/** The moment of a time as the API gives it; null for none, or for what is no time. */
export function when(text: string | null | undefined): number | null {
  const ms = text ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? null : ms;
}
