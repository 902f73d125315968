// The requests of the queue, and what their answers mean. See DESIGN.md in httpapi/page.
import { request } from "./request.js";

const mostFailures = 6; // answers 500 after which a write is refused

// findNode returns {there, life}: whether the node answers, and its life, which changes if it is restored from a backup.
export async function findNode() {
  const answer = await request("/livez", { cache: "no-store" }).catch(() => null);
  return { there: answer?.ok ?? false, life: answer?.headers.get("Touchline-Life") };
}

// send sends one entry. It returns done, or the next state; later is the minimum number of seconds before another attempt. away: there was
// no answer. life is that of a node which keeps the entry's key.
// counts says how many entries there are, in case that the browser empties its storage.
export async function send(e, counts) {
  let answer;
  try {
    answer = await request(e.path, {
      method: e.method, body: e.body, redirect: "error", cache: "no-store",
      headers: {
        "Content-Type": e.type ?? "application/json", "Idempotency-Key": e.key, Prefer: "wait=0", "Touchline-Device": e.device, "Touchline-Entries": counts,
        "Touchline-Occurred-Ago": ((Date.now() - e.at) / 1000).toFixed(1),
      },
    });
  } catch {
    return { later: 0, away: true, next: { state: "queued" } };
  }
  const node = answer.headers.get("Touchline-Node");
  const cloud = answer.headers.get("Touchline-Cloud");
  const again = [408, 425, 429, 502, 503, 504].includes(answer.status) || (answer.status === 500 && (e.failed ?? 0) < mostFailures);
  if (answer.status === 401) return { later: 30, signIn: true, next: { state: "queued" } };
  if (!node || again) { // without the header, a proxy has answered
    return { later: Number(answer.headers.get("Retry-After")) || 0, next: { state: "queued", failed: (e.failed ?? 0) + (answer.status === 500) } };
  }
  if (!answer.ok) return { next: { state: "refused", words: await wordsOf(answer), failed: 0 } };
  const life = answer.headers.get("Touchline-Life");
  if (cloud !== "waiting") return { done: true, life };
  return { life, next: { state: "taken", node, seq: answer.headers.get("Touchline-Seq"), life } };
}

// askFor asks what became of a taken entry. An empty result: not known yet.
export async function askFor(e) {
  const answer = await request(`/_/writes/${e.node}/${e.seq}`, { cache: "no-store" }).catch(() => null);
  if (!answer?.headers.get("Touchline-Node")) return {};
  if (answer.status === 404) return { next: { state: "queued" } };
  if (answer.status === 409) return { next: { state: "refused", words: await wordsOf(answer) } };
  return { done: answer.ok && answer.headers.get("Touchline-Cloud") !== "waiting" };
}

// Returns the text of an error in any of the applications' formats.
async function wordsOf(answer) {
  const said = await answer.json().catch(() => ({}));
  const error = typeof said.error === "object" && said.error ? said.error : said;
  const detail = (error.details ?? error.errors ?? [])[0];
  const words = error.message ?? error.detail ?? (typeof said.error === "string" ? said.error : "");
  return [words || `The node refused it (${answer.status}).`, detail && `${detail.field}: ${detail.message}`].filter(Boolean).join(" ");
}
