// Keeps the page up to date: its stream delivers the parts that changed.
import { current } from "./link.js";
import { morph } from "./morph.js";
import { request } from "./request.js";
import { Stream } from "./stream.js";

const root = document.documentElement;

let seen = new Set(keys());
if (!root.dataset.scope) import("./shown.js"); // of others, offline.js imports it

new Stream(root.dataset.stream, {
  parts(e) {
    const { title, parts, node, version } = JSON.parse(e.data);
    if (!document.dispatchEvent(new CustomEvent("touchline:next", { cancelable: true, detail: { node, version } }))) return; // it is older
    if (document.title !== title) document.title = title;
    for (const { id, html } of parts) apply(id, html);
    for (const { id } of parts) document.querySelectorAll(`[data-part="${id}"] details[data-lazy][open]`).forEach(fill);
    announce();
    current();
    document.dispatchEvent(new Event("touchline:changed"));
  },
  gone: () => location.reload(),
  version: (e) => renew(JSON.parse(e.data).version),
}, { refused, tick: current });

// A reader who is no longer signed in is redirected to sign in.
async function refused() {
  const page = await request(location.href, { headers: { Accept: "text/html" }, redirect: "manual" }).catch(() => null);
  if (page?.type === "opaqueredirect") location.reload();
}

// Reloads the page for another version of the node, once per version, because the page may be an older copy. A script of the page may
// postpone it.
function renew(version) {
  if (sessionStorage.version === version) return;
  sessionStorage.version = version;
  if (document.dispatchEvent(new CustomEvent("touchline:version", { cancelable: true }))) location.reload();
}

function apply(id, html) {
  const old = document.querySelector(`[data-part="${id}"]`);
  if (!old) return;
  const box = document.createElement("template");
  box.innerHTML = html;
  morph(old, box.content.firstElementChild, wash);
}

// Highlights an element with a fading colour; the animation must restart if the figure changes twice quickly.
function wash(el) {
  el.classList.remove("is-new");
  requestAnimationFrame(() => requestAnimationFrame(() => el.classList.add("is-new")));
}
document.addEventListener("animationend", (e) => {
  if (e.animationName === "wash") e.target.classList.remove("is-new");
});

function keys() {
  return [...document.querySelectorAll(".event[data-key]")].map((el) => el.dataset.key);
}

// Announces new events to screen readers: loud ones at once, others at the next pause.
function announce() {
  const loud = [], quiet = [];
  for (const el of document.querySelectorAll(".event[data-key]")) {
    if (seen.has(el.dataset.key)) continue;
    const text = el.querySelector(".event__text").textContent;
    (el.hasAttribute("data-loud") ? loud : quiet).push(text);
  }
  seen = new Set(keys());
  if (loud.length) document.getElementById("shout").textContent = loud.slice(0, 2).join(". ");
  if (quiet.length) document.getElementById("say").textContent = quiet.slice(0, 2).join(". ");
}

// Long content is fetched when it is unfolded. Without scripts there is a link in its place.
document.addEventListener("toggle", (e) => {
  if (e.target.matches("details[data-lazy][open]")) fill(e.target);
}, true);

async function fill(el) {
  const answer = await request(el.dataset.lazy, { headers: { Accept: "text/html" } }).catch(() => null);
  if (!answer || !answer.ok) return; // keep the link, or the previous content
  const next = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("[data-overs]");
  const body = el.querySelector(".more__body");
  if (!next || !body) return;
  const old = body.querySelector("[data-overs]");
  if (old) morph(old, document.importNode(next, true), () => {});
  else body.replaceChildren(document.importNode(next, true));
  body.setAttribute("data-held", "");
}
