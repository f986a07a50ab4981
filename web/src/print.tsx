// For paper: the whole session, prompts, answers and diffs in full, calls as lines, outputs to twenty lines.

import { render } from "preact";
import { isShown, itemKey, type Chunk } from "./chunks";
import { FlowView, type AgentHost } from "./flow";
import type { Reader } from "./reader";
import { TurnTop } from "./slots";
import { WorkLine } from "./workline";

function paper(reader: Reader): AgentHost {
  return {
    level: reader.level, thinking: reader.thinking, isPrint: true, namesModels: reader.namesModels,
    isOpen: (key, byDefault) => reader.isOpen(key, byDefault),
    toggle: () => undefined,
    mountAgent: () => () => undefined,
  };
}

export function listenForPrint(reader: Reader, place: HTMLElement): void {
  const host = paper(reader);
  addEventListener("beforeprint", () => {
    place.replaceChildren();
    for (const chunk of reader.chunks.get("") ?? []) {
      const element = document.createElement("div");
      render(<PaperChunk chunk={chunk} reader={reader} host={host} />, element);
      place.append(element);
    }
  });
  addEventListener("afterprint", () => {
    for (const element of place.children) render(null, element);
    place.replaceChildren();
  });
}

function PaperChunk({ chunk, reader, host }: { chunk: Chunk; reader: Reader; host: AgentHost }) {
  const head = chunk.first === 0 ? (chunk.head ?? reader.headOf("", chunk.turn)) : null;
  const flows = chunk.load() ?? [];
  const prompt = flows.findIndex((flow) => flow.kind === "prompt");
  return (
    <>
      {head && <TurnTop head={head} agent="" before={reader.headOf("", chunk.turn - 1)} />}
      {head && prompt < 0 && <WorkLine work={head.work} />}
      {flows.map((flow, at) => {
        const letter = chunk.marks[at]?.letter ?? "n";
        // Thinking is on paper only where all of it is open.
        if ((flow.kind === "thinking" && !host.thinking) || !isShown(letter, reader.level)) return null;
        const drawn = <FlowView flow={flow} host={host} id={`print-${itemKey(chunk, at)}`} />;
        return at === prompt && head ? [drawn, <WorkLine work={head.work} />] : drawn;
      })}
    </>
  );
}
