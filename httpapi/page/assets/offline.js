// Makes a page work while its node is unreachable: with the service worker, the queue of writes, and the status line that shows how old
// the page's content is and what waits. A form with data-queue sends its fields, or the text of its file, through the queue. A script of
// the application imports queue for other writes.
import { canHandIn } from "./entries.js";
import { ageOf } from "./link.js";
import { Queue } from "./queue.js";
import "./shown.js";
import { countDown, localTimes } from "./times.js";

const root = document.documentElement;
const { scope, reader, device } = root.dataset;
const line = document.getElementById("waiting");
const say = line.querySelector(".waiting__say");
const note = line.querySelector(".waiting__note");
const list = line.querySelector(".waiting__list");
const held = line.querySelector(".waiting__held");
const sure = line.querySelector(".waiting__sure");
const save = line.querySelector(".waiting__save"); // not all applications take what waits as a file
const row = document.getElementById("waiting-row").content;

let link = { lost: false, words: "" };
const kept = Number(root.dataset.kept); // when this copy was stored, in this device's time
const nodeAhead = Number(root.dataset.now) - (kept || Date.now()); // ms by which the node's clock is ahead of this device's
const most = kept ? nodeAhead + 10000 : Number(root.dataset.now) - performance.timeOrigin; // a page takes 10 s at most
const known = kept <= Date.now(); // otherwise the device's clock was set back since the copy was stored
export const queue = new Queue(scope, reader, device, known ? [nodeAhead, most] : null);
let outdated = false; // the node has a newer version

// nodeNow returns the node's time, as well as it is known here.
export const nodeNow = () => Date.now() + nodeAhead;

const workers = navigator.serviceWorker;
const keep = (anew = false) => workers.ready.then((r) => r.active.postMessage({ keep: location.href.split("#")[0], anew }));
workers?.register(scope + "worker.js", { scope, updateViaCache: "none" }).then(() => keep()).catch((err) => console.info("no worker:", err.message));
workers?.addEventListener("controllerchange", () => keep());

// The stored copy of a page that a stream changes is stored again, at most every ten seconds, and when the page is left.
let later = 0;
function keepChanged() {
  clearTimeout(later);
  if (later) keep(true);
  later = 0;
}
if (workers) {
  document.addEventListener("touchline:changed", () => { later ||= setTimeout(keepChanged, 10000); });
  document.addEventListener("visibilitychange", () => { if (document.hidden) keepChanged(); });
  addEventListener("pagehide", keepChanged);
}

document.addEventListener("submit", async (e) => {
  const form = e.target;
  if (!form.matches("form[data-queue]")) return;
  e.preventDefault();
  const until = Number(form.dataset.until) || 0;
  const file = form.querySelector("input[type=file]")?.files[0];
  try {
    const write = {
      path: form.getAttribute("action"), method: form.dataset.queue || "POST", what: words(form, e.submitter),
      body: file ? await textOf(file) : fields(form, e.submitter), until: until && until - nodeAhead,
    };
    const wrong = queue.entries.find((one) => one.key === form.corrects); // the refused entry that the form shows
    if (!wrong || !(await queue.amend(wrong.n, write))) await queue.add(write);
    if (form.hasAttribute("data-clear")) form.reset();
    tell("");
  } catch (err) {
    tell(err.message);
  }
});

// Returns the fields of a form as a JSON body. data-type="number" makes a field or button a number, null if its value is "null";
// data-type="optional" leaves an empty field out. A checkbox is true or false, an optional one true or left out; a local time becomes
// an instant. A name can be a path: "sides.0.names[]" appends to names of the first element of sides.
export function fields(form, submitter) {
  const body = {};
  for (const el of [...form.elements, submitter]) {
    if (!el?.name || el.disabled || (el.matches("button, input[type=submit]") && el !== submitter)) continue;
    if (el.type === "radio" && !el.checked) continue;
    if (el.type === "checkbox") (el.checked || el.dataset.type !== "optional") && put(body, el.name, el.checked);
    else if (el.type === "datetime-local") el.value && put(body, el.name, new Date(el.value).toISOString());
    else if (el.dataset.type === "optional") el.value && put(body, el.name, el.value);
    else if (el.dataset.type !== "number") put(body, el.name, el.value);
    else if (el.value !== "") put(body, el.name, el.value === "null" ? null : Number(el.value));
  }
  return body;
}

function put(body, name, value) {
  const list = name.endsWith("[]");
  if (list && value === "") return;
  const path = (list ? name.slice(0, -2) : name).split(".");
  const last = path.pop();
  let at = body;
  path.forEach((key, i) => { at = at[key] ??= /^\d+$/.test(path[i + 1] ?? last) ? [] : {}; });
  if (list) (at[last] ??= []).push(value);
  else at[last] = value;
}

