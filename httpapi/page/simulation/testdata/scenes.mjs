// Scenes: single schedules, each of which an earlier version of the scripts failed.
import { World } from "./world.mjs";
import { Network } from "./network.mjs";
import { Node } from "./node.mjs";
import { Device } from "./device.mjs";
import { Judge, page } from "./judge.mjs";
import { Document, DOMParser, parse } from "./document.mjs";
import { Streams } from "./streams.mjs";

// stage is a device with one tab and a node.
async function stage(scripts, { open = true, before = () => {} } = {}) {
  const world = new World(1);
  const node = new Node(world);
  const network = new Network(world, node);
  const device = new Device(world, network, scripts);
  const judge = new Judge(world, node, device);
  before(device);
  const tab = open ? await device.open(page) : null;
  await world.pass(1000);
  return { world, node, network, device, judge, tab };
}

// spectator is a device with a page that follows a stream, and shows the node's score.
async function spectator(scripts, { follow = "/app/stream score", code = `import "./refresh.js";` } = {}) {
  const staged = await stage(scripts, { open: false });
  const { world, node, network, device } = staged;
  const streams = new Streams(world, network);
  const document = new Document(world, follow);
  let score = 0;
  node.page = () => `score ${score}`;
  const scored = () => {
    score++;
    streams.emit("score");
  };
  const tab = await device.open(code, { document, DOMParser, streams });
  await world.pass(5000);
  return { ...staged, streams, document, scored, tab };
}

// stand is a device whose page is opened, and refreshed, through its worker. The page shows the node's score, with its version.
async function stand(scripts) {
  const staged = await stage(scripts, { open: false });
  const { world, node, network, device } = staged;
  const through = await device.serve();
  const score = (n, version = `1.${n}`) => {
    node.version = version;
    node.page = () => `<html data-node="${node.name}" data-version="${version}" data-assets="${node.assets}">score ${n}`;
  };
  const fetch = (tab) => async (address, options) => await through(address, options) ?? network.of(tab)(address, options);
  let tab;
  // open opens the page anew, which takes some time.
  const open = async (within) => {
    if (tab) device.kill(tab);
    const document = new Document(world);
    let text = "";
    through("/app/-/").then((answer) => answer.text()).then((got) => { text = got; });
    await world.pass(within);
    const { dataset, body } = parse(text);
    Object.assign(document.documentElement.dataset, dataset);
    document.part.replaceWith({ text: body });
    tab = await device.open(`import "./refresh.js"; import "./shown.js";`, { document, DOMParser, fetch });
    return document;
  };
  score(1);
  return { ...staged, score, open };
}

const s = 1000;

