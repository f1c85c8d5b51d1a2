// The prompt box: send or queue, steer, interrupt; the mode and the model. A draft stays with its session.
import { at } from "./api.js";
import { button, el, fill, trouble } from "./dom.js";
import { oneLine } from "./times.js";

export class Prompt {
  #armed = false;
  #queued = [];

  /** `resumed(run)` is told what goes on with a session that did not run; `changed()` that its mode or model is another one. */
  constructor(app, id, { resumed, changed }) {
    Object.assign(this, { app, id, resumed, changed });
    this.box = el("textarea", {
      rows: 1,
      "aria-label": "Prompt",
      is: { value: sessionStorage.getItem(this.#draft) ?? "" },
      on: { input: () => this.#typed(), keydown: (event) => this.#key(event) },
    });
    this.send = button("Send", () => this.#send(), { class: "main" });
    this.steer = button("Steer", () => this.#say("steer"), { title: "Say it into the turn that is open, at once" });
    this.interrupt = button("Interrupt", () => this.#interrupt(), { title: "Stop the turn; the session lives on" });
    this.end = button("End", () => this.#end(), { class: "small", title: "End the session's process" });
    this.selects = el("span.selects");
    this.status = el("p.foot", { role: "status" });
    this.buttons = el("div.buttons", this.selects, this.end, this.interrupt, this.steer, this.send);
    this.element = el("div.prompt-box", this.status, this.box, this.buttons);
  }

  get #draft() {
    return `dragoman.draft.${this.id}`;
  }

  /** The session is called that from now on, and what is in the box goes with it. */
  rename(id) {
    this.id = id;
    this.#typed();
  }

  update(about, live) {
    this.about = about;
    this.silent = this.#whyNot(live);
    this.element.classList.toggle("silent", this.silent != null);
    this.#tellQueue();
    this.live(live);
    this.#choices(about, this.silent ? null : live);
    this.#typed();
  }

  /** Why nothing can be said to it; null where something can. */
  #whyNot(live) {
    const { gone, relation } = this.about.session;
    if (this.app.me.read_only) return "This page may only watch.";
    if (live) return live.answerable ? null : "The program that drives it takes no commands from here.";
    if (gone) return "Its agent has it no more, so nobody can go on with it.";
    return relation === "subagent" ? "A subagent's session ends with its caller." : null;
  }

  /** What the buttons offer, by what it is at. */
  live(live) {
    this.now = live;
    const can = new Set(this.about.capabilities);
    const working = live?.state === "working" || live?.state === "waiting";
    this.working = working;
    this.send.textContent = live ? (working ? "Queue" : "Send") : "Resume and send";
    this.send.title = working ? "It is held until the open turn is over" : "";
    this.steer.hidden = !working || !can.has("steer");
    this.interrupt.hidden = !working || !can.has("interrupt");
    this.end.hidden = !live;
    this.box.placeholder = live
      ? working
        ? "It works. What you send waits until this turn is over."
        : "Prompt"
      : `Go on with this session, in ${this.about.session.cwd ?? "its folder"}`;
    if (!working) this.#disarm();
  }

  /** What has begun works, before anybody says so, and is queued no more. */
  hear(events) {
    for (const { type, prompt } of events) {
      if (type !== "turn.started") continue;
      this.#queued = this.#queued.filter((text) => text !== prompt);
      if (this.now) this.live({ ...this.now, state: "working" });
    }
    this.#tellQueue();
  }

  #tellQueue() {
    if (this.#armed) return;
    const queued = this.#queued.map((text) => `“${oneLine(text, 60)}”`).join(", ");
    this.#tell(this.silent ?? (queued && `Queued: ${queued}`));
  }

  #tell(words) {
    fill(this.status, words);
    this.status.hidden = !words;
  }

  #choices({ modes, mode, models, model, approve, capabilities }, live) {
    fill(this.selects);
    if (!live) return;
    const can = new Set(capabilities);
    if (models.length && can.has("set_model"))
      this.selects.append(this.#select("Model", models, model, (value) => this.#change("model", value)));
    if (modes.length && can.has("set_mode"))
      this.selects.append(this.#select("Mode of the agent", modes, mode, (value) => this.#change("mode", value)));
    if (approve) this.selects.append(this.#approvers(approve));
  }

  /** Who is asked for what: the modes and what they mean are known a little later. */
  #approvers(approve) {
    const place = el("span");
    this.app.agents().then(
      ({ approve: all }) => {
        const named = all.map(({ id, name }) => ({ id, name: id, words: name }));
        const changed = (value) => this.#change("mode", value);
        fill(place, this.#select("Who approves", named, approve, changed, "approve: "));
      },
      () => null,
    );
    return place;
  }

  /** `changed(value)` gives whether that could be done. */
  #select(words, options, chosen, changed, before = "") {
    const known = options.some(({ id }) => id === chosen) || !chosen ? options : [{ id: chosen }, ...options];
    const made = el(
      "select",
      { "aria-label": words, title: words, on: { change: async () => (await changed(made.value)) || reset() } },
      chosen ? null : el("option", { value: "" }, words),
      known.map(({ id, name, words: meaning }) =>
        el("option", { title: meaning, is: { value: id } }, `${before}${name ?? id}`),
      ),
    );
    const reset = () => (made.value = chosen ?? "");
    reset();
    return made;
  }

  #typed() {
    sessionStorage.setItem(this.#draft, this.box.value);
    this.box.style.height = "auto";
    this.box.style.height = `${Math.min(this.box.scrollHeight + 2, innerHeight * 0.4)}px`;
  }

  #key(event) {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      this.#send();
    } else if (event.key === "Escape") {
      event.stopPropagation();
      if (this.interrupt.hidden) this.box.blur();
      else if (this.#armed) this.#interrupt();
      else this.#arm();
    } else if (this.#armed) this.#disarm();
  }

  #arm() {
    this.#armed = true;
    this.interrupt.classList.add("armed");
    this.#tell("Press Esc once more to interrupt.");
  }

  #disarm() {
    if (!this.#armed) return;
    this.#armed = false;
    this.interrupt.classList.remove("armed");
    this.#tellQueue();
  }

  async #send() {
    const { working, now } = this;
    const text = this.box.value.trim();
    const said = await this.#say("prompt");
    if (!said) return;
    if (working) this.#queued.push(text);
    this.#tellQueue();
    if (now) return;
    sessionStorage.setItem(this.#draft, text); // the agent may know nothing of this session, and then it was not said
    this.resumed(said.run);
  }

  /** Say what is in the box; gives the answer. If that fails it is there again. */
  async #say(how) {
    const text = this.box.value.trim();
    if (!text) return null;
    this.#write("");
    const said = await this.#post(how, { text });
    if (!said && !this.box.value) this.#write(text);
    return said;
  }

  /** Another mode or model; null if that cannot be. */
  async #change(what, value) {
    const changed = await this.#post(what, { [what]: value });
    if (changed) this.changed();
    return changed;
  }

  async #interrupt() {
    if (await this.#post("interrupt")) this.#disarm();
  }

  async #end() {
    if (this.working && !this.ending) {
      this.ending = true;
      this.end.textContent = "End it while it works?";
      return;
    }
    await this.#post("close");
  }

  #write(text) {
    this.box.value = text;
    this.#typed();
  }

  /** What is answered to it; null if it fails, which is told. */
  async #post(what, body = {}) {
    try {
      const answer = await this.app.api.post(at(this.id, what), body);
      this.#tellQueue();
      return answer;
    } catch (failed) {
      this.#tell(trouble(failed));
      return null;
    }
  }
}
