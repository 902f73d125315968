// Seeds: random schedules of people, tabs, browsers, networks and nodes. A seed is one schedule, the same each time.
import { World, settled } from "./world.mjs";
import { Network } from "./network.mjs";
import { Node } from "./node.mjs";
import { Device } from "./device.mjs";
import { Judge, page } from "./judge.mjs";
import { Pages } from "./pages.mjs";

const steps = 300;

// faults lists what must have struck in a run of many seeds. The names are those that World.fire is given.
export const faults = [
  "the storage was full", "the storage was emptied", "the storage refused to open", "the storage did not answer",
  "the database closed", "the database closed without an event", "the database's server was lost",
  "a request hung", "a request was lost", "a request was late", "a request arrived twice", "an answer was lost", "an answer hung", "an answer was cut",
  "an answer was stuck", "a tab was frozen", "a lock was stolen", "the node was away", "the connection was half open", "the node was busy", "a tab died", "the node refused an entry",
  "a clock was set", "an age was asked about", "a page was hidden", "a page was shown again", "a page was left with a lock", "the storage was refused",
  "the device slept", "entries were handed in", "a worker died in mid-upgrade", "the node has another version", "an answer had another version", "the node was restored",
];

// play runs a seed and returns its world.
export async function play(seed, scripts) {
  const world = new World(seed);
  const node = new Node(world);
  const network = new Network(world, node);
  const device = new Device(world, network, scripts);
  const judge = new Judge(world, node, device);
  device.locks = world.chance(0.75);
  device.workers.fragile = 0.5;
  node.cloud = world.pick(["none", "waiting"]);
  const play = { world, node, network, device, judge, saved: node.backup() };
  if (world.chance(0.25)) play.pages = new Pages(play);
  await open(play);
  const weighted = deeds.flatMap(([times, deed]) => Array(times).fill(deed));
  for (let i = 0; i < steps; i++) {
    await world.pick(weighted)(play);
    await settled(); // what it has begun draws before what follows
    await world.pass(world.chance(0.2) ? world.between(0, 20000) : world.between(0, 800));
  }
  await rest(play);
  await judge.verdict();
  play.pages?.verdict();
  return world;
}

// open opens a page: in some seeds with all that pages do, in others with the queue alone, which takes less time.
async function open({ device, judge, pages, world }) {
  world.say("a tab opens");
  if (!pages) return judge.watch(await device.open(page));
  pages.open();
  await world.pass(2000);
}

// some returns a tab that somebody uses. One is opened if there is none, with the queue alone if the page cannot be opened.
async function some(play) {
  const used = () => play.device.tabs.filter((tab) => !tab.frozen);
  if (!used().length) await open(play);
  if (!used().length) await open({ ...play, pages: null });
  return play.world.pick(used());
}

// answer lets the scorer of a tab say that the times of entries are right, if that is asked.
function answer({ world }, tab) {
  if (!tab.global.queue.asked.length) return;
  world.fire("an age was asked about");
  tab.global.queue.confirm();
}

// minutes lets time pass, in which scorers answer.
async function minutes(play, number) {
  for (let i = 0; i < number; i++) {
    await play.world.pass(60 * 1000);
    for (const tab of play.device.tabs) if (!tab.frozen) answer(play, tab);
  }
}

// rest ends all faults, and lets the pages finish. A frozen tab, perhaps the one with the lock, must not keep the others from that.
async function rest(play) {
  const { world, node, network, device, judge } = play;
  if (world.chance(0.3)) await freezeInTheMiddle(play);
  Object.assign(network, { away: false, deaf: false, faults: 0 });
  Object.assign(device.database, { full: false, refused: "", hangs: false });
  Object.assign(node, { trouble: 0, slow: 0 });
  device.workers.fragile = 0;
  device.caches.full = false;
  for (const { frozen, document } of device.tabs) if (document?.hidden && !frozen) document.hidden = false;
  world.say("everything works again");
  await open(play);
  await minutes(play, 10);
  judge.halfway();
  for (const tab of device.tabs) {
    if (!tab.frozen) continue;
    device.thaw(tab);
    tab.show();
  }
  await minutes(play, 10);
}

// freezeInTheMiddle freezes the tab with the lock, while it waits for an answer.
async function freezeInTheMiddle(play) {
  play.network.deaf = true;
  play.judge.begin(await some(play));
  await play.world.pass(2000);
  const locked = play.device.tabs.find((tab) => play.device.hasLock(tab));
  if (locked && !locked.frozen) play.device.freeze(locked);
}

// within does something, and takes it back after some time.
function within({ world }, fault, most, begin, end) {
  world.fire(fault);
  begin();
  world.after(world.between(100, most), end);
}

