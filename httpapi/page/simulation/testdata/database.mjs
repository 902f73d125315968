// A device's IndexedDB, as far as the scripts use it, with what browsers do to it: connections are closed, with and without an event, or
// lose their server, or desert their transactions; it refuses to be opened, is full, and is emptied.

const copy = (row) => ({ ...row }); // entries are flat
const error = (name) => new DOMException(`the simulated database: ${name}`, name);

export class Database {
  full = false;
  refused = ""; // the error of opening; empty: it can be opened
  hangs = false; // opening it has no answer
  committed = () => {}; // called with the rows of an object store after each commit
  #world;
  #stores = new Map(); // by the database's name; an object store by its name: {next, rows}
  #connections = new Set();
  #queue = []; // transactions, one at a time
  #running = false;

  constructor(world) {
    this.#world = world;
  }

  // of returns the indexedDB of a tab.
  of(tab) {
    return { open: (name, version) => this.#open(tab, name, version) };
  }

  #open(tab, name, version) {
    const request = {};
    if (this.hangs) return request;
    this.#world.after(this.#world.between(0, 4), () => {
      if (this.refused) return this.#answer(tab, request, "error", error(this.refused));
      const db = new Connection(this, tab, name);
      this.#connections.add(db);
      request.result = db;
      if (!this.#stores.has(name)) {
        this.#stores.set(name, new Map());
        request.onupgradeneeded?.({ target: request, oldVersion: 0, newVersion: version });
      }
      this.#answer(tab, request, "success", db);
    }, tab);
    return request;
  }

  // #answer gives a request its result in the next event of its tab.
  #answer(tab, request, kind, value) {
    this.#world.after(0, () => {
      if (kind === "success") request.result = value;
      else request.error = value;
      request["on" + kind]?.({ target: request });
    }, tab);
  }

  storesOf(name) {
    return this.#stores.get(name) ?? new Map();
  }

  create(name, store) {
    this.storesOf(name).set(store, { next: 1, rows: new Map() });
  }

  // rows returns what a database has stored, by its name.
  rows(name) {
    const writes = this.storesOf(name).get("writes");
    return writes ? [...writes.rows.values()] : [];
  }

  // close closes all connections: with an event ("close"), without one ("quiet"), or so that each request fails ("lost"). "deserted" is what
  // Chromium does when it empties a storage: a transaction that is under way, or begins before the event some time later, never ends.
  close(how) {
    for (const db of this.#connections) db.end(how);
    if (how !== "lost") this.#connections.clear();
  }

  // forget ends the connections of a tab that has died or is frozen. A transaction that was not committed is undone.
  forget(tab, how = "quiet") {
    for (const db of this.#connections) {
      if (db.tab !== tab) continue;
      db.end(how);
      this.#connections.delete(db);
    }
  }

  // empty deletes everything, as a browser does that needs space, or a person who clears a site's data.
  empty(how = "close") {
    this.close(how);
    this.#stores.clear();
  }

  enqueue(transaction) {
    this.#queue.push(transaction);
    this.#next();
  }

  #next() {
    if (this.#running) return;
    const transaction = this.#queue.shift();
    if (!transaction) return;
    this.#running = true;
    this.#world.after(this.#world.between(0, 3), () => this.#step(transaction));
  }

  // #step runs one request of a transaction, or commits it if its tab has made no further one.
  #step(transaction) {
    if (transaction.db.tab.dead && !transaction.ended) transaction.undo("AbortError");
    if (transaction.ended) return this.#finish();
    const one = transaction.requests.shift();
    if (!one) return this.#world.after(this.#world.between(0, 5), () => this.#commit(transaction));
    let result;
    try {
      result = transaction.db.lost ? error("UnknownError") : one.work();
    } catch (err) {
      result = err;
    }
    if (result instanceof DOMException) {
      one.request.error = result;
      transaction.undo(result.name);
      return this.#finish();
    }
    this.#answer(transaction.db.tab, one.request, "success", result);
    this.#world.after(0, () => this.#step(transaction));
  }

  #commit(transaction) {
    if (transaction.db.tab.dead && !transaction.ended) transaction.undo("AbortError");
    if (transaction.db.lost && !transaction.ended) transaction.undo("UnknownError");
    if (this.full && transaction.grew && !transaction.ended) {
      this.#world.fire("the storage was full");
      transaction.undo("QuotaExceededError");
    }
    if (!transaction.ended) {
      transaction.ended = true;
      if (transaction.made && transaction.writes) {
        this.storesOf(transaction.db.name).set(transaction.store, transaction.made);
        this.committed([...transaction.made.rows.values()]);
      }
      this.#world.after(0, () => transaction.oncomplete?.(), transaction.db.tab);
    }
    this.#finish();
  }

  #finish() {
    this.#running = false;
    this.#next();
  }

  later(work, tab) {
    this.#world.after(0, work, tab);
  }

  // soon does something after some time.
  soon(work, tab) {
    this.#world.after(this.#world.between(1, 20), work, tab);
  }
}

