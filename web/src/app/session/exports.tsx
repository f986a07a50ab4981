// A session in another format, as a download of the browser's own.

import type { ComponentChildren } from "preact";
import { Download } from "../download";

/** The formats, as `clew export` has them. */
const FORMATS: [to: string, name: string, what: string][] = [
  ["html", "Page", "one file to read, search and share"],
  ["md", "Markdown", "for a repository, a wiki or an issue"],
  ["text", "Plain text", ""],
  ["json", "JSON", "one document"],
  ["jsonl", "JSON Lines", "one turn a line"],
  ["api", "Messages API", "what the model is sent on resume"],
  ["openai", "Chat Completions", "messages, for training too"],
  ["sharegpt", "ShareGPT", "as most training tools take it"],
  ["atif", "ATIF", "a trajectory for interchange"],
];

export function ExportRow({ session, to, children }: { session: string; to: string; children: ComponentChildren }) {
  return <Download place={`/api/export/${encodeURIComponent(session)}`} said={{ to }} class="menurow">{children}</Download>;
}

export function Exports({ session }: { session: string }) {
  return (
    <div class="menugroup">
      {FORMATS.map(([to, name, what]) => <ExportRow key={to} session={session} to={to}><span>{name}</span><span class="menuwhat">{what}</span></ExportRow>)}
    </div>
  );
}
