// What an edit is asked to do, as the address says it and as the server wants it.

import type { Address } from "../address";

export type EditKind = "repair" | "trim" | "redact";

export interface Edit {
  kind: EditKind;
  session: string;
}

const KINDS: readonly EditKind[] = ["repair", "trim", "redact"];

export function editNamed(address: Address): Edit | null {
  const kind = KINDS.find((one) => one === address.said.edit);
  return kind && address.said.session ? { kind, session: address.said.session } : null;
}

/** Everything that can be said of an edit; numbers as they are typed. */
export interface Wishes {
  tools: string;
  results: boolean;
  older: string;
  larger: string;
  turns: string;
  patterns: string;
  thinking: boolean;
  empty: boolean;
  place: boolean;
}

/** What stands in the address. Patterns do not: what somebody types there may be the secret itself. */
const FIELDS = ["tools", "results", "older", "larger", "turns", "thinking", "empty", "place"] as const;
type Field = (typeof FIELDS)[number];

/** The names of tools or patterns that somebody typed, one to a line or with commas between. */
export function listed(text: string, between: RegExp): string[] {
  return text.split(between).map((one) => one.trim()).filter(Boolean);
}

export function wishesOf(address: Address, kind: EditKind, patterns: string): Wishes {
  const { said } = address;
  // Without a word, a trim takes out results: that saves most and loses least.
  const isBare = kind === "trim" && FIELDS.every((name) => said[name] === undefined);
  return {
    tools: said.tools ?? "", results: said.results === "1" || isBare, older: said.older ?? "", larger: said.larger ?? "", turns: said.turns ?? "",
    patterns, thinking: said.thinking === "1", empty: said.empty === "1", place: said.place === "1",
  };
}

/** The same for the address. That nothing is wished is said as well, or it would be taken for no word. */
export function saidOf(wishes: Wishes): Record<Field, string | undefined> {
  const flag = (is: boolean) => (is ? "1" : undefined);
  return {
    tools: wishes.tools || undefined, results: wishes.results ? "1" : "0", older: wishes.older || undefined, larger: wishes.larger || undefined, turns: wishes.turns || undefined,
    thinking: flag(wishes.thinking), empty: flag(wishes.empty), place: flag(wishes.place),
  };
}

const NUMBERS: ["older" | "larger" | "turns", string, number, string][] = [
  ["older", "older_than", 0, "Older than"],
  ["larger", "larger_than", 0, "Larger than"],
  ["turns", "keep_turns", 1, "Turns to keep"],
];

/** What is wrong with the wishes before anybody is asked; null where nothing is. */
export function mistake(kind: EditKind, wishes: Wishes): string | null {
  if (kind !== "trim") return null;
  for (const [name, , least, word] of NUMBERS) {
    const text = wishes[name].trim();
    if (text && !(/^\d{1,9}$/.test(text) && Number(text) >= least)) return `${word}: a whole number${least > 0 ? ` from ${least}` : ""}.`;
  }
  const asks = listed(wishes.tools, /[,\n]/).length > 0 || wishes.results || NUMBERS.some(([name]) => wishes[name].trim());
  return asks ? null : "Say what is to be taken out.";
}

export function bodyOf({ kind, session }: Edit, wishes: Wishes): Record<string, unknown> {
  const body: Record<string, unknown> = { session, in_place: wishes.place, keep_thinking: wishes.thinking };
  if (kind === "repair" && wishes.empty) body.drop_empty_thinking = true;
  if (kind === "redact") {
    const patterns = listed(wishes.patterns, /\n/);
    if (patterns.length > 0) body.patterns = patterns;
  }
  if (kind === "trim") {
    const tools = listed(wishes.tools, /[,\n]/);
    if (tools.length > 0) body.tools = tools;
    if (wishes.results) body.results_only = true;
    for (const [name, field] of NUMBERS) if (wishes[name].trim()) body[field] = Number(wishes[name]);
  }
  return body;
}
