import assert from "node:assert/strict";
import { test } from "node:test";
import { page } from "./reading.mjs";

const { ago, cost, counted, dollars, duration, near, oneLine, plural, timeOf } = await page("times.js");

test("amounts are short", () => {
  assert.deepEqual([0, 950, 15_312, 2_400_000].map(counted), ["0", "950", "15.3 k", "2.4 M"]);
  assert.deepEqual([0, 0.0294, 12.5, 1234.5].map(dollars), ["$0.00", "$0.0294", "$12.50", "$1,234.50"]);
  assert.deepEqual([plural(1, "file"), plural(2000, "file")], ["1 file", "2,000 files"]);
});

test("a cost says what is estimated, and what nobody knows", () => {
  assert.equal(cost({}), "");
  assert.equal(cost({ unpriced_calls: 3 }), "unknown");
  assert.equal(cost({ cost_usd: null, cost_estimated_usd: null, unpriced_calls: 0 }), "");
  assert.equal(cost({ cost_usd: 1, unpriced_calls: 0 }), "$1.00");
  assert.equal(cost({ cost_usd: 1, cost_estimated_usd: 0.5, unpriced_calls: 2 }), "at least ~$1.50");
  assert.equal(cost({ cost_usd: 0 }), "$0.00");
});

test("times and spans", () => {
  assert.deepEqual([0.0421, 3.17, 75, 7260].map(duration), ["42 ms", "3.2 s", "1 min 15 s", "2 h 1 min"]);
  assert.deepEqual(
    [10, 90, 7200, 3 * 86_400].map((span) => ago(1e9 - span, 1e9)),
    ["now", "1 min ago", "2 h ago", "3 d ago"],
  );
  assert.match(ago(1e9, 1e9 + 1e7), /^2001-09-0\d$/);
  assert.equal(ago(null), "–");
});

test("when an event was, by whatever it says", () => {
  assert.equal(timeOf({ time: "2026-11-15T20:29:02Z" }), Date.UTC(2026, 10, 15, 20, 29, 2) / 1000);
  assert.equal(timeOf({ agent_time: "1794771673193" }), 1794771673.193);
  assert.equal(timeOf({ agent_time: "soon" }), null);
  assert.equal(timeOf({}), null);
});

test("paths and lines", () => {
  assert.equal(near("/a/b/c.txt", "/a/b"), "c.txt");
  assert.equal(near("/a/bc.txt", "/a/b/"), "/a/bc.txt");
  assert.equal(near("/a", null), "/a");
  assert.equal(oneLine(" a\n b\tc "), "a b c");
  assert.equal(oneLine(null), "");
  assert.equal(oneLine("x".repeat(300), 10), "x".repeat(10) + "…");
});
