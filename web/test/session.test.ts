import { strict as assert } from "node:assert";
import { test } from "node:test";
import { guessMarks, marksOf } from "../src/app/session/guesses";
import { bandsOf, colourOf, kindName } from "../src/app/session/kinds";
import { resumeLine } from "../src/app/session/resume";
import { sentBlocks } from "../src/app/session/sent";
import type { Flow } from "../src/parts";

test("a resume line is quoted, and holds nothing that a terminal would obey", () => {
  assert.equal(resumeLine("abc-1", "/home/ada"), "cd /home/ada && claude --resume abc-1");
  assert.equal(resumeLine("abc-1", "/home/ada's $(x)"), "cd '/home/ada'\\''s $(x)' && claude --resume abc-1");
  assert.equal(resumeLine("abc-1", "/a\u001b[201~\nb"), "claude --resume abc-1");
  assert.equal(resumeLine("abc-1", "relative"), "claude --resume abc-1");
  assert.equal(resumeLine("--dangerous", null), "claude --resume '--dangerous'");
  assert.equal(resumeLine("a\nb", "/home"), null);
});

test("a turn is guessed by its head: a prompt, its calls, an answer at its end", () => {
  const letters = (calls: number, first: number, room: number, isEnd: boolean, failed = 0) =>
    guessMarks({ n: 1, title: "x", status: "", work: { calls, failed } }, first, room, isEnd).map((mark) => mark.letter).join("");
  assert.equal(letters(0, 0, 2, true), "pA");
  assert.equal(letters(3, 0, 5, true), "pcccA");
  assert.equal(letters(3, 0, 5, true, 1), "pxccA");
  assert.equal(letters(100, 40, 40, false), "c".repeat(40));
});

test("marks tell failed calls, last answers and what is for the model alone", () => {
  const flows: Flow[] = [
    { kind: "prompt", parts: [{ kind: "text", text: "a\nb\nc" }] },
    { kind: "call", tool: "Bash", argument: "", outcome: "", state: "failed" },
    { kind: "call", tool: "Bash", argument: "", outcome: "", state: "done" },
    { kind: "note", text: "", is_meta: true },
    { kind: "answer", parts: [], is_last: true },
  ];
  const { marks } = marksOf(flows);
  assert.equal(marks.map((mark) => mark.letter).join(""), "pxcmA");
  assert.equal(marks[0]?.lines, 3);
});

test("the largest results have bands of their own and no kind is lost", () => {
  const sizes = new Map([["system", 5], ["text", 0], ...Array.from({ length: 9 }, (_, n): [string, number] => [`result:T${n}`, n + 1])]);
  const bands = bandsOf(sizes);
  const kinds = bands.flatMap((band) => band.kinds);
  assert.equal(kinds.length, 10);
  assert.deepEqual(bands.map((band) => band.name), ["The client's own", "Results: T8", "Results: T7", "Results: T6", "Results: T5", "Results of other tools"]);
  assert.equal(colourOf(bands, "result:T0"), "result5");
  assert.equal(kindName("result:others"), "Results of other tools");
});

test("what is sent is told by kind, whatever its shape", () => {
  const blocks = sentBlocks([
    { role: "user", content: "hello" },
    { role: "assistant", content: [{ type: "thinking", thinking: "hm" }, { type: "tool_use", id: "c1", name: "Read", input: { a: 1 } }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: [{ type: "text", text: "file" }, { type: "image" }] }, { type: "what" }] },
    { role: "user", content: 7 },
  ]);
  assert.deepEqual(blocks.map((block) => [block.kind, block.call]), [["prompts", null], ["thinking", null], ["calls", "c1"], ["result:Read", "c1"]]);
  assert.equal(blocks[3]?.words, "file [image]");
});
