// Script of the 3FC pages: the game clock, which runs here; entering a goal; second taps that confirm; forms that send a request at once
// and show its answer. A scorer's actions go into the queue, with the time of the tap.
import "./refresh.js";
import { forgetPages } from "./forget.js";
import { queue, nodeNow } from "./offline.js";
import { ulid } from "./entries.js";
import { request } from "./request.js";
import "./scorers.js";
import { Unshown } from "./unshown.js";

const two = (n) => String(n).padStart(2, "0");
const all = (what, of = document) => [...of.querySelectorAll(what)];

function set(el, text) {
  if (el.textContent !== text) el.textContent = text;
}

// reading formats the game clock as the rules do: stoppage time has minutes only.
function reading(ms, length) {
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < length * 60) return `${two(Math.floor(s / 60))}:${two(s % 60)}`;
  return `${length}+${two(Math.floor((s - length * 60) / 60) + 1)}`;
}

function tick() {
  for (const el of all(".clock[data-start]")) {
    const time = el.querySelector(".clock__time");
    time.dataset.held = "";
    set(time, reading(nodeNow() - Number(el.dataset.start), Number(el.dataset.length)));
  }
}

// Buttons that a second tap confirms, within five seconds.
let armed = "";
let disarm = 0;
const nameOf = (button) => button.form.getAttribute("action") + button.dataset.what;

function arm(name) {
  armed = name;
  clearTimeout(disarm);
  if (name) disarm = setTimeout(() => arm(""), 5000);
  showArmed();
}

// showArmed marks the button that waits for its second tap, also after a refresh of the page.
function showArmed() {
  for (const b of all("[data-confirm]")) b.classList.toggle("is-armed", armed !== "" && nameOf(b) === armed);
}

document.addEventListener("click", (e) => {
  const button = e.target.closest("[data-confirm]");
  if (!button) return arm("");
  if (nameOf(button) === armed) return arm("");
  e.preventDefault();
  arm(nameOf(button));
});

// Forms that send their request at once: the answer is shown, and nothing is queued.
document.addEventListener("submit", async (e) => {
  const form = e.target;
  if (!form.matches("form[data-now]")) return;
  e.preventDefault();
  const out = form.querySelector("output");
  out.dataset.held = ""; // a refresh of the page keeps the answer
  const { method = "POST" } = form.dataset;
  const body = JSON.stringify(Object.fromEntries([...new FormData(form)].filter(([, v]) => v !== "")));
  form.dataset.nonce ??= ulid(); // sent again after a lost answer, it is the same request
  const answer = await request(form.getAttribute("action"), {
    method, body: method === "GET" ? null : body, headers: { "Content-Type": "application/json", "Idempotency-Key": form.dataset.nonce },
  }).catch(() => null);
  if (answer) delete form.dataset.nonce;
  const said = await answer?.json().catch(() => ({}));
  if (!answer?.ok) return set(out, said?.message ?? "The node does not answer. Try again.");
  if ("forget" in form.dataset) await forgetPages().catch(() => {});
  if (form.dataset.from) localStorage.threefcTo = form.dataset.from; // the link is opened in another tab
  if (form.dataset.to) {
    const to = ("came" in form.dataset && localStorage.threefcTo) || form.dataset.to;
    delete localStorage.threefcTo;
    return location.assign(to.startsWith(document.documentElement.dataset.scope) ? to : form.dataset.to);
  }
  const shown = form.dataset.done ?? said[form.dataset.show] ?? "";
  set(out, Array.isArray(shown) ? shown.map((a) => `${a.userId}: ${a.role}${a.accepted === false ? " (offered)" : ""}`).join("\n") : shown);
});

// The shown list of who has access is read again after a grant.
document.addEventListener("touchline:sent", () => {
  for (const form of all('[data-show="access"]:has(output:not(:empty))')) form.requestSubmit();
});

// The scorer's page.
const main = document.querySelector("main[data-base]");
const none = { scoring: "", own: false, conceding: "", scorer: "" };
const form = () => document.querySelector("form[data-goal]");
let goal = { ...none, ...was() };
const name = (attribute, id) => form().querySelector(`[data-${attribute}="${CSS.escape(id)}"] b`)?.textContent ?? "";

// was returns the goal that the page edits, if any.
function was() {
  const { wasScoring: scoring, wasConceding: conceding, wasScorer: scorer } = form()?.dataset ?? {};
  return conceding && { scoring, own: !scoring, conceding, scorer };
}

function words() {
  const who = name("scorer", goal.scorer);
  if (goal.own) return `Own goal: ${who} (${name("scoring", goal.conceding)})`;
  return `${who} (${name("scoring", goal.scoring)}) against ${name("scoring", goal.conceding)}`;
}

// unshown are this device's entries of the game that the page does not show yet: those that are unsent, and those just taken by the node.
const unshownOf = main && new Unshown(queue, document.documentElement.dataset.reader);
const unshown = () => {
  const there = new Set(document.querySelector("[data-taps]")?.dataset.taps.split(" "));
  const isThere = (e) => e.path === main.dataset.base + "/goals" && there.has(tapOf(e.key));
  return unshownOf.entries.filter(({ e }) => e.path.startsWith(main.dataset.base + "/") && !isThere(e));
};