export const scenes = {
  async "the browser closes the database"(scripts, expect) {
    for (const how of ["close", "quiet", "lost"]) {
      const { world, node, network, device, judge, tab } = await stage(scripts);
      network.away = true;
      for (const _ of [1, 2, 3]) await judge.tap(tab);
      device.database.close(how);
      await judge.tap(tab);
      expect(`${how}: the list`, listed(tab), [1, 2, 3, 4]);
      network.away = false;
      await judge.tap(tab);
      await world.pass(60 * s);
      expect(`${how}: what the node took`, node.took.map((one) => one.tap), [1, 2, 3, 4, 5]);
      expect(`${how}: what the page says`, tab.global.queue.trouble, "");
      await judge.verdict();
      expect(`${how}: the judge`, world.problems, []);
    }
  },

  async "the database stays closed for a minute"(scripts, expect) {
    const { world, node, network, device, judge, tab } = await stage(scripts);
    const { queue } = tab.global;
    network.away = true;
    for (const _ of [1, 2, 3]) await judge.tap(tab);
    device.database.close("close");
    device.database.refused = "UnknownError";
    await judge.tap(tab);
    network.away = false;
    await judge.tap(tab);
    expect("what the page says at first", queue.trouble, "closed");
    await world.pass(70 * s);
    expect("what the page says after a minute", queue.trouble, "lost");
    expect("the list", listed(tab), [1, 2, 3, 4, 5]);
    expect("what the node took by itself", node.took.map((one) => one.tap), []);
    queue.sendHeld();
    await world.pass(10 * s);
    expect("what the scorer has sent", node.took.map((one) => one.tap), [4, 5]);
    device.database.refused = "";
    await world.pass(60 * s);
    expect("what the node took at last", node.took.map((one) => one.tap), [4, 5, 1, 2, 3]);
    expect("the list at last", listed(tab), []);
  },

  async "the storage is emptied under the page"(scripts, expect) {
    const { world, node, network, judge, tab } = await stage(scripts);
    network.away = true;
    for (const _ of [1, 2, 3]) await judge.tap(tab);
    judge.empty();
    await judge.tap(tab);
    expect("the list", listed(tab), [1, 2, 3, 4]);
    expect("what is stored", judge.rows().map((row) => row.key), ["tap-1", "tap-2", "tap-3", "tap-4"]);
    network.away = false;
    await judge.tap(tab);
    await world.pass(60 * s);
    expect("what the node took", node.took.map((one) => one.tap), [1, 2, 3, 4, 5]);
  },

  // The queue waited for ever for a transaction that Chromium had left without an end: nothing was stored or sent any more.
  async "the storage is emptied under a transaction"(scripts, expect) {
    for (const busy of [true, false]) {
      const { world, node, network, judge, tab } = await stage(scripts);
      network.away = true;
      for (const _ of [1, 2]) await judge.tap(tab);
      if (busy) judge.begin(tab);
      judge.empty("deserted");
      await judge.tap(tab);
      const taps = judge.taps.map((one) => one.tap);
      expect("the list", listed(tab), taps);
      expect("what is stored", judge.rows().map((row) => row.key), taps.map((tap) => `tap-${tap}`));
      network.away = false;
      await world.pass(60 * s);
      expect("what the node took", node.took.map((one) => one.tap), taps);
      expect("what the page says", tab.global.queue.trouble, "");
      await judge.verdict();
      expect("the judge", world.problems, []);
    }
  },

  async "the storage was never opened"(scripts, expect) {
    const { world, node, network, judge, tab } = await stage(scripts, { before: (device) => { device.database.refused = "SecurityError"; } });
    network.away = true;
    for (const _ of [1, 2]) await judge.tap(tab);
    expect("what the page says", tab.global.queue.trouble, "denied");
    expect("the list", listed(tab), [1, 2]);
    network.away = false;
    await judge.tap(tab);
    await world.pass(60 * s);
    expect("what the node took", node.took.map((one) => one.tap), [1, 2, 3]);
  },

  // The queue read an entry, then asked whether the node is there, and sent what the reader had discarded meanwhile.
  async "an entry is discarded while the node is asked for"(scripts, expect) {
    let discarded = 0;
    for (let ms = 0; ms < 200; ms += 4) {
      const { world, network, judge, tab } = await stage(scripts);
      network.away = true;
      await judge.tap(tab);
      await world.pass(500);
      network.away = false;
      tab.global.queue.hurry();
      await world.pass(ms);
      judge.discard(tab);
      await world.pass(60 * s);
      await judge.verdict();
      if (judge.taps[0].discarded) discarded++;
      expect(`discarded after ${ms} ms`, world.problems, []);
    }
    expect("some were discarded", discarded > 0, true);
  },

  // A script of the page sets the time later than the countdown runs for the first time.
  async "a countdown has no time yet"(scripts, expect) {
    const { world, device } = await stage(scripts, { open: false });
    const next = { dateTime: "", dataset: { countdown: "now" }, textContent: "soon" };
    const start = { dateTime: "", dataset: {}, textContent: "on Sunday" };
    const parts = { "time[data-countdown]": [next], "time[data-local]": [start] };
    const { global } = await device.open(`import * as times from "./times.js"; Object.assign(globalThis, times);`, {
      document: { querySelectorAll: (selector) => parts[selector] },
    });
    global.countDown(world.now);
    global.localTimes();
    expect("without a time", [next.textContent, start.textContent], ["soon", "on Sunday"]);
    next.dateTime = new Date(world.now + 4000 * s).toISOString();
    global.countDown(world.now);
    expect("with a time", next.textContent, "1:06:40");
    global.countDown(world.now + 5000 * s);
    expect("afterwards", next.textContent, "now");
  },

  async "a request hangs, and the stream is healthy"(scripts, expect) {
    const { world, network, document, scored } = await spectator(scripts);
    network.deaf = true; // for one request
    scored();
    await world.pass(500);
    network.deaf = false;
    scored();
    await world.pass(11 * s);
    expect("the page", document.text, "score 2");
    scored();
    await world.pass(1 * s);
    expect("the page after the next event", document.text, "score 3");
  },

  async "the stream's connection is half open"(scripts, expect) {
    const { world, streams, document, scored } = await spectator(scripts);
    streams.cut(true);
    const cut = world.now;
    await world.pass(20 * s);
    const [lost, found] = document.links.filter((link) => link.at > cut);
    expect("the loss is said within 10 s", lost?.lost && lost.at - cut <= 10 * s, true);
    expect("the stream is opened again", found?.lost, false);
    scored();
    await world.pass(1 * s);
    expect("the page", document.text, "score 1");
  },

  // Only pages with a stream said that the node was lost, and only if the stream was the first to learn of it.
  async "the node is lost"(scripts, expect) {
    const losses = {
      "it cannot be reached": ({ network, streams }) => { network.away = true; streams.cut(false); },
      "it is silent": ({ network, streams }) => { network.deaf = true; streams.cut(true); },
      "a proxy answers in its place": ({ node, streams }) => {
        node.dead = "Please sign in to the hall's network.";
        streams.refused = true;
        streams.cut(false);
      },
    };
    const pages = {
      "a page without a stream": { follow: "" },
      "a page that follows a stream": {},
      "a page with a field in use": { follow: "", field: true },
      "a hidden page": { hidden: true },
    };
    for (const [how, lose] of Object.entries(losses)) {
      for (const [kind, { follow, field, hidden }] of Object.entries(pages)) {
        const of = `${kind}, ${how}`;
        const staged = await spectator(scripts, { follow });
        const { world, node, network, streams, document } = staged;
        if (field) document.activeElement = { closest: () => ({ value: "Red" }) };
        document.hidden = Boolean(hidden);
        await world.pass(300 * s);
        show(document);
        await world.pass(20 * s);
        expect(`${of}: before`, document.links.some((link) => link.lost), false);
        const from = world.now;
        lose(staged);
        await world.pass(30 * s);
        const [lost] = document.links.filter((link) => link.lost);
        expect(`${of}: it is said within 10 s`, lost && lost.at - from <= 10 * s, true);
        expect(`${of}: the age`, /^No connection to the node. What you see is (2[89]|3\d) s old.$/.test(document.said.words), true);
        Object.assign(network, { away: false, deaf: false });
        node.dead = "";
        streams.refused = false;
        await world.pass(20 * s);
        expect(`${of}: when it is back`, document.links.at(-1).lost, false);
      }
    }
  },

  async "a tap learns of the loss first"(scripts, expect) {
    const code = `import "./refresh.js"; import { Queue } from "./queue.js"; globalThis.queue = new Queue("/app/-/", "reader");`;
    const { world, network, streams, document, judge, tab } = await spectator(scripts, { code });
    network.away = true;
    streams.cut(true); // half open: nothing is heard of it
    const from = world.now;
    judge.begin(tab);
    await world.pass(2 * s);
    const [lost] = document.links.filter((link) => link.lost);
    expect("it is said within a second", lost && lost.at - from <= 1 * s, true);
  },

  // The stream was healthy, so that the page said nothing.
  async "an event is not shown, and the stream is healthy"(scripts, expect) {
    const { world, node, document, scored } = await spectator(scripts);
    node.dead = "The page cannot be made.";
    scored();
    await world.pass(12 * s);
    expect("the page says so", document.said.lost, true);
    node.dead = "";
    await world.pass(30 * s);
    expect("afterwards", [document.said.lost, document.text], [false, "score 1"]);
  },

  // The copy of a page was as old as its opening, whatever was shown since.
  async "a page was refreshed, and is opened from its copy"(scripts, expect) {
    for (const how of ["deaf", "away"]) {
      const { world, network, score, open } = await stand(scripts);
      let document = await open(1 * s);
      score(5);
      await world.pass(5 * s);
      expect("the page", document.text, "score 5");
      network[how] = true;
      await world.pass(120 * s);
      document = await open(5 * s);
      expect(`the copy, ${how}`, document.text, "score 5");
      expect(`what is said of it, ${how}`, /^What you see is (2 min|12\d s) old\.$/.test(document.said.words), true);
      network[how] = false;
      score(7);
      await world.pass(12 * s);
      expect(`afterwards, ${how}`, [document.text, document.said.words], ["score 7", ""]);
    }
  },

  async "the copy is older than what was shown"(scripts, expect) {
    const { world, network, device, score, open } = await stand(scripts);
    await open(1 * s);
    const caches = device.caches;
    score(5);
    Object.assign(caches, { full: true });
    const document = await open(5 * s);
    expect("the page", [document.text, document.said.words ?? ""], ["score 5", ""]);
    network.away = true;
    await world.pass(60 * s);
    const copy = await open(5 * s);
    expect("the copy", copy.text, "score 1");
    expect("what is said of it", /What you see is \d+ s old. This device has shown a newer state, \d+ s ago.$/.test(copy.said.words), true);
    network.away = false;
    Object.assign(caches, { full: false });
    await world.pass(20 * s);
    expect("afterwards", [copy.text, copy.said.words], ["score 5", ""]);
  },

  async "an older answer is late"(scripts, expect) {
    const { world, node, network, score, open } = await stand(scripts);
    score(5);
    const document = await open(1 * s);
    score(3);
    await world.pass(10 * s);
    expect("the page", document.text, "score 5");
    expect("the page does not call it the present state", document.said.lost, true);
    network.away = true;
    const copy = await open(5 * s);
    expect("the copy", copy.text, "score 5");
    Object.assign(network, { away: false });
    score(9, "2.0"); // the node has left its history
    await world.pass(10 * s);
    expect("after that", [copy.text, copy.said.words, node.name], ["score 9", "", "n1"]);
  },

  async "another node answers"(scripts, expect) {
    const { world, node, score, open } = await stand(scripts);
    score(5);
    const document = await open(1 * s);
    node.name = "n2";
    score(3);
    await world.pass(5 * s);
    expect("the page", document.text, "score 3");
    expect("what is said of it", document.said.words, "This is from node n2, some seconds old. Earlier it was from node n1.");
    await open(1 * s);
    score(4);
    const again = await open(5 * s);
    expect("later", [again.text, again.said.words ?? ""], ["score 4", ""]);
  },

  async "a page is opened over a half-open connection"(scripts, expect) {
    const { world, node, network, device } = await stage(scripts, { open: false });
    node.page = () => `the score ${node.assets}`;
    const opened = opener(world, await device.serve());
    expect("a page", await opened("/app/-/", 1 * s), "the score /_/assets/v1/");
    network.deaf = true;
    expect("its copy", await opened("/app/-/", 5 * s), "the score /_/assets/v1/");
    expect("a page without a copy", (await opened("/app/-/other", 11 * s)).includes("The node cannot be reached"), true);
    network.deaf = false;
    network.stuck = true;
    expect("a page that is cut off", await opened("/app/-/", 5 * s), "the score /_/assets/v1/");
  },

  // The old worker stored a page of the new version, whose scripts it did not have.
  async "the node is lost while the worker is replaced"(scripts, expect) {
    const { world, node, network, device } = await stage(scripts, { open: false });
    node.page = () => `the score ${node.assets}`;
    const opened = opener(world, await device.serve());
    await opened("/app/-/", 1 * s);
    node.release = "v2";
    expect("a page", await opened("/app/-/", 1 * s), "the score /_/assets/v2/");
    network.away = true;
    expect("its copy", await opened("/app/-/", 1 * s), "the score /_/assets/v1/");
    expect("the copy's script", await opened("/_/assets/v1/page.js", 1 * s), "a script");
  },

  // What was put back into an emptied storage was stored twice if its state had not been stored before, and then sent for ever.
  async "a state is not stored, and the storage is emptied"(scripts, expect) {
    const { world, node, network, device, judge, tab } = await stage(scripts);
    network.away = true;
    for (const _ of [1, 2]) await judge.tap(tab);
    network.away = false;
    device.database.full = true;
    node.trouble = 1;
    await world.pass(10 * s);
    device.database.full = false;
    judge.empty();
    const other = await device.open(page); // it knows nothing, and takes the first number
    await judge.tap(other);
    await world.pass(40 * s);
    expect("what is stored", judge.rows().map((row) => row.key).sort(), ["tap-1", "tap-2", "tap-3"]);
    node.trouble = 0;
    await world.pass(60 * s);
    expect("what the node took", node.took.map((one) => one.tap).sort(), [1, 2, 3]);
    await judge.verdict();
    expect("the judge", world.problems.filter((problem) => !problem.includes("stored before")), []);
  },

  async "an event comes while the page is hidden"(scripts, expect) {
    for (const frozen of [false, true]) {
      const { world, device, streams, document, scored, tab } = await spectator(scripts);
      document.hidden = true;
      if (frozen) {
        device.freeze(tab);
        streams.cut(true);
      }
      scored();
      await world.pass(20 * s);
      if (frozen) device.thaw(tab);
      show(document);
      await world.pass(2 * s);
      expect(frozen ? "a frozen page" : "a hidden page", document.text, "score 1");
      scored();
      await world.pass(1 * s);
      expect("at the next event", document.text, "score 2");
    }
  },

  async "a frozen tab holds the lock"(scripts, expect) {
    const { world, node, network, device, judge, tab } = await stage(scripts);
    const other = await device.open(page);
    network.deaf = true;
    judge.begin(tab);
    await world.pass(1 * s);
    device.freeze(tab);
    network.deaf = false;
    await judge.tap(other);
    await world.pass(35 * s);
    expect("what the node took", node.took.map((one) => one.tap), [1, 2]);
    device.thaw(tab);
    await judge.tap(tab);
    await world.pass(60 * s);
    await judge.verdict();
    expect("the judge", world.problems, []);
  },

  // The node comes back from last night's backup, and had said that it has the day's entries.
  async "the node is restored from a backup"(scripts, expect) {
    for (const cloud of ["none", "waiting"]) {
      const { world, node, device, judge, tab } = await stage(scripts);
      Object.assign(node, { cloud, slow: 0 });
      const took = () => node.took.map((one) => one.tap);
      await judge.tap(tab);
      await world.pass(10 * s);
      const backup = node.backup();
      for (const _ of [2, 3]) await judge.tap(tab);
      await world.pass(10 * s);
      expect(`${cloud}: the list after sending`, listed(tab), []);
      expect(`${cloud}: the second copies`, sent(tab), [1, 2, 3]);
      node.restore(backup);
      expect(`${cloud}: after the restore`, took(), cloud === "none" ? [1] : [1, 2, 3]); // the cloud has what it has confirmed
      const late = await device.open(page); // the other was closed
      device.kill(tab);
      await world.pass(30 * s);
      expect(`${cloud}: what the node has again`, took(), [1, 2, 3]);
      node.restore(backup);
      await judge.tap(late); // whose answer names another life
      await world.pass(30 * s);
      expect(`${cloud}: what the node has the second time`, took().sort(), [1, 2, 3, 4]);
      await judge.verdict();
      expect(`${cloud}: the judge`, world.problems.filter((problem) => !problem.includes("stored before")), []);
      await world.pass(25 * 60 * 60 * s);
      late.global.queue.hurry();
      await world.pass(10 * s);
      expect(`${cloud}: the second copies of yesterday`, sent(late), []);
    }
  },

  // A tab that slept while the storage was emptied puts back what it knew. That an entry had been sent since was in the storage: the scorer
  // discarded it there, although it counted.
  async "a tab that slept puts back what was sent"(scripts, expect) {
    const { world, node, network, device, judge, tab } = await stage(scripts);
    network.away = true;
    const sleeper = await device.open(page);
    await judge.tap(tab);
    expect("what the other tab lists", listed(sleeper), [1]);
    device.freeze(sleeper);
    const answer = node.answer.bind(node);
    node.answer = (request) => (answer(request), request.method === "POST" ? null : answer(request)); // of an entry it is lost
    network.away = false;
    await world.pass(60 * s);
    expect("what the node took", node.took.map((one) => one.tap), [1]);
    expect("what the tab that sent it lists", listed(tab), [1]);
    network.away = true;
    node.answer = answer;
    device.kill(tab);
    judge.empty();
    device.thaw(sleeper);
    await world.pass(10 * s);
    expect("what it has put back", judge.rows().map((row) => row.key), ["tap-1"]);
    judge.discard(sleeper);
    await world.pass(s);
    expect("what it still lists", listed(sleeper), [1]);
    network.away = false;
    await world.pass(60 * s);
    expect("what the node took at last", node.took.map((one) => one.tap), [1]);
    expect("the list at last", listed(sleeper), []);
    await judge.verdict();
    expect("the judge", world.problems, []);
  },

  // The browser empties its storage while no page is open: what waited is gone, and what the node heard last is all that is known.
  async "the storage is emptied while no page is open"(scripts, expect) {
    const { world, node, network, device, judge, tab } = await stage(scripts);
    const ask = async (tab) => {
      let found;
      tab.global.losing.findLost("/app/-/", tab.global.queue.storage).then((lost) => { found = lost; }, () => { found = "nothing is known"; });
      await world.pass(12 * s);
      return found;
    };
    const losing = `import * as losing from "./losing.js"; globalThis.losing = losing;` + page;
    for (const _ of [1, 2]) await judge.tap(tab);
    await world.pass(5 * s);
    network.away = true;
    for (const _ of [3, 4, 5]) await judge.tap(tab);
    network.away = false;
    node.trouble = 0;
    network.faults = 0;
    tab.global.queue.hurry();
    while (node.took.length < 3) await world.pass(1);
    network.away = true; // the third has arrived, and said that two wait
    const heard = world.now;
    await judge.tap(tab);
    device.kill(tab);
    judge.empty();
    await world.pass(60 * s);
    const late = await device.open(losing);
    await world.pass(1 * s);
    expect("without the node", await ask(late), "nothing is known");
    network.away = false;
    const lost = await ask(late);
    expect("what is known", { ...lost, at: heard - lost.at < s }, { store: lost.store, made: 5, waiting: 2, at: true });
    const words = late.global.losing.lostWords(lost);
    expect("the words", [words.includes("with 2 waiting"), words.includes("cannot be known"), words.includes("sent")], [true, true, false]);
    expect("the words for none", late.global.losing.lostWords({ ...lost, waiting: 0 }).includes("with none waiting; what came later cannot be known"), true);
    await judge.tap(late); // the node hears of the new storage
    await world.pass(5 * s);
    expect("once the node knows the new storage", { ...(await ask(late)), at: 0 }, { store: lost.store, made: 5, waiting: 2, at: 0 });
    await world.pass(25 * 60 * 60 * s);
    expect("the day after", await ask(late), null);
    expect("what the device never said", world.problems, []);
  },

  async "second copies give way"(scripts, expect) {
    const { world, node, network, device, judge, tab } = await stage(scripts);
    for (let i = 0; i < 510; i++) judge.begin(tab);
    await world.pass(600 * s);
    expect("what the node took", node.took.length, 510);
    tab.global.queue.hurry();
    await world.pass(5 * s);
    expect("500 are kept, the latest", [sent(tab).length, sent(tab)[0]], [500, 11]);
    network.away = true;
    device.database.full = true;
    await judge.tap(tab);
    expect("without room", listed(tab), [511]);
    expect("what is stored for nothing", judge.rows().length, 0);
    device.database.full = false;
    await judge.tap(tab);
    node.keeps = false; // it does not recognize its entries by their keys
    network.away = false;
    await world.pass(60 * s);
    expect("the list", listed(tab), []);
    expect("what could count twice is not kept", sent(tab), []);
  },

  async "the node is back"(scripts, expect) {
    const { world, node, network, judge, tab } = await stage(scripts);
    network.away = true;
    await judge.tap(tab);
    await world.pass(120 * s);
    network.away = false;
    for (let i = 0; i < 4; i++) {
      tab.global.queue.heard(); // as offline.js says after a sign of life
      await world.pass(s / 2);
    }
    expect("what the node took", node.took.length, 1);
  },
};

