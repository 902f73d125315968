// Keeps the parts marked data-refresh up to date while nobody is using one of their controls. Without this script the page works by its
// forms, but does not update. A part can name a stream with its kinds of events (data-follow): it is then refreshed at such events, and
// otherwise rarely. Without the stream it is refreshed as often as others.
import { morph } from "./morph.js";

const often = 2000, seldom = 30000;
let every = often;

// After a form is sent its field is empty again: the result is shown although the reader is still there. A button is not a field.
function idle(sent) {
  const at = document.activeElement?.closest("form:not(.pad) :is(input, select, textarea)"); // a pad has no text fields
  return !document.hidden && (!at || (sent && at.value === ""));
}

let timer = setTimeout(refresh, every);
document.addEventListener("touchline:sent", () => { // a write has arrived: show the result at once, and update the stored copy
  clearTimeout(timer);
  refresh("reload");
});

const [address, ...kinds] = document.querySelector("[data-follow]")?.dataset.follow.split(" ") ?? [];
if (address) {
  const stream = new EventSource(address);
  const look = (wait) => {
    clearTimeout(timer);
    timer = setTimeout(refresh, wait);
  };
  stream.onopen = () => look(every = seldom);
  stream.onerror = () => look(every = often);
  for (const kind of kinds) stream.addEventListener(kind, () => look(100)); // events close together cause one refresh
}

// One request runs at a time, so that later answers are newer. "touchline:refreshed" has the time of the request.
let running = false;
let again = ""; // cache mode of a pending further request

async function refresh(cache = "default") {
  if (running) {
    again = cache;
    return;
  }
  running = true;
  again = "";
  const asked = Date.now();
  try {
    if (!idle(cache === "reload") || !document.querySelector("[data-refresh]")) return;
    const answer = await fetch(location.pathname + location.search, { cache, headers: { Accept: "text/html" } });
    if (!answer.ok || answer.redirected) return;
    const next = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (!idle(cache === "reload")) return;
    for (const old of document.querySelectorAll("[data-refresh]")) {
      const part = next.querySelector(`[data-refresh="${old.dataset.refresh}"]`);
      if (part) morph(old, document.importNode(part, true), () => {});
    }
    document.dispatchEvent(new CustomEvent("touchline:refreshed", { detail: { asked } }));
  } catch { // the node is unreachable
  } finally {
    running = false;
    clearTimeout(timer);
    timer = again ? setTimeout(refresh, 0, again) : setTimeout(refresh, every);
  }
}
