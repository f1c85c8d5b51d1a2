// The one stream of this tab: live sessions, and the events of those that are watched. It is read with fetch, so that the
// token goes with it; when it breaks it is opened again where it was, sooner if the tab or the network comes back. When the
// server ends it says so, and then nothing is opened again unless somebody wants that.

const FIRST_PAUSE = 200;
const LONGEST_PAUSE = 5000;
const SILENCE = 40_000; // the server says something every 15 s; after this long the connection is dead

export class Feed {
  #open;
  #hear;
  #status;
  #cursor = "";
  #current = null;
  /** Do not wait any longer before trying again. */
  wake = () => {};

  /** `open(cursor, signal)` gives a Response; `hear(event, data)` takes each message; `status(state)` is told of each change. */
  constructor({ open, hear, status }) {
    this.#open = open;
    this.#hear = hear;
    this.#status = status;
    /** connecting, connected, lost, or ended: by the server, in good order. */
    this.state = "connecting";
  }

  /** Watch these runs, each from an event on, in place of those before; without any, live sessions only. */
  watch(places = new Map()) {
    this.#cursor = [...places].map(([run, seq]) => `${run}:${seq}`).join(",");
    if (this.state !== "ended") this.start();
  }

  /** Begin anew, from the cursor on. */
  start() {
    this.stop();
    this.#enter("connecting");
    const mine = { abort: new AbortController() };
    this.#current = mine;
    this.#keepOpen(mine);
  }

  stop() {
    this.#current?.abort.abort();
    this.#current = null;
    this.wake();
  }

  #end() {
    this.stop();
    this.#enter("ended");
  }

  #enter(state) {
    if (this.state === state) return;
    this.state = state;
    this.#status(state);
  }

  async #keepOpen(mine) {
    let pause = FIRST_PAUSE;
    while (this.#current === mine) {
      try {
        await this.#read(mine, () => (pause = FIRST_PAUSE));
      } catch (error) {
        if (error.status === 401) return; // whoever makes the calls has said so
      }
      if (this.#current !== mine) return;
      this.#enter("lost");
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, pause);
        this.wake = () => (clearTimeout(timer), resolve());
      });
      pause = Math.min(pause * 2, LONGEST_PAUSE);
    }
  }

  async #read(mine, heard) {
    const call = new AbortController();
    const stop = () => call.abort();
    mine.abort.signal.addEventListener("abort", stop);
    let silence;
    const alive = () => {
      clearTimeout(silence);
      silence = setTimeout(stop, SILENCE);
    };
    try {
      alive();
      const response = await this.#open(this.#cursor, call.signal);
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      const messages = new Messages();
      this.#enter("connected");
      for (;;) {
        const { done, value } = await reader.read();
        if (done || this.#current !== mine) return;
        alive();
        for (const { event, data, id } of messages.read(value)) {
          if (event === "stopped") return this.#end();
          this.#tell(event, data);
          if (this.#current !== mine) return; // whoever heard it watches something else now
          if (id != null) this.#cursor = id;
          heard();
        }
      }
    } finally {
      clearTimeout(silence);
      call.abort();
      mine.abort.signal.removeEventListener("abort", stop);
    }
  }

  #tell(event, data) {
    try {
      this.#hear(event, JSON.parse(data));
    } catch (error) {
      reportError(error); // a fault of the page's must not be met again and again
    }
  }
}

// --- the framing ---------------------------------------------------------------------------------------------------

/** Takes text as it comes, in any pieces, and gives the messages that are whole. */
export class Messages {
  #rest = "";
  #message = {};

  read(text) {
    const found = [];
    // a carriage return at the end may be half of a line break
    const held = (this.#rest + text).endsWith("\r") ? "\r" : "";
    const lines = (this.#rest + text).slice(0, held ? -1 : undefined).split(/\r\n|\n|\r/);
    this.#rest = lines.pop() + held;
    for (const line of lines) {
      if (line === "") {
        if (this.#message.data != null) found.push({ event: "message", ...this.#message });
        this.#message = {};
        continue;
      }
      const [, field, value] = /^([^:]*):? ?(.*)$/.exec(line);
      if (field === "data" && this.#message.data != null) this.#message.data += "\n" + value;
      else if (["data", "event", "id"].includes(field)) this.#message[field] = value;
    }
    return found;
  }
}
