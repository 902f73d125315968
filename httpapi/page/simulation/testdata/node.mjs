// The simulated node: it takes entries, each key once, and remembers the order in which they took effect.

const tooOld = "A write that happened more than 12 hours ago, or in the future, is accepted only if whoever made it confirms its time.";
const words = "The node refused it: nobody taps nine times at once.";

// device is the hash of the device's id.
export const device = "d1";

// rowOf returns the row that makes a key count once: of the device that made the entry, whoever brings it, or of the user if there is none.
const rowOf = (of, key, user) => `${of === device ? of : user}#${key}`;

const longestWay = 10000; // ms: as in OccurredAt

export class Node {
  name = "n1";
  took = []; // the entries in the order of their effect: {row, key, tap, at, sure}
  refuses = new Set(); // taps that the rules do not allow
  trouble = 0; // the share of answers that say "later"
  cloud = "none"; // or "waiting": entries are confirmed later
  slow = 0.5; // the share of questions to which the cloud has no answer yet
  taking = () => {}; // called with each entry before it takes effect
  page = () => ""; // the body of a page
  version = ""; // of its pages
  dead = ""; // what a proxy says in its place
  life = 1; // grows when it is restored from a backup
  release = "v1"; // of its program
  heard = null;
  keeps = true; // it names its life to entries whose keys it keeps
  changed = () => {}; // called after an entry took effect
  undone = () => {}; // called with each entry whose effect a restore has undone
  #answers = new Map(); // by the row of a key: the number of its write
  #confirmed = new Map(); // by number: whether the cloud has it
  #sent = new Set(); // rows of keys that the cloud has, in the order of their effect
  #world;

  constructor(world) {
    this.#world = world;
  }

  get assets() {
    return `/_/assets/${this.release}/`;
  }

