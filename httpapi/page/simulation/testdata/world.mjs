// Virtual time and chance. Everything that happens in a simulation is an event with a time; events run one after the other, and what an
// event's promises lead to is finished before the next one. With one seed everything happens in the same order each time.

export class World {
  now = Date.UTC(2026, 8, 5, 14); // ms; the node's clock. Devices may differ
  fired = {}; // faults that struck, and how often
  problems = []; // what a judge found
  trace = [];
  #events = []; // a heap by time, then by number
  #number = 0;
  #dice;

  constructor(seed) {
    this.#dice = dice(seed);
  }

  // chance returns true with a probability.
  chance(p) {
    return this.#dice() < p;
  }

  // between returns a whole number from low to high.
  between(low, high) {
    return low + Math.floor(this.#dice() * (high - low + 1));
  }

  pick(list) {
    return list[this.between(0, list.length - 1)];
  }

  random() {
    return this.#dice();
  }

  // after runs work in some ms. It is dropped if its owner, a tab, has died by then, and waits while the tab is frozen.
  after(ms, work, owner = null) {
    const event = { at: this.now + Math.max(0, ms), number: this.#number++, work, owner };
    push(this.#events, event);
    return event;
  }

  // cancel takes back what after has planned.
  cancel(event) {
    if (event) event.work = null;
  }

  // fire counts a fault that has struck.
  fire(fault) {
    this.fired[fault] = (this.fired[fault] ?? 0) + 1;
    this.say(`! ${fault}`);
  }

  say(text) {
    this.trace.push(`${((this.now - Date.UTC(2026, 8, 5, 14)) / 1000).toFixed(3).padStart(10)} ${text}`);
  }

  fail(problem) {
    if (!this.problems.includes(problem)) this.problems.push(problem);
    this.say(`PROBLEM ${problem}`);
  }

  // pass lets time pass.
  async pass(ms) {
    const until = this.now + ms;
    await settled();
    await new Promise((ok) => {
      let begun = 0; // immediates
      const step = () => {
        begun--;
        if (begun < 0) return; // the time has passed
        if (!this.#next(until)) {
          begun = 0;
          ok();
        } else if (!begun) begin();
      };
      const begin = () => {
        for (begun = 0; begun < batch; begun++) setImmediate(step);
      };
      begin();
    });
    this.now = until;
  }

  // sleep has the world stand still for a while: everything that is planned happens later by that.
  sleep(ms) {
    this.now += ms;
    for (const event of this.#events) event.at += ms;
  }

  // #next runs the next event until then. It reports whether there was one.
  #next(until) {
    while (this.#events.length && this.#events[0].at <= until) {
      const { at, work, owner } = pop(this.#events);
      this.now = at;
      if (!work || owner?.dead) continue;
      if (owner?.frozen) {
        owner.late.push(work);
        continue;
      }
      try {
        work();
      } catch (err) {
        this.fail(`an exception: ${err?.stack ?? err}`);
      }
      return true;
    }
    return false;
  }
}

// Promises are settled when Node turns to its next immediate. It does so without looking for other work within a batch of immediates.
const batch = 64;
export const settled = () => new Promise((ok) => { setImmediate(ok); });

// dice returns a generator of numbers in [0, 1) (sfc32).
function dice(seed) {
  let [a, b, c, d] = [0x9e3779b9, seed | 0, Math.floor(seed / 2 ** 32) | 0, 1];
  const next = () => {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + t) | 0;
    return (t >>> 0) / 2 ** 32;
  };
  for (let i = 0; i < 15; i++) next();
  return next;
}

const before = (a, b) => a.at < b.at || (a.at === b.at && a.number < b.number);

function push(heap, event) {
  let i = heap.push(event) - 1;
  for (let up = (i - 1) >> 1; i > 0 && before(event, heap[up]); up = (i - 1) >> 1) {
    heap[i] = heap[up];
    i = up;
  }
  heap[i] = event;
}

function pop(heap) {
  const first = heap[0];
  const last = heap.pop();
  if (!heap.length) return first;
  let i = 0;
  for (;;) {
    let down = 2 * i + 1;
    if (down >= heap.length) break;
    if (down + 1 < heap.length && before(heap[down + 1], heap[down])) down++;
    if (!before(heap[down], last)) break;
    heap[i] = heap[down];
    i = down;
  }
  heap[i] = last;
  return first;
}