class Connection extends EventTarget {
  closed = false;
  lost = false;
  deserted = false;
  #of;
  #open = new Set(); // transactions

  constructor(of, tab, name) {
    super();
    this.#of = of;
    this.tab = tab;
    this.name = name;
  }

  get objectStoreNames() {
    return [...this.#of.storesOf(this.name).keys()];
  }

  createObjectStore(name) {
    this.#of.create(this.name, name);
  }

  transaction(store, mode) {
    if (this.closed) throw error("InvalidStateError");
    const transaction = new Transaction(this, store, mode, this.#of);
    transaction.ended = this.deserted;
    this.#open.add(transaction);
    this.#of.enqueue(transaction);
    return transaction;
  }

  close() {
    this.closed = true; // transactions that were begun are finished
  }

  end(how) {
    if (how === "lost") {
      this.lost = true;
      return;
    }
    if (this.closed || this.deserted) return;
    if (how === "deserted") {
      this.deserted = true;
      for (const transaction of this.#open) transaction.ended = true;
      this.#of.soon(() => this.#closeLate(), this.tab);
      return;
    }
    this.closed = true;
    for (const transaction of this.#open) transaction.undo("AbortError");
    if (how === "close") this.#of.later(() => this.dispatchEvent(new Event("close")), this.tab);
  }

  #closeLate() {
    if (this.closed) return;
    this.closed = true;
    this.dispatchEvent(new Event("close"));
  }
}

class Transaction {
  error = null;
  ended = false;
  requests = [];
  made = null; // the store as it will be; null: nothing was asked yet
  grew = false; // it has written rows
  #of;

  constructor(db, store, mode, of) {
    this.db = db;
    this.store = store;
    this.writes = mode === "readwrite";
    this.#of = of;
  }

  // undo aborts the transaction for an error.
  undo(name) {
    if (this.ended) return;
    this.ended = true;
    this.error = error(name);
    this.#of.later(() => this.onabort?.(), this.db.tab);
  }

  objectStore() {
    const ask = (work) => {
      const request = {};
      this.requests.push({ request, work: () => work(this.#rows()) });
      return request;
    };
    return {
      getAll: () => ask(({ rows }) => [...rows.values()].sort((a, b) => a.n - b.n).map(copy)),
      get: (n) => ask(({ rows }) => rows.has(n) ? copy(rows.get(n)) : undefined),
      add: (row) => this.#write(ask, structuredClone(row), true),
      put: (row) => this.#write(ask, structuredClone(row), false),
      delete: (n) => ask((made) => { this.#mayWrite(); made.rows.delete(n); }),
    };
  }

  // The transaction sees what was stored when its first request runs: those before it have ended by then. Rows themselves never change.
  #rows() {
    const stored = this.#of.storesOf(this.db.name).get(this.store) ?? { next: 1, rows: new Map() };
    this.made ??= { next: stored.next, rows: new Map(stored.rows) };
    return this.made;
  }

  #mayWrite() {
    if (!this.writes) throw error("ReadOnlyError");
  }

  #write(ask, row, only) {
    return ask((made) => {
      this.#mayWrite();
      this.grew = true;
      row.n ??= made.next;
      if (only && made.rows.has(row.n)) throw error("ConstraintError");
      if (row.n >= made.next) made.next = Math.floor(row.n) + 1;
      made.rows.set(row.n, row);
      return row.n;
    });
  }
}
