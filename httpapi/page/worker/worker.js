// Serves an application's pages while the node is away. The node puts VERSION, SCOPE and ASSETS in front; a node of another
// version serves another worker, which takes over at once and keeps a cache of its own. See DESIGN.md in httpapi/page.

const family = `touchline ${SCOPE} `;
const mine = family + VERSION;
const most = 40; // pages that are kept
const patience = 4000; // ms that the node has while there is a copy
const kept = "Touchline-Kept"; // when a copy was made, by this device's clock
const reader = "Touchline-Reader"; // whose page it is

self.addEventListener("install", (e) => e.waitUntil(install()));
self.addEventListener("activate", (e) => e.waitUntil(activate()));
self.addEventListener("message", (e) => e.waitUntil(begin(e.data.keep)));
self.addEventListener("fetch", (e) => {
  const url = new URL(e.request.url);
  if (e.request.method !== "GET" || url.origin !== location.origin) return;
  if (url.pathname.startsWith("/_/assets/")) e.respondWith(asset(e.request));
  else if (e.request.mode === "navigate") e.respondWith(page(e));
  else if (e.request.cache === "reload" && e.request.headers.get("Accept") === "text/html") e.respondWith(anew(e));
});

// What the former version had of pages is fetched anew: its copies would load what is no longer there.
async function install() {
  const cache = await caches.open(mine);
  await cache.addAll(ASSETS);
  for (const name of await caches.keys()) {
    if (!name.startsWith(family) || name === mine) continue;
    for (const was of await pages(await caches.open(name))) {
      const answer = await fetch(was.url, { headers: { Accept: "text/html" }, redirect: "manual" }).catch(() => null);
      if (answer?.ok) await keep(cache, was.url, answer);
    }
  }
  await self.skipWaiting();
}

async function activate() {
  for (const name of await caches.keys()) {
    if (name.startsWith(family) && name !== mine) await caches.delete(name);
  }
  await self.clients.claim();
}

// A page that was opened before there was this worker asks to be kept.
async function begin(url) {
  const cache = await caches.open(mine);
  if (!url.startsWith(location.origin + SCOPE) || (await cache.match(url))) return;
  const answer = await fetch(url, { headers: { Accept: "text/html" }, redirect: "manual" }).catch(() => null);
  if (answer?.ok) await keep(cache, url, answer);
}

async function asset(request) {
  return (await caches.match(request, { cacheName: mine })) ?? fetch(request);
}

async function pages(cache) {
  return (await cache.keys()).filter((r) => !new URL(r.url).pathname.startsWith("/_/assets/"));
}

// The network first. A node that is away, or does not answer in time, has its last copy speak for it.
async function page(e) {
  const cache = await caches.open(mine);
  const url = e.request.url;
  const asked = fetch(e.request).then((answer) => {
    if ([502, 503, 504].includes(answer.status)) throw new Error("away");
    e.waitUntil(note(cache, url, answer.clone()).catch(() => {})); // without room there is no copy
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

// What a page looks like after something was sent: its copy is that from now on.
async function anew(e) {
  const answer = await fetch(e.request);
  const copy = answer.clone();
  e.waitUntil(caches.open(mine).then(async (cache) => (await cache.match(e.request.url)) && note(cache, e.request.url, copy)).catch(() => {}));
  return answer;
}

// Keeps what an answer is a copy of, and forgets what it says is no longer there. Who is sent elsewhere is signed out: copies of
// what only the signed-in see go.
async function note(cache, url, answer) {
  if (answer.type === "opaqueredirect" || answer.status === 401) {
    for (const one of await pages(cache)) await cache.delete(one);
  } else if (answer.ok) {
    await keep(cache, url, answer);
  } else {
    await cache.delete(url);
  }
}

async function keep(cache, url, answer) {
  if (!(answer.headers.get("Content-Type") ?? "").startsWith("text/html")) return;
  const headers = new Headers(answer.headers);
  headers.set(kept, Date.now());
  for (const one of await pages(cache)) {
    const had = await cache.match(one);
    if (had && had.headers.get(reader) !== headers.get(reader)) await cache.delete(one);
  }
  await cache.put(url, new Response(await answer.blob(), { headers }));
  const all = await pages(cache);
  for (const old of all.slice(0, Math.max(0, all.length - most))) await cache.delete(old);
}

function away() {
  const style = ASSETS.filter((a) => a.endsWith("/page.css") || a.endsWith("/extra.css")).map((a) => `<link rel="stylesheet" href="${a}">`).join("");
  return new Response(`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>The node is away</title>${style}</head><body><main class="quiet"><h1>The node is away</h1>
<p>This page was not opened on this device before, so there is no copy of it. What waits to be sent is kept.</p>
<p><a class="button" href="${SCOPE}">To the first page</a></p></main></body></html>`, { status: 503, headers: { "Content-Type": "text/html; charset=utf-8" } });
}
