// Keeps the parts marked data-refresh up to date while nobody is using one of their controls. Without this script the page works by its
// forms, but does not update. A part can name a stream with its kinds of events (data-follow): it is then refreshed at such events, and
// otherwise rarely. Without the stream it is refreshed as often as others.
import { current, isNode, owe } from "./link.js";
import { morph } from "./morph.js";
import { request } from "./request.js";
import { Stream } from "./stream.js";

const often = 2000, seldom = 30000;
let every = often;

// After a form is sent its field is empty again: the result is shown although the reader is still there. A button is not a field.
function idle(sent) {
  const at = document.activeElement?.closest("form:not(.pad) :is(input, select, textarea)"); // a pad has no text fields
  return !document.hidden && (!at || (sent && at.value === ""));
}

let timer = setTimeout(refresh, document.documentElement.dataset.kept ? 0 : every); // a copy is refreshed at once
document.addEventListener("touchline:sent", () => { // a write has arrived: show the result at once, and update the stored copy
  owe();
  clearTimeout(timer);
  refresh("reload");
});

const [address, ...kinds] = document.querySelector("[data-follow]")?.dataset.follow.split(" ") ?? [];
const look = (wait) => {
  clearTimeout(timer);
  timer = setTimeout(refresh, wait);
};
if (address) {
  const happened = () => {
    owe();
    look(100); // events close together cause one refresh
  };
  new Stream(address, Object.fromEntries(kinds.map((kind) => [kind, happened])), {
    opened(again) {
      every = seldom;
      if (again) happened(); // events may have been missed
      else look(every);
    },
    broken: () => look(every = often),
  });
}

// A page that becomes visible shows the present state at once. What a frozen page has asked for may never be answered.
function wake() {
  running = 0;
  clearTimeout(timer);
  refresh(again || "default");
}
document.addEventListener("visibilitychange", () => { if (!document.hidden) wake(); });
addEventListener("pageshow", (e) => { if (e.persisted) wake(); });
addEventListener("online", wake);

// One request runs at a time, so that later answers are newer; the answer of one that was given up is not shown. "touchline:refreshed" has
// the time of the request.
let running = 0; // number of the running request; 0: none
let last = 0;
let again = ""; // cache mode of a pending further request

// The node learns how many entries wait here, for the other scorers of a game.
function headers() {
  const { waits } = document.documentElement.dataset;
  return waits === undefined ? { Accept: "text/html" } : { Accept: "text/html", "Touchline-Waiting": waits };
}

async function refresh(cache = "default") {
  if (running) {
    again = cache;
    return;
  }
  const number = running = ++last;
  again = "";
  const asked = Date.now();
  try {
    if (!idle(cache === "reload") || !document.querySelector("[data-refresh]")) return await greet(number);
    const answer = await request(location.pathname + location.search, { cache, headers: headers(), redirect: "manual" });
    if (!answer.ok || !isNode(answer)) return document.dispatchEvent(new Event("touchline:doubt"));
    const next = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (running !== number || !idle(cache === "reload")) return;
    const { node, version } = next.documentElement.dataset;
    if (!document.dispatchEvent(new CustomEvent("touchline:next", { cancelable: true, detail: { node, version } }))) return; // it is older
    for (const old of document.querySelectorAll("[data-refresh]")) {
      const part = next.querySelector(`[data-refresh="${old.dataset.refresh}"]`);
      if (part) morph(old, document.importNode(part, true), () => {});
    }
    current();
    document.dispatchEvent(new CustomEvent("touchline:refreshed", { detail: { asked } }));
  } catch { // the node is unreachable, or silent
  } finally {
    if (running === number) {
      running = 0;
      clearTimeout(timer);
      timer = again ? setTimeout(refresh, 0, again) : setTimeout(refresh, every);
    }
  }
}

// greet asks whether the node is there, while somebody uses a control, and on a page without parts. A page with a stream of its own, and a
// hidden one, need no answer.
async function greet(number) {
  if (document.hidden || document.documentElement.dataset.stream) return;
  const answer = await request("/livez", { cache: "no-store" });
  if (running === number && isNode(answer)) current();
}
