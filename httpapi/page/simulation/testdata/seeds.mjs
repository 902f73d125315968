// Seeds: random schedules of people, tabs, browsers, networks and nodes. A seed is one schedule, the same each time.
import { World } from "./world.mjs";
import { Network } from "./network.mjs";
import { Node } from "./node.mjs";
import { Device } from "./device.mjs";
import { Judge, page } from "./judge.mjs";

const steps = 300;

// faults lists what must have struck in a run of many seeds. The names are those that World.fire is given.
export const faults = [
  "the storage was full", "the storage was emptied", "the storage refused to open", "the storage did not answer",
  "the database closed", "the database closed without an event", "the database's server was lost",
  "a request hung", "a request was lost", "a request was late", "a request arrived twice", "an answer was lost", "an answer hung", "an answer was cut",
  "an answer was stuck", "a tab was frozen", "a lock was stolen", "the node was away", "the connection was half open", "the node was busy", "a tab died", "the node refused an entry",
];

// play runs a seed and returns its world.
export async function play(seed, scripts) {
  const world = new World(seed);
  const node = new Node(world);
  const network = new Network(world, node);
  const device = new Device(world, network, scripts);
  const judge = new Judge(world, node, device);
  device.locks = world.chance(0.75);
  node.cloud = world.pick(["none", "waiting"]);
  const play = { world, node, network, device, judge };
  await open(play);
  const weighted = deeds.flatMap(([times, deed]) => Array(times).fill(deed));
  for (let i = 0; i < steps; i++) {
    await world.pick(weighted)(play);
    await world.pass(world.chance(0.2) ? world.between(0, 20000) : world.between(0, 800));
  }
  await rest(play);
  await judge.verdict();
  return world;
}

async function open({ device, judge, world }) {
  world.say("a tab opens");
  judge.watch(await device.open(page));
}

// some returns a tab that somebody uses; one is opened if there is none.
async function some(play) {
  const used = () => play.device.tabs.filter((tab) => !tab.frozen);
  if (!used().length) await open(play);
  return play.world.pick(used());
}

// rest ends all faults, and lets the pages finish.
async function rest(play) {
  const { world, node, network, device } = play;
  Object.assign(network, { away: false, deaf: false, faults: 0 });
  Object.assign(device.database, { full: false, refused: "", hangs: false });
  Object.assign(node, { trouble: 0, slow: 0 });
  for (const tab of device.tabs) if (tab.frozen) device.thaw(tab);
  world.say("everything works again");
  await open(play);
  await world.pass(20 * 60 * 1000);
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
  [6, async (play) => within(play, "the node was away", 60000, () => { play.network.away = true; }, () => { play.network.away = false; })],
  [4, async (play) => within(play, "the connection was half open", 60000, () => { play.network.deaf = true; }, () => { play.network.deaf = false; })],
  [4, async ({ network, world }) => { network.faults = world.pick([0, 0.05, 0.3]); }],
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
  [3, async (play) => within(play, "the room ran out", 60000, () => { play.device.database.full = true; }, () => { play.device.database.full = false; })],
  [1, async (play) => { play.world.fire("the storage was emptied"); play.judge.empty(); }],
];
