// A document with one part that is refreshed, as far as refresh.js needs one. Its content is the text of the node's page.

export class Document extends EventTarget {
  hidden = false;
  activeElement = null;
  shown = []; // {at, text}: what the part has shown, and since when
  links = []; // the details of touchline:link, when they changed
  said = {}; // the latest of them

  // follow is the address of a stream and the kinds of its events.
  constructor(world, follow = "") {
    super();
    this.follow = follow;
    this.part = { nodeName: "part of the page", dataset: { refresh: "part" }, replaceWith: ({ text }) => this.shown.push({ at: world.now, text }) };
    this.documentElement = { dataset: {}, classList: { toggle() {} }, style: { setProperty() {} } };
    this.addEventListener("touchline:link", ({ detail }) => {
      this.said = detail;
      if (this.links.at(-1)?.lost !== detail.lost) this.links.push({ at: world.now, ...detail });
    });
  }

  get text() {
    return this.shown.at(-1)?.text ?? "";
  }

  querySelector(selector) {
    if (selector === "[data-follow]") return this.follow ? { dataset: { follow: this.follow } } : null;
    return this.part;
  }

  querySelectorAll() {
    return [this.part];
  }

  getElementById() {
    return { lastElementChild: {} };
  }

  importNode(part) {
    return part;
  }
}

// The parser of answers: a part is all the text after the attributes of the document's element.
export class DOMParser {
  parseFromString(text) {
    const { dataset, body } = parse(text);
    return { documentElement: { dataset }, querySelector: () => ({ nodeName: "part of an answer", text: body }) };
  }
}

// parse returns the data attributes of a document's element, and the text after it.
export function parse(text) {
  const [head = ""] = /^<html[^>]*>/.exec(text) ?? [];
  return { dataset: Object.fromEntries([...head.matchAll(/data-(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value])), body: text.slice(head.length) };
}
