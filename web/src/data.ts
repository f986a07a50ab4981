// What the file holds: facts first, then chunks, picked up as they arrive.

import { parseMarks, type Chunk } from "./chunks";
import type { Flow, Head, TurnHead } from "./parts";

export interface PageFacts {
  head: Head;
  version?: string;
  is_redacted?: boolean;
  redacted?: Record<string, number>;
  left_out?: string[];
}

/** The value of a block of data, or null when it is not there or not whole. */
export function block<T>(id: string): T | null {
  const text = document.getElementById(id)?.textContent;
  if (!text) return null;
  try {
    return JSON.parse(text) as T;
  } catch {
    return null;
  }
}

const KEPT = 24; // parsed chunks that are remembered

const parsed = new Map<Element, Flow[]>();

function load(element: Element): Flow[] {
  const known = parsed.get(element);
  if (known) {
    parsed.delete(element);
    parsed.set(element, known);
    return known;
  }
  let made: Flow[];
  try {
    made = JSON.parse(element.textContent ?? "[]") as Flow[];
  } catch {
    made = [{ kind: "notice", level: "error", text: "This piece of the page could not be read: the file is cut off or was changed." }];
  }
  parsed.set(element, made);
  if (parsed.size > KEPT) parsed.delete(parsed.keys().next().value as Element);
  return made;
}

/** A value out of an attribute; one that is not whole counts as none. */
function value<T>(text: string | undefined, otherwise: T): T {
  if (!text) return otherwise;
  try {
    return JSON.parse(text) as T;
  } catch {
    return otherwise;
  }
}

function chunkOf(element: HTMLElement): Chunk {
  const { t, i, k, a, f, h } = element.dataset;
  const marks = parseMarks(k ?? "");
  return {
    agent: value(a, ""), from: value(f, ""), head: value<TurnHead | null>(h, null),
    turn: Number(t) || 0, first: Number(i) || 0, marks, isKnown: true, room: marks.length,
    load: () => load(element),
  };
}

/** Hand over every chunk once it is whole: those that are there, and those the browser is still reading. */
export function pickUp(take: (chunks: Chunk[]) => void, done: () => void): void {
  let last: Element | null = document.querySelector("script.chunk");
  let isFirst = true;
  const collect = (isWhole: boolean) => {
    const found: Chunk[] = [];
    let at: Element | null = isFirst ? (last ??= document.querySelector("script.chunk")) : (last?.nextElementSibling ?? null);
    // An element is whole when something follows it.
    while (at && (isWhole || at.nextSibling)) {
      if (at.matches("script.chunk")) found.push(chunkOf(at as HTMLElement));
      last = at;
      isFirst = false;
      at = at.nextElementSibling;
    }
    if (found.length > 0) take(found);
  };
  collect(document.readyState !== "loading");
  if (document.readyState !== "loading") return done();
  const observer = new MutationObserver(() => collect(false));
  observer.observe(document.body, { childList: true });
  document.addEventListener("DOMContentLoaded", () => {
    observer.disconnect();
    collect(true);
    done();
  });
}
