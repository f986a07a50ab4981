import { strict as assert } from "node:assert";
import { test } from "node:test";
import { parseKey, parseMarks } from "../src/chunks";
import { bytes, firstSentence, lineCount, money, safeAddress, span, tokens } from "../src/text";
import { visible, visibleText } from "../src/visible";
import { wholeCalls, wholeCost } from "../src/whole";
import { compare } from "../src/words";

test("figures are short and say their unit", () => {
  assert.deepEqual([0, 950, 2600, 614_000, 57_900_000].map(tokens), ["0", "950", "2.6k", "614k", "57.9M"]);
  assert.deepEqual([300, 41_000, 65_000, 7_800_000, 273_600_000].map(span), ["0.3s", "41s", "1m\u00a005s", "2h\u00a010m", "3d\u00a04h"]);
  assert.deepEqual([12, 96_000, 1_500_000].map(bytes), ["12\u00a0B", "96\u00a0KB", "1.5\u00a0MB"]);
});

test("an unknown price is a dash and a small one is not nothing", () => {
  assert.deepEqual([null, undefined, 0, 0.001, 0.0099, 0.01, 1234.5].map(money), ["–", "$0.00", "$0.00", "<$0.01", "<$0.01", "$0.01", "$1,234.50"]);
});

test("a session costs what its sub-agents cost too, as far as prices are known", () => {
  const head = (own: number | null | undefined, theirs: number | null | undefined) => wholeCost({
    session: "", title: "", turns: 0, work: own === undefined ? {} : { cost_usd: own },
    ...(theirs === undefined ? {} : { agents: 1, agents_work: { cost_usd: theirs } }),
  });
  assert.deepEqual([head(1, undefined), head(1, 2), head(undefined, 2), head(1, null), head(null, 2)], [1, 3, 2, 1, 2]);
  assert.deepEqual([head(null, undefined), head(null, null), head(undefined, null), head(undefined, undefined)], [null, null, null, 0]);
});

test("calls that sub-agents made in the session's own file are the session's", () => {
  const work = { calls: 5, failed: 1 };
  assert.deepEqual(wholeCalls({ session: "", title: "", turns: 0, work, inside_calls: 2, inside_failed: 1 }), [7, 2]);
  assert.deepEqual(wholeCalls({ session: "", title: "", turns: 0, work: {}, agents_work: { calls: 3 } }), [0, 0]);
});

test("only http, https and mailto can be opened", () => {
  for (const good of ["http://a.example", "HTTPS://a.example/x?y#z", "mailto:a@b.example"]) assert.equal(safeAddress(good), good);
  for (const bad of ["javascript:alert(1)", "java\tscript:alert(1)", " https://a", "data:text/html,x", "//a.example", "/x", "file:///etc", "https:\u0000//a", "vbscript:x", "http:a", ""]) {
    assert.equal(safeAddress(bad), null, bad);
  }
});

test("what cannot be seen is drawn", () => {
  assert.equal(visibleText("a\u001b[31m\u0000\u202e\u0085\ud800b\r\nc\td"), "a␛[31m␀[RLO][U+0085]\ufffdb\nc\td");
  assert.equal(visibleText("🌿 é 日本"), "🌿 é 日本");
});

test("a mark stands for every one of them, the first too", () => {
  const made = visible("\u001b[31m red \u202e turned\u001b") as unknown[];
  assert.deepEqual(made.map((one) => typeof one === "string" ? one : (one as { props: { children: string } }).props.children), ["ESC", "[31m red ", "RLO", " turned", "ESC"]);
  assert.equal(visible("plain"), "plain");
});

test("changed words are told apart, and lines with little in common are not", () => {
  const both = compare("    shelf[loaf] -= 1", "    shelf[loaf] -= 2");
  assert.deepEqual(both?.[1].filter((run) => run.isChanged).map((run) => run.text), ["2"]);
  assert.equal(both?.[0].map((run) => run.text).join(""), "    shelf[loaf] -= 1");
  assert.equal(compare("alpha beta", "gamma delta"), null);
});

test("keys name turns, items and those of sub-agents", () => {
  assert.deepEqual(parseKey("t3"), { agent: "", turn: 3, item: 0 });
  assert.deepEqual(parseKey("t3.5"), { agent: "", turn: 3, item: 5 });
  assert.deepEqual(parseKey("a-x.t9.t3.5"), { agent: "x.t9", turn: 3, item: 5 });
  assert.equal(parseKey("top"), null);
});

test("marks and lines are counted", () => {
  assert.deepEqual(parseMarks("p3 x12 A"), [{ letter: "p", lines: 3 }, { letter: "x", lines: 12 }, { letter: "A", lines: 1 }]);
  assert.deepEqual(["", "a", "a\n", "a\nb", "\n"].map(lineCount), [1, 1, 1, 2, 1]);
  assert.equal(firstSentence("  One thing. Then another."), "One thing.");
});