// tapOf returns the part of a goal's id that is the time in its key: 45 of its 48 bits. The page may have a goal before its answer is here.
function tapOf(key) {
  const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  const ms = [...key.slice(0, 10)].reduce((sum, c) => sum * 32 + digits.indexOf(c), 0);
  let text = "";
  for (let i = 0, rest = Math.floor(ms / 8); i < 9; i++, rest = Math.floor(rest / 32)) text = digits[rest % 32] + text;
  return text;
}
const isUnsent = ({ state }) => state === "queued" || state === "sending";
const unsent = () => unshown().filter(isUnsent).map(({ e }) => e);
const goals = () => unsent().filter((e) => e.path === main.dataset.base + "/goals");
let corrected = null; // the refused entry whose goal the form shows

function choose(e) {
  const at = e.target.closest("button")?.dataset;
  if (!at || !e.target.closest("form[data-goal]")) return;
  if (at.scoring) goal = { ...none, scoring: at.scoring };
  else if (at.own) goal = { ...none, own: true, conceding: at.own };
  else if (at.conceding) goal.conceding = at.conceding;
  else if (at.scorer) goal.scorer = at.scorer;
  else return;
  if (at.scoring || at.own) for (const box of all("[data-assist]", form())) box.checked = false;
  draw();
  all("[data-at]:not([hidden])", form()).findLast((el) => el.dataset.at !== "cancel")?.scrollIntoView({ block: "nearest" }); // the next choice
}

async function save() {
  if (!goal.scorer || !goal.conceding) return;
  const assists = all("[data-assist]:checked", form()).map((b) => b.dataset.assist).filter((id) => id !== goal.scorer);
  const body = {
    scoringTeamId: goal.own ? null : goal.scoring, concedingTeamId: goal.conceding, scorerPlayerId: goal.scorer, ownGoal: goal.own, assistPlayerIds: assists,
  };
  const { goal: path, method = "POST", to } = form().dataset;
  const what = (to ? "Edit: " : "") + words();
  const wrong = corrected && queue.entries.find((e) => e.key === corrected.key);
  goal = { ...none };
  corrected = null;
  if (!wrong || !(await queue.amend(wrong.n, { path, method, body, what }))) await queue.add({ path, method, body, what });
  draw();
  if (to) location.assign(to);
}

// A refused goal opens in the form, with the node's words.
function correct(event) {
  const e = event.detail;
  if (!form() || e.path !== form().dataset.goal || e.method !== (form().dataset.method ?? "POST")) return;
  event.preventDefault();
  const body = JSON.parse(e.body);
  corrected = e;
  goal = { scoring: body.scoringTeamId ?? "", own: body.ownGoal, conceding: body.concedingTeamId, scorer: body.scorerPlayerId };
  for (const box of all("[data-assist]", form())) box.checked = body.assistPlayerIds.includes(box.dataset.assist);
  draw();
  form().scrollIntoView({ block: "nearest" });
}

// draw shows the goal being entered, and unsent requests as if the node had them.
function draw() {
  if (form()) drawGoal();
  drawUndo();
  drawSteps();
  drawCounts();
  tick();
}

// next is the number of the timer step after the unsent ones, as in Next of the node; -1: the page has no timer.
function next() {
  const steps = all("form[data-step]");
  const waiting = new Set(unshown().map(({ e }) => e.path));
  const done = steps.findLastIndex((f) => waiting.has(f.getAttribute("action")));
  return done >= 0 ? done + 1 : steps.findIndex((f) => "here" in f.dataset);
}

// whyNot says why no goal can be entered now, as Why of the node does.
function whyNot() {
  const n = next();
  if (n < 0 || n % 2 === 1) return "";
  return n >= 6 ? "All three thirds are over: no goal can be added." : `Start third ${n / 2 + 1} first.`;
}

// drawCounts counts in the figures what the page does not show yet, with a mark for what is not sent.
function drawCounts() {
  const more = new Map(); // by figure: {n, unsent}
  const count = (figure, n, one) => {
    const now = more.get(figure) ?? { n: 0, unsent: 0 };
    more.set(figure, { n: now.n + n, unsent: now.unsent + isUnsent(one) });
  };
  const goal = (one, n, against, by) => {
    count(`against-${against}`, n, one);
    if (by) count(`for-${by}`, n, one);
  };
  for (const one of unshown()) {
    const body = JSON.parse(one.e.body);
    const id = one.e.path.endsWith("/undo-last") ? body.expectedEventId : decodeURIComponent(one.e.path.split("/goals/")[1] ?? "");
    const was = id && document.querySelector(`[data-event="${CSS.escape(id)}"]`)?.dataset;
    if (was) goal(one, -1, was.against, was.for);
    if (body.concedingTeamId && (was || !id)) goal(one, 1, body.concedingTeamId, body.scoringTeamId);
  }
  for (const el of all("[data-count]")) {
    const { n, unsent } = more.get(el.dataset.count) ?? { n: 0, unsent: 0 };
    if (!figures.has(el)) figures.set(el, Number(el.textContent));
    set(el, String(figures.get(el) + n));
    if (unsent) el.dataset.unsent = el.matches(".head__figure") ? `${unsent} not sent` : "*";
    else delete el.dataset.unsent;
  }
}
let figures = new WeakMap(); // the node's, by element

