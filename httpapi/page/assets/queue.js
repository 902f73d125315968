// The queue of writes that the node has not confirmed. A write is stored in IndexedDB before it is sent, until it has arrived for good:
// in the cloud, if the node has one. One write is in flight at a time, oldest first, across all tabs. See DESIGN.md in httpapi/page.

const most = 500; // writes in the queue
const mostBytes = 16 << 10; // of one body
const within = 15000; // ms until a request times out
const steps = [1, 2, 4, 8, 16, 30]; // seconds between attempts
const loose = 2 ** 50; // numbers from here on are writes only in this page's memory

// Queue raises "change" when entries, trouble or signedOut change. An entry is {n, key, at, reader, method, path, type, body, what,
// until, state, words, node, seq}; its state is queued, sending, taken or refused.
export class Queue extends EventTarget {
  entries = []; // in order, including other readers'
  trouble = ""; // why nothing can be stored: "denied", "full"
  signedOut = false; // the reader must sign in before writes can be sent
  #db = null;
  #held = new Map(); // entries that could not be stored, or only in an older state
  #scope; #reader; #channel; #timer = 0; #tries = 0; #turn = null; #again = false;

  constructor(scope, reader) {
    super();
    this.#scope = "touchline " + scope;
    this.#reader = reader;
    this.#channel = new BroadcastChannel(this.#scope);
    this.#channel.onmessage = () => this.#load();
    this.ready = this.#open();
  }

