// What lies between a device and the node: requests that get lost, hang, arrive late or twice, and answers that do.

export class Network {
  away = false; // the node cannot be reached: requests fail at once
  deaf = false; // a half-open connection: requests made now have no answer, ever
  stuck = false; // answers begin, and never end
  faults = 0; // the share of requests that something happens to
  disturbed = 0; // counts what ended: away, deaf and faults
  #world;
  #node;

  constructor(world, node) {
    this.#world = world;
    this.#node = node;
  }

  // trouble reports whether something is wrong.
  get trouble() {
    return Boolean(this.away || this.deaf || this.stuck || this.faults);
  }

  // of returns the fetch of a tab.
  of(tab) {
    return (wanted, options = {}) => new Promise((ok, no) => {
      if (typeof wanted === "string") this.#send(tab, wanted, options, ok, no);
      else this.#send(tab, wanted.url, { ...wanted, ...options }, ok, no); // a worker passes a page's request on
    });
  }

  #send(tab, address, options, ok, no) {
    const { signal } = options;
    if (signal?.aborted) return no(signal.reason);
    const call = { tab, ok, no, ended: false };
    const abort = () => { // also while the body arrives
      call.ended = true;
      no(signal.reason);
      call.body?.error(signal.reason);
    };
    signal?.addEventListener("abort", abort);
    tab.asked(address, options);
    const request = { method: options.method ?? "GET", path: new URL(address, "http://node").pathname, headers: new Headers(options.headers), body: options.body, sent: this.#world.now };
    this.#travel(call, request);
  }

  // #travel decides what becomes of a request.
  #travel(call, request) {
    const world = this.#world;
    const way = world.between(2, 120);
    if (this.deaf) return world.fire("a request hung");
    if (this.away) return world.after(way, () => this.#lose(call), call.tab);
    let fate = world.chance(this.faults) ? world.pick(["lost", "hung", "answer lost", "answer hung", "late", "twice", "cut", "stuck"]) : "";
    if (fate) world.fire({ lost: "a request was lost", hung: "a request hung", "answer lost": "an answer was lost", "answer hung": "an answer hung", late: "a request was late", twice: "a request arrived twice", cut: "an answer was cut", stuck: "an answer was stuck" }[fate]);
    if (fate === "lost") return world.after(way, () => this.#lose(call), call.tab);
    if (fate === "hung") return undefined;
    if (fate === "twice") world.after(way + world.between(0, 60000), () => this.#node.answer(request));
    return world.after(way + (fate === "late" ? world.between(3000, 90000) : 0), () => {
      if (this.deaf) return undefined;
      if (this.away) return world.after(0, () => this.#lose(call), call.tab);
      const answer = this.#node.answer(request);
      if (fate === "answer hung") return undefined;
      if (this.stuck) fate = "stuck";
      return world.after(world.between(2, 120), () => (!answer || fate === "answer lost" ? this.#lose(call) : this.#answer(call, answer, fate)), call.tab);
    });
  }

  #lose(call) {
    if (call.ended) return;
    call.ended = true;
    call.no(new TypeError("Failed to fetch"));
    call.body?.error(new TypeError("network error"));
  }

  // #answer gives the tab the head of an answer, and then its body: whole, cut short, or never ending.
  #answer(call, { status = 200, headers = {}, body = "", type = "" }, fate) {
    if (call.ended) return;
    const bytes = new TextEncoder().encode(body);
    const stream = new ReadableStream({ start: (to) => { call.body = to; } });
    const answer = new Response(bytes.length ? stream : null, { status: type === "opaqueredirect" ? 200 : status, headers });
    if (type) Object.defineProperties(answer, { type: { value: type }, ok: { value: false }, status: { value: 0 } });
    if (status === 204) Object.defineProperty(answer, "body", { value: new ReadableStream({ start: (to) => to.close() }) }); // as Chromium does
    call.ok(answer);
    if (!bytes.length) return;
    const half = Math.ceil(bytes.length / 2);
    this.#world.after(1, () => {
      if (call.ended) return;
      call.body.enqueue(bytes.slice(0, half));
      if (fate === "stuck") return;
      this.#world.after(this.#world.between(1, 40), () => {
        if (call.ended) return;
        if (fate === "cut") return this.#lose(call);
        call.ended = true;
        call.body.enqueue(bytes.slice(half));
        call.body.close();
      }, call.tab);
    }, call.tab);
  }
}
