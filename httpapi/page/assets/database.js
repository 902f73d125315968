// The stored part of the queue. Browsers close a page's database, above all while the page is in the background; it is then opened again,
// at the next use. See DESIGN.md in httpapi/page.

const patience = 3000; // ms for opening: some browsers never answer
const pause = 10000; // ms until one that was never open is tried again
const closed = ["InvalidStateError", "UnknownError", "AbortError", "TimeoutError"]; // what a use of a closed database fails with

// Database is an IndexedDB database with the object store "writes". lostAt is since when it has been lost, by performance.now(); 0: it is
// open, or was never opened.
export class Database {
  lostAt = 0;
  opened = false; // it was open before
  #name; #handle = null; #opening = null; #denied = null; #deniedAt = 0;

  constructor(name) {
    this.#name = name;
  }

  // run runs a transaction: work(writes, id) makes its requests and returns the one whose result run returns. id identifies the database:
  // if it has changed, the browser has emptied the storage. A database that was closed meanwhile is opened again, and work repeated; work
  // must allow for a first run that took effect although its transaction failed.
  async run(mode, work) {
    for (let again = false; ; again = true) {
      const handle = await this.#open();
      try {
        const result = await transact(handle, mode, work);
        this.lostAt = 0;
        return result;
      } catch (err) {
        if (!closed.includes(err?.name)) throw err;
        this.#drop(handle);
        if (again) throw err;
      }
    }
  }

  async #open() {
    if (this.#handle) return this.#handle;
    if (this.#denied && performance.now() - this.#deniedAt < pause) throw this.#denied;
    this.#opening ??= open(this.#name).catch((err) => this.#deny(err)).finally(() => { this.#opening = null; });
    const handle = await this.#opening;
    handle.addEventListener("close", () => this.#drop(handle));
    this.#handle = handle;
    this.opened = true;
    this.#denied = null;
    return handle;
  }

  #deny(err) {
    if (!this.opened) [this.#denied, this.#deniedAt] = [err, performance.now()];
    throw err;
  }

  #drop(handle) {
    if (this.#handle !== handle) return;
    this.#handle = null;
    this.lostAt ||= performance.now();
    handle.close();
  }
}

// open opens the database, and creates it with an object store whose name identifies it. The version stays 1, so that a page of an earlier
// release, which is still open, does not block this one; a database that such a page has made has no id.
function open(name) {
  return new Promise((ok, no) => {
    const request = indexedDB.open(name, 1);
    const late = setTimeout(() => {
      request.onsuccess = () => request.result.close();
      no(new DOMException("The database was not opened in time.", "TimeoutError"));
    }, patience);
    request.onupgradeneeded = () => {
      request.result.createObjectStore("writes", { keyPath: "n", autoIncrement: true });
      request.result.createObjectStore(`id ${Date.now()} ${Math.random()}`);
    };
    request.onsuccess = () => {
      clearTimeout(late);
      ok(request.result);
    };
    request.onerror = request.onblocked = () => {
      clearTimeout(late);
      no(request.error);
    };
  });
}

// transact also ends with its handle: when Chromium empties a storage, a transaction that is under way may never end.
async function transact(handle, mode, work) {
  const transaction = handle.transaction("writes", mode, { durability: "strict" });
  const request = work(transaction.objectStore("writes"), [...handle.objectStoreNames].find((name) => name.startsWith("id ")) ?? "");
  let gone;
  await new Promise((ok, no) => {
    transaction.oncomplete = ok;
    transaction.onabort = () => no(transaction.error ?? new DOMException("The transaction was aborted.", "AbortError"));
    gone = () => no(new DOMException("The database was closed.", "AbortError"));
    handle.addEventListener("close", gone);
  }).finally(() => handle.removeEventListener("close", gone));
  return request.result;
}
