// Plays scenes and seeds, and prints a line of JSON for each. It needs Node 18 or newer:
//
//	node --experimental-vm-modules --no-warnings main.mjs FOLDER scenes
//	node --experimental-vm-modules --no-warnings main.mjs FOLDER seeds FIRST NUMBER [trace]
import { readFileSync, readdirSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { Scripts } from "./scripts.mjs";
import { scenes } from "./scenes.mjs";
import { faults, play } from "./seeds.mjs";

const loose = []; // failures outside the judge's sight: of promises that nobody waits for, and of listeners
process.on("unhandledRejection", (err) => { loose.push(`a rejected promise: ${err?.stack ?? err}`); });
process.on("uncaughtException", (err) => { loose.push(`an exception: ${err?.stack ?? err}`); });

const [folder, what, first, number, trace] = process.argv.slice(2);
const names = readdirSync(folder).filter((name) => name.endsWith(".js"));
const scripts = new Scripts(new Map(names.map((name) => [name, readFileSync(`${folder}/${name}`, "utf8")])));

if (what === "scenes") {
  for (const [name, play] of Object.entries(scenes)) {
    const problems = [];
    const expect = (of, got, want) => {
      if (!isDeepStrictEqual(got, want)) problems.push(`${of}: ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
    };
    try {
      await play(scripts.inRealms(), expect);
    } catch (err) {
      problems.push(String(err?.stack ?? err));
    }
    print({ name, problems: [...problems, ...loose.splice(0)] });
  }
} else {
  const fired = Object.fromEntries(faults.map((fault) => [fault, 0]));
  for (let seed = Number(first); seed < Number(first) + Number(number); seed++) {
    const world = await play(seed, scripts);
    if (seed === Number(first)) {
      const other = await play(seed, scripts.inRealms());
      if (!isDeepStrictEqual(world.trace, other.trace)) world.fail("the seed is not the same twice, or not in realms");
    }
    for (const [fault, times] of Object.entries(world.fired)) fired[fault] = (fired[fault] ?? 0) + times;
    print({ name: `seed ${seed}`, problems: [...world.problems, ...loose.splice(0)], trace: trace ? world.trace : undefined });
  }
  print({ fired });
}

function print(line) {
  console.log(JSON.stringify(line));
}
