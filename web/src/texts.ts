// All words of an item, for searching: those that are folded and those that were never drawn as well.

import type { Flow, Part } from "./parts";

function ofParts(parts: Part[] | undefined, into: string[]): void {
  for (const part of parts ?? []) {
    switch (part.kind) {
      case "text":
      case "markdown":
        into.push(part.text);
        break;
      case "code":
        if (part.path) into.push(part.path);
        into.push(part.text);
        break;
      case "diff":
        into.push(part.path);
        for (const hunk of part.hunks) for (const line of hunk[2]) into.push(line.slice(1));
        break;
      case "table":
        if (part.head) into.push(...part.head);
        for (const row of part.rows) into.push(...row);
        break;
      case "image":
        into.push(part.media_type);
        if (part.name) into.push(part.name);
        if (part.url) into.push(part.url);
        break;
      case "notice":
        into.push(part.text);
        if (part.detail) into.push(part.detail);
        break;
      case "todos":
        for (const item of part.items) into.push(item.text);
        break;
      case "section":
        into.push(part.title);
        ofParts(part.parts, into);
    }
  }
}

export function textsOf(flow: Flow): string[] {
  const made: string[] = [];
  switch (flow.kind) {
    case "prompt":
    case "answer":
      ofParts(flow.parts, made);
      break;
    case "thinking":
      made.push(flow.text);
      break;
    case "call":
      made.push(flow.tool, flow.argument, flow.outcome);
      ofParts(flow.given, made);
      ofParts(flow.result, made);
      for (const agent of flow.agents ?? []) made.push(agent.type ?? "", agent.description ?? "");
      break;
    case "notice":
      ofParts([flow], made);
      break;
    default:
      made.push(flow.text);
      ofParts(flow.parts, made);
  }
  return made;
}
