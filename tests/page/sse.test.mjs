import assert from "node:assert/strict";
import { test } from "node:test";
import { dice, page } from "./reading.mjs";

const { Messages } = await page("feed.js");

const STREAM =
  ': hello\n\nid: r1:3\nevent: events\ndata: {"a": 1}\n\nevent: board\r\ndata: one\r\ndata: two\r\n\r\ndata:bare\r\rretry: 5\n\nid: x\ndata\n\ndata: not whole';
const WHOLE = [
  { event: "events", id: "r1:3", data: '{"a": 1}' },
  { event: "board", data: "one\ntwo" },
  { event: "message", data: "bare" },
  { event: "message", id: "x", data: "" },
];

test("messages are the same however the stream is cut", () => {
  assert.deepEqual(new Messages().read(STREAM), WHOLE);
  const roll = dice(7);
  for (let round = 0; round < 200; round++) {
    const messages = new Messages();
    const found = [];
    for (let at = 0; at < STREAM.length;) {
      const next = at + 1 + roll(9);
      found.push(...messages.read(STREAM.slice(at, next)));
      at = next;
    }
    assert.deepEqual(found, WHOLE);
  }
});
