// The two sides of a session: beside the transcript where there is room, else panels that are opened over it.
import { button, el } from "./dom.js";
import { bringInto } from "./scroll.js";

export class Panels {
  /** `parts`: an element by its title; the first stands at the left. */
  constructor(parts) {
    const made = Object.entries(parts).map(([title, element], index) => this.#side(title, element, index));
    this.sides = made.map(({ side }) => side);
    this.buttons = el(
      "div.panel-buttons",
      made.map(({ opener }) => opener),
    );
  }

  #side(title, element, index) {
    const heading = el("h2", { tabindex: -1 }, title);
    const side = el("aside", { class: `side ${index ? "right" : "left"}`, "aria-label": title });
    const show = (open) => {
      for (const other of this.sides) other.classList.remove("open");
      side.classList.toggle("open", open);
      opener.setAttribute("aria-expanded", open);
      const current = open && side.querySelector("[aria-current]");
      if (current) bringInto(side, current);
      (open ? heading : opener).focus({ preventScroll: true });
    };
    const opener = button(title, () => show(!side.classList.contains("open")), {
      class: "small",
      "aria-expanded": "false",
    });
    side.append(
      el(
        "div.side-head",
        heading,
        button("×", () => show(false), { class: "close", "aria-label": `Close ${title}` }),
      ),
      element,
    );
    // a link that was followed leads to the transcript
    side.addEventListener("click", (event) => event.target.closest("a") && side.classList.remove("open"));
    return { side, opener };
  }

  /** Close what is open over the transcript; whether anything was. */
  close() {
    const open = this.sides.filter((side) => side.classList.contains("open"));
    for (const side of open) side.querySelector(".close").click();
    return open.length > 0;
  }
}