// show makes a page visible.
function show(document) {
  document.hidden = false;
  document.dispatchEvent(new Event("visibilitychange"));
}

const sent = (tab) => Array.from(tab.global.queue.sent, (e) => JSON.parse(e.body).tap);
// opener returns a function that opens a page, or something of it, and returns what is there after some time.
function opener(world, open) {
  return async (path, within) => {
    let said = "nothing";
    open(path).then((answer) => answer.text()).then((text) => { said = text; });
    await world.pass(within);
    return said;
  };
}


// What has arrived is shown as if the page had it, until the page was asked for later: otherwise a figure goes back for a moment.
Object.assign(scenes, {
  async "an entry arrives before the page shows it"(scripts, expect) {
    for (const cloud of ["none", "waiting"]) {
      const { world, node, network, device } = await stage(scripts, { open: false });
      node.cloud = cloud;
      node.slow = 1; // the cloud does not answer
      node.taking = () => {}; // the judge knows its own taps only
      const code = `${page} import { Unshown } from "./unshown.js"; globalThis.unshown = new Unshown(queue, "reader");`;
      const tab = await device.open(code);
      const other = await device.open(code);
      await world.pass(1 * s);
      const shown = (of) => Array.from(of.global.unshown.entries, ({ e, state }) => `${JSON.parse(e.body).tap} ${state}`);
      network.away = true;
      tab.global.queue.add({ path: "/app/taps", body: { tap: 1 } });
      tab.global.queue.add({ path: "/app/taps", body: { tap: 2 } });
      await world.pass(1 * s);
      for (const of of [tab, other]) expect(`${cloud}: while the node is away`, shown(of), ["1 queued", "2 queued"]);
      tab.global.queue.discard(tab.global.queue.entries[1].n);
      await world.pass(1 * s);
      expect(`${cloud}: what was discarded`, shown(tab), ["1 queued"]);
      const asked = world.now;
      network.away = false;
      tab.global.queue.hurry();
      await world.pass(5 * s);
      const state = cloud === "none" ? "1 done" : "1 taken";
      for (const of of [tab, other]) {
        expect(`${cloud}: what arrived`, shown(of), [state]);
        of.global.unshown.refreshed(asked);
        expect(`${cloud}: after an answer to an earlier request`, shown(of), [state]);
        of.global.unshown.refreshed(world.now);
        expect(`${cloud}: after a later one`, shown(of), []);
      }
    }
  },

  // A refused entry is changed and sent again: with the time of its tap, and another key, because the node may know the old one.
  async "a refused entry is changed"(scripts, expect) {
    const { world, node, device } = await stage(scripts, { open: false });
    const tab = await device.open(page);
    const other = await device.open(page);
    await world.pass(1 * s);
    const { queue } = tab.global;
    node.taking = () => {};
    node.refuses.add(1);
    const was = await alongside(world, queue.add({ path: "/app/taps", body: { tap: 1 }, what: "one" }));
    await world.pass(60 * s);
    const [refused] = queue.entries;
    expect("the entry", [refused.state, refused.status, refused.from], ["refused", 409, "/app/-/"]);
    const now = { path: "/app/taps", method: "POST", body: { tap: 2 }, what: "two" };
    const amended = [queue.amend(refused.n, now), other.global.queue.amend(refused.n, now)];
    expect("of two tabs one changes it", (await alongside(world, Promise.all(amended))).filter(Boolean).length, 1);
    await world.pass(60 * s);
    expect("what the node took", node.took.map(({ tap }) => tap), [2]);
    expect("its key", [node.took[0].key === was.key, node.took[0].key.slice(0, 10) === was.key.slice(0, 10)], [false, true]);
    const sent = tab.requests.concat(other.requests).findLast(({ options }) => options.method === "POST");
    expect("its age", Number(sent.options.headers["Touchline-Occurred-Ago"]) >= 60, true);
    expect("the list", listed(tab), []);
    expect("an entry that waits cannot be changed", await alongside(world, queue.amend(99, now)), false);
  },
});

