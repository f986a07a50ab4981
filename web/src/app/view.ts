// What a view of the app gets, and what it may give.

import type { Index } from "./api";
import type { Address } from "./address";

export interface ViewOptions {
  address: Address;
  app: AppHost;
}

/**
 * What the frame does for its views. A view draws the one `main` of the page with the one `h1` in it, and asks
 * for everything anew when `events` say `refresh`.
 */
export interface AppHost {
  /** Go somewhere. `replace` leaves no step for Back, as while somebody types. */
  go(address: Address, options?: { replace?: boolean }): void;
  /** Say something in the corner for a moment; it is read out too. */
  say(text: string): void;
  /** Put a text into the clipboard, and say so. */
  copy(text: string, what: string): void;
  /** What the window is called while this view is there. */
  title(text: string): void;
  /** Take part in the keys while a view is there: true for a key that was used. `Ctrl+F` comes as "Ctrl F", even from a field. The answer ends it. */
  onKey(press: (key: string, event: KeyboardEvent) => boolean): () => void;
  /** Whether edits are refused by the server. */
  readonly isReadOnly: boolean;
  /** How far the index is; null before that is known. */
  readonly index: Index | null;
}
