// The queue of writes that the node has not confirmed. A write is stored in IndexedDB before it is sent, until it has arrived for good:
// in the cloud, if the node has one. One write is in flight at a time, oldest first, across all tabs. See DESIGN.md in httpapi/page.

import { ageOf, aheadOf, doubtful, made, measured, nodeTime } from "./age.js";
import { Database } from "./database.js";
import { amended, answerOf, complete, counts, countsWith, deviceOf, encoded, known, loose, troubleOf, ulid } from "./entries.js";
import { askFor, findNode, send } from "./send.js";
import { alone } from "./turns.js";

const most = 500; // writes in the queue
const mostSent = 500; // writes that are kept after they have arrived
const keepSent = 24 * 60 * 60 * 1000; // ms
const steps = [1, 2, 4, 8, 16, 30]; // seconds between attempts
const soon = 2000; // ms between attempts while the node is heard of

// Queue raises "change" when entries, trouble, signedOut or asked change, and "answered" at the node's answer to an entry, in this or another
// tab: {key, state, made}, state being done, taken or refused, and made what a creation answered. entries.js says what an entry is.
export class Queue extends EventTarget {
  entries = []; // in order, including other readers', without those that are sent
  sent = []; // entries that have arrived: the second copy, if the node loses what it has
  trouble = ""; // why something cannot be stored: "denied", "full", "closed", or "lost" if it has been closed for a minute
  signedOut = false; // the reader must sign in before writes can be sent
  ahead; // by how much the node's clock is ahead of this device's, as measured last; null: unknown
  #stored = []; // entries in the database, as last seen
  #states = new Map(); // by key: states of stored entries that could not be stored; null: the entry is to be deleted
  #held = []; // entries that could not be stored, in order
  #database; #id = null; #number = loose; #storing = Promise.resolve();
  #scope; #reader; #device; #channel; #timer = 0; #tries = 0; #turn = null; #again = false;
  #life = ""; #looked = false; // of the node as last heard; whether it was asked for since the page may have missed a change
  #answer = null; // the node's to the entry in flight
  #doubts = false; // an entry that is next has an age to be asked about
  #away = false; #triedAt = 0; #heardAt = 0; // the last attempt had no answer; when it was; when another tab was last heard

  constructor(scope, reader, device = "", ahead = null) {
    super();
    this.ahead = ahead && measured(...ahead);
    this.#scope = "touchline " + scope;
    this.#reader = reader;
    this.#device = device;
    this.#database = new Database(this.#scope);
    this.#channel = new BroadcastChannel(this.#scope);
    this.#channel.onmessage = ({ data }) => this.#hear(data);
    this.ready = this.#load();
    this.ready.then(() => this.pump());
  }

