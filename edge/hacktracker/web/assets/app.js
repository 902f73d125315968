// Script of the scorebook's pages. They follow their game's stream. The scorer's page keeps the game going while the node is unreachable,
// from what the node knew and the changes not sent yet. It derives the state of the game by the node's rules, so that each play is sent
// with the inning, outs and batter at its tap.
import "./refresh.js";
import { queue, nodeNow } from "./offline.js";
import { timeOf, ulid } from "./entries.js";
import "./scorers.js";
import { Stream } from "./stream.js";
import { Unshown } from "./unshown.js";

const root = document.documentElement;
const main = document.querySelector("main");
const base = main.dataset.game;
const said = document.getElementById("said");
const tell = (text) => { if (said) said.textContent = text; };

if (base) {
  new Stream(base + "/stream", { game: () => document.dispatchEvent(new Event("touchline:sent")) });
}

// This browser's changes of the game that the page does not show yet.
const unshown = new Unshown(queue, root.dataset.reader);
const changes = () => unshown.entries.filter(({ e }) => e.path.startsWith(base));
const isUnsent = (state) => state === "queued" || state === "sending";

const outsOf = { K: 1, OUT: 1, FO: 1, GO: 1, PO: 1, LO: 1, SF: 1, SH: 1, SAC: 1, DP: 2, TP: 3 };
const typeOf = { FO: "fly_ball", GO: "ground_out", LO: "line_drive", PO: "pop_up", SF: "fly_ball", SH: "bunt" };

// book returns the state of the game with these changes.
function book() {
  const b = JSON.parse(document.querySelector("[data-book]").dataset.book);
  const plays = new Map(b.plays.map((p) => [p.atBatId, { ...p, id: p.atBatId }]));
  b.unsent = new Set(); // scores
  for (const { e, state } of changes()) {
    const id = e.path.slice((base + "/atbats/").length);
    const body = JSON.parse(e.body);
    if (e.method === "PATCH") {
      if (body.lineup) b.lineup = body.lineup.map((s) => ({ ...s, name: nameOf(b, s.playerId) }));
      delete body.lineup;
      Object.assign(b, body);
    } else if (e.path === base + "/runs") {
      if (!b.runKeys?.includes(e.key.slice(-8))) for (const [side, n] of Object.entries(body)) b[side] += n;
      if (isUnsent(state)) for (const side of Object.keys(body)) b.unsent.add(side);
    } else if (e.method === "POST") {
      if (!plays.has(e.key)) plays.set(e.key, { ...body, id: e.key, name: nameOf(b, body.playerId), n: e.n, unsent: isUnsent(state) });
    } else if (e.method === "DELETE") plays.delete(id);
    else if (plays.has(id)) plays.set(id, { ...plays.get(id), ...body });
  }
  b.plays = [...plays.values()];
  b.inning = 1;
  b.outs = 0;
  for (const p of b.plays) {
    b.outs += outsOf[p.result] ?? 0;
    if (b.outs >= 3) [b.inning, b.outs] = [b.inning + 1, 0];
  }
  b.up = (i) => b.lineup[(b.plays.length + i) % b.lineup.length];
  return b;
}

function nameOf(b, id) {
  const bench = [...document.querySelectorAll("#sub-in option")].find((o) => o.value === id);
  return b.lineup.find((s) => s.playerId === id)?.name ?? bench?.textContent ?? "";
}

function set(name, text) {
  const el = document.querySelector(`[data-s="${name}"]`);
  if (el && el.textContent !== String(text)) el.textContent = text;
}

function draw() {
  const b = book();
  for (const el of document.querySelectorAll("[data-when]")) el.hidden = (el.dataset.when === "on") !== (b.status === "IN_PROGRESS");
  set("inning", `Inning ${b.inning}`);
  set("outs", `${b.outs} out`);
  set("teamScore", b.teamScore);
  set("opponentScore", b.opponentScore);
  for (const side of ["teamScore", "opponentScore"]) {
    const el = document.querySelector(`[data-s="${side}"]`);
    if (b.unsent.has(side)) el.dataset.unsent = "not sent";
    else delete el.dataset.unsent;
  }
  const undo = document.querySelector("[data-undo]");
  undo.disabled = b.plays.length === 0;
  undo.querySelector("small")?.toggleAttribute("hidden", !undo.disabled);
  if (b.lineup.length) {
    set("up", b.up(0).name);
    set("next", b.lineup.length > 1 ? `then ${b.up(1).name}, ${b.up(2).name}` : "");
  }
  const rows = b.plays.filter((p) => p.unsent).reverse().map((p) => {
    const li = document.createElement("li");
    li.textContent = `${p.name}: ${p.result}${p.rbis ? `, ${p.rbis} RBI` : ""}, not sent yet`;
    return li;
  });
  document.getElementById("waits").replaceChildren(...rows);
  const out = document.getElementById("sub-out");
  const slots = b.lineup.map((s) => s.playerId).join();
  if (out && out.dataset.slots !== slots) { // otherwise the reader's choice stays
    out.dataset.slots = slots;
    out.replaceChildren(...b.lineup.map((s) => new Option(s.name, s.playerId)));
  }
}

