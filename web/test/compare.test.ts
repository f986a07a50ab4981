import { strict as assert } from "node:assert";
import { test } from "node:test";
import { compareTexts } from "../src/app/files/compare";

/** Go by the hunks from one text to the other, as a patch is applied. */
function applied(before: string, hunks: [number, number, string[]][]): string {
  const old = before === "" ? [] : before.replace(/\n$/, "").split("\n");
  const made: string[] = [];
  let at = 0;
  for (const [start, newStart, lines] of hunks) {
    while (at < start - 1) made.push(old[at++] as string);
    assert.equal(made.length, newStart - 1);
    for (const line of lines) {
      if (line[0] !== "+") assert.equal(old[at], line.slice(1));
      if (line[0] !== "-") made.push(line.slice(1));
      if (line[0] !== "+") at += 1;
    }
  }
  return [...made, ...old.slice(at)].map((line) => `${line}\n`).join("");
}

test("a diff of any two texts leads from one to the other", () => {
  let seed = 7;
  const draw = (n: number) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
  for (let round = 0; round < 400; round += 1) {
    const text = () => Array.from({ length: draw(30) }, () => `${"abcd"[draw(4)]}\n`).join("");
    const before = text();
    const after = draw(3) === 0 ? text() : before.split("\n").flatMap((line) => (draw(6) === 0 ? [] : draw(6) === 0 ? [line, "x"] : [line])).join("\n");
    const diff = compareTexts("a", before, after);
    const wanted = after.replace(/\n$/, "") === "" && after !== "\n" ? after.replace(/\n$/, "") : `${after.replace(/\n$/, "")}\n`;
    assert.equal(applied(before, diff.hunks), after === "" ? "" : wanted, JSON.stringify([before, after]));
    assert.equal(diff.hunks.flatMap((hunk) => hunk[2]).filter((line) => line[0] === "+").length, diff.added);
  }
});

test("a changed line is one line less and one more, with three around it", () => {
  const before = Array.from({ length: 20 }, (_, n) => `line ${n}\n`).join("");
  const [hunk] = compareTexts("a", before, before.replace("line 9\n", "line nine\n")).hunks;
  assert.deepEqual(hunk, [7, 7, [" line 6", " line 7", " line 8", "-line 9", "+line nine", " line 10", " line 11", " line 12"]]);
});

test("texts that have nothing in common are told at once", () => {
  const before = Array.from({ length: 5000 }, (_, n) => `a${n}\n`).join("");
  const diff = compareTexts("a", before, before.replaceAll("a", "b"));
  assert.equal(diff.removed, 5000);
  assert.equal(diff.added, 5000);
});
