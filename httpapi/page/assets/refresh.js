// Keeps a part of the page in step (data-refresh names it) while nobody is at one of its controls. Without it the page
// works by its forms, and stands still. A part that names a stream with its kinds of events (data-follow) is asked for when one of them
// comes, and seldom beside: while the stream is away, or is not for its reader, as often as the others.
import { morph } from "./morph.js";

const often = 2000, seldom = 30000;
let every = often;

// A field that was sent is empty again: what came of it is shown though the reader is still there. A button is no field.
function idle(sent) {
  const at = document.activeElement?.closest("form:not(.pad) :is(input, select, textarea)"); // a pad has nothing to type into
  return !document.hidden && (!at || (sent && at.value === ""));
}

let timer = setTimeout(refresh, every);
document.addEventListener("touchline:sent", () => { // a write has arrived: what came of it is shown at once, and kept
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
  for (const kind of kinds) stream.addEventListener(kind, () => look(100)); // what comes together is one
}

// One is asked for at a time, so that what comes later is newer. Who takes part hears when what is shown was asked for.
let running = false;
let again = ""; // how it is asked for once more

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
  } catch { // the node is away
  } finally {
    running = false;
    clearTimeout(timer);
    timer = again ? setTimeout(refresh, 0, again) : setTimeout(refresh, every);
  }
}
