// Whether the page shows the present state: one line for all pages, from whatever learns of a loss first, be it a stream, a refresh or a tap.
// While the node is lost, style sheets show badges, clocks and verdicts in grey, with the time of the latest news (--as-of).
import { request } from "./request.js";

const patience = 8000; // ms without news after which the node is lost
const grace = 2000; // ms in which a page that becomes visible gets news again

const root = document.documentElement;

let last = performance.now(); // the latest news: until then the page shows what the node had
let asOf = Date.now(); // the same by the device's clock. Either clock may have stood still
let alive = last; // the latest sign of life, be it without news
let woke = last; // without news for as long as the grace from then, the node is lost
let owed = false; // there may be something newer than the page shows
let copy = false; // the page is a copy, and the node has said nothing yet
let say = () => ""; // more about what the page shows, given its age
let lost = false;
let asking = false;

// hear notes a sign of life of something that would have told of anything newer.
export function hear() {
  alive = performance.now();
  if (!owed) current();
}

// owe notes that there may be something newer than the page shows.
export function owe() {
  owed = true;
}

// current notes that the page shows the present state.
export function current() {
  const was = copy;
  owed = copy = false;
  last = alive = performance.now();
  asOf = Date.now();
  if (lost || was) show(false);
}

// copied notes that the page is a copy that held until a time of the device's clock.
export function copied(at) {
  owed = copy = true;
  asOf = at;
  last = performance.now() - (Date.now() - at);
  show(lost);
}

// remark adds a sentence, which what() returns, to the line; empty: there is nothing to say.
export function remark(what) {
  say = what;
  show(lost);
}

// doubt asks whether the node is there: something had no answer.
async function doubt() {
  if (asking || lost) return;
  asking = true;
  const before = last;
  const answer = await request("/livez", { cache: "no-store" }).catch(() => null);
  asking = false;
  if (!isNode(answer) && last === before) show(true);
}

// isNode reports whether an answer is the node's, and not a proxy's.
export const isNode = (answer) => Boolean(answer?.headers.get("Touchline-Node"));

export function ageOf(ms) {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 120) return `${s} s`;
  return s < 7200 ? `${Math.round(s / 60)} min` : `${Math.round(s / 3600)} h`;
}

function timeOf(date) {
  const day = date.toDateString() === new Date().toDateString() ? {} : { weekday: "short" };
  return date.toLocaleTimeString([], { ...day, hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
}

// Raises "touchline:link" at the document: {lost, quiet, words}, quiet being the milliseconds since the last sign of life. Unless a script
// cancels that, the words are shown at the foot of the page.
function show(now) {
  lost = now;
  root.classList.toggle("is-lost", lost || copy);
  if (lost || copy) root.style.setProperty("--as-of", `" as of ${timeOf(new Date(asOf))}"`);
  const age = ageOf(Math.max(performance.now() - last, Date.now() - asOf));
  let words = lost ? "No connection to the node. " : "";
  if (lost || copy) words += `What you see is ${age} old.`;
  words = (words + say(age.endsWith(" s") ? "some seconds" : age)).trim(); // it stands there for long
  const detail = { lost, quiet: performance.now() - alive, words };
  const line = document.getElementById("link");
  line.hidden = !document.dispatchEvent(new CustomEvent("touchline:link", { cancelable: true, detail })) || !words;
  if (!line.hidden) line.lastElementChild.textContent = detail.words;
}

setInterval(() => {
  const now = performance.now();
  show(lost || (!document.hidden && now - last > patience && now - woke > grace));
}, 1000);
document.addEventListener("touchline:doubt", doubt);
const wake = () => { woke = performance.now(); }; // while it was hidden or frozen, the page was not refreshed
document.addEventListener("visibilitychange", wake);
addEventListener("pageshow", wake);
addEventListener("online", wake);
