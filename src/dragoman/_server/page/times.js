// Amounts and times, as short as a person reads them.

/** A number of tokens: 950, 15.3 k, 2.4 M. */
export function counted(number) {
  if (number == null) return "–";
  for (const [size, unit] of [
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ])
    if (number >= size) return `${(number / size).toFixed(1)} ${unit}`;
  return String(number);
}

export function plural(count, word) {
  return `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
}

/** Cents where there are dollars, more where there are none. */
export function dollars(amount) {
  const digits = amount >= 1 || amount === 0 ? 2 : 4;
  return `$${amount.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

/** What calls cost, in words: `~` where some of it is estimated, "at least" where some is not known; "" if there were none. */
export function cost({ cost_usd: said, cost_estimated_usd: estimated, unpriced_calls: unpriced }) {
  if (said == null && estimated == null) return unpriced ? "unknown" : "";
  return `${unpriced ? "at least " : ""}${estimated != null ? "~" : ""}${dollars((said ?? 0) + (estimated ?? 0))}`;
}

export function duration(seconds) {
  if (seconds == null) return "";
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

const SPANS = [
  [60, 1, "min"],
  [24 * 60, 60, "h"],
  [14 * 24 * 60, 24 * 60, "d"],
];

/** How long ago that was, or the date. Both are seconds since 1970. */
export function ago(time, now = Date.now() / 1000) {
  if (time == null) return "–";
  const minutes = Math.max(0, Math.floor((now - time) / 60));
  if (minutes < 1) return "now";
  for (const [border, size, unit] of SPANS) if (minutes < border) return `${Math.floor(minutes / size)} ${unit} ago`;
  return new Date(time * 1000).toLocaleDateString("sv");
}

/** Date and time of day, where the reader is. */
export function moment(time) {
  return time == null ? "" : new Date(time * 1000).toLocaleString("sv");
}

/** When an event was, in seconds since 1970; null if nobody knows. */
export function timeOf(event) {
  const said = event.time ?? event.agent_time;
  if (said == null) return null;
  const parsed = /^\d{12,14}$/.test(said) ? Number(said) : Date.parse(said);
  return Number.isFinite(parsed) ? parsed / 1000 : null;
}

/** A path as seen from a folder. */
export function near(path, folder) {
  const base = folder ? folder.replace(/\/+$/, "") + "/" : null;
  return base && path.startsWith(base) ? path.slice(base.length) : path;
}

/** Facts beside each other; those that are nothing are left out. */
export function joined(...facts) {
  return facts.filter((fact) => fact != null && fact !== false && fact !== "").join(" · ");
}

export function oneLine(text, most = 200) {
  const line = String(text ?? "")
    .split(/\s+/)
    .filter(Boolean)
    .join(" ");
  return line.length > most ? `${line.slice(0, most)}…` : line;
}