// Returns a file's text, without a byte order mark. Text in another encoding is refused: it would arrive with its letters replaced.
async function textOf(file) {
  const bytes = await file.arrayBuffer();
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Error(`${file.name} is not UTF-8: save it as CSV in UTF-8.`);
  }
}

// Returns what the write is, with the value of the first field, so that two of a kind can be told apart.
function words(form, submitter) {
  const button = submitter ?? form.querySelector("[type=submit]");
  const what = button?.dataset.what ?? form.dataset.what ?? button?.textContent.trim() ?? "";
  const first = !form.matches(".pad") && form.querySelector("input:not([type=hidden], [type=radio], [type=checkbox], [type=file]), select");
  return first && first.value ? `${what}: ${first.value.replace("T", " ")}` : what;
}

// After an emptied storage the page says what the node knows of what was in it.
let lost = "";
let mayBeEmptied = false;
let looking = null;
function look() {
  looking ??= import("./losing.js").then(async (losing) => {
    mayBeEmptied = await losing.mayBeEmptied();
    const found = await losing.findLost(scope, queue.storage);
    lost = found ? losing.lostWords(found) : "";
    draw();
  }).catch(() => { looking = null; }); // the node is away: when it is back
}

let asking = null; // the module with the question about old entries
let problem = "";
export function tell(text) {
  problem = text;
  draw();
}