// deeds are what may happen next, and how often.
const deeds = [
  [40, async (play) => play.judge.begin(await some(play))],
  [8, async ({ judge, node, world }) => { // a tap that the rules do not allow
    node.refuses.add(judge.taps.length + 1);
    world.fire("the node refused an entry");
  }],
  [6, async (play) => { if (play.device.tabs.length < 3) await open(play); }],
  [6, async (play) => {
    const tab = await some(play);
    play.world.fire("a tab died");
    play.device.kill(tab);
  }],
  [3, async (play) => {
    const tab = await some(play);
    within(play, "a tab was frozen", 120000, () => play.device.freeze(tab), () => { if (tab.frozen && !tab.dead) play.device.thaw(tab); });
  }],
  [8, async (play) => (await some(play)).global.queue.hurry()],
  [4, async (play) => (await some(play)).global.queue.heard()],
  [5, async (play) => play.judge.discard(await some(play))],
  [3, async (play) => play.judge.retry(await some(play))],
  [6, async (play) => within(play, "the node was away", 60000, () => { play.network.away = true; play.pages?.cut(false); }, () => { play.network.away = false; play.network.disturbed++; })],
  [4, async (play) => within(play, "the connection was half open", 60000, () => { play.network.deaf = true; play.pages?.cut(true); }, () => { play.network.deaf = false; play.network.disturbed++; })],
  [4, async ({ network, world }) => { network.faults = world.pick([0, 0.05, 0.3]); network.disturbed++; }],
  [3, async ({ node, world }) => { node.trouble = world.pick([0, 0, 0.2]); }],
  [3, async ({ device, world }) => { world.fire("the database closed"); device.database.close("close"); }],
  [3, async ({ device, world }) => { world.fire("the database closed without an event"); device.database.close("quiet"); }],
  [3, async ({ device, world }) => { world.fire("the database's server was lost"); device.database.close("lost"); }],
  [2, async (play) => within(play, "the storage refused to open", 40000, () => { // it is closed first: otherwise nobody opens it
    play.device.database.close(play.world.pick(["close", "quiet", "lost"]));
    play.device.database.refused = play.world.pick(["UnknownError", "InvalidStateError"]);
  }, () => { play.device.database.refused = ""; })],
  [1, async (play) => within(play, "the storage did not answer", 40000, () => {
    play.device.database.close("close");
    play.device.database.hangs = true;
  }, () => { play.device.database.hangs = false; })],
  [3, async (play) => within(play, "the room ran out", 60000, () => fill(play, true), () => fill(play, false))],
  [1, async (play) => { play.world.fire("the storage was emptied"); play.judge.empty("close"); }],
  [1, async (play) => within(play, "the storage was refused", 40000, () => { // as in a private window, for pages that are opened now
    play.device.database.close("close");
    play.device.database.refused = "SecurityError";
  }, () => { play.device.database.refused = ""; })],
  [2, async ({ device, judge, world }) => { // by hours, as somebody does who travels, or by seconds
    world.fire("a clock was set");
    judge.clock++;
    device.skew = world.pick([0, world.between(-13 * 3600, 13 * 3600) * 1000, world.between(-5000, 5000)]);
  }],
  [6, async (play) => answer(play, await some(play))],
  [1, async ({ device, world }) => {
    world.fire("the device slept");
    device.sleep(world.between(1, 120) * 60000);
  }],
  [1, async ({ judge, world }) => {
    world.fire("entries were handed in");
    judge.handIn();
  }],
  [4, async (play) => leave(play, await some(play))],
  [2, async ({ node, world, pages }) => {
    world.fire("the node has another version");
    node.release = world.pick(["v1", "v2", "v3"].filter((release) => release !== node.release));
    pages?.open();
  }],
  [2, async ({ device }) => device.workers.stop()],
  [1, async (play) => { play.saved = play.node.backup(); }],
  [1, async ({ node, saved }) => node.restore(saved, 0.5)],
];

function fill({ device }, full) {
  device.database.full = full;
  device.caches.full = full;
}

// leave leaves a page for another one. The browser keeps it as it is for a while, so that a person who goes back sees it again; a page that
// has a lock ends.
function leave({ world, device }, tab) {
  const kept = !device.hasLock(tab);
  world.fire(kept ? "a page was hidden" : "a page was left with a lock");
  tab.hide(kept);
  if (!kept) return device.kill(tab);
  device.freeze(tab);
  world.after(world.between(1000, 90000), () => {
    if (tab.dead || !tab.frozen) return;
    if (world.chance(0.3)) return device.kill(tab);
    world.fire("a page was shown again");
    device.thaw(tab);
    tab.show();
  });
}
