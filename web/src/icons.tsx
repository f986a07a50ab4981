// Signs as drawings: letters of a font may be missing on a bare system.

import type { Call } from "./parts";

const PATHS = {
  done: "M3 8.5 6.5 12 13 4.5",
  failed: "M4 4 12 12 M12 4 4 12",
  refused: "M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 1 0 0-11 M4.2 4.2 11.8 11.8",
  missing: "M5.5 6a2.5 2.5 0 1 1 3.6 2.2C8.3 8.7 8 9.2 8 10 M8 12.6v.6",
  running: "M8 5.5a2.5 2.5 0 1 0 0 5a2.5 2.5 0 1 0 0-5",
  chevron: "M6 3.5 10.5 8 6 12.5",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9 M10.3 10.3 14 14",
  up: "M3.5 10 8 5.5 12.5 10",
  down: "M3.5 6 8 10.5 12.5 6",
  close: "M4 4 12 12 M12 4 4 12",
  theme: "M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 1 0 0-11 M8 2.5v11",
  help: "M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13 M6 6.2a2 2 0 1 1 2.9 1.8C8.2 8.4 8 8.8 8 9.4 M8 11.4v.4",
  list: "M2.5 4h11 M2.5 8h11 M2.5 12h7",
  warning: "M8 2 14.5 13.5H1.5z M8 6.5v3.2 M8 11.4v.4",
  info: "M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13 M8 7.2v4 M8 4.6v.4",
  copy: "M5.5 5.5h8v8h-8z M10.5 5.5v-3h-8v8h3",
  download: "M8 2.5v8 M4.5 7.5 8 11l3.5-3.5 M2.5 13.5h11",
  more: "M3.4 8h.2 M7.9 8h.2 M12.4 8h.2",
  back: "M10 3.5 5.5 8l4.5 4.5",
  branch: "M4.5 3v10 M4.5 9.5c4 0 7-1 7-4.5V3",
  todo: "M3 3h10v10H3z",
  doing: "M3 3h10v10H3z M5.5 8h5",
  checked: "M3 3h10v10H3z M5.3 8.2 7.3 10.2 10.8 5.9",
  removed: "M3 3h10v10H3z M4.5 11.5 11.5 4.5",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, label }: { name: IconName; label?: string }) {
  const seen = label ? { role: "img" as const, "aria-label": label } : { "aria-hidden": "true" as const };
  return (
    <svg class={`icon icon-${name}`} viewBox="0 0 16 16" width="14" height="14" {...seen}>
      <path d={PATHS[name]} />
    </svg>
  );
}

export const STATES: Record<Call["state"], string> = {
  done: "done", failed: "failed", refused: "refused", missing: "no result", running: "still running",
};
