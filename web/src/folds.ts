// What is open and what is folded, by keys that outlive the drawing: a part drawn again is as it was left.

import type { ComponentChildren } from "preact";
import type { Notice } from "./parts";

export type Level = 1 | 2 | 3 | 4;

export interface Folds {
  readonly level: Level;
  /** Whether all thinking is open. */
  readonly thinking: boolean;
  /** Whether this is for paper: nothing can be opened there. */
  readonly isPrint: boolean;
  /** What can be done about something that clew says. */
  readonly noticeEnd?: ((notice: Notice) => ComponentChildren) | undefined;
  isOpen(key: string, byDefault: boolean): boolean;
  /** Open or fold; what was pressed stays where it is on the screen. */
  toggle(key: string, byDefault: boolean, pressed: Element): void;
}

/** Where something is drawn: its key among the folds. */
export interface Place {
  folds: Folds;
  key: string;
}

export function inside(place: Place, name: string | number): Place {
  return { folds: place.folds, key: `${place.key}/${name}` };
}
