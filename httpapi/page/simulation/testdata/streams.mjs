// Event streams of tabs, and the node's side of them: it sends what happens, and after 2 s of silence the event tick.

const retry = 2000; // ms until a browser connects again

export class Streams {
  open = new Set();
  refused = false; // something else answers in the node's place
  #world; #network;

  constructor(world, network) {
    this.#world = world;
    this.#network = network;
    this.#tick();
  }

  // of returns the EventSource of a tab.
  of(tab) {
    const streams = this;
    return class EventSource extends EventTarget {
      static CONNECTING = 0;
      static OPEN = 1;
      static CLOSED = 2;
      readyState = 0;
      onopen = null;
      onerror = null;
      constructor(address) {
        super();
        Object.assign(this, { address: String(address), tab });
        streams.connect(this);
      }
      close() {
        this.readyState = 2;
        streams.open.delete(this);
      }
    };
  }

  connect(source) {
    this.#world.say(`tab ${source.tab.number} opens the stream ${source.address}`);
    if (this.#network.deaf) return; // it is silent for ever
    this.#world.after(this.#world.between(2, 120), () => {
      if (source.readyState === 2) return;
      if (this.#network.away) return this.#break(source);
      if (this.refused) return this.#refuse(source);
      source.readyState = 1;
      source.spoke = this.#world.now;
      this.open.add(source);
      source.onopen?.();
      source.dispatchEvent(new Event("open"));
    }, source.tab);
  }

  // cut ends all connections: with an error that browsers see, or so that they are silent for ever.
  cut(silently) {
    for (const source of this.open) {
      if (!silently) this.#break(source);
    }
    this.open.clear();
  }

  #break(source) {
    source.readyState = 0;
    this.#world.after(0, () => {
      source.onerror?.();
      source.dispatchEvent(new Event("error"));
    }, source.tab);
    this.#world.after(retry, () => { if (source.readyState === 0) this.connect(source); }, source.tab);
  }

  // #refuse ends a source for good, as an answer does that is no stream.
  #refuse(source) {
    source.readyState = 2;
    source.onerror?.();
  }

  // emit sends an event to all streams.
  emit(kind, data = "{}") {
    for (const source of this.open) this.#send(source, kind, data);
  }

  #send(source, kind, data) {
    source.spoke = this.#world.now;
    this.#world.after(this.#world.between(2, 60), () => {
      if (source.readyState === 1) source.dispatchEvent(Object.assign(new Event(kind), { data }));
    }, source.tab);
  }

  #tick() {
    for (const source of this.open) {
      if (this.#world.now - source.spoke >= 2000 && source.address.includes("tick=1")) this.#send(source, "tick", "{}");
    }
    this.#world.after(500, () => this.#tick());
  }
}
