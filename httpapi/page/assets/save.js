// Saves what waits as a file, which somebody else gives to a node: the page of a device that cannot reach one, or whose scorer may not enter it.
// offline.js loads it when it is asked for. docs/http.md has the format, and httpapi/handover reads it.
import { canHandIn } from "./entries.js";
import { queue } from "./offline.js";

const { scope, reader, device } = document.documentElement.dataset;
const most = 1000000; // bytes
const hash = /^[0-9a-f]{32}$/;

// deviceOf returns the hash of the device under which an entry's key counts; an entry without one can only be sent from here.
const deviceOf = (e) => e.device ?? (e.tried ? "" : device ?? "");
const canSave = (e) => hash.test(deviceOf(e)) && e.type !== "text/csv";

function saved(e) {
  const { key, method, path, body, at } = e;
  const maker = e.reader && { maker: e.reader };
  const ahead = e.ahead && { ahead: e.ahead.map(Math.round) };
  return { key, device: deviceOf(e), ...maker, method, path, body, at: Math.round(at), ...ahead };
}

// saveEntries shares or downloads the reader's entries, and returns what to say about it. They stay in the queue: each counts once.
export async function saveEntries() {
  const all = queue.entries.filter((e) => e.reader === reader && canHandIn(e));
  const entries = all.filter(canSave).map(saved);
  const left = all.length - entries.length;
  const only = left ? ` ${left} cannot be in a file, and can only be sent from here.` : "";
  if (!entries.length) return only.trim();
  const text = JSON.stringify({ format: "touchline-entries", version: 1, scope, entries });
  const day = new Date(Date.now() - new Date().getTimezoneOffset() * 60000).toISOString().slice(0, 16).replace(/[T:]/g, "-");
  const file = new File([text], `touchline-entries-${day}.txt`, { type: "text/plain" });
  if (file.size > most) throw new Error("More waits than fits into a file: it can only be sent from here.");
  if (!(await share(file))) return "";
  return `${entries.length} saved as a file. Whoever may enter them hands it in at ${location.origin}${scope}handover. They stay here too, and count once.${only}`;
}

// share reports whether the file was given away: its reader may change their mind.
async function share(file) {
  if (navigator.canShare?.({ files: [file] })) {
    try {
      await navigator.share({ files: [file] });
      return true;
    } catch (err) {
      if (err.name === "AbortError") return false;
    }
  }
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(file), download: file.name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  return true;
}
