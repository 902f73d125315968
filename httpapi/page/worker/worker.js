// Serves an application's pages while the node is unreachable. The node prepends VERSION, SCOPE and ASSETS, and the functions of request.js. A node of another version
// serves another worker, which takes over at once and has its own cache. See DESIGN.md in httpapi/page.

const family = `touchline ${SCOPE} `;
const mine = family + VERSION;
const assets = ASSETS[0].slice(0, ASSETS[0].lastIndexOf("/") + 1); // the folder of this version's assets, which its pages name
const most = 40; // stored pages
const patience = 4000; // ms to wait for the node if there is a copy
const kept = "Touchline-Kept"; // when a copy was stored, in this device's time
const reader = "Touchline-Reader"; // pseudonym of the page's reader
const version = "Touchline-Version"; // INCARNATION.SEQUENCE of a page's content; it grows within a node
const still = 60000; // ms for which a copy is as good as another one of the same version

self.addEventListener("install", (e) => e.waitUntil(install()));
self.addEventListener("activate", (e) => e.waitUntil(activate()));
self.addEventListener("message", (e) => e.waitUntil(begin(e.data.keep, e.data.anew)));
self.addEventListener("fetch", (e) => {
  const url = new URL(e.request.url);
  if (e.request.method !== "GET" || url.origin !== location.origin) return;
  if (url.pathname.startsWith("/_/assets/")) e.respondWith(asset(e.request));
  else if (e.request.mode === "navigate") e.respondWith(page(e));
  else if (e.request.headers.get("Accept") === "text/html") e.respondWith(anew(e));
});

// Fetches the previous version's stored pages again: their copies refer to assets that no longer exist.
async function install() {
  const cache = await caches.open(mine);
  await Promise.all(ASSETS.map((address) => add(cache, address)));
  for (const name of await caches.keys()) {
    if (!name.startsWith(family) || name === mine) continue;
    for (const was of await pages(await caches.open(name))) {
      const answer = await request(was.url, { headers: { Accept: "text/html" }, redirect: "manual" }).catch(() => null);
      if (answer?.ok) await keep(cache, was.url, answer);
    }
  }
  await self.skipWaiting();
}

async function add(cache, address) {
  const answer = await request(address);
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  await cache.put(address, answer);
}

async function activate() {
  for (const name of await caches.keys()) {
    if (name.startsWith(family) && name !== mine) await caches.delete(name);
  }
  await self.clients.claim();
}

// Stores a page that was opened before this worker existed, or that a stream has changed.
async function begin(url, again) {
  const cache = await caches.open(mine);
  if (!url.startsWith(location.origin + SCOPE) || (!again && (await cache.match(url)))) return;
  const answer = await request(url, { headers: { Accept: "text/html" }, redirect: "manual" }).catch(() => null);
  if (answer?.ok) await keep(cache, url, answer);
}

async function asset(wanted) {
  return (await caches.match(wanted, { cacheName: mine })) ?? request(wanted);
}

async function pages(cache) {
  return (await cache.keys()).filter((r) => !new URL(r.url).pathname.startsWith("/_/assets/"));
}

// Network first. If the node is unreachable or slow, the last copy is used.
async function page(e) {
  const cache = await caches.open(mine);
  const url = e.request.url;
  const asked = whole(() => fetch(e.request)).then((answer) => { // with options it would no longer be a navigation
    if ([502, 503, 504].includes(answer.status)) throw new Error("away");
    e.waitUntil(note(cache, url, answer.clone()).catch(() => {})); // without space there is no copy
    return answer;
  });
  e.waitUntil(asked.catch(() => {}));
  const copy = await cache.match(url);
  try {
    const late = new Promise((ok) => setTimeout(ok, patience));
    return (await Promise.race(copy ? [asked, late] : [asked])) ?? copy;
  } catch {
    return copy ?? away();
  }
}

// Stores a page as a refresh shows it.
async function anew(e) {
  const answer = await request(e.request);
  const copy = answer.clone();
  const store = e.request.cache === "reload" ? note : keepGood; // after a write a copy that is gone is deleted
  e.waitUntil(caches.open(mine).then(async (cache) => (await cache.match(e.request.url)) && store(cache, e.request.url, copy)).catch(() => {}));
  return answer;
}

async function keepGood(cache, url, answer) {
  if (answer.ok) await keep(cache, url, answer);
}

// Stores the copy of an answer, or deletes one that is gone. A redirect means that the reader is signed out: copies for signed-in
// readers are deleted.
async function note(cache, url, answer) {
  if (answer.type === "opaqueredirect" || answer.status === 401) {
    for (const copy of await pages(cache)) await cache.delete(copy);
  } else if (answer.ok) {
    await keep(cache, url, answer);
  } else {
    await cache.delete(url);
  }
}

// A page of another version is not stored: without the node its assets could not be had. Its own worker stores it, and until then the
// copy of this version is there.
async function keep(cache, url, answer) {
  if (!(answer.headers.get("Content-Type") ?? "").startsWith("text/html") || !answer.headers.get("Touchline-Node")) return; // a proxy's
  if (await hasNewer(cache, url, answer)) return;
  const page = await answer.text();
  if (!page.includes(assets)) return;
  const headers = new Headers(answer.headers);
  const now = Date.now();
  headers.set(kept, now);
  for (const old of await pages(cache)) {
    const had = await cache.match(old);
    if (had && had.headers.get(reader) !== headers.get(reader)) await cache.delete(old);
  }
  const text = page.replace("<html ", `<html data-kept="${now}" `); // so that the page knows that it is a copy
  await cache.put(url, new Response(text, { headers }));
  const all = await pages(cache);
  for (const old of all.slice(0, Math.max(0, all.length - most))) await cache.delete(old);
}

// hasNewer reports whether the stored copy of a page needs not be replaced by an answer: a late one may be older.
async function hasNewer(cache, url, answer) {
  const had = (await cache.match(url))?.headers;
  if (!had?.get(version) || ["Touchline-Node", reader].some((name) => had.get(name) !== answer.headers.get(name))) return false;
  const [life, number] = had.get(version).split(".").map(Number);
  const [otherLife, otherNumber] = (answer.headers.get(version) ?? "").split(".").map(Number);
  if (life === otherLife && number === otherNumber) return Date.now() - Number(had.get(kept)) < still;
  return life > otherLife || (life === otherLife && number > otherNumber);
}

function away() {
  const style = ASSETS.filter((a) => a.endsWith("/page.css") || a.endsWith("/extra.css")).map((a) => `<link rel="stylesheet" href="${a}">`).join("");
  return new Response(`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>The node cannot be reached</title>${style}</head><body><main class="quiet"><h1>The node cannot be reached</h1>
<p>This page has not been opened on this device before, so there is no copy of it. Try again when you are connected to the node. Everything that waits to be sent is kept.</p>
<p><a class="button" href="${SCOPE}">Go to the start page</a></p></main></body></html>`, { status: 503, headers: { "Content-Type": "text/html; charset=utf-8" } });
}
