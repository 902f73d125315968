// The question about entries whose age the node does not take without a word of the scorer. offline.js loads it when there are any.

const hour = 3600000;

// question asks about ages in ms, those of one batch.
export function question(ages, now = Date.now()) {
  const [old, young] = [Math.max(0, ...ages), Math.max(0, Math.min(...ages))];
  const [size, unit] = old < 2 * hour ? [60000, "minute"] : [hour, "hour"];
  const [from, to] = [Math.round(young / size), Math.round(old / size)];
  const span = from === to ? `${to} ${unit}${to === 1 ? "" : "s"}` : `${from} to ${to} ${unit}s`;
  const first = time(now - old, old);
  const last = time(now - young, old);
  const when = first === last ? first : `${first} to ${last}`;
  return `${ages.length} ${ages.length === 1 ? "entry" : "entries"} made ${span} ago: record ${ages.length === 1 ? "it" : "them"} as made at ${when}?`;
}

function time(at, age) {
  const day = age > 20 * hour ? { weekday: "short" } : {};
  return new Date(at).toLocaleString([], { ...day, hour: "2-digit", minute: "2-digit" });
}