// inTurn does work one piece after another: each play is sent with the state of the game after the one before.
let turn = Promise.resolve();
function inTurn(work) {
  turn = turn.then(work).then(draw).catch((err) => tell(err.message));
  return turn;
}

const send = (method, path, body, what, key) => queue.add({ method, path, body, what, key });

let spot = null;
function mark(at) {
  spot = at;
  const circle = document.getElementById("spot");
  circle.toggleAttribute("hidden", !at);
  if (!at) return;
  circle.setAttribute("cx", at.x * 100);
  circle.setAttribute("cy", at.y * 100);
}

// taken returns the choices for a play with this result, and resets them for the next play.
function taken(result) {
  const pick = (name) => document.querySelector(`input[name="${name}"]:checked`).value;
  const play = { result, rbis: Math.max(Number(pick("rbis")), result === "HR" ? 1 : 0) };
  const type = pick("type") || typeOf[result];
  if (!["K", "BB", "HBP"].includes(result)) {
    if (type) play.hitType = type;
    if (spot) play.hitLocation = spot;
  }
  document.getElementById("rbi-0").checked = document.getElementById("type-none").checked = true;
  mark(null);
  return play;
}

async function score(play, word) {
  const b = book();
  if (b.status !== "IN_PROGRESS" || !b.lineup.length) return tell("The game is not in progress, or has no lineup.");
  const at = b.up(0);
  const body = { playerId: at.playerId, inning: b.inning, outs: b.outs, battingOrder: at.battingOrder, ...play };
  const last = Math.max(0, ...b.plays.map((p) => timeOf(p.id))); // it comes after these, even if the device's clock was set back since
  await send("POST", base + "/atbats", body, `${at.name}: ${word}`, ulid(Math.max(nodeNow(), last + 1)));
  tell(`${at.name}: ${word}${play.rbis ? `, ${play.rbis} RBI` : ""}`);
}

async function takeBack(id) {
  const p = book().plays.find((p) => p.id === id);
  if (!p) return tell("There is nothing to undo.");
  if (!p.n || !(await queue.discard(p.n))) await send("DELETE", `${base}/atbats/${id}`, {}, `Remove ${p.name}: ${p.result}`);
  tell(`Removed: ${p.name}: ${p.result}`);
}

let corrected = null; // the refused play that the form shows

// openEdit opens the form that changes a play.
function openEdit(edit, play, wrong = null) {
  corrected = wrong;
  edit.dataset.id = play.id;
  document.getElementById("edit-title").textContent = `Correct ${play.name}`;
  document.getElementById("edit-result").value = play.result;
  document.getElementById("edit-rbis").value = play.rbis ?? 0;
  edit.querySelector("[data-remove]").hidden = Boolean(wrong);
  explain("edit-problem", wrong);
  edit.hidden = false;
  edit.scrollIntoView({ block: "nearest" });
}

function explain(id, wrong) {
  const problem = document.getElementById(id);
  problem.hidden = !wrong;
  problem.textContent = wrong?.words ?? "";
}

// A refused play opens in its form, with the node's words. A refused lineup opens on its page.
document.addEventListener("touchline:correct", (event) => {
  const e = event.detail;
  const body = JSON.parse(e.body);
  if (main.matches(".scorer") && e.path.startsWith(base + "/atbats") && e.method !== "DELETE") {
    event.preventDefault();
    openEdit(document.getElementById("edit"), { ...body, id: "", name: e.what.split(":")[0] }, e);
  } else if (main.matches(".scorer") && e.path === base && body.lineup) {
    event.preventDefault();
    location.assign(`${root.dataset.scope}games/${base.split("/").at(-1)}/lineup#correct=${e.key}`);
  }
});

