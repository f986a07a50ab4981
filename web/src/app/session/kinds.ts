// The kinds of what a model is sent: their order from the bottom up, their names and their colours.

const KNOWN: Record<string, [name: string, what: string]> = {
  system: ["The client's own", "its prompt, the tools, reminders and attachments; most of it is not in the file"],
  summary: ["Summary", "what a compaction put in the place of what was said before"],
  prompts: ["Prompts", "what people typed"],
  text: ["Answers", "what the model said"],
  thinking: ["Thinking", "what the model thought"],
  calls: ["Calls", "what tools were given"],
  images: ["Images", "pictures and documents"],
};

const ORDER = ["system", "summary", "prompts", "text", "thinking", "calls", "images"];

const RESULT = "result:";
const TOOLS = 4; // tools that have a band of their own

/** A band of the chart: one kind, or the results of the tools that have none of their own. */
export interface Band {
  name: string;
  kinds: string[];
  /** The number of its colour. */
  colour: string;
}

export function kindName(kind: string): string {
  if (kind.startsWith(RESULT)) return kind === `${RESULT}others` ? "Results of other tools" : `Results: ${kind.slice(RESULT.length)}`;
  return KNOWN[kind]?.[0] ?? kind;
}

export function kindWhat(kind: string): string {
  return KNOWN[kind]?.[1] ?? (kind.startsWith(RESULT) ? "what came back" : "");
}

/** The bands for some kinds, the largest results apart and the others together. */
export function bandsOf(sizes: ReadonlyMap<string, number>): Band[] {
  const bands: Band[] = ORDER.filter((kind) => sizes.get(kind)).map((kind) => ({ name: kindName(kind), kinds: [kind], colour: kind }));
  const results = [...sizes].filter(([kind, size]) => size > 0 && !ORDER.includes(kind)).sort((one, other) => other[1] - one[1]).map(([kind]) => kind);
  const own = results.length > TOOLS + 1 ? results.slice(0, TOOLS) : results;
  own.forEach((kind, n) => bands.push({ name: kindName(kind), kinds: [kind], colour: `result${n}` }));
  const rest = results.slice(own.length);
  if (rest.length > 0) bands.push({ name: "Results of other tools", kinds: rest, colour: "result5" });
  return bands;
}

/** The colour of a kind by the bands that were drawn. */
export function colourOf(bands: readonly Band[], kind: string): string {
  return bands.find((band) => band.kinds.includes(kind))?.colour ?? "system";
}
