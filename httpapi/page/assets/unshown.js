// The entries that a page does not show yet: those that wait, and those that the node has taken since the page was asked for. Shown as if
// the node had them, nothing that was tapped goes back. It uses no document.

const most = 500; // entries that have arrived, in memory

// Unshown raises "change" when its entries change. An entry of it is {e, state, arrived, shown, made}: e as in the queue, state also done,
// arrived the time of the node's answer or 0, made what a creation answered.
export class Unshown extends EventTarget {
  #queue; #reader;
  #all = new Map(); // by key

  constructor(queue, reader) {
    super();
    [this.#queue, this.#reader] = [queue, reader];
    queue.addEventListener("change", () => this.#follow());
    queue.addEventListener("answered", (answer) => this.#answer(answer));
    this.#follow();
  }

  // all lists the entries, in order, with those that the page shows meanwhile.
  get all() {
    return [...this.#all.values()].sort((x, y) => x.e.at - y.e.at || x.e.n - y.e.n);
  }

  // entries lists those that take effect, or will, and that the page does not show.
  get entries() {
    return this.all.filter((one) => !one.shown && one.state !== "refused");
  }

  // refreshed must be called when the page shows what the node answered to a request of this time.
  refreshed(asked) {
    for (const one of this.#all.values()) one.shown ||= one.arrived > 0 && one.arrived <= asked;
    this.dispatchEvent(new Event("change"));
  }

  #answer({ key, state, made }) {
    const one = this.#all.get(key);
    if (!one || state === "refused") return;
    Object.assign(one, { state, made, arrived: Date.now() });
    this.dispatchEvent(new Event("change"));
  }

  #follow() {
    const mine = new Map(this.#queue.entries.filter((e) => e.reader === this.#reader).map((e) => [e.key, e]));
    for (const [key, e] of mine) {
      const one = this.#all.get(key) ?? { arrived: 0, shown: false, made: null };
      if (e.state === "taken") one.arrived ||= Date.now(); // another tab may have sent it
      else if (e.state !== "sending") Object.assign(one, { arrived: 0, shown: false }); // it has to be sent, perhaps again
      const state = one.arrived && e.state === "sending" ? one.state : e.state; // its answer is not stored yet
      this.#all.set(key, Object.assign(one, { e, state }));
    }
    const gone = [...this.#all].filter(([key]) => !mine.has(key));
    for (const [key, one] of gone) {
      if (one.arrived || one.state === "sending") Object.assign(one, { state: "done", arrived: one.arrived || Date.now() });
      else this.#all.delete(key); // it was discarded, or changed
    }
    for (const [key] of gone.slice(0, Math.max(0, gone.length - most))) this.#all.delete(key);
    this.dispatchEvent(new Event("change"));
  }
}
