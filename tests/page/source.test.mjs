import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folder } from "./reading.mjs";

const files = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]);
const modules = files.filter(([name]) => name.endsWith(".js"));

test("text never becomes HTML or code, and only one module makes elements", () => {
  assert.ok(modules.length > 20);
  for (const [name, text] of modules) {
    assert.doesNotMatch(
      text,
      /\.(inner|outer)HTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser/,
      name,
    );
    if (name !== "dom.js") assert.doesNotMatch(text, /createElement(NS)?\((?!"a")|createContextualFragment/, name);
  }
});

test("the page asks nobody else for anything, and has no inline scripts or styles", () => {
  for (const [name, text] of files) {
    const addresses = (text.match(/https?:\/\/[^\s"'`)]*/g) ?? []).filter(
      (each) => !each.startsWith("http://www.w3.org/"),
    );
    assert.deepEqual(addresses, [], name);
    assert.doesNotMatch(text, /@import|url\(/, name);
  }
  const [, html] = files.find(([name]) => name === "index.html");
  assert.doesNotMatch(html, /<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/);
});

test("every import is a module that is there, and every module is used", () => {
  const names = new Set(modules.map(([name]) => name));
  const used = new Set(["main.js"]);
  for (const [name, text] of modules)
    for (const [, wanted] of text.matchAll(/from "\.\/([^"]+)"/g)) {
      assert.ok(names.has(wanted), `${name} imports ${wanted}`);
      used.add(wanted);
    }
  assert.deepEqual(
    [...names].filter((name) => !used.has(name)),
    [],
  );
});

test("every name that is exported is used by another module or by a test", () => {
  const tests = readdirSync(import.meta.dirname)
    .filter((name) => name.endsWith(".mjs"))
    .map((name) => readFileSync(join(import.meta.dirname, name), "utf8"));
  for (const [name, text] of modules)
    for (const [, exported] of text.matchAll(/^export (?:async )?(?:function\*?|class|const) (\w+)/gm)) {
      const elsewhere = [...modules.filter(([other]) => other !== name).map(([, other]) => other), ...tests];
      assert.ok(
        elsewhere.some((other) => new RegExp(`\\b${exported}\\b`).test(other)),
        `${name}: ${exported}`,
      );
    }
});

test("every look in the style sheet is that of something on the page", () => {
  const [, css] = files.find(([name]) => name === "page.css");
  const looks = new Set([...css.matchAll(/\.([a-z][\w-]*)/g)].map(([, found]) => found));
  assert.ok(looks.size > 50);
  const all = modules.map(([, text]) => text).join("\n");
  const unused = [...looks].filter(
    (look) => !new RegExp(`\\b${look.replace(/^(b|is|plan|mark|to)-.*/, "$1-")}`).test(all),
  );
  assert.deepEqual(unused, []);
});
