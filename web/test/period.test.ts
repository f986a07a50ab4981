import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { Usage } from "../src/app/api";
import { chartOf, dayKey, dayNumber, marks, periodOf, ticks, weekday } from "../src/app/usage/period";

type Row = Usage["rows"][number];

function row(key: string, cost: number | null, models: Record<string, number>): Row {
  const tokens = (input: number) => ({ input, output: 0, cache_read: 0, cache_write_5m: 0, cache_write_1h: 0 });
  const all = Object.values(models).reduce((sum, one) => sum + one, 0);
  const by = Object.entries(models).map(([model, n]) => ({ model, tokens: tokens(n), messages: 1, cost_usd: cost === null ? null : (cost * n) / all, unpriced_messages: 0 }));
  return { key, models: Object.keys(models), tokens: tokens(all), messages: 1, cost_usd: cost, unpriced_messages: 0, by_model: by };
}

test("so many days are that many, today among them", () => {
  for (const [days, since] of [["7", "2026-02-26"], ["30", "2026-02-03"], ["90", "2025-12-05"]] as const) {
    const period = periodOf({ days }, "2026-03-04");
    assert.deepEqual([period.since, period.until, period.name], [since, "2026-03-04", `${days} days`]);
    assert.equal(chartOf([], period, "cost", "2026-03-04").buckets.length, Number(days));
  }
  assert.equal(periodOf({}, "2026-03-04").span, "30");
  assert.equal(periodOf({ days: "12", since: "2026-02-30" }, "2026-03-04").span, "30");
  assert.deepEqual(periodOf({ since: "2026-01-01", days: "7" }, "2026-03-04").since, "2026-01-01");
});

test("days are counted over the end of a year and a leap day", () => {
  assert.equal(dayKey((dayNumber("2024-02-28") ?? 0) + 2), "2024-03-01");
  assert.equal(dayKey((dayNumber("2025-12-31") ?? 0) + 1), "2026-01-01");
  assert.equal(weekday(dayNumber("2026-11-16") ?? 0), 0);
  for (const odd of ["", "unknown", "2026-2-3", "2026-02-30", "2026-13-01", "2026-02-03T00:00"]) assert.equal(dayNumber(odd), null, odd);
});

test("days, weeks and months hold together what the days hold", () => {
  for (const span of [10, 200, 3000]) {
    const last = dayNumber("2026-11-16") ?? 0;
    const rows = Array.from({ length: span }, (_, n) => n).filter((n) => n % 3 !== 1).map((n) => row(dayKey(last - n), n % 5 === 0 ? null : n, { a: n + 1, b: 2, [`m${n % 9}`]: 1 }));
    const chart = chartOf(rows, periodOf({ days: "all" }, "2026-11-16"), "tokens", "2026-11-16");
    assert.equal(chart.step, span === 10 ? "day" : span === 200 ? "week" : "month");
    assert.equal(chart.series.length, 6);
    assert.equal(chart.buckets.reduce((sum, one) => sum + one.total, 0), rows.reduce((sum, one) => sum + one.tokens.input, 0));
    assert.equal(chart.buckets.reduce((sum, one) => sum + (one.cost ?? 0), 0), rows.reduce((sum, one) => sum + (one.cost_usd ?? 0), 0));
    chart.buckets.forEach((one, at) => assert.equal(one.first, at === 0 ? chart.first : (chart.buckets[at - 1]?.last ?? 0) + 1));
    assert.equal(chart.buckets[chart.buckets.length - 1]?.last, last);
  }
});

test("a day without a price has no cost, and not a cost of nothing", () => {
  const chart = chartOf([row("2026-03-04", null, { x: 5 })], periodOf({ days: "7" }, "2026-03-04"), "cost", "2026-03-04");
  assert.equal(chart.buckets[6]?.cost, null);
  assert.equal(chart.buckets[6]?.tokens, 5);
});

test("axes have a few round words", () => {
  for (const most of [0.003, 0.62, 7, 43.29, 57_900_000]) {
    const made = ticks(most);
    assert.equal(made[0], 0);
    assert.equal((made[made.length - 1] ?? 0) >= most, true, String(most));
    assert.equal(made.length >= 3 && made.length <= 6, true, String(made));
  }
  for (const span of [1, 7, 30, 90, 400, 4000]) {
    const made = marks(20_000, 20_000 + span - 1, 9);
    assert.equal(made.length <= 10 && made.every((day) => day >= 20_000 && day < 20_000 + span), true, `${span}: ${made.length}`);
    assert.equal(made.length > 0, true, String(span));
  }
});
