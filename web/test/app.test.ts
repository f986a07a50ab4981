// The parts of the app that need neither a page nor a server.

import { strict as assert } from "node:assert";
import { test } from "node:test";
import { at, readAddress, saying, writeAddress } from "../src/app/address";
import { lastName, shortNames } from "../src/app/names";
import { periodWords } from "../src/app/periods";
import { question } from "../src/app/search/finding";
import { runs } from "../src/app/search/snippet";
import { age, when } from "../src/app/times";

test("an address is read as it was written, whatever stands in it", () => {
  for (const said of ["", "a b", "ä&=#?", "<b>", "%zz", "日本", "a+b"]) {
    const address = at("search", { q: said, project: "/home/x" }, "t3.7");
    assert.deepEqual(readAddress(writeAddress(address)), { ...address, said: { ...(said && { q: said }), project: "/home/x" } });
  }
  assert.equal(readAddress("/?view=nothing").view, "home");
  assert.equal(writeAddress(saying(at("home", { live: "1" }), { live: undefined })), "/");
});

test("a project is named by as much of its path as tells it apart", () => {
  const names = shortNames(["/home/a/api", "/home/b/api", "/home/b/shop", "api", "/"]);
  assert.deepEqual([...names.values()], ["a/api", "b/api", "shop", "api", "/"]);
  assert.equal(lastName("C:\\work\\shop"), "shop");
});

test("how long ago", () => {
  const now = Date.parse("2026-03-04T12:00:00Z");
  const ago = (minutes: number) => age(now - minutes * 60_000, now);
  assert.deepEqual([ago(0), ago(5), ago(59), ago(60), ago(1439), ago(1440), ago(43_199)], ["now", "5m", "59m", "1h", "23h", "1d", "29d"]);
  assert.equal(/^\d{4}-\d\d-\d\d$/.test(ago(43_200)), true);
  assert.equal(ago(-5), "now");
  assert.deepEqual([when(null), when(""), when("no time"), when("1970-01-01T00:00:01Z")], [null, null, null, 1000]);
});

test("a snippet is cut before its first match, and the marks are where the server said", () => {
  const whole = (snippet: string, ranges: number[][], lead = 40) => runs(snippet, ranges, lead).map(({ text, isMatch }) => (isMatch ? `[${text}]` : text)).join("");
  assert.equal(whole("a refund here", [[2, 8]]), "a [refund] here");
  assert.equal(whole("😀😀 refund", [[3, 9]]), "😀😀 [refund]");
  assert.equal(whole("one two three four five refund", [[24, 30]], 10), "…five [refund]");
  assert.equal(whole("xxxxxxxxxxxxxxxxxxxxxxxxrefund", [[24, 30]], 10), "…xxxxxxxxxx[refund]");
  // What makes no sense marks nothing and loses nothing.
  assert.equal(whole("text", [[9, 12], [3, 1], [-4, 2], [1, 3]]), "[te][x]t");
  assert.equal(whole("text", []), "text");
});

test("a question says how its letters are meant", () => {
  assert.equal(question({ q: "  " }), null);
  assert.deepEqual(question({ q: "a", rank: "1", other: "x" }), { q: "a", rank: true });
  assert.deepEqual(question({ q: "a", mode: "literal", rank: "1" }), { q: "a", mode: "literal", ignore_case: true });
  assert.deepEqual(question({ q: "a", mode: "regex", case: "1", project: "/p" }), { q: "a", project: "/p", mode: "regex", ignore_case: false });
});

test("a span of time in words", () => {
  assert.equal(periodWords("7d", undefined), "Last 7 days");
  assert.equal(periodWords("2026-02-03", "2026-02-03"), "2026-02-03");
  assert.equal(periodWords("2026-02-03", "2026-02-05"), "2026-02-03 – 2026-02-05");
  assert.equal(periodWords(undefined, "2026-02-05"), "Until 2026-02-05");
});
