// The versions of pages that this device has shown. A version, INCARNATION.SEQUENCE, grows within its node. The page says if it shows an older
// one, or another node's.
import { ageOf, copied, remark } from "./link.js";

const root = document.documentElement;
const most = 40; // addresses
const pause = 5000; // ms between two notes of the same version
const name = "touchline shown"; // in the local storage: by address, {node, version, at}
const here = location.pathname + location.search;

// isOlder reports whether a version is known to be older than another one.
function isOlder(one, other) {
  if (one.node !== other.node) return false;
  const [life, number] = one.version.split(".").map(Number);
  const [otherLife, otherNumber] = other.version.split(".").map(Number);
  return life < otherLife || (life === otherLife && number < otherNumber);
}

function all() {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? {};
  } catch { // the storage is denied, or something else is in it
    return {};
  }
}

// note stores what is shown now, unless something newer was shown before.
function note() {
  const notes = all();
  if (notes[here] && isOlder(shown, notes[here])) return;
  delete notes[here]; // the newest is the last
  notes[here] = { ...shown, at: Date.now() };
  try {
    localStorage.setItem(name, JSON.stringify(Object.fromEntries(Object.entries(notes).slice(-most))));
  } catch { // without space nothing is known after a reload
  }
  noted = Date.now();
}

let shown = { node: root.dataset.node, version: root.dataset.version };
let noted = 0;
const before = all()[here]; // what was shown when the page was last open
const home = before?.node ?? shown.node; // a page that another node answers says so until it is opened anew

remark((old) => {
  if (before && isOlder(shown, before)) return ` This device has shown a newer state, ${ageOf(Date.now() - before.at)} ago.`;
  if (shown.node !== home) return ` This is from node ${shown.node}, ${old} old. Earlier it was from node ${home}.`;
  return "";
});

// A part, or a whole page, is about to be shown. One that is older than what is shown is not.
document.addEventListener("touchline:next", (e) => {
  const { node, version } = e.detail;
  if (!version || !shown.version) return;
  if (isOlder(e.detail, shown)) return e.preventDefault();
  const same = node === shown.node && version === shown.version;
  shown = { node, version };
  if (!same || Date.now() - noted > pause) note();
});

const kept = Number(root.dataset.kept) || 0; // when the worker stored this copy; 0: the page is no copy
if (kept) copied(before?.node === shown.node && before.version === shown.version ? Math.max(kept, before.at) : kept);
else if (shown.version) note();
