// What a turn will look like: a guess by its head before it is there, and the truth after.

import type { Letter, Mark } from "../../chunks";
import type { Flow, TurnHead } from "../../parts";
import { textsOf } from "../../texts";

const LETTERS: Record<Flow["kind"], Letter> = { prompt: "p", answer: "a", thinking: "t", call: "c", note: "n", rule: "r", notice: "w" };

const known = new Map<string, Mark>();

/** One mark for all items that are alike: a long session has very many. */
function mark(letter: Letter, lines: number): Mark {
  const name = `${letter}${lines}`;
  let found = known.get(name);
  if (!found) {
    found = { letter, lines };
    known.set(name, found);
  }
  return found;
}

function letterOf(flow: Flow): Letter {
  if (flow.kind === "call" && flow.state === "failed") return "x";
  if (flow.kind === "answer" && flow.is_last) return "A";
  if (flow.kind === "note" && flow.is_meta) return "m";
  return LETTERS[flow.kind] ?? "n";
}

/** The marks of items, and about how many characters they hold. */
export function marksOf(flows: readonly Flow[]): { marks: Mark[]; size: number } {
  let size = 0;
  const marks = flows.map((flow) => {
    let lines = 1;
    for (const text of textsOf(flow)) {
      size += text.length + 40;
      lines += Math.floor(text.length / 90);
      for (let at = text.indexOf("\n"); at >= 0 && lines < 9999; at = text.indexOf("\n", at + 1)) lines += 1;
    }
    // Beyond some lines the exact number says nothing about the height.
    return mark(letterOf(flow), lines > 40 ? Math.min(9999, Math.ceil(lines / 20) * 20) : lines);
  });
  return { marks, size };
}

const guesses = new Map<string, readonly Mark[]>();

/** What so many items of a turn may be: a prompt, calls, and an answer at the end. */
export function guessMarks(head: TurnHead, first: number, room: number, isEnd: boolean): readonly Mark[] {
  const calls = Math.max(0, Math.min(room, (head.work.calls ?? 0) - Math.max(0, first - 1)));
  const lines = Math.min(6, 1 + Math.floor(head.title.length / 76));
  const name = `${first === 0} ${calls} ${isEnd} ${Boolean(head.work.failed)} ${lines}`;
  let found = guesses.get(name);
  if (!found) {
    found = [
      ...(first === 0 ? [mark("p", lines)] : []),
      ...Array.from({ length: calls }, (_, n) => mark(n === 0 && head.work.failed ? "x" : "c", 2)),
      ...(isEnd ? [mark("A", 4)] : []),
    ];
    guesses.set(name, found);
  }
  return found;
}
