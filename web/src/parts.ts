// Made by scripts/make_part_types.py from clew.view.parts; do not edit.
// What has its default is left out of the JSON, so every field with a default may be missing.

/** Words as somebody typed them, shown without any meaning of their characters. */
export interface Text {
  kind: "text";
  text: string;
  is_muted?: boolean;
}

/** What a model wrote: Markdown, in which HTML is text. */
export interface Markdown {
  kind: "markdown";
  text: string;
}

/** Lines of fixed width: a command, a file's content, an output. */
export interface Code {
  kind: "code";
  text: string;
  language?: string | null;
  path?: string | null;
  first_line?: number | null;
  stream?: "err" | "out" | null;
  total_lines?: number | null;
}

/** Some lines of a diff; each begins with a space, `+` or `-`. */
export type Hunk = [old_start: number, new_start: number, lines: string[]];

/** What changed in a file. */
export interface Diff {
  kind: "diff";
  path: string;
  hunks: Hunk[];
  added?: number;
  removed?: number;
  is_new?: boolean;
}

/** Rows of short texts; without a head it is names and values. */
export interface Table {
  kind: "table";
  rows: string[][];
  head?: string[];
}

/** A picture or a document. Its bytes are there where the session has them. */
export interface Image {
  kind: "image";
  media_type: string;
  name?: string | null;
  width?: number | null;
  height?: number | null;
  size?: number | null;
  data?: string | null;
  url?: string | null;
}

/** Something clew says of the session: damage, a part left out, a part nobody knows. */
export interface Notice {
  kind: "notice";
  text: string;
  level?: "error" | "info" | "warning";
  line?: number | null;
  offset?: number | null;
  length?: number | null;
  detail?: string | null;
}

/** One thing to do. */
export interface Todo {
  text: string;
  state: "completed" | "in_progress" | "pending" | "removed";
  was?: "completed" | "in_progress" | "pending" | "removed" | null;
  is_new?: boolean;
}

/** A list of things to do, and what changed in it. */
export interface Todos {
  kind: "todos";
  items: Todo[];
}

/** Parts under a heading, which may be folded. */
export interface Section {
  kind: "section";
  title: string;
  parts: Part[];
  is_open?: boolean;
}

/** What was done in a turn, by a sub-agent or in a session; what its sub-agents did is not in it. */
export interface Work {
  calls?: number;
  failed?: number;
  files?: number;
  added?: number;
  removed?: number;
  duration_ms?: number | null;
  is_estimated?: boolean;
  waited_ms?: number | null;
  context_tokens?: number | null;
  output_tokens?: number;
  total_tokens?: number;
  cost_usd?: number | null;
}

/** What a person said, or sent along while the model worked. */
export interface Prompt {
  kind: "prompt";
  parts: Part[];
  uuid?: string | null;
  time?: number | null;
  input_kind?: string | null;
  is_queued?: boolean;
}

/** What the model said to the person. */
export interface Answer {
  kind: "answer";
  parts: Part[];
  uuid?: string | null;
  time?: number | null;
  model?: string | null;
  is_last?: boolean;
  is_error?: boolean;
}

/** What the model thought; without words when it is encrypted. */
export interface Thinking {
  kind: "thinking";
  text: string;
  uuid?: string | null;
  is_encrypted?: boolean;
}

/** A sub-agent. Its turns are asked for by its id. */
export interface Agent {
  agent_id: string;
  type?: string | null;
  description?: string | null;
  work?: Work;
  turns?: number;
}

/** A call of a tool on one line, and what was given and came back. */
export interface Call {
  kind: "call";
  tool: string;
  argument: string;
  outcome: string;
  state: "done" | "failed" | "missing" | "refused" | "running";
  id?: string | null;
  uuid?: string | null;
  result_uuid?: string | null;
  time?: number | null;
  duration_ms?: number | null;
  given?: Part[];
  result?: Part[];
  agents?: Agent[];
}

/** What the client or a person did beside the conversation: a local command, news, a link. */
export interface Note {
  kind: "note";
  text: string;
  parts?: Part[];
  uuid?: string | null;
  time?: number | null;
  is_meta?: boolean;
  agents?: Agent[];
}

/** A line across: from here on things are different. */
export interface Rule {
  kind: "rule";
  text: string;
  reason: "compaction" | "fork" | "interrupt" | "model" | "resume" | "rewind" | "session";
  uuid?: string | null;
  parts?: Part[];
}

/** A turn in a list of turns. */
export interface TurnHead {
  n: number;
  title: string;
  status: string;
  work: Work;
  uuid?: string | null;
  started?: number | null;
  ended?: number | null;
  marks?: string[];
  is_off?: boolean;
}

/** A session in a few facts. */
export interface Head {
  session: string;
  title: string;
  turns: number;
  work: Work;
  project?: string | null;
  branch?: string | null;
  slug?: string | null;
  started?: number | null;
  ended?: number | null;
  models?: string[];
  versions?: string[];
  session_ids?: string[];
  agents?: number;
  agents_work?: Work;
  inside_calls?: number;
  inside_failed?: number;
  damaged?: number;
  compactions?: number;
  branches?: number;
  unpriced?: string[];
  prices?: string;
  lines?: number;
  bytes?: number;
}

export type Part = Text | Markdown | Code | Diff | Table | Image | Notice | Todos | Section;

export type Flow = Prompt | Answer | Thinking | Call | Note | Rule | Notice;
