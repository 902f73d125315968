// What the queue does with entries, apart from storing and sending them. See DESIGN.md in httpapi/page.

export const loose = 2 ** 50; // numbers from here on are writes only in this page's memory

// Writes what a database lacks, and returns its entries, in no order. An entry that is there already, by its key, is not stored twice: an
// earlier transaction may have taken effect although it failed.
export function complete(writes, there, emptied, states, late) {
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
    if (now && !entries.has(e.key)) add(now);
  }
  for (const e of late) if (!entries.has(e.key)) add(e);
  return [...entries.values()];
}

export const known = (e, life) => [...(e.lives ?? []).filter((one) => one !== life), life].slice(-4);

// A state that could not be stored does not count any more if another tab has sent the entry meanwhile.
export const counts = (stored, state) => (stored.state === "sent" && !(state?.again > (stored.again ?? 0)) ? undefined : state);

const waits = (e) => e.state === "queued" || e.state === "sending";

// countsWith returns what the node is told with an entry: how many the storage has had, and how many wait besides it.
export function countsWith(e, stored, entries, storage) {
  const made = stored.reduce((most, { n }) => Math.max(most, n), 0);
  return `${made} ${entries.filter((other) => waits(other) && other.key !== e.key).length} ${storage || "-"}`;
}

// ulid returns a key that sorts by time.
export function ulid(now = Date.now()) {
  const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  let time = "";
  for (let i = 0, t = now; i < 10; i++, t = Math.floor(t / 32)) time = digits[t % 32] + time;
  return time + [...crypto.getRandomValues(new Uint8Array(16))].map((b) => digits[b % 32]).join("");
}
