import assert from "node:assert/strict";
import { test } from "node:test";
import { page } from "./reading.mjs";

const { AS_IT_WAS, Clock, LONGEST } = await page("clock.js");

const at = (...times) => times.map((time, index) => ({ type: "message", seq: index + 1, at: time }));
const numbers = (events) => events.map(({ seq }) => seq);

test("events come when it is their time", () => {
  const clock = new Clock();
  clock.add(at(5, 5.5, 6.5));
  assert.deepEqual(numbers(clock.advance(0)), [1]);
  assert.deepEqual(numbers(clock.advance(0.4)), []);
  assert.deepEqual(numbers(clock.advance(0.2)), [2]);
  assert.deepEqual(numbers(clock.advance(5)), [3]);
  assert.equal(clock.waiting, 0);
});

test("many small looks give what one long look gives", () => {
  const clock = new Clock();
  clock.add(at(...Array.from({ length: 50 }, (_, index) => index * 0.1)));
  let count = 0;
  for (let look = 0; look < 100; look++) count += clock.advance(0.0251).length;
  assert.equal(count, 26);
});

test("twice as fast takes half the time", () => {
  const clock = new Clock();
  clock.run(2);
  clock.add(at(0, 1, 2));
  clock.advance(0);
  assert.deepEqual(numbers(clock.advance(0.51)), [2]);
});

test("long pauses are cut, but not as it was", () => {
  const clock = new Clock();
  clock.add(at(0, 100));
  clock.advance(0);
  assert.deepEqual(numbers(clock.advance(LONGEST)), [2]);
  const slow = new Clock();
  slow.run(AS_IT_WAS);
  slow.add(at(0, 100));
  slow.advance(0);
  assert.deepEqual(numbers(slow.advance(99)), []);
  assert.deepEqual(numbers(slow.advance(1)), [2]);
});

test("where events have no times they come in steps; a time that goes back is no pause", () => {
  const clock = new Clock();
  clock.add([
    { type: "message", seq: 1 },
    { type: "delta", seq: 2 },
    ...at(9, 3).map((event) => ({ ...event, seq: event.seq + 2 })),
  ]);
  assert.deepEqual(numbers(clock.advance(0.1)), []);
  assert.deepEqual(numbers(clock.advance(10)), [1, 2, 3, 4]);
});

test("time in which there was nothing to tell is not owed", () => {
  const clock = new Clock();
  clock.add(at(0));
  clock.advance(60);
  clock.add(at(0, 1).slice(1));
  assert.deepEqual(numbers(clock.advance(0.5)), []);
});

test("a step goes to the next event that says something whole", () => {
  const clock = new Clock();
  clock.add([
    { type: "delta", seq: 1 },
    { type: "delta", seq: 2 },
    { type: "message", seq: 3 },
    { type: "message", seq: 4 },
  ]);
  assert.deepEqual(numbers(clock.step()), [1, 2, 3]);
  assert.deepEqual(numbers(clock.step()), [4]);
  assert.deepEqual(clock.step(), []);
});
