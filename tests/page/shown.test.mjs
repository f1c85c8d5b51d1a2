import assert from "node:assert/strict";
import { test } from "node:test";
import { page } from "./reading.mjs";

const { escaped, pieces } = await page("shown.js");

test("text without tricks stays as it is", () => {
  for (const text of ["", "plain\n\ttext", "Grüße, 日本語, Ελληνικά, עברית", "👩‍👩‍👧 ❤️ 1️⃣", "tab\tand line\n"])
    assert.equal(escaped(text), text);
});

test("what would not be seen is an escape, and marked as one", () => {
  assert.deepEqual(pieces("a\u202eb"), [
    ["a", false],
    ["\\u202e", true],
    ["b", false],
  ]);
  const tricks = [
    "\x00",
    "\x1b",
    "\x7f",
    "\x9b",
    "\u200b",
    "\u2066",
    "\ufeff",
    "\u00ad",
    "\u061c",
    "\u2028",
    "\u3164",
    "\u2800",
    "\ud800",
    "\u{e0041}",
    "\r",
  ];
  for (const trick of tricks) {
    const found = pieces(`x${trick}y`);
    assert.equal(found.length, 3, JSON.stringify(trick));
    assert.match(found[1][0], /^\\u(\{[0-9a-f]{5,6}\}|[0-9a-f]{4})$/);
    assert.ok(found[1][1]);
  }
});

test("a line break of two characters is one line break in prose, and shown where it is approved", () => {
  assert.equal(escaped("a\r\nb"), "a\nb");
  assert.equal(escaped("a\r\nb", true), "a\\r\nb");
});

test("joiners and selectors stay where honest writing has them, and only there", () => {
  assert.equal(escaped("می‌خواهم"), "می‌خواهم");
  assert.equal(escaped("a\u200db"), "a\\u200db");
  assert.equal(escaped("a\ufe0fb"), "a\\ufe0fb");
});

test("to the letter, blanks that are none and marks on signs are shown too", () => {
  assert.equal(escaped("rm\u00a0x\t\u2003y", true), "rm\\u00a0x\\u0009\\u2003y");
  assert.equal(escaped("e\u0301 |\u0338", true), "e\u0301 |\\u0338");
  assert.equal(escaped("❤️", true), "❤\\ufe0f");
});

test("a flood of marks over other lines is cut short", () => {
  const found = escaped("a" + "\u0301".repeat(40));
  assert.equal(found.replaceAll("\\u0301", "").length, 4);
});
