// What waits for an answer: a card for each permission and question, which stays until somebody has answered. Nothing is
// cut, nothing is chosen beforehand, nothing happens by time.
import { at } from "./api.js";
import { by } from "./blocks.js";
import { choices, questionText, titleOf, wanted } from "./cards.js";
import { button, el, fill, trouble } from "./dom.js";
import { questionForm } from "./questions.js";

const SHIFT = 700; // milliseconds in which a second click was still meant for the card that has gone

export class Asks {
  #cards = new Map(); // by what is asked
  #outcomes = new Map(); // who answered what was asked last, as far as events have told, by run and request
  #last = {}; // the one that was settled last: its key and title
  #own = new Set(); // those that were answered here
  #held = null; // a timer, while nothing can be pressed
  all = [];

  /**
   * `answerable(run)`: whether it can be answered from here. `head(ask)`: what stands at the top of its card. `after(ask)`
   * gives the events that came after it, where they are not heard here anyway.
   */
  constructor(app, { answerable, head = () => null, after = async () => [] }) {
    Object.assign(this, { app, answerable, head, after });
    this.note = el("p.settled", { hidden: true, tabindex: -1 });
    this.list = el("div.cards");
    this.element = el("section.asks", { "aria-label": "What waits for you", tabindex: -1 }, this.note, this.list);
  }

  get open() {
    return this.#cards.size;
  }

  /** These are all that wait; without any, it is the same, but may be answerable from here by now. */
  update(asks = this.all) {
    this.all = asks;
    const now = new Map(asks.map((ask) => [keyOf(ask), ask]));
    for (const [key, card] of this.#cards) if (!now.has(key)) this.#settle(key, card);
    for (const [key, ask] of now) {
      const known = this.#cards.get(key);
      const same = known?.ask.mark === ask.mark;
      if (same && known.can === this.#can(ask)) continue;
      const card = this.#card(ask);
      this.#cards.set(key, card);
      if (!known) this.#outcomes.delete(outcomeKey(ask.run, ask.request)); // of another, by the same id
      if (known && !same) this.#changed(known, card);
      else if (known) known.element.replaceWith(card.element);
      else this.list.append(card.element);
      this.app.say(`${ask.agent} waits for an answer: ${titleOf(ask)}. Press g to go there.`);
    }
    this.#enable();
    this.element.hidden = !this.#cards.size && this.note.hidden;
  }

  /** Hear from events who answered. */
  hear(run, events) {
    for (const event of events) {
      if (event.type === "turn.started") this.#clear();
      if (event.type !== "permission.resolved" && event.type !== "question.answered") continue;
      const { outcome, action, message } = event;
      const words = `${outcome ?? action}${by(event)}${message ? `: ${message}` : ""}`;
      const answered = outcomeKey(run, event.request_id);
      this.#outcomes.set(answered, words);
      if (this.#last.answered === answered) this.#tell(this.#last.key, this.#last.title, words);
    }
  }

  focus() {
    this.list.querySelector(".card")?.focus();
    return this.open > 0;
  }

  #settle(key, card) {
    this.#cards.delete(key);
    this.#hold(card, () => card.element.remove());
    const { ask, title } = card;
    const answered = outcomeKey(ask.run, ask.request);
    this.#last = { key, answered, title };
    this.#tell(key, title, this.#outcomes.get(answered) ?? "answered");
    if (!this.#outcomes.has(answered) && !this.#own.has(key)) this.#learn(ask);
  }

  /** Something else is asked now than the card has shown: what is pressed at this moment was meant for that. */
  #changed(known, card) {
    this.#hold(known, () => known.element.replaceWith(card.element));
    fill(card.status, el("span.odd", "This has changed since it was shown first."));
  }

  /** Have a card go, while nothing can be pressed. */
  #hold({ element }, go) {
    const held = element.contains(document.activeElement);
    go();
    clearTimeout(this.#held);
    this.#held = setTimeout(() => {
      this.#held = null;
      this.#enable();
    }, SHIFT);
    if (held) this.element.focus(); // and not another card: a key that is pressed twice must not answer it
  }

  async #learn(ask) {
    const events = await this.after(ask).catch(() => []);
    this.hear(
      ask.run,
      events.filter((event) => event.request_id === ask.request),
    );
  }

  /** Who answered it, which is news if it was somebody else. */
  #tell(key, title, words) {
    this.app.say(`${title}: ${words}`);
    if (this.#own.has(key)) return;
    fill(
      this.note,
      `${title}: `,
      el("b", words),
      " ",
      button("×", () => this.#clear(), { "aria-label": "Away with this" }),
    );
    this.note.hidden = false;
  }

  #clear() {
    this.note.hidden = true;
    this.element.hidden = !this.open;
  }

  #enable() {
    for (const [key, { element }] of this.#cards)
      for (const each of element.querySelectorAll("button")) each.disabled = this.#held != null || this.#own.has(key);
  }

  #can(ask) {
    return !this.app.me.read_only && this.answerable(ask.run);
  }

  #card(ask) {
    const title = titleOf(ask);
    const id = `ask-${keyOf(ask)}`.replace(/[^\w-]/g, "_");
    const status = el("p.status", { role: "status" });
    const send = (answer, words) => this.#send(ask, answer, words, status);
    const can = this.#can(ask);
    const why = this.app.me.read_only
      ? "This page may only watch. Open a link that may answer, or answer where it runs."
      : "It can only be answered where it runs.";
    const question = ask.kind === "question";
    const element = el(
      "div.card",
      { role: "group", "aria-labelledby": id, tabindex: -1 },
      el("h2", { id }, el("span.shape", { "aria-hidden": "true" }, "◆ "), title),
      this.head(ask),
      question ? questionText(ask) : wanted(ask),
      can ? (question ? questionForm(ask, send) : choices(ask, send)) : el("p.odd", why),
      status,
    );
    return { ask, element, title, can, status };
  }

  async #send(ask, answer, words, status) {
    const key = keyOf(ask);
    const { run, request, mark } = ask;
    this.#own.add(key);
    this.#enable();
    fill(status, `Sending: ${words} …`);
    try {
      await this.app.api.post(at(ask.session, "answer"), { run, request, mark, ...answer });
      fill(status, `Sent: ${words}`);
    } catch (failed) {
      this.#own.delete(key);
      this.#enable();
      fill(status, trouble(failed));
    }
  }
}

/** What is asked: an agent may use the id of a request again. */
function keyOf({ run, request, event }) {
  return `${run}/${request}/${event.seq}`;
}

function outcomeKey(run, request) {
  return `${run}/${request}`;
}
