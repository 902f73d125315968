// The service worker of a device: what browsers do to register, replace, stop and start one, and the requests of pages that go through it.

const updates = "/app/-/worker.js";
const idle = 30000; // ms without a request after which a browser stops a worker

export class Workers {
  fragile = 0; // the share of upgrades in which the browser stops the workers
  #active = null; // a worker is {release, tab, listeners, asked, used}; tab is null while it is stopped
  #installing = null;
  #world; #network; #device;

  constructor(world, network, device) {
    this.#world = world;
    this.#network = network;
    this.#device = device;
  }

  // update asks the node for its worker, as browsers do at each navigation, and installs it if it is another one.
  update() {
    const { tab, answer } = this.#fetch({ method: "GET", url: this.#device.origin + updates });
    answer.then((got) => got.ok && got.text()).then((release) => {
      if (release && release !== this.#active?.release && !this.#installing) this.#install(release);
    }, () => {}).finally(() => { tab.dead = true; });
  }

  // #install installs a worker and lets it take over. It is given up if that fails, or if the browser stops it on the way.
  async #install(release) {
    const worker = this.#start({ release, asked: 0, used: 0 });
    const { tab } = worker;
    this.#installing = worker;
    if (this.#world.chance(this.fragile)) this.#world.after(this.#world.between(0, 300), () => this.stop());
    this.#world.say(`the worker of ${release} is installed`);
    try {
      await dispatch(worker, "install");
    } catch (err) {
      if (tab.dead) return;
      this.#world.say(`the worker of ${release} is given up: ${err?.message}`);
      tab.dead = true;
      this.#installing = null;
      return;
    }
    if (tab.dead) return;
    this.#installing = null;
    if (this.#active) this.#end(this.#active);
    this.#active = worker;
    this.#world.say(`the worker of ${release} is active`);
    await dispatch(worker, "activate");
  }

  // stop stops the workers, as browsers do at any time. One that is being installed is given up; an active one is started by its next event.
  stop() {
    if (this.#installing) {
      this.#world.fire("a worker died in mid-upgrade");
      this.#end(this.#installing);
      this.#installing = null;
    }
    if (this.#active) this.#end(this.#active);
  }

  // forget removes the workers, as browsers do when they empty the storage.
  forget() {
    this.stop();
    this.#active = null;
  }

  #end(worker) {
    if (!worker.tab) return;
    worker.tab.dead = true;
    worker.tab.ended?.();
    worker.tab = null;
  }

  #start(worker) {
    const listeners = {};
    const self = {
      addEventListener: (kind, work) => { listeners[kind] = work; },
      skipWaiting: async () => {},
      clients: { claim: async () => {} },
    };
    const tab = this.#device.thread();
    const fetch = this.#network.of(tab);
    tab.run(`worker.js of ${worker.release}`, { fetch, caches: this.#device.caches, self }, (text) => ofRelease(text("worker.js"), worker.release));
    return Object.assign(worker, { tab, listeners });
  }

  // of returns the fetch of a page. Its requests go through the worker, if there is one.
  of(tab) {
    const direct = this.#network.of(tab);
    return (address, options = {}) => this.pass(address, options) ?? direct(address, options);
  }

  // pass passes a page's request to the worker. It returns null if the worker does not answer it.
  pass(address, options) {
    return this.#ask({ method: "GET", mode: "cors", cache: "default", ...options, url: this.#device.origin + address, headers: new Headers(options.headers) });
  }

  // navigate asks for a page, or one of its assets, as a browser does that opens it.
  navigate(path, mode = "navigate") {
    const headers = new Headers({ Accept: mode === "navigate" ? "text/html" : "*/*" });
    const request = { method: "GET", mode, cache: "default", url: this.#device.origin + path, headers };
    return this.#ask(request) ?? this.#fetch(request).answer;
  }

  #fetch({ url, ...options }) {
    const tab = this.#device.thread();
    return { tab, answer: this.#network.of(tab)(url, options) };
  }

  // #ask passes a request to the active worker, and returns a promise of the answer; null: the worker does not answer it.
  #ask(request) {
    const worker = this.#active;
    if (!worker) return null;
    if (!worker.tab) this.#start(worker);
    const { tab } = worker;
    let given = null;
    worker.listeners.fetch({ request, waitUntil: (task) => { task.catch(() => {}); }, respondWith: (answer) => { given = answer; } });
    if (!given) return null;
    worker.asked++;
    return new Promise((ok, no) => {
      const ended = tab.ended;
      tab.ended = () => {
        ended?.();
        no(new TypeError("The worker was stopped."));
      };
      request.signal?.addEventListener("abort", () => no(request.signal.reason));
      given.then((answer) => { if (!tab.dead) ok(answer); }, no).finally(() => this.#rest(worker, tab));
    });
  }

  // #rest plans that the browser stops a worker that is not used.
  #rest(worker, tab) {
    worker.asked--;
    const used = ++worker.used;
    this.#world.after(idle, () => {
      if (worker.tab === tab && worker.used === used && !worker.asked) this.#end(worker);
    });
  }
}

// dispatch raises an event of a worker's life, and returns when the worker has done what it waits for.
async function dispatch({ listeners }, kind) {
  const tasks = [];
  listeners[kind]({ waitUntil: (task) => tasks.push(task) });
  await Promise.all(tasks);
}

// ofRelease returns the worker's script as a node of another version serves it.
function ofRelease(text, release) {
  const now = { VERSION: release, ASSETS: [`/_/assets/${release}/page.css`, `/_/assets/${release}/page.js`] };
  return Object.entries(now).reduce((made, [name, value]) => made.replace(new RegExp(`^const ${name} = .*$`, "m"), `const ${name} = ${JSON.stringify(value)};`), text);
}
