// Pages of a device that people look at: opened through its worker, kept up to date by refresh.js, with the queue.
import { Document, DOMParser, parse } from "./document.mjs";
import { Streams } from "./streams.mjs";

// page is the module of such a page. What offline.js does with the queue, besides showing it, is done here.
const page = `
import "./refresh.js";
import "./shown.js";
import { Queue } from "./queue.js";
const queue = globalThis.queue = new Queue("/app/-/", "reader", "d1");
let unsent = 0;
queue.addEventListener("change", () => {
  const now = queue.entries.filter((e) => e.state === "queued" || e.state === "sending").length;
  if (now < unsent) document.dispatchEvent(new Event("touchline:sent"));
  unsent = now;
});
let lost = false;
document.addEventListener("touchline:link", ({ detail }) => {
  if (lost && !detail.lost) queue.hurry();
  else if (detail.quiet < 2000) queue.heard();
  lost = detail.lost;
});
document.addEventListener("touchline:refreshed", () => queue.heard());
document.addEventListener("visibilitychange", () => document.hidden || queue.hurry());
addEventListener("online", () => queue.hurry());
`;

export class Pages {
  #world; #node; #network; #device; #judge; #streams;

  constructor({ world, node, network, device, judge }) {
    [this.#world, this.#node, this.#network, this.#device, this.#judge] = [world, node, network, device, judge];
    this.#streams = new Streams(world, network);
    Object.defineProperty(node, "version", { get: () => `${node.life}.${node.took.length}` });
    node.page = () => `<html data-node="${node.name}" data-version="${node.version}">${this.#state()}`;
    node.changed = () => this.#streams.emit("score");
  }

  // #state is what a page shows.
  #state() {
    const { assets, release, life, took } = this.#node;
    return JSON.stringify({ assets, release, life, score: took.length });
  }

  // open opens the page, or shows that it cannot be opened.
  async open() {
    const { workers } = this.#device;
    const asked = { ...JSON.parse(this.#state()), faults: this.#network.disturbed };
    workers.update();
    try {
      const answer = await workers.navigate("/app/-/");
      if (answer.status !== 200) return;
      const text = await answer.text();
      const shown = JSON.parse(parse(text).body);
      this.#isCurrent(asked, shown);
      const copy = answer.headers.has("Touchline-Kept");
      const script = await workers.navigate(`${shown.assets}page.js`, "no-cors").catch((err) => err);
      if (script.ok) await this.#show(text);
      else if (copy) this.#world.fail(`a copy of ${parse(text).body} has no scripts: ${script.status ?? script.message}`);
    } catch (err) {
      this.#world.say(`a page cannot be opened: ${err?.message ?? err}`);
    }
  }

  // #isCurrent judges a page that was just opened. A copy may be older only if something was wrong on the way.
  #isCurrent(asked, shown) {
    if (this.#network.trouble || this.#network.disturbed !== asked.faults || shown.life !== asked.life) return;
    if (shown.score < asked.score || shown.release !== asked.release) this.#world.fail(`a page was opened as ${JSON.stringify(shown)}, although the node was at ${JSON.stringify(asked)}`);
  }

  async #show(text) {
    const document = new Shown(this.#world, text);
    const tab = await this.#device.open(page, { document, DOMParser, streams: this.#streams });
    tab.document = document;
    this.#judge.watch(tab);
  }

  // cut ends the streams.
  cut(silently) {
    this.#streams.cut(silently);
  }

  // verdict judges what pages show that have come to rest.
  verdict() {
    for (const { document, number } of this.#device.tabs) {
      if (document && document.text !== this.#state()) this.#world.fail(`tab ${number} shows ${document.text} at last, and not ${this.#state()}`);
    }
  }
}

// Shown is the document of a page. It judges what it shows: nothing that is older than what it has shown.
class Shown extends Document {
  constructor(world, text) {
    super(world, "/app/stream score");
    const { dataset, body } = parse(text);
    Object.assign(this.documentElement.dataset, dataset);
    this.shown.push({ at: world.now, text: body });
    const replace = this.part.replaceWith;
    this.part.replaceWith = (part) => {
      const [was, now] = [JSON.parse(this.text), JSON.parse(part.text)];
      if (now.release !== was.release) world.fire("an answer had another version");
      if (now.life === was.life && now.score < was.score) world.fail(`a page went back from ${this.text} to ${part.text}`);
      replace(part);
    };
  }
}