list.addEventListener("click", async (e) => {
  const n = Number(e.target.closest("li")?.dataset.n);
  tell("");
  if (e.target.closest("[data-change]")) correct(queue.entries.find((one) => one.n === n));
  if (e.target.closest("[data-retry]") && !(await queue.retry(n))) tell("It cannot be sent again now, because this browser cannot store that.");
  if (e.target.closest("[data-discard]") && !(await queue.discard(n))) {
    tell(queue.trouble ? "It cannot be discarded now, because this browser cannot store that." : "It may have reached the node already, so it can no longer be discarded.");
  }
});
// What only few pages need is loaded when it is needed: what waits at its form, and the form of a refused entry.
const correct = (e) => import("./correct.js").then((forms) => forms.correct(e)).catch((err) => tell(err.message));
let pending = false;
function loadPending() {
  if (pending || !document.querySelector("form[data-queue]")) return;
  pending = true;
  import("./pending.js").catch(() => { pending = false; });
}
addEventListener("load", loadPending);
queue.ready.then(() => {
  const key = location.hash.match(/^#correct=(\w+)$/)?.[1];
  const e = key && queue.entries.find((one) => one.key === key && one.state === "refused" && one.reader === reader);
  if (key) history.replaceState(null, "", location.pathname + location.search);
  if (e) correct(e);
});

held.addEventListener("click", () => queue.sendHeld());
sure.addEventListener("click", () => queue.confirm());
save?.addEventListener("click", () => import("./save.js").then((saving) => saving.saveEntries()).then(tell, (err) => tell(err.message)));

const plural = (n, one, many) => `${n} ${n === 1 ? one : many}`;

const states = { queued: "not sent", sending: "being sent", taken: "received by the node, not yet confirmed by the cloud", refused: "refused" };
const troubles = {
  denied: "This browser cannot store anything: what is not sent is lost when you close this page. Keep it open.",
  full: "This browser's storage is full: what is not sent is lost when you close this page. Keep it open.",
  closed: "This browser has closed its storage. It is being opened again: keep this page open.",
  lost: "This browser has closed its storage and does not open it again: close this page and open it again.",
};

// sentences returns the text of the status line, worst first; empty if the line is not needed.
function sentences() {
  const mine = queue.entries.filter((e) => e.reader === reader);
  const unsent = mine.filter((e) => e.state === "queued" || e.state === "sending");
  const refused = mine.filter((e) => e.state === "refused").length;
  const taken = mine.filter((e) => e.state === "taken").length;
  const others = queue.entries.length - mine.length;
  const out = [];
  if (problem) out.push(problem);
  if (lost) out.push(lost);
  if (link.words) out.push(link.words);
  if (refused) out.push(`${refused} refused: open this list to change, retry or discard.`);
  if (unsent.length) out.push(`${unsent.length} not sent, oldest ${ageOf(Date.now() - unsent[0].at)}.`);
  if (queue.signedOut && unsent.length) out.push("Sign in to send.");
  if (taken) out.push(`${taken} received by the node, not yet confirmed by the cloud.`);
  if (others) out.push(`${plural(others, "entry", "entries")} by somebody else: sent when they sign in here.`);
  return out;
}

function draw() {
  const said = sentences();
  root.dataset.waits = queue.entries.filter((e) => e.state !== "taken").length; // refresh.js tells the node
  line.hidden = said.length === 0;
  document.body.classList.toggle("has-waiting", !line.hidden);
  line.classList.toggle("waiting--bad", Boolean(problem || lost || link.words || queue.signedOut || queue.asked.length || queue.entries.some((e) => e.state === "refused")));
  set(say, said.join(" "));
  if (save) save.hidden = !queue.entries.some((e) => e.reader === reader && canHandIn(e));
  const notes = [troubles[queue.trouble], !globalThis.isSecureContext && "Without HTTPS this page cannot be opened while the node is unreachable: keep it open.",
    mayBeEmptied && queue.entries.length > 0 && "This page is not installed: the browser may empty its storage after days without use. Send what waits soon, or install the page."];
  const waits = queue.trouble === "lost" ? queue.held.filter((e) => e.reader === reader && !e.outOfOrder).length : 0;
  if (waits) notes.push(`${plural(waits, "entry is", "entries are")} only on this page: send ${waits === 1 ? "it" : "them"} first. The node receives ${waits === 1 ? "it" : "them"} before what this browser has stored.`);
  held.hidden = waits === 0;
  const ages = queue.asked.map(({ age }) => age);
  if (ages.length && !asking) import("./asked.js").then((module) => { asking = module; draw(); }, () => {});
  sure.hidden = !ages.length || !asking;
  if (!sure.hidden) notes.unshift(asking.question(ages));
  set(note, notes.filter(Boolean).join(" "));
  note.hidden = note.textContent === "";
  const shown = queue.entries.filter((e) => e.reader === reader).slice(0, 50);
  const rows = new Map([...list.children].map((li) => [Number(li.dataset.n), li]));
  for (const e of shown) {
    const li = rows.get(e.n) ?? list.appendChild(row.cloneNode(true).firstElementChild);
    rows.delete(e.n);
    li.dataset.n = e.n;
    li.dataset.state = e.state;
    set(li.querySelector(".waits__what"), e.what || e.path);
    set(li.querySelector(".waits__state"), `${states[e.state]}${e.outOfOrder ? ", out of order" : ""}, ${ageOf(Date.now() - e.at)} ago${e.again ? ", once more, because the node has gone back to an earlier state" : ""}`);
    set(li.querySelector(".waits__words"), `${e.words} ${cureOf(e)}`.trim());
    const late = Boolean(e.until) && !e.tried && Date.now() > e.until; // it is never sent
    li.querySelector("[data-change]").hidden = e.state !== "refused" || late || !e.from || [403, 404].includes(e.status);
    li.querySelector("[data-retry]").hidden = e.state !== "refused" || late;
    li.querySelector("[data-discard]").hidden = e.state !== "refused" && (e.state !== "queued" || e.tried);
  }
  for (const li of rows.values()) li.remove();
}

// cureOf returns what helps where another content of a refused entry would not.
export function cureOf({ state, status }) {
  if (state !== "refused") return "";
  if (status === 403) return `It is kept here: ask for the role, then retry.${save ? " Or save it as a file for somebody who may." : ""}`;
  return status === 404 ? "What it belongs to is not there any more: retry when it is, or discard it." : "";
}

function set(el, text) {
  if (el.textContent !== text) el.textContent = text;
}

let unsent = 0;
queue.addEventListener("change", () => {
  const now = queue.entries.filter((e) => e.state === "queued" || e.state === "sending").length;
  if (now < unsent) document.dispatchEvent(new Event("touchline:sent"));
  unsent = now;
  draw();
  renew();
});
queue.ready.then(draw);
queue.ready.then(look);
setInterval(() => {
  draw();
  renew();
  loadPending(); // again, if it could not be loaded
}, 1000);

document.addEventListener("touchline:link", (e) => {
  e.preventDefault();
  if (link.lost && !e.detail.lost) {
    queue.hurry();
    look();
  } else if (e.detail.quiet < 2000) queue.heard();
  const { words } = link;
  link = e.detail;
  if (words !== link.words) draw();
});
document.addEventListener("visibilitychange", () => document.hidden || queue.hurry());
addEventListener("online", () => queue.hurry());
addEventListener("beforeunload", (e) => {
  if (queue.trouble && queue.entries.length) e.preventDefault();
});

// Reloads for a new version when nothing waits to be sent and nobody is using a field.
function renew() {
  const at = document.activeElement;
  const busy = !document.hidden && at?.matches("input, select, textarea");
  const unsent = queue.entries.some((e) => e.reader === reader && (e.state === "queued" || e.state === "sending"));
  if (outdated && !busy && !unsent) location.reload();
}

document.addEventListener("touchline:version", (e) => {
  navigator.serviceWorker?.getRegistration(scope).then((r) => r?.update()).catch(() => {});
  e.preventDefault();
  outdated = true;
  queue.hurry();
  queue.ready.then(renew);
});

// Countdowns run by the node's clock. Other times are shown in the reader's time zone.
const count = () => countDown(nodeNow());
document.addEventListener("touchline:refreshed", () => {
  count();
  localTimes();
  queue.heard();
  loadPending();
});
count();
localTimes();
setInterval(count, 1000);
