// Opens a refused entry as the form that it came from, filled in, with the node's words at the field that they are about. What is sent then
// replaces the refused entry. A script of the application opens entries of its own forms at the event "touchline:correct".
import { queue, tell } from "./offline.js";
import { belongs, forms } from "./pending.js";

const { scope } = document.documentElement.dataset;

export function correct(e) {
  document.querySelector("#waiting details").open = false;
  if (!document.dispatchEvent(new CustomEvent("touchline:correct", { cancelable: true, detail: e }))) return;
  const form = forms().find((form) => belongs(e, form));
  if (form) return open(form, e);
  const here = location.pathname + location.search;
  if (e.from.startsWith(scope) && e.from !== here) location.assign(`${e.from}#correct=${e.key}`);
  else tell(`The form of this entry is not on its page any more: ${e.what}.`);
}

function open(form, e) {
  for (const other of forms()) if (other.corrects === e.key) close(other);
  if (e.type !== "text/csv" && !form.matches(".pad")) fill(form, JSON.parse(e.body));
  form.corrects = e.key;
  for (let at = form; at; at = at.parentElement) if (at.matches("details")) at.open = true;
  explain(form, e);
  const at = form.querySelector("[aria-invalid]") ?? form.querySelector("input:not([type=hidden]), select, textarea, button");
  at.focus();
  form.scrollIntoView({ block: "nearest" });
}

// fill is the reverse of fields in offline.js.
function fill(form, body) {
  const used = new Map(); // elements of lists, by name
  for (const el of form.elements) {
    if (!el.name || el.matches("button, [type=submit], [type=file], [type=hidden]")) continue;
    const value = valueOf(body, el.name, used);
    if (el.type === "radio") el.checked = el.value === String(value ?? "");
    else if (el.type === "checkbox") el.checked = value === true;
    else if (el.type === "datetime-local") el.value = value ? localOf(value) : "";
    else el.value = value ?? "";
  }
}

function valueOf(body, name, used) {
  const list = name.endsWith("[]");
  const value = (list ? name.slice(0, -2) : name).split(".").reduce((at, key) => at?.[key], body);
  if (!list) return value;
  used.set(name, (used.get(name) ?? -1) + 1);
  return value?.[used.get(name)];
}

function localOf(instant) {
  const at = new Date(instant);
  return new Date(at - at.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
}

// explain shows the node's words at the fields that they name, or else above the form's buttons. data-words of a field are words that are
// about it although they do not name it.
function explain(form, e) {
  clear(form);
  const problems = e.problems?.length ? e.problems : [{ field: "", message: e.words }];
  for (const { field, message } of problems) {
    const el = fieldOf(form, field, message);
    const text = note("field__problem", message);
    if (!el) {
      form.insertBefore(text, form.querySelector(":scope > .form__do, :scope > .told"));
      continue;
    }
    text.id = `problem-${el.name}`;
    el.setAttribute("aria-invalid", "true");
    el.setAttribute("aria-describedby", text.id);
    (el.closest(".field") ?? el.parentElement).append(text);
  }
  const rest = note("field__hint", `Change “${e.what}” and send it again, or `);
  const leave = Object.assign(document.createElement("button"), { type: "button", className: "button button--small button--plain", textContent: "leave it" });
  leave.addEventListener("click", () => {
    close(form);
    form.reset();
  });
  rest.append(leave);
  form.insertBefore(rest, form.querySelector(":scope > .form__do, :scope > .told"));
}

function fieldOf(form, field, message) {
  const all = [...form.elements].filter((el) => el.name && !el.matches("button, [type=hidden]"));
  const last = (name) => name.replace("[]", "").split(/[.[\]]/).filter(Boolean).at(-1);
  if (field) return all.find((el) => el.name.replace("[]", "") === field) ?? all.find((el) => last(el.name) === last(field));
  return all.find((el) => el.dataset.words && message.includes(el.dataset.words)) ?? all.find((el) => new RegExp(`\\b${last(el.name)}\\b`).test(message));
}

function note(className, text) {
  const p = Object.assign(document.createElement("p"), { className, textContent: text });
  p.dataset.added = "problem";
  return p;
}

function clear(form) {
  for (const el of form.querySelectorAll('[data-added="problem"]')) el.remove();
  for (const el of form.querySelectorAll("[aria-invalid]")) {
    el.removeAttribute("aria-invalid");
    el.removeAttribute("aria-describedby");
  }
}

function close(form) {
  form.corrects = "";
  clear(form);
}

// The words stay until the entry is sent, or is not there any more. A refresh of the page has removed their attributes.
function look() {
  for (const form of forms()) {
    if (form.corrects === undefined) continue;
    const e = queue.entries.find((e) => e.key === form.corrects && e.state === "refused");
    if (!e) {
      if (form.querySelector('[data-added="problem"]')) close(form);
    } else if (!form.querySelector("[aria-invalid]") && form.querySelector('.field [data-added="problem"]')) explain(form, e);
  }
}
queue.addEventListener("change", look);
document.addEventListener("touchline:refreshed", look);
