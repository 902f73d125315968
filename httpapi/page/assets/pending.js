// Shows what waits, and what became of it, at the forms (data-queue) where it was entered. offline.js loads it when the page is there.
//
// A key of a pad that was pressed says "not sent"; of keys with aria-pressed the last one looks chosen. A pad of one button cannot be pressed
// again meanwhile. After its data-until a pad is disabled, with its data-late as the reason. Other forms list their entries; data-done says
// in words that one has arrived, and data-made is the page of what it made: "/games/{gameId}". A form with data-once is for one entry of a
// device, until its reader asks for another. A field with data-new has a new ID for each entry. A form with data-drawn is shown by its
// application's script.
import { cureOf, queue, fields, nodeNow, tell } from "./offline.js";
import { ulid } from "./entries.js";
import { Unshown } from "./unshown.js";

const { reader, scope } = document.documentElement.dataset;
const unshown = new Unshown(queue, reader);
const rowsOfForm = 5; // shown
const remembered = 20; // forms with data-once, on this device

// Entries of a form: by its address, method and the names of its fields.
const names = (form) => new Set([...form.elements].map((el) => el.name?.split(/[.[]/)[0]).filter(Boolean));
const methodOf = (form) => form.dataset.queue || "POST";

function bodyOf(e) {
  return e.type === "text/csv" ? e.body : JSON.parse(e.body);
}

export function belongs(e, form) {
  if (e.path !== form.getAttribute("action") || e.method !== methodOf(form)) return false;
  const body = bodyOf(e);
  if (typeof body === "string") return form.querySelector("input[type=file]") !== null;
  const all = names(form);
  return !form.querySelector("input[type=file]") && Object.keys(body).every((name) => all.has(name));
}

export const forms = () => [...document.querySelectorAll("form[data-queue]")];
const waits = (one) => one.state === "queued" || one.state === "sending";

function draw() {
  const all = unshown.all;
  for (const form of forms()) {
    if ("drawn" in form.dataset) continue;
    const mine = all.filter(({ e }) => belongs(e, form));
    if (form.matches(".pad")) drawPad(form, mine);
    else drawRows(form, mine.filter((one) => one.e.key !== form.corrects && (!one.shown || one.made || form.dataset.done)));
    if ("once" in form.dataset) drawOnce(form, mine);
  }
}

// Pads. What the node has said of a button is put back when nothing waits any more.
const said = new WeakMap(); // by button: {pressed, main, disabled}

function drawPad(form, mine) {
  const taking = mine.filter((one) => !one.shown && one.state !== "refused");
  const last = taking.at(-1);
  const buttons = [...form.querySelectorAll("button[type=submit]")];
  const late = form.dataset.until && nodeNow() > Number(form.dataset.until);
  for (const b of buttons) {
    const is = last && (buttons.length === 1 || JSON.stringify(fields(form, b)) === last.e.body);
    mark(b, is && waits(last) ? "not sent" : "");
    if (last || late) override(b, { is, late, only: buttons.length === 1, choice: last && b.hasAttribute("aria-pressed") });
    else restore(b);
  }
  drawRows(form, mine.filter((one) => one.state === "refused"), late ? form.dataset.late ?? "" : "");
}

function mark(b, text) {
  if (text) b.dataset.unsent = text;
  else delete b.dataset.unsent;
}

function override(b, { is, late, only, choice }) {
  if (!said.has(b)) said.set(b, { pressed: b.getAttribute("aria-pressed"), main: b.classList.contains("pad__key--main"), disabled: b.disabled });
  const was = said.get(b);
  b.disabled = Boolean(was.disabled || late || (only && is));
  if (!choice) return;
  b.setAttribute("aria-pressed", Boolean(is));
  b.classList.toggle("pad__key--main", Boolean(is));
}

function restore(b) {
  const was = said.get(b);
  if (!was) return;
  said.delete(b);
  b.disabled = was.disabled;
  if (was.pressed !== null) b.setAttribute("aria-pressed", was.pressed);
  b.classList.toggle("pad__key--main", was.main);
}

// Rows: what was entered in a form, and what became of it. morph.js leaves them alone.
function drawRows(form, mine, note = "") {
  let list = form.querySelector(":scope > .told");
  const shown = mine.slice(-rowsOfForm);
  const again = asked.get(form);
  if (!list && !shown.length && !note && !again) return;
  list ??= form.appendChild(Object.assign(document.createElement("ul"), { className: "told", role: "status" }));
  list.dataset.added = "";
  const rows = [...shown.map((one) => row(form, one)), note, again && sayAgain(again)].filter(Boolean);
  const text = JSON.stringify(rows.map((r) => r.text ?? r));
  if (list.dataset.text === text) return;
  list.dataset.text = text;
  list.replaceChildren(...rows.map(({ text = note, state = "", href = "", open = "", e }) => {
    const li = document.createElement("li");
    li.dataset.state = state;
    li.append(text);
    if (href) li.append(" ", Object.assign(document.createElement("a"), { href, textContent: open }));
    if (e && state === "refused" && canChange(e)) li.append(" ", button("Change", () => change(e)));
    if (e && (state === "refused" || state === "queued")) li.append(" ", button("Discard", () => discard(e)));
    return li;
  }));
  list.hidden = rows.length === 0;
}

function row(form, one) {
  const { e, state, made } = one;
  const to = state === "done" || state === "taken" ? pageOf(form, one) : "";
  const words = {
    queued: `Not sent yet. ${e.tried ? "It may have reached the node, and is sent again." : "It is sent as soon as the node can be reached."}`,
    sending: "Being sent.", refused: `Not accepted. ${e.words} ${cureOf(e)}`,
  }[state] ?? form.dataset.done ?? "Done.";
  return { text: `${e.what}. ${words}`, state, made, href: to, open: form.dataset.open ?? "Open", e };
}

// pageOf returns the address of what an entry made.
function pageOf(form, { e, made }) {
  if (!form.dataset.made) return "";
  let whole = true;
  const to = form.dataset.made.replace(/\{(\w+)\}/g, (_, name) => {
    const id = find(made, name) ?? find(bodyOf(e), name);
    whole &&= id !== undefined;
    return encodeURIComponent(id);
  });
  return whole ? to : "";
}

function find(value, name, deep = 3) {
  if (!value || typeof value !== "object" || deep === 0) return undefined;
  if (["string", "number"].includes(typeof value[name])) return value[name];
  for (const part of Object.values(value)) {
    const found = find(part, name, deep - 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function button(text, work) {
  const b = Object.assign(document.createElement("button"), { type: "button", className: "button button--small button--plain", textContent: text });
  b.addEventListener("click", work);
  return b;
}

async function discard({ key }) {
  const e = queue.entries.find((e) => e.key === key);
  if (e && !(await queue.discard(e.n))) tell("It cannot be discarded: it may have reached the node, or this browser cannot store that.");
}

const change = (e) => import("./correct.js").then(({ correct }) => correct(e)).catch((err) => tell(err.message));

// canChange reports whether another text of an entry could be accepted.
const canChange = (e) => Boolean(e.from) && e.status !== 403 && e.status !== 404;

// What a form has sent already, or what waits, is not sent a second time unless its reader says so.
const asked = new WeakMap(); // by form: {body, what, waits}

function bodyWithoutIDs(form, text) {
  const body = JSON.parse(text);
  for (const el of form.querySelectorAll("[data-new]")) delete body[el.name];
  return JSON.stringify(body);
}

function sayAgain({ what, waits }) {
  return { text: waits ? `${what} is waiting to be sent already. To make another one like it, send it again.` : `${what} is there already. To make another one like it, send it again.`, state: "again" };
}

document.addEventListener("submit", (e) => {
  const form = e.target;
  if (!form.matches("form[data-queue=POST][data-clear]:not(.pad)") || form.corrects || form.querySelector("input[type=file]")) return;
  const body = bodyWithoutIDs(form, JSON.stringify(fields(form, e.submitter)));
  const twin = unshown.all.findLast((one) => one.state !== "refused" && belongs(one.e, form) && bodyWithoutIDs(form, one.e.body) === body);
  const known = asked.get(form);
  asked.delete(form);
  if (!twin || known?.body === body) return;
  asked.set(form, { body, what: twin.e.what, waits: waits(twin) });
  e.preventDefault();
  e.stopImmediatePropagation();
  draw();
}, true);
document.addEventListener("input", (e) => {
  if (asked.delete(e.target.form)) draw();
});

// Forms for one entry of a device.
const memory = `touchline once ${scope}`;
const done = () => JSON.parse(localStorage.getItem(memory) ?? "[]");
const another = new WeakSet(); // forms whose reader makes another entry

function drawOnce(form, mine) {
  const action = form.getAttribute("action");
  const last = mine.findLast((one) => one.state !== "refused");
  const before = done().find((one) => one.action === action);
  const what = last ? "" : before?.what;
  const closed = Boolean(last || before) && !another.has(form);
  for (const el of form.querySelectorAll(":scope > :not(.told, .once)")) el.hidden = closed;
  let box = form.querySelector(":scope > .once");
  if (closed && !box) {
    box = form.appendChild(Object.assign(document.createElement("div"), { className: "once" }));
    box.dataset.added = "";
    box.append(document.createElement("p"), button(form.dataset.once, () => {
      another.add(form);
      form.reset();
      draw();
      form.querySelector("input:not([type=hidden])")?.focus();
    }));
  }
  if (!box) return;
  box.hidden = !closed;
  box.firstChild.textContent = what ? `${what}. ${form.dataset.done}` : "";
}

queue.addEventListener("answered", ({ key, state }) => {
  const e = queue.entries.find((one) => one.key === key);
  const form = e && state !== "refused" && forms().find((form) => "once" in form.dataset && belongs(e, form));
  if (!form) return;
  another.delete(form);
  const rest = done().filter((one) => one.action !== e.path);
  try {
    localStorage.setItem(memory, JSON.stringify([{ action: e.path, what: e.what }, ...rest].slice(0, remembered)));
  } catch (err) {
    console.info("not remembered:", err.message); // the storage is full: the form is open again when the page is
  }
});

// New IDs, also on a page that is a copy: the copy's ID may have been used. What somebody has entered stays.
function renewIDs(of) {
  for (const el of of.querySelectorAll("[data-new]")) if (el.value === el.defaultValue) el.value = ulid();
}
document.addEventListener("reset", (e) => queueMicrotask(() => renewIDs(e.target)));

unshown.addEventListener("change", draw);
document.addEventListener("touchline:refreshed", (e) => {
  for (const b of document.querySelectorAll("[data-refresh] form[data-queue] button")) said.delete(b); // it is as the node says now
  unshown.refreshed(e.detail.asked);
});
setInterval(() => { if (document.querySelector("form[data-until]")) draw(); }, 1000);
renewIDs(document);
draw();
