// What a browser may lose, and what is known of what it has lost. Browsers empty the storage of pages that were not opened for days, unless
// they are installed or the browser has promised to keep it. See DESIGN.md in httpapi/page.
import { request } from "./request.js";

const recent = 24 * 60 * 60 * 1000; // ms for which a storage counts as new

// findLost asks the node what it heard of this device before the present storage was made; null: nothing, as far as it says.
export async function findLost(scope, storage) {
  if (!storage || Date.now() - Number(storage.split("-")[0]) > recent) return null;
  const answer = await request(scope + "heard", { cache: "no-store" });
  if (answer.status !== 200) return null;
  const heard = await answer.json();
  return (heard.store === storage ? heard.lost : heard) ?? null;
}

// lostWords says what is known. It never says that everything was sent: entries may have been made after the last that the node heard of.
export function lostWords({ at, waiting }) {
  const when = new Date(at).toLocaleString([], { weekday: "short", hour: "2-digit", minute: "2-digit" });
  const waited = waiting === 0 ? "none" : waiting;
  return `This browser's storage was emptied. The node last heard of this device on ${when}, with ${waited} waiting; what came later cannot be known.`;
}

// mayBeEmptied reports whether the browser may empty the page's storage.
export async function mayBeEmptied() {
  if (navigator.standalone || globalThis.matchMedia?.("(display-mode: standalone)").matches) return false;
  return !(await navigator.storage?.persisted?.().catch(() => false));
}
