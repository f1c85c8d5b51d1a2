import assert from "node:assert/strict";
import { test } from "node:test";
import { dice, page } from "./reading.mjs";

const { Windows } = await page("windows.js");

/** A server with runs of so many events, as the API describes it. */
function server(counts) {
  return async (run, { before, after, limit }) => {
    const total = counts[run];
    const last = after != null ? Math.min(total, after + limit) : Math.min(total, (before ?? Infinity) - 1);
    const first = after != null ? after + 1 : Math.max(1, last - limit + 1);
    const events = [];
    for (let seq = first; seq <= last; seq++) events.push({ seq });
    return { run, events, first, last, more_before: first > 1, more_after: last < total };
  };
}

const COUNTS = { u1: 700, u2: 0, u3: 301, u4: 40 };
const ALL = Object.entries(COUNTS).flatMap(([run, total]) =>
  Array.from({ length: total }, (_, index) => `${run}/${index + 1}`),
);

test("from the newest back to the first, every event once", async () => {
  const windows = new Windows(server(COUNTS), Object.keys(COUNTS));
  const found = [];
  for (let window = await windows.newest(); window; window = await windows.before())
    found.unshift(...window.events.map(({ seq }) => `${window.run}/${seq}`));
  assert.deepEqual(found, ALL);
  assert.ok(windows.atEnd && !windows.older);
  assert.ok(windows.has("u1", 1) && windows.has("u4", 40) && !windows.has("u4", 41));
});

test("from any place to both ends, in any order, every event once", async () => {
  const roll = dice(3);
  for (let round = 0; round < 60; round++) {
    const [run, seq] = ALL[roll(ALL.length)].split("/");
    const windows = new Windows(server(COUNTS), Object.keys(COUNTS));
    const found = new Set();
    const take = (window) => {
      for (const event of window?.events ?? []) {
        const key = `${window.run}/${event.seq}`;
        assert.ok(!found.has(key), `${key} twice`);
        found.add(key);
      }
    };
    take(await windows.around(run, Number(seq)));
    assert.ok(found.has(`${run}/${seq}`) && windows.has(run, Number(seq)));
    while (windows.older || windows.newer) take(await (roll(2) ? windows.before() : windows.after()));
    assert.equal(found.size, ALL.length);
  }
});

test("a run that grows is read on", async () => {
  const counts = { r1: 10 };
  const windows = new Windows(server(counts), ["r1"]);
  await windows.newest();
  assert.equal(windows.after(), null);
  counts.r1 = 13;
  const { events } = await windows.after(true);
  assert.deepEqual(
    events.map(({ seq }) => seq),
    [11, 12, 13],
  );
});

test("what was on its way when all was forgotten is dropped", async () => {
  const windows = new Windows(server({ u1: 2000 }), ["u1"]);
  const late = windows.newest();
  const wanted = windows.around("u1", 200);
  assert.equal(await late, null);
  assert.equal((await wanted).events[0].seq, 81);
  assert.ok(windows.newer && windows.older);
});

test("a call that fails does not keep the next one from being made", async () => {
  let fails = true;
  const get = server({ u1: 5 });
  const windows = new Windows(
    async (...asked) => {
      if (fails) throw new Error("cut");
      return get(...asked);
    },
    ["u1"],
  );
  await assert.rejects(windows.newest(), /cut/);
  fails = false;
  assert.equal((await windows.newest()).events.length, 5);
});
