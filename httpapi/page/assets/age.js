// How old entries are, and what speaks against it. See DESIGN.md in httpapi/page.

const most = 12 * 3600000 - 60000; // ms: the oldest entry that the node takes without a word of the scorer, less a minute for the way
const early = 120000; // ms by which one may lie in the future
const slack = 2000; // ms
const page = Math.random(); // performance.now() is the time of one page

// made returns what an entry keeps of its time. ahead is measured, or null.
export const made = (ahead) => ({ at: Date.now(), page, tick: performance.now(), ahead: present(ahead) });

// measured is by how much the node's clock is ahead of this device's, in ms from and to, as measured now.
export const measured = (from, to) => ({ from, to, at: Date.now(), tick: performance.now() });

// aheadOf measures the clock of a node that has said its time, in Unix ms, when it answered a request sent at a time, by the device's clock and by
// that of the page. A measurement during which the device's clock was set back says nothing.
export function aheadOf(time, sent, tick) {
  const back = performance.now() - tick - (Date.now() - sent);
  return time && back <= slack ? measured(time - Date.now(), time + 1 - sent) : null;
}

// nodeTime returns the latest time, in Unix ms, that the node's clock can show now; empty: unknown. The device's clock may have been set back
// since it was measured, and the time of the page may have stood still.
export function nodeTime(ahead) {
  if (!ahead) return "";
  return String(Math.ceil(ahead.at + ahead.to + Math.max(Date.now() - ahead.at, performance.now() - ahead.tick)));
}

// present returns by how much the node's clock is ahead now, in ms from and to. If the device's clock has gone less than the time of the page
// since, it was set back by that or, if the device slept too, by more. If it has gone more, it was set forward, or the device slept.
function present(ahead) {
  if (!ahead) return null;
  const drift = Date.now() - ahead.at - (performance.now() - ahead.tick);
  if (Math.abs(drift) <= slack) return [ahead.from, ahead.to];
  return [ahead.from - drift, drift < 0 ? Infinity : ahead.to];
}

// ageOf returns an entry's age in ms, by the device's clock. doubtful: the clock was set since, or the entry is too old or in the future, and the
// scorer has not said that it is right. The time of the page, which stands still while the device sleeps, is a lower bound.
export function ageOf(e, ahead) {
  const set = e.ahead && ahead ? setBack(e.ahead, present(ahead)) : 0;
  const wall = Date.now() - e.at;
  const ticked = e.page === page ? performance.now() - e.tick : 0;
  const age = Math.max(wall + set, ticked);
  return { age, doubtful: !e.sure && (set !== 0 || wall < ticked - slack || age > most || age < -early) };
}

// doubtful returns the entries whose age is in doubt, with their ages.
export function doubtful(entries, ahead) {
  return entries.map((entry) => ({ entry, ...ageOf(entry, ahead) })).filter((one) => one.doubtful);
}

// setBack returns by how much the device's clock was set back at least between two measurements of how far the node's clock is ahead.
function setBack(was, now) {
  if (now[0] - was[1] <= slack && was[0] - now[1] <= slack) return 0;
  const half = Math.min(500, (was[1] - was[0]) / 2); // of what a measurement leaves open
  const at = (now[0] + now[1]) / 2;
  return at - Math.min(Math.max(at, was[0] + half), was[1] - half);
}
