// Script of the 3FC pages: the game clock, which runs here; entering a goal; second taps that confirm; forms that send a request at once
// and show its answer. A scorer's actions go into the queue, with the time of the tap.
import "./refresh.js";
import { forgetPages } from "./forget.js";
import { queue, nodeNow } from "./offline.js";
import { ulid } from "./entries.js";
import { request } from "./request.js";
import "./scorers.js";

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

const mine = () => queue.entries.filter((e) => e.reader === document.documentElement.dataset.reader && e.path.startsWith(main.dataset.base + "/"));
const unsent = () => mine().filter((e) => e.state === "queued" || e.state === "sending");
const goals = () => unsent().filter((e) => e.path === main.dataset.base + "/goals");

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
  goal = { ...none };
  draw();
  await queue.add({ path, method, body, what });
  if (to) location.assign(to);
}

// draw shows the goal being entered, and unsent requests as if the node had them.
function draw() {
  if (form()) drawGoal();
  drawUndo();
  drawSteps();
  tick();
}

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
  const last = goals().at(-1);
  if (!undo || !last) return;
  undo.hidden = false;
  set(undo.querySelector("[data-last]"), `${last.what}, not sent`);
}

// drawSteps shows the timer step after the unsent ones. The clock of a third whose start is unsent runs from its tap.
function drawSteps() {
  const steps = all("form[data-step]");
  const waiting = new Map(unsent().map((e) => [e.path, e]));
  const done = steps.findLastIndex((f) => waiting.has(f.getAttribute("action")));
  const clock = document.querySelector(".clock[data-queued]");
  if (!clock) return;
  clock.hidden = true;
  delete clock.dataset.start;
  for (const el of all(".clock:not([data-queued])")) el.hidden = done >= 0;
  if (done < 0) return;
  steps.forEach((f, i) => { f.hidden = i !== done + 1; });
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
  queue.addEventListener("change", draw);
  document.addEventListener("touchline:refreshed", draw);
  queue.ready.then(draw);
}
document.addEventListener("touchline:refreshed", () => { tick(); showArmed(); });
tick();
setInterval(tick, 250);
