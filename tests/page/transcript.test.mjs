import assert from "node:assert/strict";
import { test } from "node:test";
import { captures, dice, page } from "./reading.mjs";

const { isEcho, Transcript } = await page("transcript.js");

/** All that a transcript shows, as plain values: turns and blocks in their places. */
function told(model) {
  const blocks = [...model.blocks.values()].map(
    ({ stamps, stream, tool_input: typed, tool_output: said, ...block }) => ({
      ...block,
      parent: model.parentOf(block)?.key ?? null,
      echo: block.type === "prompt" && isEcho(model, block),
      discarded: Boolean(block.discarded),
      stream: stream?.text,
      typed: typed?.text,
      said: said?.text,
    }),
  );
  const turns = [...model.turns.values()].map(({ id, started, ended }) => ({ id, started, ended }));
  const byKey = (a, b) => ((a.key ?? a.id) < (b.key ?? b.id) ? -1 : 1);
  return { blocks: blocks.sort(byKey), turns: turns.sort(byKey) };
}

function whole(events) {
  const model = new Transcript();
  model.apply("u1", events);
  return model;
}

test("windows in any order, also overlapping ones, lead to the same transcript", () => {
  const roll = dice(11);
  let count = 0;
  for (const [name, events] of captures()) {
    const expected = told(whole(events));
    for (let round = 0; round < 3; round++) {
      const windows = [];
      for (let at = 0; at < events.length;) {
        const size = 1 + roll(12);
        windows.push(events.slice(Math.max(0, at - roll(4)), at + size));
        at += size;
      }
      const model = new Transcript();
      while (windows.length) model.apply("u1", windows.splice(roll(windows.length), 1)[0]);
      assert.deepEqual(told(model), expected, name);
    }
    count += 1;
  }
  assert.ok(count > 300, `${count} captures`);
});

test("a live run and what is loaded of it afterwards lead to the same transcript", () => {
  for (const [name, events] of captures()) {
    const kept = events.filter(({ type }) => type !== "delta");
    const growing = told(whole(events)).blocks.filter(
      (block) => block.stream !== undefined || block.typed !== undefined || block.said !== undefined,
    );
    const left = new Set(growing.map(({ key }) => key));
    const without = (model) =>
      told(model)
        .blocks.filter(({ key }) => !left.has(key))
        .map(({ message_id: _, ...block }) => block);
    assert.deepEqual(without(whole(kept)), without(whole(events)), name);
  }
});

test("every event of a turn that can be shown has its place", () => {
  for (const [name, events] of captures()) {
    const model = whole(events);
    for (const event of events)
      if (
        ["message", "tool.started", "tool.ended", "permission.requested", "error", "turn.started"].includes(event.type)
      )
        assert.ok(model.find("u1", event.seq), `${name}: ${event.type} ${event.seq}`);
  }
});

const say = (seq, type, fields = {}) => ({ type, seq, turn: 1, ...fields });

test("text that is streamed is heard once, whatever comes twice or late, and then replaced by the message", () => {
  const delta = (seq, text) => say(seq, "delta", { kind: "text", message_id: "m", block: 0, text });
  const model = whole([delta(3, "a"), delta(4, "b"), delta(3, "a"), delta(5, "c"), delta(2, "0")]);
  const [block] = model.blocks.values();
  assert.equal(block.stream.text, "0abc");
  model.apply("u1", [
    say(6, "message", { role: "assistant", kind: "text", message_id: "m", block: 0, text: "whole" }),
    delta(7, "late"),
  ]);
  assert.equal(block.stream, null);
  assert.equal(block.message.text, "whole");
});

test("a text that is being written is gone on with from where it was told", () => {
  const delta = (seq, text) => say(seq, "delta", { kind: "text", message_id: "m", block: 0, text });
  const model = new Transcript();
  model.resume("u1", { kind: "text", text: "so far", message_id: "m", block: 0 }, 10, 1);
  model.apply("u1", [delta(9, "old"), delta(11, " on")]);
  const [block] = model.blocks.values();
  assert.equal(block.stream.text, "so far on");
  assert.equal(block.turn, 1);
});

test("what a retry discards is not shown", () => {
  const model = whole([
    say(1, "delta", { kind: "text", message_id: "m", text: "x" }),
    say(2, "retry", { discards: ["m"] }),
  ]);
  assert.ok([...model.blocks.values()][0].discarded);
});

test("an echo is shown only where nothing else shows the prompt", () => {
  const echo = say(2, "message", { role: "user", text: "go", echo: true });
  const alone = whole([echo]);
  assert.equal(isEcho(alone, [...alone.blocks.values()][0]), false);
  alone.apply("u1", [say(1, "message", { role: "user", text: "go" })]);
  assert.deepEqual(
    [...alone.blocks.values()].map((block) => isEcho(alone, block)),
    [true, false],
  );
});

test("changes and permissions stand beside their call, what a subagent says inside it", () => {
  const model = whole([
    say(1, "tool.started", { call_id: "c", name: "Task" }),
    say(2, "message", { role: "assistant", text: "sub", message_id: "m", parent: "c" }),
    say(3, "file.changed", { path: "/a", change: "created", call_id: "c", phase: "applied" }),
    say(4, "permission.requested", { request_id: "p", call_id: "c" }),
    say(5, "permission.resolved", { request_id: "p", outcome: "allowed", by: "client", who: "phone" }),
  ]);
  const [tool, sub, change, asked] = [...model.blocks.values()];
  assert.deepEqual(
    [sub, change, asked].map((block) => [model.parentOf(block), block.beside]),
    [
      [tool, false],
      [tool, true],
      [tool, true],
    ],
  );
  assert.equal(asked.answer.who, "phone");
});

test("calls that stand within themselves, or deeper than anybody reads, stand at the top", () => {
  const model = whole([
    say(1, "tool.started", { call_id: "a", parent: "b" }),
    say(2, "tool.started", { call_id: "b", parent: "a" }),
    say(3, "tool.started", { call_id: "c", parent: "c" }),
    ...Array.from({ length: 300 }, (_, index) =>
      say(10 + index, "tool.started", { call_id: `d${index}`, parent: `d${index - 1}` }),
    ),
  ]);
  const depth = (block) => (model.parentOf(block) ? 1 + depth(model.parentOf(block)) : 0);
  assert.ok(Math.max(...[...model.blocks.values()].map(depth)) < 20);
  for (const call of ["a", "b", "c"]) assert.equal(model.parentOf(model.blocks.get(`tool|u1|${call}`)), null);
});

test("events of kinds that this page does not know are shown, and nothing raises", () => {
  const model = whole([
    say(1, "some.thing", { x: 1 }),
    say(2, "tool.ended", { call_id: "nobody" }),
    say(3, "delta", { kind: "tool_output", text: "x" }),
    say(4, "message", {}),
    say(5, "question.answered", { request_id: "q" }),
    say(6, "native.known"),
    say(7, "native.unheard"),
    { type: "turn.ended", seq: 8 },
  ]);
  assert.equal(model.find("u1", 1).event.x, 1);
});