  async #open() {
    try {
      this.#db = await asked(indexedDB.open(this.#scope, 1), (db) => db.createObjectStore("writes", { keyPath: "n", autoIncrement: true }));
      this.#db.onclose = () => this.#without("denied");
    } catch (err) {
      this.trouble = err?.name === "QuotaExceededError" ? "full" : "denied";
    }
    await this.#load();
    this.pump();
  }

  #without(trouble) {
    this.trouble = trouble;
    if (trouble === "denied") this.#db = null;
    this.#load();
  }

  // add queues a write made now: {path, body, method, what, until, key}. body is sent as JSON, or as CSV if it is a string. what
  // describes the write; until is the time by this device's clock after which it must not be sent for the first time. It returns when
  // the write is stored.
  async add({ path, body = {}, method = "POST", what = "", until = 0, key = ulid() }) {
    await this.ready;
    const [type, text] = typeof body === "string" ? ["text/csv", body] : ["application/json", JSON.stringify(body)];
    const entry = { key, at: Date.now(), reader: this.#reader, method, path, type, body: text, what, until, state: "queued", words: "" };
    if (entry.body.length > mostBytes) throw new Error("This is too long to be sent: shorten it.");
    if (this.entries.length >= most) throw new Error(`${most} entries are waiting to be sent already: connect to the node before you add more.`);
    try {
      if (!this.#db) throw new DOMException("", "InvalidStateError");
      await this.#in("readwrite", (writes) => writes.add(entry));
      this.trouble = "";
      navigator.storage?.persist?.();
    } catch (err) {
      entry.n = loose + entry.at * 100 + this.#held.size;
      this.#held.set(entry.n, entry);
      this.trouble = err.name === "QuotaExceededError" ? "full" : "denied";
    }
    await this.#changed();
    this.#tries = 0;
    this.pump();
    return entry;
  }

  // discard removes an entry that was not sent, or was refused. It reports whether that was possible.
  async discard(n) {
    const done = await this.#change(n, (e) => (e.state === "refused" || (e.state === "queued" && !e.tried) ? null : e));
    return done === null;
  }

  // retry queues a refused entry again.
  async retry(n) {
    await this.#change(n, (e) => ({ ...e, state: e.state === "refused" ? "queued" : e.state, words: "" }));
    this.pump();
  }

  // pump sends queued entries. Tabs take turns, and each reads the queue first, so none sends what another has sent.
  async pump() {
    await this.ready;
    this.#again = true;
    this.#turn ??= this.#turns();
    await this.#turn;
  }

  async #turns() {
    while (this.#again) {
      this.#again = false;
      clearTimeout(this.#timer);
      const later = await alone(this.#scope, () => this.#drain()).catch(() => steps.at(-1));
      if (later) this.#timer = setTimeout(() => this.pump(), later * 1000 * (0.8 + 0.4 * Math.random()));
    }
    this.#turn = null;
  }

  // hurry must be called when the node is reachable again.
  hurry() {
    this.#tries = 0;
    if (this.entries.length) this.pump();
  }

  // Returns after how many seconds to continue; 0: nothing to do.
  async #drain() {
    let there = false;
    for (;;) {
      await this.#load();
      const e = this.entries.find((e) => e.reader === this.#reader && (e.state === "queued" || e.state === "sending"));
      if (!e) break;
      if (e.until && !e.tried && Date.now() > e.until) {
        await this.#change(e.n, (e) => ({ ...e, state: "refused", words: "Not sent: it was too late." }));
        continue;
      }
      there ||= await isThere();
      if (!there) return this.#later(0); // an entry that was not sent can still be discarded
      await this.#change(e.n, (e) => ({ ...e, state: "sending", tried: true }));
      const got = await send(e);
      this.signedOut = got.signIn || false;
      await this.#change(e.n, (e) => (got.done ? null : { ...e, ...got.next }));
      if (got.later !== undefined) return this.#later(got.later);
      this.#tries = 0;
    }
    return this.#confirm();
  }

  // Asks about the entries that the node has taken.
  async #confirm() {
    for (const e of this.entries.filter((e) => e.reader === this.#reader && e.state === "taken")) {
      const got = await ask(e);
      if (got.next || got.done) await this.#change(e.n, (e) => (got.done ? null : { ...e, ...got.next }));
      if (got.next?.state === "queued") return 0.1; // another node: send it again with its key
      if (!got.done && !got.next) return this.#later(2);
    }
    return 0;
  }

  #later(atLeast) {
    return Math.max(atLeast, steps[Math.min(this.#tries++, steps.length - 1)]);
  }

  async #in(mode, work) {
    const t = this.#db.transaction("writes", mode, { durability: "strict" });
    const got = work(t.objectStore("writes"));
    await new Promise((ok, no) => {
      t.oncomplete = ok;
      t.onabort = () => no(t.error ?? got?.error);
    });
    return got?.result;
  }

  async #load() {
    let kept = [];
    try {
      if (this.#db) kept = await this.#in("readonly", (writes) => writes.getAll());
    } catch {
      this.#db = null;
      this.trouble = "denied";
    }
    this.entries = [...kept.map((e) => this.#held.get(e.n) ?? e), ...[...this.#held.values()].filter((e) => e.n >= loose)];
    this.dispatchEvent(new Event("change"));
  }

  async #changed() {
    this.#channel.postMessage("changed");
    await this.#load();
  }

  // Replaces the current state of an entry by to(state); null deletes it. A state that cannot be stored is kept in memory, and sent all
  // the same.
  async #change(n, to) {
    let now;
    if (n >= loose) {
      const was = this.#held.get(n);
      now = was && to(was);
      if (now) this.#held.set(n, now);
      else this.#held.delete(n);
    } else {
      await this.#in("readwrite", (writes) => {
        writes.get(n).onsuccess = ({ target }) => {
          const was = target.result && (this.#held.get(n) ?? target.result);
          if (!was) return;
          now = to(was);
          if (now) writes.put(now);
          else writes.delete(n);
        };
      }).then(() => this.#held.delete(n), (err) => {
        if (!now || err?.name !== "QuotaExceededError") throw err;
        this.#held.set(n, now);
        this.trouble = "full";
      });
    }
    await this.#changed();
    return now;
  }
}

// Converts an IndexedDB request to a promise.
function asked(request, upgrade) {
  return new Promise((ok, no) => {
    request.onupgradeneeded = () => upgrade(request.result);
    request.onsuccess = () => ok(request.result);
    request.onerror = request.onblocked = () => no(request.error);
  });
}

// Runs work while no other tab does. Without a secure context or storage there are no locks: two tabs may then send the same write
// twice, and the node recognizes it by its key.
async function alone(name, work) {
  let begun = false;
  const once = () => {
    begun = true;
    return work();
  };
  try {
    if (navigator.locks) return await navigator.locks.request(name, once);
  } catch (err) {
    if (begun) throw err;
  }
  return once();
}

async function isThere() {
  const answer = await fetch("/livez", { cache: "no-store", signal: AbortSignal.timeout(within) }).catch(() => null);
  return answer?.ok ?? false;
}

// Sends one entry. Returns done, or the next state; later is the minimum number of seconds before another attempt.
async function send(e) {
  let answer;
  try {
    answer = await fetch(e.path, {
      method: e.method, body: e.body, redirect: "error", cache: "no-store", signal: AbortSignal.timeout(within),
      headers: {
        "Content-Type": e.type ?? "application/json", "Idempotency-Key": e.key, Prefer: "wait=0",
        "Touchline-Occurred-Ago": ((Date.now() - e.at) / 1000).toFixed(1),
      },
    });
  } catch {
    return { later: 0, next: { state: "queued" } };
  }
  const node = answer.headers.get("Touchline-Node");
  const cloud = answer.headers.get("Touchline-Cloud");
  const again = [408, 425, 429, 502, 503, 504].includes(answer.status) || (answer.status === 500 && (e.failed ?? 0) < steps.length);
  if (answer.status === 401) return { later: 30, signIn: true, next: { state: "queued" } };
  if (!node || again) { // without the header, a proxy has answered
    return { later: Number(answer.headers.get("Retry-After")) || 0, next: { state: "queued", failed: (e.failed ?? 0) + (answer.status === 500) } };
  }
  if (!answer.ok) return { next: { state: "refused", words: await wordsOf(answer), failed: 0 } };
  if (cloud !== "waiting") return { done: true };
  return { next: { state: "taken", node, seq: answer.headers.get("Touchline-Seq") } };
}

// Asks what became of a taken entry. An empty result: not known yet.
async function ask(e) {
  const answer = await fetch(`/_/writes/${e.node}/${e.seq}`, { cache: "no-store", signal: AbortSignal.timeout(within) }).catch(() => null);
  if (!answer?.headers.get("Touchline-Node")) return {};
  if (answer.status === 404) return { next: { state: "queued" } };
  if (answer.status === 409) return { next: { state: "refused", words: await wordsOf(answer) } };
  return { done: answer.ok && answer.headers.get("Touchline-Cloud") !== "waiting" };
}

// Returns the text of an error in any of the applications' formats.
async function wordsOf(answer) {
  const said = await answer.json().catch(() => ({}));
  const error = typeof said.error === "object" && said.error ? said.error : said;
  const detail = (error.details ?? error.errors ?? [])[0];
  const words = error.message ?? error.detail ?? (typeof said.error === "string" ? said.error : "");
  return [words || `The node refused it (${answer.status}).`, detail && `${detail.field}: ${detail.message}`].filter(Boolean).join(" ");
}

// ulid returns a key that sorts by time.
export function ulid(now = Date.now()) {
  const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  let time = "";
  for (let i = 0, t = now; i < 10; i++, t = Math.floor(t / 32)) time = digits[t % 32] + time;
  return time + [...crypto.getRandomValues(new Uint8Array(16))].map((b) => digits[b % 32]).join("");
}
