// Text made visible: a character that would not be seen, or would turn other text around, is shown as an escape.
// There are two ways of reading. Prose is for what is only read: lines, tabs and what honest writing needs stay.
// Letter is for what is approved (commands, paths): there also blanks of typography, tabs, joiners and odd marks show.

const PLAIN = /^[ -~\n]*$/;

// fillers, the blank Braille cell, selectors of glyph variants: letters and marks that leave no ink
const UNSEEN =
  "\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u2800\\u3164\\uffa0\\ufffc\\u{16fe4}\\u{1d159}\\u{e0100}-\\u{e01ef}";
const HIDDEN = `[\\p{C}\\p{Zl}\\p{Zp}\\ufe00-\\ufe0f${UNSEEN}]`;
// strokes through a letter: they hide it
const STROKES = "\\u0334-\\u0338\\u20d2\\u20d3\\u20d8-\\u20da\\u20e5\\u20e6\\u20ea\\u20eb";
// Arabic, Indic, Burmese, Khmer, Mongolian: not written right without joiners
const JOINING = "[\\u0600-\\u08ff\\u0900-\\u0dff\\u1000-\\u109f\\u1780-\\u18af\\ufb50-\\ufefc]";
// where Unicode goes on to put emoji and ideographs that this browser may not know yet
const NEWER = "[\\u{1f000}-\\u{1faff}\\u{20000}-\\u{323af}]";
const HONEST = [
  "[\\n\\t]",
  NEWER,
  `(?<=${JOINING})[\\u200c\\u200d](?=${JOINING})`,
  "(?<=[\\p{So}\\ufe0f\\u{1f3fb}-\\u{1f3ff}])\\u200d(?=\\p{So})",
  "(?<=[\\p{So}‼⁉↔↕©®#*0-9])[\\ufe0e\\ufe0f]",
].join("|");

const PROSE = new RegExp(`(?!${HONEST})${HIDDEN}|(?<=\\p{M}{3})\\p{M}`, "gu");
const LETTER = new RegExp(`(?!\\n)${HIDDEN}|(?! )\\p{Zs}|\\p{Me}|[${STROKES}]|(?<!\\p{L}\\p{M}{0,2})\\p{M}`, "gu");

/** `text` in pieces: [what is shown, whether it is an escape]. */
export function pieces(text, letter = false) {
  if (PLAIN.test(text)) return [[text, false]];
  const whole = text.replaceAll("\r\n", letter ? "\\r\n" : "\n");
  const found = [];
  let start = 0;
  for (const match of whole.matchAll(letter ? LETTER : PROSE)) {
    if (start < match.index) found.push([whole.slice(start, match.index), false]);
    found.push([escape(match[0]), true]);
    start = match.index + match[0].length;
  }
  if (start < whole.length) found.push([whole.slice(start), false]);
  return found;
}

/** The same as one text, for where there is no room for marks: titles, labels, text that is still growing. */
export function escaped(text, letter = false) {
  return PLAIN.test(text)
    ? text
    : pieces(text, letter)
        .map(([piece]) => piece)
        .join("");
}

function escape(char) {
  const code = char.codePointAt(0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`;
}
