// Where the reader is: at the end, which is then followed, or somewhere that must not move while things are added.

const NEAR = 80; // pixels from the end that still count as the end
const root = document.scrollingElement;

export class Reader {
  #last = 0;
  #sizes;
  #listen;

  /** `sheet` is what is read, `dock` what stands below it; `moved` is told after each scroll; `whole()`: nothing comes behind it. */
  constructor(sheet, dock, { moved, whole }) {
    this.following = false;
    this.whole = whole;
    this.sheet = sheet;
    this.moved = moved;
    this.#listen = () => this.#scrolled();
    addEventListener("scroll", this.#listen, { passive: true });
    this.#sizes = new ResizeObserver(() => this.following && this.toEnd());
    for (const part of [sheet, dock]) this.#sizes.observe(part);
  }

  close() {
    removeEventListener("scroll", this.#listen);
    this.#sizes.disconnect();
  }

  get atEnd() {
    return root.scrollHeight - root.clientHeight - root.scrollTop < NEAR;
  }

  follow(on = true) {
    this.following = on;
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

  /** Bring an element into view. What is out of view has no size yet, so it takes a few looks. */
  show(element, focus = true) {
    this.following = false;
    let looks = 4;
    const look = () => {
      element.scrollIntoView({ block: element.offsetHeight > innerHeight / 2 ? "start" : "center" });
      this.#last = root.scrollTop;
      if (looks-- > 0) requestAnimationFrame(look);
      else this.moved();
    };
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
