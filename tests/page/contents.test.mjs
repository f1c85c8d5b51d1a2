import assert from "node:assert/strict";
import { test } from "node:test";
import { page } from "./reading.mjs";

const { rowsOf, textOf } = await page("contents.js");

test("a unified diff as rows; what stands before its first hunk is left out", () => {
  const text =
    "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n\\ No newline at end of file\n";
  assert.deepEqual(rowsOf(text), [
    ["@", "@@ -1,2 +1,2 @@"],
    [" ", "same"],
    ["-", "old"],
    ["+", "new"],
    ["@", "\\ No newline at end of file"],
  ]);
  assert.deepEqual(rowsOf(""), []);
  assert.deepEqual(rowsOf("no diff at all"), []);
});

test("the text of a message, also where it comes in blocks", () => {
  assert.equal(textOf({ text: "\n\nsaid\n" }), "said");
  assert.equal(
    textOf({ blocks: [{ type: "text", text: "a" }, { type: "image" }, { type: "text", text: "b" }] }),
    "a\nb",
  );
  assert.equal(textOf({}), "");
});
