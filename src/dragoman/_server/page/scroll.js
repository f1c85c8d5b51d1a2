// Where the reader is: at the end, which is then followed, or somewhere that must not move while things are added.

const NEAR = 80; // pixels from the end that still count as the end
const HANDS = ["wheel", "touchmove", "pointerdown", "keydown"]; // by which a reader goes elsewhere
const root = document.scrollingElement;

export class Reader {
  #last = 0;
  #look = null;
  #sizes;
  #hands = new AbortController();

  /** `sheet` is what is read, `dock` what stands below it; `moved` is told after each scroll; `whole()`: nothing comes behind it. */
  constructor(sheet, dock, { moved, whole }) {
    this.following = false;
    this.whole = whole;
    this.sheet = sheet;
    this.moved = moved;
    const heard = { passive: true, signal: this.#hands.signal };
    addEventListener("scroll", () => this.#scrolled(), heard);
    for (const each of HANDS) addEventListener(each, () => (this.#look = null), { ...heard, capture: true });
    this.#sizes = new ResizeObserver(() => this.following && this.toEnd());
    for (const part of [sheet, dock]) this.#sizes.observe(part);
  }

  close() {
    this.#hands.abort();
    this.#sizes.disconnect();
  }

  get atEnd() {
    return root.scrollHeight - root.clientHeight - root.scrollTop < NEAR;
  }

  follow(on = true) {
    this.following = on;
    this.#look = null;
    if (on) this.toEnd();
    this.moved();
  }

  toEnd() {
    root.scrollTop = root.scrollHeight;
    this.#last = root.scrollTop;
  }

  /** Have `change` done without anything moving that the reader looks at. */
  keep(change) {
    if (this.following) {
      change();
      this.toEnd();
      return;
    }
    const anchor = this.#inView();
    const before = anchor?.getBoundingClientRect().top;
    change();
    if (!anchor?.isConnected) return;
    const moved = anchor.getBoundingClientRect().top - before;
    if (Math.abs(moved) > 1) root.scrollTop += moved;
    this.#last = root.scrollTop;
  }

  /** Bring an element into view. What is out of view has no size yet, so it takes a few looks, unless the reader goes on. */
  show(element, focus = true) {
    this.following = false;
    let looks = 4;
    const look = () => {
      if (this.#look !== look) return;
      element.scrollIntoView({ block: element.offsetHeight > innerHeight / 2 ? "start" : "center" });
      this.#last = root.scrollTop;
      if (looks-- > 0) requestAnimationFrame(look);
      else this.moved();
    };
    this.#look = look;
    look();
    if (focus) element.focus({ preventScroll: true });
  }

  /** The first block or heading that is in view. */
  #inView() {
    const articles = this.sheet.children;
    const article = firstBelow(articles);
    const blocks = article?.querySelector(".blocks")?.children;
    return (blocks && firstBelow(blocks)) ?? article;
  }

  #scrolled() {
    const up = root.scrollTop < this.#last - 2;
    this.#last = root.scrollTop;
    if (this.atEnd && this.whole()) this.following = true;
    else if (up) this.following = false;
    this.moved();
  }
}

/** Have a box that scrolls show an element in it. */
export function bringInto(box, element) {
  const [outer, inner] = [box, element].map((each) => each.getBoundingClientRect());
  if (inner.top < outer.top || inner.bottom > outer.bottom)
    box.scrollTop += inner.top - outer.top - box.clientHeight / 3;
}

/** The first of some elements, one below the other, that ends below the upper edge of the window. */
export function firstBelow(elements, edge = 60) {
  let low = 0;
  let high = elements.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (elements[middle].getBoundingClientRect().bottom <= edge) low = middle + 1;
    else high = middle;
  }
  return elements[low] ?? null;
}
