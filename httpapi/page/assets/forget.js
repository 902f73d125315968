// Deletes this browser's copies of pages, so that the next reader of a shared device sees nothing of the one who has signed out. The
// worker's scripts and styles stay, and so does what waits to be sent.
export async function forgetPages() {
  for (const name of (await globalThis.caches?.keys()) ?? []) {
    if (!name.startsWith("touchline ")) continue;
    const cache = await caches.open(name);
    for (const copy of await cache.keys()) {
      if (!new URL(copy.url).pathname.startsWith("/_/assets/")) await cache.delete(copy);
    }
  }
}