function drawGoal() {
  const f = form();
  const begun = goal.own || goal.scoring !== "";
  const show = { conceding: goal.scoring !== "" && goal.scorer === "", scorer: goal.conceding !== "", save: goal.scorer !== "", cancel: begun };
  for (const [at, on] of Object.entries(show)) f.querySelector(`[data-at="${at}"]`).hidden = !on;
  for (const b of all("button", f)) {
    const { scoring, own, conceding, scorer } = b.dataset;
    if (scoring) b.setAttribute("aria-pressed", goal.scoring === scoring);
    if (own) b.setAttribute("aria-pressed", goal.own && goal.conceding === own);
    if (conceding) {
      b.disabled = conceding === goal.scoring;
      b.setAttribute("aria-pressed", goal.conceding === conceding);
    }
    if (scorer) b.setAttribute("aria-pressed", goal.scorer === scorer);
  }
  for (const pad of all("[data-of]", f)) pad.hidden = pad.dataset.of !== (goal.own ? goal.conceding : goal.scoring);
  for (const box of all("[data-assist]", f)) box.closest("label").hidden = box.dataset.assist === goal.scorer;
  const why = goal.scorer && corrected ? "" : whyNot();
  const reason = f.querySelector("[data-why]");
  reason.hidden = !why;
  set(reason, why);
  for (const b of all("[data-scoring], [data-own], [type=submit]", f)) b.disabled = why !== "";
  const problem = f.querySelector("[data-problem]");
  problem.hidden = !corrected;
  set(problem, corrected?.words ?? "");
  set(f.querySelector("[data-say]"), goal.scorer ? words() : "");
  const more = {};
  for (const e of goals()) {
    const team = JSON.parse(e.body).concedingTeamId;
    more[team] = (more[team] ?? 0) + 1;
  }
  for (const el of all("[data-plus]", f)) set(el, more[el.dataset.plus] ? `+${more[el.dataset.plus]}` : "");
}

function drawUndo() {
  const undo = document.querySelector("form[data-undo]");
  if (!undo) return;
  const last = goals().at(-1);
  const button = undo.querySelector("button");
  const sent = !last && unshown().find(({ e }) => e.path === undo.getAttribute("action")); // of the goal that the page shows
  button.disabled = Boolean(sent);
  if (sent && isUnsent(sent)) button.dataset.unsent = "not sent";
  else delete button.dataset.unsent;
  if (!last) return;
  undo.hidden = false;
  set(undo.querySelector("[data-last]"), `${last.what}, not sent`);
}

// drawSteps shows the timer step after the unsent ones. The clock of a third whose start is unsent runs from its tap.
function drawSteps() {
  const steps = all("form[data-step]");
  const waiting = new Map(unshown().map(({ e }) => [e.path, e]));
  const done = steps.findLastIndex((f) => waiting.has(f.getAttribute("action")));
  const clock = document.querySelector(".clock[data-queued]");
  if (!clock) return;
  clock.hidden = true;
  delete clock.dataset.start;
  for (const el of all(".clock:not([data-queued])")) el.hidden = done >= 0;
  steps.forEach((f, i) => { f.hidden = i !== next(); });
  if (done < 0) return;
  if (done % 2 === 0 && done < 6) {
    const e = waiting.get(steps[done].getAttribute("action"));
    clock.hidden = false;
    clock.dataset.start = String(nodeNow() - (Date.now() - e.at));
    set(clock.querySelector("b"), `Third ${done / 2 + 1}`);
  }
}

if (main) {
  document.addEventListener("click", choose);
  document.addEventListener("reset", (e) => {
    if (!e.target.matches("form[data-goal]")) return;
    goal = { ...none, ...was() };
    corrected = null;
    setTimeout(draw); // after the form has reset its boxes
  });
  document.addEventListener("submit", (e) => {
    if (!e.target.matches("form[data-goal]")) return;
    e.preventDefault();
    save();
  });
  // Undo discards an unsent goal here; the node undoes one that has arrived.
  document.addEventListener("submit", (e) => {
    const last = goals().at(-1);
    if (!e.target.matches("form[data-undo]") || !last) return;
    e.preventDefault();
    e.stopImmediatePropagation();
    queue.discard(last.n).then((done) => {
      if (!done) set(e.target.querySelector("[data-last]"), "It may have reached the node already: try again in a moment.");
    });
  }, true);
  document.addEventListener("touchline:correct", correct);
  unshownOf.addEventListener("change", draw);
  document.addEventListener("touchline:refreshed", (e) => {
    figures = new WeakMap(); // they are the node's again
    unshownOf.refreshed(e.detail.asked);
  });
  queue.ready.then(draw);
}
document.addEventListener("touchline:refreshed", () => { tick(); showArmed(); });
tick();
setInterval(tick, 250);
