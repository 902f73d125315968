// The judge has the true book: each tap, and what became of it. Every entry that the device has stored takes effect exactly once and in
// order, or is listed with its reason.

// page is the module of a tab: the queue, as pages have it.
export const page = `
import { Queue } from "./queue.js";
globalThis.queue = new Queue("/app/-/", "reader", "d1");
`;
const database = "touchline /app/-/";
const most = 10000; // ms by which the time of an entry may be wrong

export class Judge {
  taps = []; // {tap, key, tab, stored, answered, discarded, retried, cleared}; stored is a number in the order of storing, 0: never
  clock = 0; // how often the clock was set
  unknown = 0; // entries of a storage that was emptied, which no open page knew
  #world; #node; #device;
  #byKey = new Map();
  #stored = 0;
  #rows = new Map(); // what the device has stored, by key

  constructor(world, node, device) {
    this.#world = world;
    this.#node = node;
    this.#device = device;
    device.database.committed = (rows) => this.#store(rows);
    node.taking = (entry) => this.#take(this.taps[entry.tap - 1], entry);
    node.undone = (tap) => { this.taps[tap - 1].undone = true; };
  }

  // #take judges the time of an entry: unless the clock was set while it waited, it is right. What a person has confirmed may be wrong if the
  // device had slept and its clock was set before the tap, since the last word of the node.
  #take(one, { at, late, sure }) {
    if (one.handed) return;
    this.#mark(one);
    const wrong = Math.abs(at - late - one.at);
    const { fired } = this.#world;
    if (!fired["a clock was set"] && !fired["the device slept"] && at < one.at - 10) this.#world.fail(`tap ${one.tap} took effect as made before it was`);
    const certain = one.clock === this.clock && !(sure && fired["the device slept"]);
    if (certain && wrong > most) this.#world.fail(`tap ${one.tap} took effect as made ${Math.round(wrong / 1000)} s before or after it was`);
  }

  // handIn has somebody bring a file with what waits in the storage to the node.
  handIn() {
    const rows = this.rows().filter((row) => row.state === "queued" || row.state === "sending").sort((a, b) => a.n - b.n);
    this.#node.handIn(rows, (tap) => { this.taps[tap - 1].handed = true; });
  }

  // #mark notes that an entry took effect whose row does not say that it was sent, because the storage was full. Another tab may then discard it.
  #mark(one) {
    const row = this.#rows.get(one.key);
    one.unmarked = Boolean(row && !row.tried);
    if (one.unmarked && !this.#world.fired["the storage was full"]) this.#world.fail(`tap ${one.tap} was sent before it was marked`);
  }

  // watch looks on while a tab's list changes: an entry leaves it only if it took effect or was discarded.
  watch(tab) {
    let before = new Set();
    tab.global.queue.addEventListener("change", () => {
      const now = listed(tab);
      for (const tap of before) {
        if (!now.has(tap) && !this.#done(this.taps[tap - 1])) this.#world.fail(`tap ${tap} vanished from the list`);
      }
      before = now;
    });
  }

  // discard discards an entry of a tab's list.
  discard(tab) {
    const e = this.#pick(tab, (e) => e.state === "queued" || e.state === "refused");
    if (!e) return;
    const one = this.#byKey.get(e.key);
    this.#world.say(`tab ${tab.number}: discard tap ${one.tap}`);
    one.discarding++;
    tab.global.queue.discard(e.n).then((done) => {
      if (!tab.dead) one.discarding--; // otherwise nobody knows
      one.discarded ||= done;
      this.#world.say(`tap ${one.tap} ${done ? "is" : "cannot be"} discarded`);
    });
  }

  // retry sends a refused entry again.
  retry(tab) {
    const e = this.#pick(tab, (e) => e.state === "refused");
    if (!e) return;
    const one = this.#byKey.get(e.key);
    this.#world.say(`tab ${tab.number}: retry tap ${one.tap}`);
    one.retried = true;
    tab.global.queue.retry(e.n).then((done) => { if (done) this.#node.refuses.delete(one.tap); });
  }

  #pick(tab, which) {
    const all = tab.global.queue.entries.filter(which);
    return all.length ? this.#world.pick(all) : null;
  }

  // empty empties the storage. What an open page lists must survive it.
  empty(how) {
    const stored = new Set(this.rows().map((row) => row.key));
    for (const one of this.taps.filter((t) => stored.has(t.key))) {
      one.cleared = true;
      one.knownBy = this.#device.tabs.filter((tab) => listed(tab).has(one.tap));
    }
    for (const one of this.taps) { // a page that was frozen may put back what it knew long ago
      one.emptied ||= stored.has(one.key) || this.#device.tabs.some((tab) => listed(tab).has(one.tap));
    }
    this.#device.database.empty(how);
    this.#device.caches.empty();
    this.#device.workers.forget();
  }

  // tap records an entry in a tab, and lets time pass until the page has it.
  async tap(tab) {
    const one = this.begin(tab);
    for (let i = 0; i < 100 && !one.answered && !tab.dead; i++) await this.#world.pass(100);
    if (!one.answered && !tab.dead) this.#world.fail(`tap ${one.tap} was not answered within 10 s`);
    return one;
  }

  // begin records an entry in a tab.
  begin(tab) {
    const tap = this.taps.length + 1;
    const one = { tap, key: `tap-${tap}`, tab, at: this.#world.now, clock: this.clock, stored: 0, answered: false, discarding: 0, discarded: false, retried: false };
    this.taps.push(one);
    this.#byKey.set(one.key, one);
    this.#world.say(`tab ${tab.number}: tap ${tap}`);
    tab.global.queue.add({ path: "/app/taps", body: { tap }, what: `tap ${tap}`, key: one.key }).then(() => {
      if (tab.dead) return;
      one.answered = true;
      if (!listed(tab).has(tap) && !this.#done(one)) this.#world.fail(`tap ${tap} is not in the list`);
    }, (err) => {
      if (!tab.dead) this.#world.fail(`tap ${tap} failed: ${err?.stack ?? err}`);
    });
    return one;
  }

  // #store numbers the entries in the order in which the device stored them.
  #store(rows) {
    const now = new Map(rows.map((row) => [row.key, row]));
    for (const [key, { state }] of now) if (this.#rows.get(key)?.state !== state) this.#world.say(`stored: ${key} is ${state}`);
    for (const key of this.#rows.keys()) if (!now.has(key)) this.#world.say(`stored: ${key} is removed`);
    this.#rows = now;
    for (const row of rows.sort((a, b) => a.n - b.n)) {
      const one = this.#byKey.get(row.key);
      if (!one || (one.stored && !one.cleared)) continue;
      one.cleared = false;
      one.early = Boolean(row.tried); // it was sent from a page's memory
      if (!this.#took(one)) one.stored = ++this.#stored;
    }
  }

  #done(one) {
    return one.discarded || one.discarding || one.undone || this.#took(one);
  }

  #took(one) {
    return this.#node.took.some((e) => e.tap === one.tap);
  }

  // halfway judges a world in which everything works again, but tabs are frozen: what the others list has been sent.
  halfway() {
    for (const tab of this.#device.tabs.filter((tab) => !tab.frozen)) {
      for (const e of tab.global.queue.entries) {
        if (e.state !== "refused") this.#world.fail(`${e.key} is still ${e.state} while other tabs are frozen`);
      }
    }
  }

  // verdict judges a world that has come to rest.
  async verdict() {
    const alive = this.#device.tabs.filter((tab) => !tab.dead);
    for (const one of this.taps) this.#judge(one, alive);
    this.#order();
    for (const tab of alive) {
      if (["closed", "lost", "full"].includes(tab.global.queue.trouble)) this.#world.fail(`a page says "${tab.global.queue.trouble}" although the storage works`);
    }
  }

  #judge(one, alive) {
    const effects = this.#node.took.filter((e) => e.tap === one.tap).length;
    const here = alive.map((tab) => tab.global.queue.entries.find((e) => e.key === one.key)).filter(Boolean);
    const refused = here.some((e) => e.state === "refused" && e.words);
    const forgotten = one.cleared && !one.knownBy.some((tab) => alive.includes(tab));
    const gone = one.undone && this.#node.cloud === "none"; // the node had said that it has it for good
    const expected = !gone && ((one.stored && !forgotten) || (one.answered && alive.includes(one.tab)));
    if (forgotten && !effects && !here.length) this.unknown++;
    if (effects > 1) this.#world.fail(`tap ${one.tap} took effect ${effects} times`);
    if (one.discarded && effects && !one.unmarked && !one.handed) this.#world.fail(`tap ${one.tap} took effect although it was discarded`);
    if (expected && !one.discarded && !one.discarding && !effects && !refused) this.#world.fail(`tap ${one.tap} is lost: ${here.map((e) => e.state).join() || "not listed"}`);
    if (effects && here.length && !(one.emptied && one.retried)) this.#world.fail(`tap ${one.tap} has taken effect and is still ${here[0].state}`);
  }

  // #order: what a device has stored takes effect in that order, and a tab's taps in theirs.
  #order() {
    const took = this.#node.took.map((e) => this.taps[e.tap - 1]).filter((one) => !one.retried && !one.cleared && !one.undone);
    this.#ascends(took.filter((one) => one.stored && !one.early && !one.emptied), (one) => one.stored, "stored");
    for (const tab of new Set(took.map((one) => one.tab))) this.#ascends(took.filter((one) => one.tab === tab && !one.emptied), (one) => one.tap, "tapped");
  }

  #ascends(taps, number, how) {
    taps.forEach((one, i) => {
      if (i && number(taps[i - 1]) > number(one)) this.#world.fail(`tap ${one.tap} was ${how} before tap ${taps[i - 1].tap}, and took effect after it`);
    });
  }

  // rows returns what the device has stored.
  rows() {
    return this.#device.database.rows(database);
  }
}

const listed = (tab) => new Set(tab.global.queue.entries.map((e) => Number(e.key.slice("tap-".length))));
