// A session in pieces: each is drawn when it nears the screen, and stands as an empty box of its height before.

import type { Level } from "./folds";
import type { Flow, TurnHead } from "./parts";

export type Letter = "p" | "a" | "A" | "t" | "c" | "x" | "n" | "m" | "r" | "w";

/** One item of a chunk as far as it is known without reading it. */
export interface Mark {
  letter: Letter;
  /** About how many lines of text it has. */
  lines: number;
}

/** Some items of one turn. */
export interface Chunk {
  /** The sub-agent whose turn it is; empty for the session itself. */
  agent: string;
  turn: number;
  /** The number of its first item in the turn, from 0. */
  first: number;
  /** Its items; while `isKnown` is false they are a guess. */
  marks: readonly Mark[];
  readonly isKnown: boolean;
  /** How many items it has, or has room for while nobody has read it. */
  readonly room: number;
  /** The item that started the sub-agent. */
  from: string;
  /** Given for the first chunk of a sub-agent's turn; the session's own are known from the start. */
  head: TurnHead | null;
  /** What it holds; null while that is on its way, which asking for it sets off. */
  load(): Flow[] | null;
  /** Nobody needs it now. */
  leave?(): void;
}

/** Which items a level shows; what a search asked for is shown at every level. */
export function isShown(letter: Letter, level: Level): boolean {
  // What the client told the model alone is for those who want everything.
  if (level >= 3) return level === 4 || letter !== "m";
  if (letter === "p" || letter === "A" || letter === "r" || letter === "w") return true;
  return level === 2 && letter === "a";
}

const LINE = 24;

/** About how high an item will be, for a column of so many characters. */
export function guess(mark: Mark, level: Level, columns: number): number {
  if (!isShown(mark.letter, level)) return 0;
  // The lines were counted for 76 characters.
  const lines = Math.max(1, Math.round(mark.lines * Math.max(1, 76 / columns)));
  switch (mark.letter) {
    case "p":
      return 92 + Math.min(lines, 48) * LINE;
    case "a":
    case "A":
      return 52 + lines * LINE;
    case "t":
      return level === 4 ? 48 + lines * LINE : 32;
    case "c":
      return level === 4 ? 60 + Math.min(lines, 20) * 20 : 32;
    case "x":
      return 76 + Math.min(lines, 16) * 20;
    case "r":
      return 56;
    default:
      return 44;
  }
}

export function parseMarks(text: string): Mark[] {
  const made: Mark[] = [];
  for (const one of text.split(" ")) {
    if (one) made.push({ letter: one[0] as Letter, lines: Number(one.slice(1)) || 1 });
  }
  return made;
}

export function turnKey(agent: string, turn: number): string {
  return agent ? `a-${agent}.t${turn}` : `t${turn}`;
}

export function itemKey(chunk: Chunk, at: number): string {
  return `${turnKey(chunk.agent, chunk.turn)}.${chunk.first + at + 1}`;
}

export interface Address {
  agent: string;
  turn: number;
  /** From 1; 0 is the turn itself. */
  item: number;
}

export function parseKey(key: string): Address | null {
  const found = /^(?:a-(.+)\.)?t(\d{1,9})(?:\.(\d{1,9}))?$/.exec(key);
  return found ? { agent: found[1] ?? "", turn: Number(found[2]), item: Number(found[3] ?? 0) } : null;
}
