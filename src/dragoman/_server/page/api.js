// Calls to the server: the token, JSON both ways, and failures in the server's words.

const KEPT = "dragoman.token";

/** What the server says of a call that failed: `status`, `kind` and a sentence. */
class Failed extends Error {
  constructor(status, { kind = "unknown", message = `The server answered ${status}; try it again.` } = {}) {
    super(message);
    this.status = status;
    this.kind = kind;
  }
}

export class Api {
  /** `denied(failed)` is told of every 401. */
  constructor(denied) {
    this.denied = denied;
    this.token = sessionStorage.getItem(KEPT);
  }

  /** Trade a link for a token, which lives as long as this tab. */
  async enter(link) {
    const { token } = await this.post("/api/enter", { link });
    this.token = token;
    sessionStorage.setItem(KEPT, token);
  }

  forget() {
    this.token = null;
    sessionStorage.removeItem(KEPT);
  }

  async get(path, query = {}) {
    return said(await this.open(path, { query }));
  }

  async post(path, body = {}) {
    const headers = { "Content-Type": "application/json" };
    return said(await this.open(path, { method: "POST", headers, body: JSON.stringify(body) }));
  }

  /** The whole Response; what is empty or absent in `query` is left out. Raises Failed, also where there is no connection. */
  async open(path, { query = {}, headers = {}, ...options } = {}) {
    const authorization = this.token ? { Authorization: `Bearer ${this.token}` } : {};
    let response;
    try {
      response = await fetch(asking(path, query), {
        ...options,
        headers: { ...headers, ...authorization },
        cache: "no-store",
      });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw unanswered();
    }
    if (response.ok) return response;
    const { error } = await response.json().catch(() => ({}));
    const failed = new Failed(response.status, error);
    if (failed.status === 401) this.denied(failed);
    throw failed;
  }

  /** Let the browser keep a file that only a call with the token can get. */
  async download(path, query, name) {
    const response = await this.open(path, { query });
    const named = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition") ?? "");
    const url = URL.createObjectURL(await response.blob());
    const link = Object.assign(document.createElement("a"), { href: url, download: named?.[1] ?? name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  }
}

function unanswered() {
  return new Failed(0, { kind: "connection", message: "The server does not answer; look whether it still runs." });
}

/** What a response says. It may be cut off in the middle of that. */
async function said(response) {
  try {
    return await response.json();
  } catch {
    throw unanswered();
  }
}

/** A path with a query; what is empty or absent in it is left out. */
export function asking(path, query) {
  const given = Object.entries(query).filter(([, value]) => value != null && value !== "");
  return given.length ? `${path}?${new URLSearchParams(given)}` : path;
}

/** The path of a session's call. */
export function at(id, what = "") {
  return `/api/sessions/${encodeURIComponent(id)}${what && "/" + what}`;
}

// --- a new tab of the same browser has no token: an open one makes it a link of its own, which works once ----------

const CHANNEL = "dragoman.links";
const PATIENCE = 1000;

/** Enter by a link of another open tab's, if there is one that makes it. */
export async function askOtherTab(api) {
  const channel = new BroadcastChannel(CHANNEL);
  const wanted = crypto.randomUUID();
  const link = await new Promise((resolve) => {
    channel.onmessage = ({ data }) => data.link && data.wanted === wanted && resolve(data.link);
    channel.postMessage({ wanted });
    setTimeout(resolve, PATIENCE);
  });
  channel.close();
  if (link) await api.enter(link);
}

/** Make links for other tabs, with what this one may do. */
export function answerOtherTabs(api) {
  const channel = new BroadcastChannel(CHANNEL);
  const answered = new Set();
  channel.onmessage = async ({ data: { wanted, link } }) => {
    if (link) answered.add(wanted); // another tab was faster
    if (link || answered.has(wanted)) return;
    const made = await api.post("/api/links").catch(() => null);
    if (made && !answered.has(wanted)) channel.postMessage({ wanted, link: made.url.split("#t=")[1] });
  };
}
