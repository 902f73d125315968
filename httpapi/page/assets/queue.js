// What people have done and the node has not confirmed yet. Each write is kept in IndexedDB before it is sent, and until it has
// arrived for good: where the node has a cloud, in the cloud. One is in flight at a time, the oldest first, whichever tab it was
// made in. See DESIGN.md in httpapi/page.

const most = 500; // writes that wait
const mostBytes = 16 << 10; // of one body
const within = 15000; // ms that the node has for an answer
const steps = [1, 2, 4, 8, 16, 30]; // seconds between two attempts
const loose = 2 ** 50; // numbers from here on are of writes that only this page holds

// Queue raises "change" when entries, trouble or its state of sending is another. An entry is
// {n, key, at, reader, method, path, body, what, until, state, words, node, seq}; its state is queued, sending, taken or refused.
export class Queue extends EventTarget {
  entries = []; // in their order, those of other readers too
  trouble = ""; // why nothing can be kept: "denied", "full"
  signedOut = false; // what waits needs its reader to sign in
  #db = null;
  #held = new Map(); // what could not be kept, and what is kept as it was before
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

  // add takes a write of now: {path, body, method, what, until, key}. what says it in words; until is the moment of this device's
  // clock after which it is not to be sent for the first time. It returns when the write is kept.
  async add({ path, body = {}, method = "POST", what = "", until = 0, key = ulid() }) {
    await this.ready;
    const entry = { key, at: Date.now(), reader: this.#reader, method, path, body: JSON.stringify(body), what, until, state: "queued", words: "" };
    if (entry.body.length > mostBytes) throw new Error("This is too large for one write.");
    if (this.entries.length >= most) throw new Error(`${most} writes wait already: no more are taken until some have been sent.`);
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

  // discard takes one back that was not sent, or forgets one that was refused. It reports whether that could be done.
  async discard(n) {
    const done = await this.#change(n, (e) => (e.state === "refused" || (e.state === "queued" && !e.tried) ? null : e));
    return done === null;
  }

  // retry sends one again that was refused.
  async retry(n) {
    await this.#change(n, (e) => ({ ...e, state: e.state === "refused" ? "queued" : e.state, words: "" }));
    this.pump();
  }

  // pump sends what waits. Tabs take turns; what one has sent is not there for the next.
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

  // hurry is called when the node is there again.
  hurry() {
    this.#tries = 0;
    if (this.entries.length) this.pump();
  }

  // Returns after how many seconds there is something to do again; 0: never.
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
      if (!there) return this.#later(0); // what was not sent can be taken back
      await this.#change(e.n, (e) => ({ ...e, state: "sending", tried: true }));
      const got = await send(e);
      this.signedOut = got.signIn || false;
      await this.#change(e.n, (e) => (got.done ? null : { ...e, ...got.next }));
      if (got.later !== undefined) return this.#later(got.later);
      this.#tries = 0;
    }
    return this.#confirm();
  }

  // Asks how far those have come that the node has taken.
  async #confirm() {
    for (const e of this.entries.filter((e) => e.reader === this.#reader && e.state === "taken")) {
      const got = await ask(e);
      if (got.next || got.done) await this.#change(e.n, (e) => (got.done ? null : { ...e, ...got.next }));
      if (got.next?.state === "queued") return 0.1; // another node: it is sent again, with its key
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

  // Changes an entry as it is now; to null: it goes. What there is no room to keep, this page alone knows: it is sent all the same.
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

// A request of IndexedDB as a promise.
function asked(request, upgrade) {
  return new Promise((ok, no) => {
    request.onupgradeneeded = () => upgrade(request.result);
    request.onsuccess = () => ok(request.result);
    request.onerror = request.onblocked = () => no(request.error);
  });
}

// Does work while no other tab does. Without a secure context, or storage, there are no locks: two tabs may send one write twice,
// and the node knows it by its key.
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

// Sends one entry. What comes of it: done, or what is next of it; with later it is to be tried again, after some seconds at least.
async function send(e) {
  let answer;
  try {
    answer = await fetch(e.path, {
      method: e.method, body: e.body, redirect: "error", cache: "no-store", signal: AbortSignal.timeout(within),
      headers: {
        "Content-Type": "application/json", "Idempotency-Key": e.key, Prefer: "wait=0",
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
  if (!node || again) { // without the header something on the way has answered
    return { later: Number(answer.headers.get("Retry-After")) || 0, next: { state: "queued", failed: (e.failed ?? 0) + (answer.status === 500) } };
  }
  if (!answer.ok) return { next: { state: "refused", words: await wordsOf(answer), failed: 0 } };
  if (cloud !== "waiting") return { done: true };
  return { next: { state: "taken", node, seq: answer.headers.get("Touchline-Seq") } };
}

// Asks what has become of one that was taken. Nothing: it is not known yet.
async function ask(e) {
  const answer = await fetch(`/_/writes/${e.node}/${e.seq}`, { cache: "no-store", signal: AbortSignal.timeout(within) }).catch(() => null);
  if (!answer?.headers.get("Touchline-Node")) return {};
  if (answer.status === 404) return { next: { state: "queued" } };
  if (answer.status === 409) return { next: { state: "refused", words: await wordsOf(answer) } };
  return { done: answer.ok && answer.headers.get("Touchline-Cloud") !== "waiting" };
}

// The server's words, in the shapes of errors that applications have.
async function wordsOf(answer) {
  const said = await answer.json().catch(() => ({}));
  const one = typeof said.error === "object" && said.error ? said.error : said;
  const detail = (one.details ?? one.errors ?? [])[0];
  const words = one.message ?? one.detail ?? (typeof said.error === "string" ? said.error : "");
  return [words || `The node refused it (${answer.status}).`, detail && `${detail.field}: ${detail.message}`].filter(Boolean).join(" ");
}

// ulid makes a key that sorts by its time.
export function ulid(now = Date.now()) {
  const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  let time = "";
  for (let i = 0, t = now; i < 10; i++, t = Math.floor(t / 32)) time = digits[t % 32] + time;
  return time + [...crypto.getRandomValues(new Uint8Array(16))].map((b) => digits[b % 32]).join("");
}
