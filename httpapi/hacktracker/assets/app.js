// Script of the scorebook's pages. They follow their game's stream. The scorer's page keeps the game going while the node is unreachable,
// from what the node knew and the changes not sent yet. It derives the state of the game by the node's rules, so that each play is sent
// with the inning, outs and batter at its tap.
import "./refresh.js";
import { queue, nodeNow } from "./offline.js";
import { ulid } from "./entries.js";
import "./scorers.js";
import { Stream } from "./stream.js";

const root = document.documentElement;
const main = document.querySelector("main");
const base = main.dataset.game;
const said = document.getElementById("said");
const tell = (text) => { if (said) said.textContent = text; };

if (base) {
  new Stream(base + "/stream", { game: () => document.dispatchEvent(new Event("touchline:sent")) });
}

// done holds this browser's changes that the page does not show yet: those that wait, and those that arrived after the page was requested.
const done = new Map();

function follow() {
  const mine = new Map(queue.entries.filter((e) => e.reader === root.dataset.reader && e.path.startsWith(base)).map((e) => [e.n, e]));
  for (const [n, one] of done) {
    if (mine.has(n) || one.arrived) continue;
    if (one.e.state === "sending" || one.e.state === "taken") one.arrived = Date.now();
    else done.delete(n);
  }
  for (const [n, e] of mine) {
    if (e.state === "refused") done.delete(n);
    else done.set(n, { e });
  }
}

const outsOf = { K: 1, OUT: 1, FO: 1, GO: 1, PO: 1, LO: 1, SF: 1, SH: 1, SAC: 1, DP: 2, TP: 3 };
const typeOf = { FO: "fly_ball", GO: "ground_out", LO: "line_drive", PO: "pop_up", SF: "fly_ball", SH: "bunt" };

// book returns the state of the game with these changes.
function book() {
  const b = JSON.parse(document.querySelector("[data-book]").dataset.book);
  const plays = new Map(b.plays.map((p) => [p.atBatId, { ...p, id: p.atBatId }]));
  for (const { e } of [...done.values()].sort((x, y) => x.e.at - y.e.at || x.e.n - y.e.n)) {
    const id = e.path.slice((base + "/atbats/").length);
    const body = JSON.parse(e.body);
    if (e.method === "PATCH") {
      if (body.lineup) b.lineup = body.lineup.map((s) => ({ ...s, name: nameOf(b, s.playerId) }));
      delete body.lineup;
      Object.assign(b, body);
    } else if (e.path === base + "/runs") {
      if (!b.runKeys?.includes(e.key.slice(-8))) for (const [side, n] of Object.entries(body)) b[side] += n;
    } else if (e.method === "POST") {
      if (!plays.has(e.key)) plays.set(e.key, { ...body, id: e.key, name: nameOf(b, body.playerId), n: e.n });
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
  if (b.lineup.length) {
    set("up", b.up(0).name);
    set("next", b.lineup.length > 1 ? `then ${b.up(1).name}, ${b.up(2).name}` : "");
  }
  const rows = b.plays.filter((p) => p.n).reverse().map((p) => {
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
  await send("POST", base + "/atbats", body, `${at.name}: ${word}`, ulid(nodeNow()));
  tell(`${at.name}: ${word}${play.rbis ? `, ${play.rbis} RBI` : ""}`);
}

async function takeBack(id) {
  const p = book().plays.find((p) => p.id === id);
  if (!p) return tell("There is nothing to undo.");
  if (!p.n || !(await queue.discard(p.n))) await send("DELETE", `${base}/atbats/${id}`, {}, `Remove ${p.name}: ${p.result}`);
  tell(`Removed: ${p.name}: ${p.result}`);
}

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
      edit.dataset.id = p.id;
      document.getElementById("edit-title").textContent = `Correct ${p.name}`;
      document.getElementById("edit-result").value = p.result;
      document.getElementById("edit-rbis").value = p.rbis;
      edit.hidden = false;
      edit.scrollIntoView({ block: "nearest" });
    } else {
      edit.hidden = true;
      if ("remove" in key.dataset) inTurn(() => takeBack(edit.dataset.id));
    }
  });
  edit.addEventListener("submit", (e) => {
    e.preventDefault();
    edit.hidden = true;
    const body = { result: document.getElementById("edit-result").value, rbis: Number(document.getElementById("edit-rbis").value) };
    inTurn(() => send("PUT", `${base}/atbats/${edit.dataset.id}`, body, `Correct a play to ${body.result}`));
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
  document.addEventListener("touchline:refreshed", (e) => {
    for (const [n, one] of done) if (one.arrived < e.detail.asked) done.delete(n);
    draw();
  });
  queue.addEventListener("change", () => { follow(); draw(); });
  follow();
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
  };
  main.addEventListener("click", (e) => {
    const b = e.target.closest("button");
    const li = e.target.closest(".order li");
    if (b && "save" in b.dataset) return save();
    if (b && "copy" in b.dataset) {
      const all = new Map([...document.querySelectorAll(".order li")].map((li) => [li.dataset.player, li]));
      bench.append(...order.children);
      order.append(...JSON.parse(main.dataset.last).map((s) => all.get(s.playerId)).filter(Boolean));
    } else if (li && li.parentElement === bench) order.append(li);
    else if (b && "off" in b.dataset) bench.append(li);
    else if (b && "up" in b.dataset) li.previousElementSibling?.before(li);
    else if (b && "down" in b.dataset) li.nextElementSibling?.after(li);
    const act = b && Object.keys(b.dataset)[0];
    dress();
    if (li && act) (li.querySelector(`[data-${act}]`) ?? li.querySelector("button"))?.focus();
  });
  const save = () => {
    const body = { lineup: [...order.children].map((li, i) => ({ playerId: li.dataset.player, battingOrder: i + 1 })) };
    queue.add({ method: "PATCH", path: main.dataset.lineup, body, what: "Save the lineup" }).then(() => tell("Lineup saved."), (err) => tell(err.message));
  };
  dress();
}

if (main.matches(".scorer")) scorer();
if (main.dataset.lineup) lineup();