let last = 0;
function scorer() {
  const edit = document.getElementById("edit");
  document.getElementById("field")?.addEventListener("click", (e) => {
    const m = document.getElementById("field").getScreenCTM().inverse();
    const at = new DOMPoint(e.clientX, e.clientY).matrixTransform(m);
    const within = (v) => Number(Math.min(1, Math.max(0, v / 100)).toFixed(3));
    mark({ x: within(at.x), y: within(at.y) });
  });
  document.addEventListener("click", (e) => {
    const key = e.target.closest("[data-result], [data-run], [data-undo], [data-edit], [data-remove], [data-close]");
    if (!key || e.timeStamp - last < 250) return; // a trembling thumb taps twice
    last = e.timeStamp;
    const { result, word, run } = key.dataset;
    if (result) {
      const play = taken(result);
      inTurn(() => score(play, word));
    } else if (run) {
      inTurn(() => send("POST", base + "/runs", { [run]: 1 }, `One run for ${run === "teamScore" ? "us" : "them"}`, ulid(nodeNow())));
    } else if ("undo" in key.dataset) inTurn(() => takeBack(book().plays.at(-1)?.id));
    else if ("edit" in key.dataset) {
      const p = book().plays.find((p) => p.id === key.dataset.edit);
      if (!p) return;
      openEdit(edit, p);
    } else {
      edit.hidden = true;
      if ("remove" in key.dataset) inTurn(() => takeBack(edit.dataset.id));
    }
  });
  edit.addEventListener("submit", (e) => {
    e.preventDefault();
    edit.hidden = true;
    const body = { result: document.getElementById("edit-result").value, rbis: Number(document.getElementById("edit-rbis").value) };
    const wrong = corrected && queue.entries.find((one) => one.key === corrected.key);
    if (wrong) {
      const { path, method, what } = wrong;
      inTurn(() => queue.amend(wrong.n, { path, method, body: { ...JSON.parse(wrong.body), ...body }, what: `${what.split(":")[0]}: ${body.result}` }));
    } else inTurn(() => send("PUT", `${base}/atbats/${edit.dataset.id}`, body, `Correct a play to ${body.result}`));
  });
  document.getElementById("sub")?.addEventListener("submit", (e) => {
    e.preventDefault();
    const [out, on] = ["sub-out", "sub-in"].map((id) => document.getElementById(id));
    if (!out.value || !on.value) return;
    const what = `${on.selectedOptions[0].textContent} for ${out.selectedOptions[0].textContent}`;
    inTurn(async () => {
      const lineup = book().lineup.map(({ playerId, battingOrder }) => ({ playerId: playerId === out.value ? on.value : playerId, battingOrder }));
      await send("PATCH", base, { lineup }, what);
      tell(what);
    });
  });
  document.addEventListener("touchline:refreshed", (e) => unshown.refreshed(e.detail.asked));
  unshown.addEventListener("change", draw);
  draw();
}

// The lineup builder: tap the players in batting order; buttons move them, so that nothing has to be dragged.
function lineup() {
  const [order, bench] = ["order", "bench"].map((id) => document.getElementById(id));
  const dress = () => {
    for (const li of document.querySelectorAll(".order li")) {
      li.querySelectorAll("button").forEach((b) => b.remove());
      const name = li.querySelector("span").textContent;
      const add = (text, act, label) => {
        const b = li.appendChild(document.createElement("button"));
        Object.assign(b, { type: "button", textContent: text, ariaLabel: `${label} ${name}` });
        b.dataset[act] = "";
      };
      if (li.parentElement === bench) add("+", "in", "Add");
      else { add("↑", "up", "Move up"); add("↓", "down", "Move down"); add("×", "off", "Remove"); }
    }
    const none = order.children.length === 0;
    main.querySelector("[data-save]").disabled = none;
    const why = document.getElementById("why");
    why.hidden = !none;
    why.textContent = none ? "Add a player to the batting order first." : "";
  };
  main.addEventListener("click", (e) => {
    const b = e.target.closest("button");
    const li = e.target.closest(".order li");
    if (b && "save" in b.dataset) return save().catch((err) => tell(err.message));
    if (b && "copy" in b.dataset) {
      arrange(JSON.parse(main.dataset.last));
    } else if (li && li.parentElement === bench) order.append(li);
    else if (b && "off" in b.dataset) bench.append(li);
    else if (b && "up" in b.dataset) li.previousElementSibling?.before(li);
    else if (b && "down" in b.dataset) li.nextElementSibling?.after(li);
    const act = b && Object.keys(b.dataset)[0];
    dress();
    if (li && act) (li.querySelector(`[data-${act}]`) ?? li.querySelector("button"))?.focus();
  });
  const arrange = (slots) => {
    const all = new Map([...document.querySelectorAll(".order li")].map((li) => [li.dataset.player, li]));
    bench.append(...order.children);
    order.append(...slots.map((s) => all.get(s.playerId)).filter(Boolean));
    dress();
  };
  let wrong = null; // the refused lineup that is shown
  const path = main.dataset.lineup;
  const save = async () => {
    const write = { method: "PATCH", path, body: { lineup: [...order.children].map((li, i) => ({ playerId: li.dataset.player, battingOrder: i + 1 })) }, what: "Save the lineup" };
    const was = wrong && queue.entries.find((e) => e.key === wrong.key);
    wrong = null;
    if (!was || !(await queue.amend(was.n, write))) await queue.add(write);
  };
  document.addEventListener("touchline:correct", (event) => {
    const e = event.detail;
    if (e.path !== path || !e.body.startsWith('{"lineup"')) return;
    event.preventDefault();
    wrong = e;
    arrange(JSON.parse(e.body).lineup);
    explain("problem", e);
  });
  let came = true; // an unsent lineup is shown when the page is opened
  unshown.addEventListener("change", () => {
    const one = unshown.all.findLast(({ e }) => e.path === path && e.body.startsWith('{"lineup"'));
    if (!wrong) explain("problem", null);
    if (!one) return;
    const words = { queued: "The lineup is not sent yet. It is sent as soon as the node can be reached.", sending: "The lineup is being sent.", refused: "The lineup was not accepted: see below." };
    tell(words[one.state] ?? "Lineup saved.");
    if (came && isUnsent(one.state)) arrange(JSON.parse(one.e.body).lineup);
    came = false;
  });
  dress();
}

if (main.matches(".scorer")) scorer();
if (main.dataset.lineup) lineup();
