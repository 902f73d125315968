// The caches of a device, as far as the worker uses them.

const addressOf = (wanted) => new URL(wanted.url ?? wanted, "http://node.localhost:7777").href;

export class Caches {
  full = false; // nothing can be stored
  #all = new Map();

  async open(name) {
    if (!this.#all.has(name)) this.#all.set(name, new Cache(this));
    return this.#all.get(name);
  }

  async keys() {
    return [...this.#all.keys()];
  }

  async delete(name) {
    return this.#all.delete(name);
  }

  // empty deletes everything.
  empty() {
    this.#all.clear();
  }

  async match(wanted, { cacheName } = {}) {
    for (const [name, cache] of this.#all) {
      const copy = (cacheName ?? name) === name && await cache.match(wanted);
      if (copy) return copy;
    }
    return undefined;
  }
}

class Cache {
  #copies = new Map();
  constructor(all) {
    this.all = all;
  }

  async put(wanted, answer) {
    if (this.all.full) throw new DOMException("There is no space.", "QuotaExceededError");
    const body = new Uint8Array(await answer.arrayBuffer());
    this.#copies.delete(addressOf(wanted)); // the newest is the last
    this.#copies.set(addressOf(wanted), { body, status: answer.status, headers: new Headers(answer.headers) });
  }

  async match(wanted) {
    const copy = this.#copies.get(addressOf(wanted));
    return copy && new Response(copy.body, { status: copy.status, headers: copy.headers });
  }

  async keys() {
    return [...this.#copies.keys()].map((url) => ({ url }));
  }

  async delete(wanted) {
    return this.#copies.delete(addressOf(wanted));
  }
}
