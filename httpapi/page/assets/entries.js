// What the queue does with entries, apart from storing and sending them. See DESIGN.md in httpapi/page.
//
// An entry is {n, key, at, reader, method, path, type, body, what, until, from, state, words, status, problems, node, seq, outOfOrder, device,
// lives, page, tick, ahead, sure}; age.js has the last four. Its state is queued, sending, taken, refused or sent. device is the hash of the device's id when it was made, under which the
// node recognizes it; lives are those of the nodes that have it; from is the page with its form.

const reopening = 60000; // ms in which a lost database may be opened again
const mostBytes = 16 << 10; // of one body
export const loose = 2 ** 50; // numbers from here on are writes only in this page's memory

// Writes what a database lacks, and returns its entries, in no order. An entry that is there already, by its key, is not stored twice: an
// earlier transaction may have taken effect although it failed. emptied are those that an emptied database has lost; device is the page's.
export function complete(writes, there, { emptied, device }, states, late) {
  const entries = new Map(there.map((e) => [e.key, e]));
  const taken = new Set(there.map((e) => e.n));
  const free = !emptied.some((e) => taken.has(e.n)); // otherwise all get new numbers, in their order
  const add = ({ n, ...entry }) => {
    if (n < loose && free) entry.n = n;
    entries.set(entry.key, entry);
    writes.add(entry).onsuccess = ({ target }) => { entry.n = target.result; };
  };
  for (const [key, now] of states) {
    const old = entries.get(key);
    if (!old || counts(old, now) === undefined) continue; // another tab has removed it, or sent it
    if (now) {
      entries.set(key, { ...now, n: old.n });
      writes.put(entries.get(key));
    } else {
      entries.delete(key);
      writes.delete(old.n);
    }
  }
  for (const e of emptied) {
    const now = states.has(e.key) ? states.get(e.key) : e;
    if (now && !entries.has(e.key)) add(perhapsSent(now, device));
  }
  for (const e of late) if (!entries.has(e.key)) add(e);
  return [...entries.values()];
}

// perhapsSent returns an entry as it is put back into an emptied database. This page may have slept while another tab sent it, which only that
// database knew: so the entry is sent again with its key, and cannot be discarded before the node has answered.
const perhapsSent = (e, device) => ({ ...e, tried: true, device: deviceOf(e, device) });

// deviceOf returns the hash of the device under which an entry is sent from a page of device.
export const deviceOf = (e, device) => e.device ?? (e.tried ? "none" : device);

export const known = (e, life) => [...(e.lives ?? []).filter((one) => one !== life), life].slice(-4);

// A state that could not be stored does not count any more if another tab has sent the entry meanwhile.
export const counts = (stored, state) => (stored.state === "sent" && !(state?.again > (stored.again ?? 0)) ? undefined : state);

const waits = (e) => e.state === "queued" || e.state === "sending";

// countsWith returns what the node is told with an entry: how many the storage has had, and how many wait besides it.
export function countsWith(e, stored, entries, storage) {
  const made = stored.reduce((most, { n }) => Math.max(most, n), 0);
  return `${made} ${entries.filter((other) => waits(other) && other.key !== e.key).length} ${storage || "-"}`;
}

// canHandIn reports whether somebody else may have more luck with an entry: it waits, or was refused for who made it.
export const canHandIn = ({ state, status }) => state !== "refused" || status === 403 || status === 404;

// encoded returns a body as it is sent.
export function encoded(body) {
  const [type, text] = typeof body === "string" ? ["text/csv", body] : ["application/json", JSON.stringify(body)];
  if (text.length > mostBytes) throw new Error("This is too long to be sent: shorten it.");
  return { type, body: text };
}

// amended returns how a refused entry changes that is sent with other content: with another key, which begins with the same time, because
// the node may know the old one.
export function amended({ key } = { key: "" }, { path, body = {}, method, what }) {
  const fresh = { state: "queued", words: "", tried: false, failed: 0, problems: [] };
  return { path, method, what, ...encoded(body), ...fresh, key: key.slice(0, -16) + ulid().slice(-16) };
}

// answerOf returns what the node has answered to an entry; null if it has to be sent again.
export const answerOf = ({ key }, { later, next, made }) => (later === undefined ? { key, state: next?.state ?? "done", made } : null);

// troubleOf returns why something could not be stored.
export function troubleOf(err, { opened, lostAt }) {
  if (err?.name === "QuotaExceededError") return "full";
  if (!opened) return "denied";
  return lostAt && performance.now() - lostAt > reopening ? "lost" : "closed";
}

const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

// timeOf returns the time of a key that ulid has made, 0 of others.
export const timeOf = (key) => (key.length === 26 ? [...key.slice(0, 10)].reduce((sum, c) => sum * 32 + digits.indexOf(c), 0) : 0);

// ulid returns a key that sorts by time.
export function ulid(now = Date.now()) {
  let time = "";
  for (let i = 0, t = now; i < 10; i++, t = Math.floor(t / 32)) time = digits[t % 32] + time;
  return time + [...crypto.getRandomValues(new Uint8Array(16))].map((b) => digits[b % 32]).join("");
}
