// The only place that makes elements. Text is always text, and made visible: nothing of a session's is ever read as HTML.
import { escaped, pieces } from "./shown.js";

/**
 * An element, its tag written with its classes ("p.foot.odd"), with properties if there are any: `on` (listeners by event),
 * `data` (dataset), `is` (properties of the element), anything else an attribute; null and false are left out. Children
 * are nodes, texts, lists of them, or nothing.
 */
export function el(kind, ...content) {
  const [tag, ...classes] = kind.split(".");
  const made = document.createElement(tag);
  if (tag === "button") made.type = "button";
  if (classes.length) made.className = classes.join(" ");
  return filled(made, content[0]?.constructor === Object ? content.shift() : {}, content);
}

export function svg(tag, props, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), props, children);
}

function filled(made, { on = {}, data = {}, is = {}, ...attributes }, children) {
  for (const [name, value] of Object.entries(attributes))
    if (value != null && value !== false) made.setAttribute(name, value === true ? "" : escaped(String(value)));
  for (const [event, listener] of Object.entries(on)) made.addEventListener(event, listener);
  Object.assign(made.dataset, data);
  Object.assign(made, is);
  made.append(...nodesOf(children));
  return made;
}

function nodesOf(children) {
  const there = children.flat(Infinity).filter((child) => child != null && child !== false);
  return there.map((child) => (child instanceof Node ? child : shown(String(child))));
}

/**
 * Put these in place of what an element holds. A link that had the focus has it still if it is there again; a button has
 * not: one of the same name may mean something else.
 */
export function fill(element, ...children) {
  const focused = element.contains(document.activeElement) ? document.activeElement.href : null;
  element.replaceChildren(...nodesOf(children));
  if (focused)
    [...element.querySelectorAll("a")].find(({ href }) => href === focused)?.focus({ preventScroll: true });
  return element;
}

/** Have a list hold these items in this order, moving only what must move. */
export function inOrder(list, items) {
  const kept = new Set(items);
  for (const item of [...list.children]) if (!kept.has(item)) item.remove();
  items.forEach(
    (item, index) => list.children[index] !== item && list.insertBefore(item, list.children[index] ?? null),
  );
}

/** Text as nodes, its escapes marked. `letter`: to the letter, for what is approved. */
export function shown(text, letter = false) {
  const found = pieces(text, letter).map(([piece, hidden]) => {
    if (!hidden) return document.createTextNode(piece);
    const mark = document.createElement("span");
    mark.className = "escape";
    mark.textContent = piece;
    return mark;
  });
  if (found.length === 1) return found[0];
  const fragment = document.createDocumentFragment();
  fragment.append(...found);
  return fragment;
}

/** Why something failed. No fault of what was wanted where nobody answers: the top says that too. */
export function trouble({ kind, message }) {
  return el("span", { class: kind === "connection" ? "foot" : "bad" }, message);
}

export function button(words, pressed, props = {}) {
  return el("button", { ...props, on: { click: pressed } }, words);
}

/** Things in a list. */
export function listOf(things, kind = "ul") {
  return el(
    kind,
    things.map((thing) => el("li", thing)),
  );
}

/** Names and what they stand for; names of nothing are left out. */
export function factsOf(pairs, kind = "dl.facts") {
  const there = pairs.filter(([, value]) => value != null && value !== false && value !== "");
  return el(
    kind,
    there.map(([name, value]) => el("div", el("dt", name, " "), el("dd", value))),
  );
}

/** Something to choose from: `options` are pairs of a value and words. `changed(value)` is told what was chosen. */
export function select(label, options, value, changed, props = {}) {
  const on = { change: () => changed(made.value) };
  const made = el("select", { "aria-label": label, ...props, on }, optionsOf(options));
  made.value = value;
  return made;
}

export function optionsOf(pairs) {
  return pairs.map(([value, words]) => el("option", { is: { value } }, words));
}

/** A box to look for something. */
export function searchBox(label, value, props = {}) {
  return el("input", { type: "search", "aria-label": label, is: { value }, ...props });
}

/** A part that can be folded. */
export function folded(summary, body, { open = false, ...props } = {}) {
  return el("details", { ...props, open }, el("summary", summary), body);
}

/** Text as it was written, in lines. */
export function verbatim(text, { letter = false, ...props } = {}) {
  return el("pre", { tabindex: 0, ...props }, shown(text, letter));
}

/**
 * Text that grows: `parts.growing` is one text node, to which what is new of the stream is added. True if it is a new
 * node, which somebody must put in its place.
 */
export function grow(parts, stream) {
  const anew = parts.stream !== stream || parts.anew !== stream.anew;
  if (anew) Object.assign(parts, { stream, anew: stream.anew, written: 0, growing: document.createTextNode("") });
  parts.growing.appendData(escaped(stream.text.slice(parts.written)));
  parts.written = stream.text.length;
  return anew;
}

/** A link to a place on this page. */
export function link(href, words, props = {}) {
  return el("a", { href, ...props }, words);
}

/** A function that has `work` done once, before the next frame; while the page is hidden there is none, so a bit later. */
export function soon(work) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    const run = () => {
      waiting = false;
      work();
    };
    if (document.hidden) setTimeout(run, 250);
    else requestAnimationFrame(run);
  };
}

// --- Markdown, as the server has read it -----------------------------------------------------------------------

const TAGS = new Set(
  "p h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong s a hr br table thead tbody tr th td".split(" "),
);
const DEEPEST = 60;

/** Nodes of an answer as DOM. What is none of them is shown as text. Its headings stand below that of a turn. */
export function prose(nodes) {
  const levels = [...new Set(nodes.map((node) => node?.[0]).filter((tag) => /^h[1-6]$/.test(tag)))].sort();
  const headings = Object.fromEntries(levels.map((tag, index) => [tag, `h${Math.min(6, 3 + index)}`]));
  return asDom(nodes, headings, 0);
}

function asDom(nodes, headings, depth) {
  return nodes.map((node) => {
    if (typeof node === "string") return shown(node);
    const [tag, attributes, children] = Array.isArray(node) ? node : [];
    if (!TAGS.has(tag) || !Array.isArray(children) || depth > DEEPEST) return shown(JSON.stringify(node));
    const inner = asDom(children, headings, depth + 1);
    const made = el(headings[tag] ?? tag, allowed(tag, attributes ?? {}), inner);
    if (tag === "pre") made.tabIndex = 0;
    return tag === "table" ? el("div.wide", { tabindex: 0 }, made) : made;
  });
}

function allowed(tag, { href, start, lang, align }) {
  if (tag === "a" && /^(https?:|mailto:)/i.test(href ?? ""))
    return { href, title: href, target: "_blank", rel: "noopener noreferrer nofollow" };
  if (tag === "ol" && Number.isInteger(Number(start))) return { start };
  if (tag === "code" && lang) return { data: { lang: String(lang) } };
  if ((tag === "th" || tag === "td") && ["left", "right", "center"].includes(align)) return { class: `to-${align}` };
  return {};
}

const IMAGES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** An image that is in the session itself; one that is elsewhere is named, not fetched. */
export function image({ mime_type: type, data, uri }) {
  if (IMAGES.has(type) && data && /^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(data))
    return el("img", { alt: "image", src: `data:${type};base64,${data.replace(/\s/g, "")}` });
  return el("p.foot", uri ? `image: ${uri}` : "image");
}
