import assert from "node:assert/strict";
import { test } from "node:test";
import { page } from "./reading.mjs";

const { Feed } = await page("feed.js");

/** A server that gives each connection some events of one run and then cuts it. */
function cutting(total, each) {
  const asked = [];
  const open = async (cursor, signal) => {
    asked.push(cursor);
    const from = Number(/:(\d+)/.exec(cursor)?.[1] ?? 0);
    const last = Math.min(total, from + each);
    const lines = [];
    for (let seq = from + 1; seq <= last; seq++) lines.push(`id: r1:${seq}\nevent: events\ndata: {"seq": ${seq}}\n\n`);
    // cut in the middle of a message that is then said again
    if (last < total) lines.push(`id: r1:${last + 1}\nevent: events\ndata: {"se`);
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(lines.join("")));
        if (last < total) controller.close();
        signal.addEventListener("abort", () => last === total && controller.close());
      },
    });
    return new Response(body);
  };
  return { open, asked };
}

test("a stream that is cut goes on where it was, and each event is heard once", async () => {
  const { open, asked } = cutting(20, 3);
  const heard = [];
  const states = [];
  await new Promise((resolve) => {
    const feed = new Feed({
      open,
      hear: (event, { seq }) => {
        heard.push(seq);
        if (seq === 20) resolve(feed.stop());
      },
      status: (state) => {
        states.push(state);
        if (state === "lost") queueMicrotask(() => queueMicrotask(() => feed.wake()));
      },
    });
    feed.watch(new Map([["r1", 0]]));
  });
  assert.deepEqual(
    heard,
    Array.from({ length: 20 }, (_, index) => index + 1),
  );
  assert.deepEqual(asked.slice(0, 3), ["r1:0", "r1:3", "r1:6"]);
  assert.deepEqual(states.slice(0, 4), ["connected", "lost", "connected", "lost"]);
});

test("what a connection says after another one was begun is not heard", async () => {
  const streams = [];
  const open = async (cursor, signal) => {
    let controller;
    const body = new ReadableStream({ start: (own) => (controller = own) });
    streams.push(controller);
    signal.addEventListener("abort", () => controller.error(signal.reason));
    return new Response(body);
  };
  const say = (index, words) => streams[index].enqueue(new TextEncoder().encode(`data: "${words}"\n\n`));
  const heard = [];
  let next;
  const feed = new Feed({ open, hear: (event, words) => (heard.push(words), next()), status: () => null });
  const soon = () => new Promise((resolve) => (next = resolve));
  feed.watch(new Map([["r1", 0]]));
  let told = soon();
  await new Promise(setImmediate);
  say(0, "one");
  await told;
  feed.watch(new Map([["r2", 0]]));
  await new Promise(setImmediate);
  told = soon();
  try {
    say(0, "late");
  } catch {
    // the old stream may be closed already
  }
  say(1, "two");
  await told;
  feed.stop();
  assert.deepEqual(heard, ["one", "two"]);
});

test("a server that says that it ends is not asked again, until somebody wants that", async () => {
  const said = ['data: "last"\n\nevent: stopped\ndata: {}\n\ndata: "never"\n\n', 'data: "again"\n\n'];
  const asked = [];
  const heard = [];
  const states = [];
  let told;
  const feed = new Feed({
    open: async (cursor) => new Response(said[asked.push(cursor) - 1]),
    hear: (event, words) => {
      heard.push(words);
      if (words === "again") told(feed.stop());
    },
    status: (state) => {
      states.push(state);
      if (state === "ended") told();
    },
  });
  await new Promise((resolve) => {
    told = resolve;
    feed.start();
  });
  feed.wake();
  feed.watch(new Map([["r1", 7]]));
  await new Promise(setImmediate);
  assert.deepEqual([asked, heard, states], [[""], ["last"], ["connected", "ended"]]);
  await new Promise((resolve) => {
    told = resolve;
    feed.start();
  });
  assert.deepEqual(asked, ["", "r1:7"]);
  assert.deepEqual(states.slice(2), ["connecting", "connected"]);
});

test("with a token that is used up it does not try again", async () => {
  let calls = 0;
  const feed = new Feed({
    open: async () => {
      calls += 1;
      throw Object.assign(new Error("no"), { status: 401 });
    },
    hear: () => null,
    status: () => assert.fail("nobody waits for it"),
  });
  feed.start();
  await new Promise(setImmediate);
  assert.equal(calls, 1);
});

test("a fault of whoever hears does not stop the stream", async () => {
  const faults = [];
  globalThis.reportError = (error) => faults.push(error.message);
  const { open } = cutting(2, 5);
  await new Promise((resolve) => {
    const feed = new Feed({
      open,
      hear: (event, { seq }) => {
        if (seq === 1) throw new Error("a fault");
        resolve(feed.stop());
      },
      status: () => null,
    });
    feed.watch(new Map([["r1", 0]]));
  });
  assert.deepEqual(faults, ["a fault"]);
});