  // add queues a write made now: {path, body, method, what, until, key}. body is sent as JSON, or as CSV if it is a string. what
  // describes the write; until is the time by this device's clock after which it must not be sent for the first time. It returns when
  // the write is stored.
  async add({ path, body = {}, method = "POST", what = "", until = 0, key = ulid(), from = location.pathname + location.search }) {
    const time = made(this.ahead);
    await this.ready;
    const entry = { key, ...time, device: this.#device, reader: this.#reader, method, path, ...encoded(body), what, until, from, state: "queued", words: "" };
    if (this.entries.length >= most) throw new Error(`${most} entries are waiting to be sent already: connect to the node before you add more.`);
    await this.#inTurn(() => this.#store([entry]));
    if (!this.trouble) navigator.storage?.persist?.();
    this.#channel.postMessage({ key: entry.key });
    this.#tries = 0;
    this.pump();
    return entry;
  }

  // discard removes an entry that was not sent, or was refused. It reports whether that was possible: while the database is closed it is
  // not, because another tab may send the entry.
  async discard(n) {
    const done = await this.#change(this.#numbered(n), (e) => (e.state === "refused" || (e.state === "queued" && !e.tried) ? null : e), true);
    return done === null;
  }

  // retry queues a refused entry again. It reports whether that could be stored: otherwise a later page would call it refused, although it
  // may have been accepted.
  async retry(n) {
    const now = await this.#change(this.#numbered(n), (e) => ({ ...e, state: e.state === "refused" ? "queued" : e.state, words: "" }), true);
    this.pump();
    return Boolean(now);
  }

  // amend changes a refused entry and queues it again, with the moment of its tap. It reports whether that was possible.
  async amend(n, write) {
    const to = { ...amended(this.#numbered(n), write), device: this.#device };
    const now = await this.#change(this.#numbered(n), (e) => (e.state === "refused" ? { ...e, ...to } : e), true);
    this.pump();
    return now?.key === to.key;
  }

  // asked lists the entries, with their ages, that are sent only after confirm: see ageOf. Those after them wait too, in their order.
  get asked() {
    return this.#doubts ? doubtful(this.entries.filter((e) => this.#sendable(e)), this.ahead) : [];
  }

  // confirm says that the entries asked about were made when they seem to have been.
  async confirm() {
    for (const { entry } of this.asked) await this.#change(entry, (e) => ({ ...e, sure: true }));
    await this.pump();
  }

  // held lists the entries that are only in this page's memory.
  get held() {
    return [...this.#held];
  }

  // sendHeld sends what is only in this page's memory, although the stored entries before it cannot be read.
  async sendHeld() {
    for (const e of this.#held) await this.#change(e, (e) => ({ ...e, outOfOrder: true }));
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
      const later = await alone(this.#scope, () => this.#heardAt, (turn) => this.#drain(turn)).catch(() => steps.at(-1));
      if (later) this.#timer = setTimeout(() => this.pump(), later * 1000 * (0.8 + 0.4 * Math.random()));
    }
    this.#turn = null;
  }

  // hurry must be called when the node is reachable again.
  hurry() {
    this.#tries = 0;
    this.#looked = false;
    if (this.entries.length || this.sent.length) this.pump();
  }

  // heard must be called when the node gave a sign of life: an attempt that had no answer is repeated.
  heard() {
    if (this.#away && performance.now() - this.#triedAt > soon) this.hurry();
  }

  // Asks for the node, and measures its clock.
  async #find() {
    const [asked, tick] = [Date.now(), performance.now()];
    const node = await findNode();
    this.ahead = aheadOf(node.time, asked, tick) ?? this.ahead;
    return node;
  }

  // Returns after how many seconds to continue; 0: nothing to do.
  async #drain(turn) {
    let node = null;
    this.#doubts = false;
    for (;;) {
      await this.#load();
      if (turn.over) return steps.at(-1);
      if (!this.#looked && this.sent.some((e) => e.reader === this.#reader)) {
        node = await this.#find();
        this.#looked = node.there;
        if (await this.#offer(node.life)) continue;
      }
      const e = this.entries.find((e) => this.#sendable(e));
      if (!e) break;
      if (e.until && !e.tried && Date.now() > e.until) {
        await this.#change(e, (e) => ({ ...e, state: "refused", words: "Not sent: it was too late." }));
        continue;
      }
      this.#triedAt = performance.now();
      node ??= await this.#find();
      this.#away = !node.there;
      if (!node.there) return this.#later(0); // an entry that was not sent can still be discarded
      if (ageOf(e, this.ahead).doubtful) {
        this.#doubts = true;
        this.#show();
        break;
      }
      const now = await this.#change(e, (e) => ({ ...e, state: "sending", tried: true, device: deviceOf(e, this.#device) }));
      if (!now || !this.#sendable(now)) continue; // it was discarded meanwhile, or sent by another tab, or the database was closed
      const got = await send(now, ageOf(now, this.ahead).age, nodeTime(this.ahead), countsWith(now, this.#stored, this.entries, this.storage));
      this.signedOut = got.signIn || false;
      this.#away = got.away || false;
      this.#answered(this.#answer = answerOf(now, got));
      if (got.done) await this.#finish(now, got.life);
      else await this.#change(now, (e) => ({ ...e, ...got.next }));
      if (this.#life && got.life && got.life !== this.#life) this.#looked = false;
      this.#life = got.life || this.#life;
      if (got.later !== undefined) return this.#later(got.later);
      this.#tries = 0;
    }
    const later = await this.#confirm();
    if (this.#closed()) return Math.min(2, later || 2); // the database is opened again
    return later || (this.trouble === "full" || this.#doubts ? steps.at(-1) : 0);
  }

  // An entry that has arrived stays as a second copy if its node, of this life, recognizes it by its key. Without room it is removed.
  async #finish(e, life) {
    const sent = life && (await this.#change(e, (e) => ({ ...e, state: "sent", words: "", sentAt: Date.now(), lives: known(e, life) }), true));
    if (!sent) await this.#change(e, () => null);
  }

  // Sends what has arrived again to a node of another life: it may have been restored from a backup. It reports whether there was anything.
  async #offer(life) {
    if (!life) return false;
    const lacks = this.sent.filter((e) => e.reader === this.#reader && !e.lives.includes(life));
    for (const e of lacks) await this.#change(e, (e) => ({ ...e, state: "queued", lives: known(e, life), again: (e.again ?? 0) + 1 }), false, "sent");
    return lacks.length > 0;
  }

  // While the database is closed, entries that cannot be read may come before those in memory: only the reader can say to send these.
  #sendable(e) {
    const waits = e.reader === this.#reader && (e.state === "queued" || e.state === "sending");
    return waits && (!this.#closed() || e.outOfOrder);
  }

  #closed() {
    return this.trouble === "closed" || this.trouble === "lost";
  }

  // Asks about the entries that the node has taken.
  async #confirm() {
    for (const e of this.entries.filter((e) => e.reader === this.#reader && e.state === "taken")) {
      const got = await askFor(e);
      if (got.done) await this.#finish(e, e.life);
      else if (got.next) await this.#change(e, (e) => ({ ...e, ...got.next }));
      if (got.next?.state === "queued") return 0.1; // another node: send it again with its key
      if (!got.done && !got.next) return this.#later(2);
    }
    return 0;
  }

  // Says what the node answered, if it did, before the entry changes.
  #answered(answer) {
    if (answer) this.dispatchEvent(Object.assign(new Event("answered"), answer));
  }

  // storage identifies the browser's present storage: when it was made, and a number. It is empty if there is none.
  get storage() {
    return (this.#id ?? "").replace("id ", "").replace(" ", "-");
  }

  #later(atLeast) {
    return Math.max(atLeast, steps[Math.min(this.#tries++, steps.length - 1)]);
  }

  #numbered(n) {
    return this.entries.find((e) => e.n === n);
  }

  // The database is used for one thing at a time, so that entries are stored in the order of their taps.
  #inTurn(work) {
    const done = this.#storing.then(work);
    this.#storing = done.catch(() => {});
    return done;
  }

  #load() {
    return this.#inTurn(() => this.#read());
  }

  async #read() {
    let id = null;
    try {
      if (this.#held.length || this.#states.size) return await this.#store([]);
      const stored = await this.#database.run("readonly", (writes, now) => {
        id = now;
        return writes.getAll();
      });
      if (this.#emptied(id)) return await this.#store([]);
      this.#id = id;
      this.#stored = await this.#forgetSent(stored);
      this.trouble = "";
    } catch (err) {
      this.trouble = troubleOf(err, this.#database);
    }
    return this.#show();
  }

  // Deletes second copies that are too old or too many, the oldest first, and returns the other entries; all of them if there is no room.
  async #forgetSent(stored, all = false) {
    const sent = stored.filter((e) => e.state === "sent");
    const gone = new Set(sent.filter((e, i) => all || i < sent.length - mostSent || Date.now() - e.sentAt > keepSent));
    if (!gone.size) return stored;
    await this.#database.run("readwrite", (writes) => [...gone].map((e) => writes.delete(e.n)).at(-1));
    return stored.filter((e) => !gone.has(e));
  }

  // A database with another id is a new one: the browser has emptied the storage.
  #emptied(id) {
    return this.#id !== null && this.#id !== id;
  }

  // Stores new entries, after everything that was not stored until now: entries in memory, states, and what an emptied database lacks. What
  // cannot be stored stays in memory.
  async #store(fresh, again = false) {
    const late = [...this.#held, ...fresh];
    let id, there, stored;
    try {
      await this.#database.run("readwrite", (writes, now) => {
        id = now;
        const request = writes.getAll();
        request.onsuccess = () => {
          there = request.result;
          stored = complete(writes, there, { emptied: this.#emptied(id) ? this.#stored : [], device: this.#device }, this.#states, late);
        };
        return request;
      });
      this.#id = id;
      this.#stored = stored.sort((a, b) => a.n - b.n);
      this.#states.clear();
      this.#held = [];
      this.trouble = "";
    } catch (err) {
      if (!again && err?.name === "QuotaExceededError" && there && (await this.#makeRoom(there, id))) return this.#store(fresh, true);
      for (const e of fresh) this.#held.push(Object.assign(e, { n: this.#number++ }));
      if (there && !this.#emptied(id)) [this.#id, this.#stored] = [id, there];
      this.trouble = troubleOf(err, this.#database);
    }
    this.#show();
  }

  // What was sent gives way to what was not, and is not put back into an emptied storage. It reports whether that may help.
  async #makeRoom(there, id) {
    const sent = (e) => e.state === "sent";
    const back = this.#emptied(id) && this.#stored.some(sent);
    if (back) this.#stored = this.#stored.filter((e) => !sent(e));
    const freed = there.some(sent) && (await this.#forgetSent(there, true).then(() => true, () => false));
    return back || freed;
  }

  #show() {
    const now = (e) => {
      const state = counts(e, this.#states.get(e.key));
      return state ? { ...state, n: e.n } : state === undefined && e;
    };
    const all = [...this.#stored.map(now).filter(Boolean), ...this.#held];
    this.entries = all.filter((e) => e.state !== "sent");
    this.sent = all.filter((e) => e.state === "sent");
    this.dispatchEvent(new Event("change"));
  }

  // Replaces the current state of an entry by to(state); null deletes it. It returns the new state; undefined: there is no such entry any
  // more. A state that cannot be stored is kept in memory, unless it must be stored: then nothing changes, and it returns undefined.
  // A tab that has lost its turn changes nothing of an entry that another one has sent.
  async #change(entry, to, mustStore = false, from = "") {
    if (!entry) return undefined;
    const change = (e) => (from ? e.state === from : e.state !== "sent") ? to(e) : undefined;
    const now = await this.#inTurn(() => this.#replace(entry, change, mustStore));
    const sent = now?.state === "sent" ? now : undefined;
    this.#channel.postMessage({ key: entry.key, gone: now === null, sent, unsaved: this.#states.get(entry.key), answer: this.#answer?.key === entry.key ? this.#answer : null });
    return now;
  }

  // Another tab has changed an entry. One that it has removed is not put back if the storage is emptied, and a state that it could not
  // store counts here too.
  #hear({ key, gone, sent, unsaved, answer }) {
    this.#heardAt = performance.now();
    this.#answered(answer);
    if (sent) this.#stored = this.#stored.map((e) => (e.key === key ? { ...sent, n: e.n } : e));
    if (gone) this.#stored = this.#stored.filter((e) => e.key !== key);
    if (unsaved) this.#states.set(key, unsaved);
    else this.#states.delete(key);
    this.#load().then(() => { if (this.trouble) this.pump(); });
  }

  async #replace({ key }, to, mustStore) {
    let now;
    const i = this.#held.findIndex((e) => e.key === key);
    if (i >= 0) {
      now = to(this.#held[i]);
      this.#held.splice(i, 1, ...(now && now.state !== "sent" ? [now] : []));
      await this.#read();
      return now;
    }
    const entry = [...this.entries, ...this.sent].find((e) => e.key === key);
    if (!entry) return undefined;
    const was = this.#states.get(key);
    let id = this.#id;
    try {
      await this.#database.run("readwrite", (writes, at) => {
        id = at;
        now = undefined;
        const request = writes.get(entry.n);
        request.onsuccess = () => {
          if (request.result?.key !== key || this.#emptied(at)) return;
          now = to(counts(request.result, was) ?? request.result);
          if (now) writes.put({ ...now, n: entry.n }); // an emptied storage may have given it another number
          else if (now === null) writes.delete(entry.n);
        };
        return request;
      });
      this.#states.delete(key);
    } catch (err) {
      now = mustStore ? undefined : to(entry);
      if (now !== undefined) this.#states.set(key, now);
      this.trouble = troubleOf(err, this.#database);
    }
    if (this.#emptied(id)) { // the entry is put back, with its new state if that may be in memory alone
      now = mustStore ? undefined : to(entry);
      if (now !== undefined) this.#states.set(key, now);
    }
    await this.#read();
    return now;
  }
}
