// How old entries are, and what speaks against it. See DESIGN.md in httpapi/page.

const most = 12 * 3600000 - 60000; // ms: the oldest entry that the node takes without a word of the scorer, less a minute for the way
const early = 120000; // ms by which one may lie in the future
const slack = 2000; // ms
const page = Math.random(); // performance.now() is the time of one page

// made returns what an entry keeps of its time. ahead is by how much the node's clock is ahead of this device's, in ms from and to, or null.
export const made = (ahead) => ({ at: Date.now(), page, tick: performance.now(), ahead });

// aheadOf returns by how much the clock of a node is ahead that has answered a request sent at a time. The header Date has whole seconds.
export function aheadOf(date, sent) {
  const at = Date.parse(date);
  return Number.isNaN(at) ? null : [at - Date.now(), at + 1000 - sent];
}

// ageOf returns an entry's age in ms, by the device's clock. doubtful: the clock was set since, or the entry is too old or in the future, and the
// scorer has not said that it is right. The time of the page, which stands still while the device sleeps, is a lower bound.
export function ageOf(e, ahead) {
  const set = e.ahead && ahead ? setBack(e.ahead, ahead) : 0;
  const wall = Date.now() - e.at;
  const ticked = e.page === page ? performance.now() - e.tick : 0;
  const age = Math.max(wall + set, ticked);
  return { age, doubtful: !e.sure && (set !== 0 || wall < ticked - slack || age > most || age < -early) };
}

// doubtful returns the entries whose age is in doubt, with their ages.
export function doubtful(entries, ahead) {
  return entries.map((entry) => ({ entry, ...ageOf(entry, ahead) })).filter((one) => one.doubtful);
}

// setBack returns by how much the device's clock was set back between two measurements of how far the node's clock is ahead.
function setBack(was, now) {
  if (now[0] - was[1] <= slack && was[0] - now[1] <= slack) return 0;
  return (now[0] + now[1] - was[0] - was[1]) / 2;
}
