// The scripts of pages, and the two ways to run them. In a realm they run as browsers run them: modules of a window of its own. That is slow:
// each window compiles them anew, and none runs long enough to be optimized. As functions of their window they are compiled once for all
// windows; only the words import and export are replaced. Scenes run in realms, seeds as functions, and the first seed of each run in both.
import vm from "node:vm";

export class Scripts {
  #texts; // by name
  #functions = new Map(); // by the names in a window, and a script's name
  #realms;

  constructor(texts, { realms = false } = {}) {
    this.#texts = texts;
    this.#realms = realms;
  }

  // inRealms returns the same scripts, to be run in realms.
  inRealms() {
    return new Scripts(this.#texts, { realms: true });
  }

  // window returns a window with its own modules: {global, start(code), run(name, text)}. start runs a module that imports scripts, and
  // run a script that is no module.
  window(globals) {
    return this.#realms ? new Realm(this, globals) : new Functions(this, globals);
  }

  text(name) {
    const text = this.#texts.get(name);
    if (text === undefined) throw new Error(`there is no script ${name}`);
    return text;
  }

  // compiled returns a script as a function of its window's globals, its exports, and the modules that it imports.
  compiled(name, text, names) {
    const key = `${names} ${name} ${this.#texts.has(name) ? "" : text}`;
    if (!this.#functions.has(key)) this.#functions.set(key, compile(name, text, names));
    return this.#functions.get(key);
  }
}

class Realm {
  #scripts;
  #modules = new Map();

  constructor(scripts, { simulated, ...globals }) {
    this.#scripts = scripts;
    this.global = vm.createContext({ ...globals, simulated });
    vm.runInContext(clock, this.global);
  }

  async start(code) {
    await this.#evaluate(this.#compile("main.js", code));
  }

  run(name, text) {
    vm.runInContext(text, this.global, { filename: name });
  }

  async #evaluate(module) {
    if (module.status === "unlinked") await module.link((name) => this.#module(name));
    await module.evaluate();
    return module;
  }

  #module(name) {
    const file = name.replace("./", "");
    if (!this.#modules.has(file)) this.#modules.set(file, this.#compile(file, this.#scripts.text(file)));
    return this.#modules.get(file);
  }

  #compile(identifier, code) {
    return new vm.SourceTextModule(code, {
      identifier, context: this.global,
      importModuleDynamically: async (name) => this.#evaluate(this.#module(name)),
    });
  }
}

// clock replaces a realm's clock and chance.
const clock = `{
  const { now, random } = simulated;
  const Real = Date;
  globalThis.Date = class extends Real {
    constructor(...given) { given.length ? super(...given) : super(now()); }
    static now() { return now(); }
  };
  Math.random = random;
  delete globalThis.simulated;
}`;

class Functions {
  #scripts; #names; #values;
  #modules = new Map();

  constructor(scripts, { simulated: { now, random }, ...globals }) {
    this.#scripts = scripts;
    this.global = { ...globals, Date: dateOf(now), Math: mathOf(random) };
    this.global.globalThis = this.global;
    const seen = { ...hidden, ...this.global };
    this.#names = Object.keys(seen).sort();
    this.#values = this.#names.map((name) => seen[name]);
  }

  async start(code) {
    this.#load("main.js", code);
  }

  run(name, text) {
    this.#load(name, text);
  }

  #module(name) {
    const file = name.replace("./", "");
    return this.#modules.get(file) ?? this.#load(file, this.#scripts.text(file));
  }

  #load(name, text) {
    const exports = {};
    this.#modules.set(name, exports);
    const load = (other) => this.#module(other);
    this.#scripts.compiled(name, text, this.#names)(exports, load, async (other) => load(other), ...this.#values);
    return exports;
  }
}

// hidden are the names that Node has, and the language has not: scripts must not see them.
const own = new Set(vm.runInNewContext("Object.getOwnPropertyNames(globalThis)"));
const hidden = Object.fromEntries(Object.getOwnPropertyNames(globalThis).filter((name) => !own.has(name)).map((name) => [name, undefined]));

function dateOf(now) {
  return class extends Date {
    constructor(...given) {
      if (given.length) super(...given);
      else super(now());
    }
    static now() {
      return now();
    }
  };
}

function mathOf(random) {
  const properties = Object.getOwnPropertyDescriptors(Math);
  return Object.defineProperties({}, { ...properties, random: { value: random } });
}

// The forms of import and export that our scripts have. Another one is an error.
const forms = [
  [/^import \{([^}]*)\} from "([^"]+)";$/gm, (_, names, from) => `const {${names.replaceAll(" as ", ": ")}} = $load("${from}");`],
  [/^import \* as (\w+) from "([^"]+)";$/gm, `const $1 = $$load("$2");`],
  [/^import "([^"]+)";$/gm, `$$load("$1");`],
  [/^export (?=(?:async )?function |class |const |let )/gm, ""],
  [/\bimport\(/g, "$$later("],
];
const exported = /^export (?:async )?(?:function|class|const|let) (\w+)/gm;

function compile(name, text, names) {
  let code = text;
  for (const [form, now] of forms) code = code.replace(form, now);
  const unknown = code.match(/^(?:import|export)\b.*$/m);
  if (unknown) throw new Error(`${name}: the simulation does not know this form: ${unknown[0]}`);
  const getters = [...text.matchAll(exported)].map(([, it]) => `get ${it}() { return ${it}; },`);
  const head = `"use strict"; Object.defineProperties($exports, Object.getOwnPropertyDescriptors({ ${getters.join(" ")} })); `;
  return vm.compileFunction(head + code, ["$exports", "$load", "$later", ...names], { filename: name });
}
