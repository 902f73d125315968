// Event streams of pages. The node sends something at least every two seconds, if only the event tick. After eight seconds of silence the
// connection is lost, even if the browser does not know, and the stream is opened again.
import { hear } from "./link.js";

const patience = 8000; // ms of silence
const breath = 3000; // ms of silence after which a page that becomes visible does not trust its connection
const pause = 3000; // ms until a stream is opened again that the node has refused

// Stream keeps a stream open. on has a function for each kind of event. opened(again) is called when it is open, broken() when it is not;
// refused() may decide what to do before it is opened again after an answer that is no stream. tick() is called when there was nothing to
// send.
export class Stream {
  #address; #on; #opened; #broken; #refused;
  #source = null; #begun = 0; #last = performance.now(); #lastDate = Date.now(); #heard = false;

  constructor(address, on, { opened = () => {}, broken = () => {}, refused = async () => {}, tick = () => {} } = {}) {
    this.#address = new URL(address, location.href);
    this.#address.searchParams.set("tick", "1");
    this.#on = { ...on, tick };
    [this.#opened, this.#broken, this.#refused] = [opened, broken, refused];
    this.#connect();
    setInterval(() => this.#check(), 1000);
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.#wake(false); });
    addEventListener("pageshow", (e) => { if (e.persisted) this.#wake(true); });
    addEventListener("online", () => this.#wake(true));
  }

  // The connection may have ended while the page was frozen. The time since the last sign of life is measured by both clocks, because one
  // may have stood still.
  #wake(surely) {
    const quiet = Math.max(performance.now() - this.#last, Date.now() - this.#lastDate);
    if (surely || quiet > breath) this.#reopen();
  }

  #reopen() {
    this.#address.searchParams.delete("have"); // what the page had when it was made is old by now
    this.#connect();
  }

  #connect() {
    this.#begun = performance.now();
    const again = this.#source !== null;
    this.#source?.close();
    const source = new EventSource(this.#address.href);
    this.#source = source;
    const heard = (work) => (e) => {
      if (source !== this.#source) return;
      this.#alive();
      work?.(e);
    };
    source.onopen = () => {
      const first = !again && !this.#heard;
      heard()();
      this.#opened(!first);
    };
    for (const [kind, work] of Object.entries(this.#on)) source.addEventListener(kind, heard(work));
    // A browser connects again by itself after a broken connection, but not after an answer that is not a stream.
    source.onerror = () => {
      if (source !== this.#source) return;
      document.dispatchEvent(new Event("touchline:doubt"));
      this.#broken();
      if (source.readyState === EventSource.CLOSED) setTimeout(() => this.#again(source), pause);
    };
  }

  async #again(source) {
    if (source !== this.#source) return;
    await this.#refused();
    this.#reopen();
  }

  #alive() {
    this.#last = performance.now();
    this.#lastDate = Date.now();
    this.#heard = true;
    hear();
  }

  #check() {
    if (performance.now() - Math.max(this.#last, this.#begun) <= patience || this.#source.readyState === EventSource.CLOSED) return;
    this.#broken();
    this.#reopen();
  }
}
