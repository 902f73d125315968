// A device and its tabs. Each tab is a realm of its own with the page's scripts, as the node serves them, over the simulated time, network
// and storage of its device.
import { Caches } from "./caches.mjs";
import { Database } from "./database.mjs";
import { Workers } from "./workers.mjs";

export class Device {
  tabs = [];
  locks = true; // the browser has Web Locks
  kept = new Map(); // the local storage
  origin = "http://node.localhost:7777";
  skew = 0; // ms by which its clock is ahead of the node's
  slept = 0; // ms in which the time of its pages stood still
  #world; #network; #scripts;
  #opened = 0;
  #held = new Map(); // Web Locks: by name, the requests; the first one holds it

  constructor(world, network, scripts) {
    this.#world = world;
    this.#network = network;
    this.#scripts = scripts;
    this.database = new Database(world);
    this.caches = new Caches();
    this.workers = new Workers(world, network, this);
  }

  // open opens a tab with a module that imports the page's scripts; streams are its event streams, more adds to its window.
  async open(code, { streams, fetch, ...more } = {}) {
    const tab = new Tab(this.#world, this, this.#scripts, ++this.#opened);
    this.tabs.push(tab);
    await tab.start(code, { fetch: fetch?.(tab) ?? this.workers.of(tab), indexedDB: this.database.of(tab), EventSource: streams?.of(tab), ...more });
    return tab;
  }

  // serve starts the service worker. It returns a function that opens a page through it, or makes another request of a page; null: the
  // worker does not answer it.
  async serve() {
    this.workers.update();
    await this.#world.pass(5000);
    return (path, more) => (more ? this.workers.pass(path, more) : this.workers.navigate(path));
  }

  // thread returns something of the browser's that is no page, and has scripts or requests of its own.
  thread() {
    return new Tab(this.#world, this, this.#scripts, ++this.#opened);
  }

  // freeze stops a tab, as browsers do in the background. It keeps its locks, and loses its database.
  freeze(tab) {
    this.#world.say(`tab ${tab.number} is frozen`);
    tab.frozen = true;
    this.database.forget(tab, "close");
  }

  // thaw lets a tab go on. What happened to it meanwhile happens now.
  thaw(tab) {
    this.#world.say(`tab ${tab.number} goes on`);
    tab.frozen = false;
    for (const work of tab.late.splice(0)) this.#world.after(0, work, tab);
  }

  // kill ends a tab without a word.
  kill(tab) {
    this.#world.say(`tab ${tab.number} dies`);
    tab.dead = true;
    this.tabs = this.tabs.filter((t) => t !== tab);
    this.database.forget(tab);
    for (const name of this.#held.keys()) this.#unlock(name, (one) => one.tab === tab);
  }

  // sleep has the device stand still, with the time of its pages.
  sleep(ms) {
    this.slept += ms;
    this.#world.sleep(ms);
  }

  // hasLock reports whether a tab has a Web Lock.
  hasLock(tab) {
    return [...this.#held.values()].some(([first]) => first?.tab === tab);
  }

  // post delivers a message to the device's other tabs.
  post(from, name, data) {
    for (const tab of this.tabs) {
      for (const channel of tab.channels) {
        if (channel !== from && channel.name === name) this.#world.after(this.#world.between(0, 5), () => channel.onmessage?.({ data }), tab);
      }
    }
  }

  // lock asks for a Web Lock.
  lock(tab, name, work, options = {}) {
    return new Promise((ok, no) => {
      const one = { tab, work, ok, no };
      const all = this.#held.get(name) ?? [];
      this.#held.set(name, all);
      if (options.steal) {
        this.#world.fire("a lock was stolen");
        const was = all.shift();
        if (was) this.#world.after(0, () => was.no(new DOMException("the lock was stolen", "AbortError")), was.tab);
        all.unshift(one);
      } else all.push(one);
      options.signal?.addEventListener("abort", () => {
        if (this.#held.get(name)[0] === one) return; // it has the lock
        this.#held.set(name, this.#held.get(name).filter((other) => other !== one));
        no(options.signal.reason);
      });
      if (all[0] === one) this.#grant(name, one);
    });
  }

  #grant(name, one) {
    this.#world.after(this.#world.between(0, 2), async () => {
      if (this.#held.get(name)?.[0] !== one) return;
      try {
        one.ok(await one.work({ name }));
      } catch (err) {
        one.no(err);
      }
      this.#unlock(name, (other) => other === one);
    }, one.tab);
  }

  #unlock(name, whose) {
    const all = this.#held.get(name);
    const [first] = all;
    const left = all.filter((one) => !whose(one));
    this.#held.set(name, left);
    if (left.length && left[0] !== first) this.#grant(name, left[0]);
  }
}

class Tab {
  dead = false;
  frozen = false;
  late = []; // what happened to it while it was frozen
  channels = [];
  requests = []; // {address, options}
  #world; #device; #scripts;
  #born;

  constructor(world, device, scripts, number) {
    this.number = number;
    this.#world = world;
    this.#device = device;
    this.#scripts = scripts;
    this.#born = world.now - device.slept;
  }

  asked(address, options) {
    this.#world.say(`tab ${this.number} asks ${options.method ?? "GET"} ${address} ${options.body ?? ""}`);
    this.requests.push({ address, options });
  }

  // hide tells the page that it is left. The browser may keep it as it is.
  hide(kept) {
    if (this.document) this.document.hidden = true;
    this.global.dispatchEvent(Object.assign(new Event("pagehide"), { persisted: kept }));
    this.document?.dispatchEvent(new Event("visibilitychange"));
  }

  // show tells a page that was kept that it is shown again.
  show() {
    if (this.document) this.document.hidden = false;
    this.#world.after(0, () => {
      this.global.dispatchEvent(Object.assign(new Event("pageshow"), { persisted: true }));
      this.document?.dispatchEvent(new Event("visibilitychange"));
    }, this);
  }

