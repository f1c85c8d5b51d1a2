// What the tests of the page read: its modules, and the events of real runs.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Where the page's files are. */
export const folder = join(root, "src/dragoman/_server/page");

/** A module of the page, by its file's name. */
export function page(name) {
  return import(join(folder, name));
}

/** The golden events of every capture, by the capture's path. */
export function* captures() {
  const kept = join(root, "captures");
  for (const entry of readdirSync(kept, { recursive: true }).sort()) {
    if (!entry.endsWith("events.jsonl")) continue;
    const lines = readFileSync(join(kept, entry), "utf8").split("\n").filter(Boolean);
    yield [entry, lines.map((line) => JSON.parse(line))];
  }
}

/** Numbers that look random and are the same in every run. */
export function dice(seed) {
  let state = seed;
  return (most) => {
    state = (state * 1664525 + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
}