  // answer takes a request. It returns {status, headers, body}, or null if the connection ends without an answer.
  answer(request) {
    const { name } = this;
    if (this.dead) return { headers: { "Content-Type": "text/html" }, body: this.dead };
    if (request.path === "/app/-/heard") return { status: this.heard ? 200 : 204, headers: { "Content-Type": "application/json" }, body: this.heard ? JSON.stringify(this.heard) : "" };
    if (request.path === "/livez") return { headers: { "Touchline-Node": name, "Touchline-Now": String(this.#world.now), ...this.#alive() }, body: "ok" };
    if (request.path === "/app/-/worker.js") return { body: this.release };
    if (request.path.startsWith("/_/assets/")) return request.path.startsWith(this.assets) ? { body: "a script" } : { status: 404, body: "not here" };
    if (request.method === "GET" && !request.path.startsWith("/_/writes/")) return { headers: { "Touchline-Node": name, "Touchline-Version": this.version, "Content-Type": "text/html" }, body: this.page() };
    const head = { "Touchline-Node": this.name, "Content-Type": "application/json" };
    if (this.#world.chance(this.trouble)) return this.#later(head);
    if (request.path.startsWith("/_/writes/")) return this.#confirm(request.path, head);
    return this.#take(request, head);
  }

  // heard is what it has heard of the device last, in the form of handover.Heard.
  #hear(header) {
    const [, made, waiting, store] = /^([0-9]{1,12}) ([0-9]{1,4}) ([0-9A-Za-z.-]{1,40})$/.exec(header ?? "") ?? [];
    if (!store) return this.#world.fail(`an entry does not say how many there are: ${header}`);
    const last = this.heard;
    this.heard = { store, made: Number(made), waiting: Number(waiting), at: this.#world.now };
    if (last) this.heard.lost = last.store === store ? last.lost : { ...last, lost: undefined };
  }

  #alive() {
    return this.keeps ? { "Touchline-Life": `life ${this.life}` } : {};
  }

  // backup returns what the node has. restore has it go back to that, in another life. What its cloud has stays: confirmed entries, and a share of
  // those that it has not confirmed yet.
  backup() {
    return { took: [...this.took], answers: new Map(this.#answers), confirmed: new Map(this.#confirmed) };
  }

  restore({ took, answers, confirmed }, share = 0) {
    this.#world.fire("the node was restored");
    const had = (one) => took.some((other) => other.row === one.row);
    const sent = (one) => this.cloud === "waiting" && (this.#confirmed.get(this.#answers.get(one.row)) || this.#world.chance(share));
    const lost = this.took.filter((one) => !had(one) && !this.#sent.has(one.row) && !sent(one));
    this.took = this.took.filter((one) => !lost.includes(one));
    if (this.cloud === "waiting") for (const { row } of this.took) this.#sent.add(row);
    [this.#answers, this.#confirmed] = [new Map(answers), new Map(confirmed)];
    this.life++;
    for (const { tap } of lost) this.undone(tap);
    this.changed();
  }

  #later(head) {
    this.#world.fire("the node was busy");
    const kind = this.#world.pick([429, 500, 503, "proxy", "end"]);
    if (kind === "end") return null;
    if (kind === "proxy") return { status: 200, body: "a sign-in page of the hall" };
    return { status: kind, headers: head, body: `{"error":"busy"}` };
  }

  #take(request, head) {
    const { tap } = JSON.parse(request.body);
    const key = request.headers.get("Idempotency-Key");
    const row = rowOf(request.headers.get("Touchline-Device"), key, "reader");
    this.#hear(request.headers.get("Touchline-Entries"));
    if (this.refuses.has(tap)) return { status: 409, headers: head, body: JSON.stringify({ message: words }) };
    const ago = Number(request.headers.get("Touchline-Occurred-Ago"));
    const sure = request.headers.get("Touchline-Occurred-Confirmed") === "1";
    if (!this.#answers.has(row) && !sure && (ago > 12 * 3600 || ago < -120)) return { status: 409, headers: head, body: JSON.stringify({ code: "occurred_at", message: tooOld }) };
    if (!this.#answers.has(row)) {
      const { now } = this.#world;
      const travelled = this.#travelled(request);
      this.#write({ row, key, tap, at: now - travelled - Math.max(0, ago) * 1000, sure, late: Math.max(0, now - request.sent - travelled) });
    }
    const number = this.#answers.get(row);
    const state = this.cloud === "waiting" && !this.#confirmed.get(number) ? "waiting" : "none";
    const headers = { ...head, ...this.#alive(), "Touchline-Cloud": state, "Touchline-Seq": String(number) };
    return tap % 3 ? { status: 201, headers, body: "{}" } : { status: 204, headers };
  }

  // #travelled returns for how long a request was under way, as far as its page knows.
  #travelled({ headers }) {
    const took = this.#world.now - Number(headers.get("Touchline-Sent") ?? NaN);
    return took > 0 && took <= longestWay ? took : 0;
  }

  // handIn takes the waiting entries of a file that somebody else brings: their rows, as the device had stored them.
  handIn(rows, handed) {
    for (const entry of rows) {
      const { tap } = JSON.parse(entry.body);
      const row = rowOf(entry.device ?? device, entry.key, "somebody else");
      if (this.refuses.has(tap) || this.#answers.has(row)) continue;
      handed(tap);
      this.#write({ row, key: entry.key, tap, at: entry.at, sure: true });
    }
  }

  // #write writes an entry. One that only the cloud remembers takes no further effect.
  #write(entry) {
    const { row, tap } = entry;
    this.#answers.set(row, this.life * 2 ** 20 + this.#answers.size + 1);
    if (this.took.some((one) => one.row === row)) return;
    this.taking(entry);
    this.took.push(entry);
    this.#world.say(`the node took ${tap}`);
    this.changed();
  }

  #confirm(path, head) {
    const [, , , name, text] = path.split("/");
    const number = Number(text);
    const waits = [...this.#answers.values()].includes(number) && !this.#confirmed.get(number); // also one from before a restore
    if (name !== this.name || (number >> 20 !== this.life && !waits)) return { status: 404, headers: head, body: `{"error":"unknown_write"}` };
    if (!this.#confirmed.has(number) && this.#world.chance(this.slow)) return { status: 202, headers: { ...head, "Touchline-Cloud": "waiting" }, body: "{}" };
    this.#confirmed.set(number, true);
    return { status: 200, headers: { ...head, "Touchline-Cloud": "confirmed" }, body: "{}" };
  }
}
