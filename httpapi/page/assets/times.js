// The times on a page. A part without a time is skipped: an application's script may set it later.

const timed = (selector) => [...document.querySelectorAll(selector)].filter((el) => !Number.isNaN(Date.parse(el.dateTime)));

function set(el, text) {
  if (el.textContent !== text) el.textContent = text;
}

// countDown shows how long it is until the times marked data-countdown, by the node's clock. Afterwards they show their attribute's text.
export function countDown(nodeNow) {
  for (const el of timed("time[data-countdown]")) {
    const s = Math.ceil((Date.parse(el.dateTime) - nodeNow) / 1000); // rounded up, so that it ends on time
    set(el, s <= 0 ? el.dataset.countdown : clock(s));
  }
}

function clock(s) {
  const two = (n) => String(n).padStart(2, "0");
  const minutes = Math.floor(s / 60);
  return s >= 3600 ? `${Math.floor(s / 3600)}:${two(minutes % 60)}:${two(s % 60)}` : `${minutes}:${two(s % 60)}`;
}

// localTimes shows the times marked data-local in the reader's time zone; with the value "near" it leaves out today's date.
export function localTimes() {
  const how = { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", timeZoneName: "short" };
  const near = { hour: how.hour, minute: how.minute };
  for (const el of timed("time[data-local]")) {
    const at = new Date(el.dateTime);
    const today = el.dataset.local === "near" && at.toDateString() === new Date().toDateString();
    set(el, at.toLocaleString([], today ? near : how));
  }
}
