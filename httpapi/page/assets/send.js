// The requests of the queue, and what their answers mean. See DESIGN.md in httpapi/page.
import { request } from "./request.js";

const mostFailures = 6; // answers 500 after which a write is refused
const mostProblems = 8; // of a refused write

// findNode returns {there, life, time}: whether the node answers, its life and its time; the life changes if it is restored from a backup.
export async function findNode() {
  const answer = await request("/livez", { cache: "no-store" }).catch(() => null);
  return { there: answer?.ok ?? false, life: answer?.headers.get("Touchline-Life"), time: Number(answer?.headers.get("Touchline-Now")) };
}

// send sends one entry with its age in ms, now being the latest time that the node's clock can show. It returns done, or the next state; later is the minimum number of seconds before another
// attempt. away: there was no answer. life is that of a node which keeps the entry's key, made what a creation answered.
// counts says how many entries there are, in case that the browser empties its storage.
export async function send(e, age, now, counts) {
  let answer;
  try {
    answer = await request(e.path, {
      method: e.method, body: e.body, redirect: "error", cache: "no-store",
      headers: {
        "Content-Type": e.type ?? "application/json", "Idempotency-Key": e.key, Prefer: "wait=0", "Touchline-Device": e.device, "Touchline-Entries": counts,
        "Touchline-Occurred-Ago": (age / 1000).toFixed(3), "Touchline-Sent": now, ...(e.sure && { "Touchline-Occurred-Confirmed": "1" }),
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
  if (!answer.ok) return { next: { state: "refused", ...(await wordsOf(answer)), failed: 0 } };
  const life = answer.headers.get("Touchline-Life");
  const made = answer.status === 201 ? await answer.json().catch(() => null) : null;
  if (cloud !== "waiting") return { done: true, made, life };
  return { made, life, next: { state: "taken", node, seq: answer.headers.get("Touchline-Seq"), life } };
}

// askFor asks what became of a taken entry. An empty result: not known yet.
export async function askFor(e) {
  const answer = await request(`/_/writes/${e.node}/${e.seq}`, { cache: "no-store" }).catch(() => null);
  if (!answer?.headers.get("Touchline-Node")) return {};
  if (answer.status === 404) return { next: { state: "queued" } };
  if (answer.status === 409) return { next: { state: "refused", ...(await wordsOf(answer)) } };
  return { done: answer.ok && answer.headers.get("Touchline-Cloud") !== "waiting" };
}

// Returns the text of an error in any of the applications' formats, its status, and what is wrong with which field.
async function wordsOf(answer) {
  const said = await answer.json().catch(() => ({}));
  const error = typeof said.error === "object" && said.error ? said.error : said;
  const problems = (error.details ?? error.errors ?? []).slice(0, mostProblems).map(({ field, message }) => ({ field, message }));
  const [detail] = problems;
  const words = error.message ?? error.detail ?? (typeof said.error === "string" ? said.error : "");
  const all = [words || `The node refused it (${answer.status}).`, detail && `${detail.field}: ${detail.message}`];
  return { words: all.filter(Boolean).join(" "), status: answer.status, problems };
}