  // start runs a module, and returns when it and its imports have run.
  async start(code, more) {
    const window = this.#scripts.window({ ...this.#globals(), ...more });
    this.global = window.global;
    await window.start(code).catch((err) => this.#world.fail(`the page's script ends: ${err?.stack ?? err}`));
  }

  // run runs a script that is no module. make makes its text of those of scripts.
  run(name, more, make) {
    const window = this.#scripts.window({ ...this.#globals(), ...more });
    this.global = window.global;
    window.run(name, make((script) => this.#scripts.text(script)));
  }

  // #globals is what the scripts find in their window.
  #globals() {
    const world = this.#world;
    const timers = new Map();
    let last = 0;
    const setTimer = (work, ms, again, args) => {
      const id = ++last;
      const plan = () => timers.set(id, world.after(ms, () => {
        timers.delete(id);
        if (again) plan();
        work(...args);
      }, this));
      plan();
      return id;
    };
    const clear = (id) => {
      world.cancel(timers.get(id));
      timers.delete(id);
    };
    const setTimeout = (work, ms = 0, ...args) => setTimer(work, ms, false, args);
    const window = new EventTarget();
    const globals = {
      ...plain, setTimeout, clearTimeout: clear, clearInterval: clear,
      setInterval: (work, ms = 0, ...args) => setTimer(work, Math.max(1, ms), true, args),
      simulated: { now: () => world.now + this.#device.skew, random: () => world.random() },
      performance: { now: () => world.now - this.#device.slept - this.#born },
      location: { pathname: "/app/-/", search: "", href: this.#device.origin + "/app/-/", origin: this.#device.origin },
      localStorage: { getItem: (name) => this.#device.kept.get(name) ?? null, setItem: (name, text) => this.#device.kept.set(name, text) },
      navigator: { locks: this.#device.locks ? this.#locks() : undefined },
      crypto: { getRandomValues: (bytes) => bytes.fill(0).map((_, i) => { bytes[i] = world.between(0, 255); return 0; }) && bytes },
      BroadcastChannel: channelOf(this.#device, this),
      AbortSignal: { timeout: (ms) => aborted(setTimeout, ms), any: (all) => AbortSignal.any(all) },
    };
    for (const name of ["addEventListener", "removeEventListener", "dispatchEvent"]) globals[name] = window[name].bind(window);
    return globals;
  }

  #locks() {
    return { request: (name, options, work) => (work ? this.#device.lock(this, name, work, options) : this.#device.lock(this, name, options)) };
  }
}

// plain are the parts of a browser that Node has too.
const plain = {
  console, DOMException, Event, CustomEvent: globalThis.CustomEvent, EventTarget, URL, Headers, Request, Response, ReadableStream, TextEncoder, TextDecoder,
  AbortController, structuredClone,
};

function aborted(setTimeout, ms) {
  const stop = new AbortController();
  setTimeout(() => stop.abort(new DOMException("The operation timed out.", "TimeoutError")), ms);
  return stop.signal;
}

function channelOf(device, tab) {
  return class {
    onmessage = null;
    constructor(name) {
      this.name = name;
      tab.channels.push(this);
    }
    postMessage(data) {
      device.post(this, this.name, data);
    }
  };
}