// alongside waits for a promise while time passes.
async function alongside(world, promise) {
  let over = false;
  promise.finally(() => { over = true; });
  while (!over) await world.pass(10);
  return promise;
}

const hour = 3600 * s;

// clocked lets a scorer tap while the node is away and something happens to the device, and returns what is asked then. tapped are the true times.
async function clocked(scripts, { known, taps, meanwhile }) {
  const staged = await stage(scripts);
  const { world, network, judge, tab } = staged;
  const tapped = [];
  const tap = async (tab) => {
    tapped.push(world.now);
    await judge.tap(tab);
  };
  if (known) await tap(tab); // the node's clock is known from then on
  await world.pass(5 * s);
  network.away = true;
  for (let i = 0; i < taps; i++) {
    await tap(tab);
    await world.pass(60 * s);
  }
  const now = (await meanwhile(staged)) ?? tab;
  network.away = false;
  now.global.queue.hurry();
  await world.pass(35 * s);
  return { ...staged, tapped, tap, tab: now, asked: Array.from(now.global.queue.asked) };
}

// right reports whether the node has recorded taps at their true times.
const right = (node, tapped) => node.took.map((one) => Math.abs(one.at - tapped[one.tap - 1]) < 1500);

Object.assign(scenes, {
  // Each entry was refused, and so was each retry, for ever.
  async "an evening out of coverage"(scripts, expect) {
    for (const reopened of [false, true]) {
      const { world, node, judge, tab, asked, tapped, tap } = await clocked(scripts, {
        known: true, taps: 4,
        async meanwhile({ world, device, tab }) {
          await world.pass(10 * 60 * s);
          device.slept += 13 * hour;
          await world.pass(13 * hour);
          if (!reopened) return tab;
          device.kill(tab);
          return device.open(page);
        },
      });
      expect("what the scorer is asked about", asked.map(({ entry }) => entry.what), ["tap 2", "tap 3", "tap 4", "tap 5"]);
      expect("their ages", asked.map(({ age }, i) => Math.abs(world.now - age - tapped[i + 1]) < 1500), [true, true, true, true]);
      await tap(tab);
      await world.pass(60 * s);
      expect("what the node took before the answer", node.took.map((one) => one.tap), [1]);
      expect("nothing is refused", tab.global.queue.entries.filter((e) => e.state === "refused").length, 0);
      tab.global.queue.confirm();
      await world.pass(60 * s);
      expect("what the node took", node.took.map((one) => [one.tap, one.sure]), [[1, false], [2, true], [3, true], [4, true], [5, true], [6, false]]);
      expect("at their times", right(node, tapped), [true, true, true, true, true, true]);
      expect("the scorer is asked once", tab.global.queue.asked.length, 0);
      await judge.verdict();
      expect("the judge", world.problems, []);
    }
  },

  async "the device's clock is set"(scripts, expect) {
    const set = (ms) => ({ device }) => { device.skew += ms; };
    const clocks = {
      "back, the node's clock was known": { known: true, taps: 2, meanwhile: set(-hour) },
      "back by 10 s, the page's time tells": { known: false, taps: 2, meanwhile: set(-70 * s) },
      "forward": { known: true, taps: 2, meanwhile: set(hour) },
      "back, the page was opened again": { known: true, taps: 2, async meanwhile({ device, tab }) {
        device.skew -= hour;
        device.kill(tab);
        return device.open(page);
      } },
    };
    for (const [how, clock] of Object.entries(clocks)) {
      const { world, node, tab, asked, tapped } = await clocked(scripts, clock);
      const before = clock.known ? [1] : [];
      expect(`${how}: what the node took before the answer`, node.took.map((one) => one.tap), before);
      expect(`${how}: what the scorer is asked about`, asked.length > 0, true);
      tab.global.queue.confirm();
      await world.pass(60 * s);
      if (tab.global.queue.asked.length) tab.global.queue.confirm();
      await world.pass(60 * s);
      expect(`${how}: what the node took`, node.took.length, before.length + 2);
      expect(`${how}: at their times`, right(node, tapped), node.took.map(() => true));
    }
  },

  // Entries were recorded an hour before or after their taps, and the scorer was asked to say that this was right.
  async "the device's clock was set before the tap"(scripts, expect) {
    for (const by of [-hour, hour]) {
      const { world, network, device, node, tab, tapped, tap } = await clocked(scripts, { known: true, taps: 0, meanwhile: () => null });
      network.away = true;
      device.skew += by;
      for (let i = 0; i < 3; i++) {
        await tap(tab);
        await world.pass(60 * s);
      }
      network.away = false;
      tab.global.queue.hurry();
      await world.pass(60 * s);
      expect(`set by ${by / hour} h: what the scorer is asked about`, tab.global.queue.asked.length, 0);
      expect(`set by ${by / hour} h: what the node took`, node.took.map((one) => one.tap), [1, 2, 3, 4]);
      expect(`set by ${by / hour} h: at their times`, right(node, tapped), [true, true, true, true]);
    }
  },

  // The browser has got another id since: the entry counted twice if it was sent under that id, and handed in under the one that its file names.
  async "an entry is made under an earlier id of the device"(scripts, expect) {
    const { world, node, network, device, judge, tab } = await stage(scripts);
    network.away = true;
    await judge.tap(tab);
    device.kill(tab);
    const now = await device.open(page.replace(`"d1"`, `"d2"`));
    await world.pass(s);
    expect("what is stored", judge.rows().map((row) => row.device), ["d1"]);
    network.away = false;
    now.global.queue.hurry();
    await world.pass(10 * s);
    expect("what the node took", node.took.map((one) => one.row), ["d1#tap-1"]);
    judge.handIn();
    await judge.verdict();
    expect("the judge", world.problems, []);
  },

  // A goal just before the finish was recorded as late as its request travelled, and refused.
  async "a request travels for seconds"(scripts, expect) {
    const { world, node, network, device, judge } = await stage(scripts, { open: false });
    const slow = (tab) => async (address, options) => {
      if (options.method === "POST") await new Promise((ok) => world.after(4 * s, ok, tab));
      return network.of(tab)(address, options);
    };
    for (const by of [0, -hour, hour]) { // the device's clock may be wrong
      device.skew = by;
      const tab = await device.open(page, { fetch: slow });
      await world.pass(s);
      const at = world.now;
      await judge.tap(tab);
      await world.pass(10 * s);
      const late = node.took.at(-1).at - at;
      expect(`${late} ms after the tap`, late >= 0 && late < 500, true);
      device.kill(tab);
    }
  },

  // The next entry was asked about too, and recorded as made long before.
  async "the clock is set back while the node's clock is measured"(scripts, expect) {
    const { world, node, device, judge, tab } = await stage(scripts);
    const answer = node.answer.bind(node);
    node.answer = (request) => {
      if (request.path === "/livez" && !judge.clock) {
        judge.clock++;
        device.skew -= hour;
      }
      return answer(request);
    };
    await judge.tap(tab);
    await world.pass(5 * s);
    await judge.tap(tab);
    await world.pass(5 * s);
    const { queue } = tab.global;
    expect("what the scorer is asked about", Array.from(queue.asked, ({ entry }) => entry.what), ["tap 1"]);
    queue.confirm();
    await world.pass(60 * s);
    expect("what the node took", node.took.map((one) => one.tap), [1, 2]);
    await judge.verdict();
    expect("the judge", world.problems, []);
  },

  async "nothing is asked about a long afternoon"(scripts, expect) {
    const { node, asked, tapped } = await clocked(scripts, {
      known: true, taps: 3,
      async meanwhile({ world, device }) {
        device.slept += 11 * hour;
        await world.pass(11 * hour);
      },
    });
    expect("what the scorer is asked about", asked.length, 0);
    expect("what the node took", node.took.map((one) => [one.tap, one.sure]), [[1, false], [2, false], [3, false], [4, false]]);
    expect("at their times", right(node, tapped), [true, true, true, true]);
  },

  async "the words of the question"(scripts, expect) {
    const { world, device } = await stage(scripts, { open: false });
    const { global } = await device.open(`import { question } from "./asked.js"; globalThis.question = question;`);
    const at = (ms) => new Date(world.now - ms).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    expect("a batch", global.question([15 * hour, 14 * hour, 13 * hour], world.now), `3 entries made 13 to 15 hours ago: record them as made at ${at(15 * hour)} to ${at(13 * hour)}?`);
    expect("one", global.question([60 * s], world.now), `1 entry made 1 minute ago: record it as made at ${at(60 * s)}?`);
    expect("in the future", global.question([-hour], world.now), `1 entry made 0 minutes ago: record it as made at ${at(0)}?`);
  },
});

const listed = (tab) => Array.from(tab.global.queue.entries, (e) => JSON.parse(e.body).tap);
