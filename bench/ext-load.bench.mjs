/**
 * Measures what it costs to find and load ten extensions of 200 lines: the first time, when they are compiled, and
 * later, from the cache; and what it costs when there is none. Each round is a process of its own, with our modules
 * loaded.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";

const root = join(import.meta.dirname, "..");
const load = join(root, "packages/extensions/src/load");
const count = 10;
const lines = 200;
const rounds = 10;

export default async function bench(report) {
  const directory = mkdtempSync(join(tmpdir(), "tau-ext-load-"));
  try {
    const program = await buildProgram(directory);
    const [some, none] = [join(directory, "some"), join(directory, "none")];
    mkdirSync(join(some, "extensions"), { recursive: true });
    for (let number = 0; number < count; number++) {
      writeFileSync(join(some, "extensions", `extension-${number}.ts`), writeExtension(number));
    }
    const clearCache = () => rmSync(join(some, "cache"), { recursive: true, force: true });
    report("cold, each", measure(program, some, clearCache) / count, "CPU ms");
    report("warm, each", measure(program, some, () => {}) / count, "CPU ms");
    report(
      "none installed",
      measure(program, none, () => {}),
      "CPU ms",
    );
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** The best of several rounds, in CPU ms. */
function measure(program, agentDir, prepare) {
  const times = Array.from({ length: rounds }, () => {
    prepare();
    const { stdout, stderr, status } = spawnSync(process.execPath, [program, agentDir], { encoding: "utf8" });
    if (status !== 0) throw new Error(stderr);
    return Number(stdout);
  });
  return Math.min(...times);
}

/** Bundled from our sources as the packages are: they load this code late, as a chunk whose name is not known here. */
async function buildProgram(directory) {
  const outdir = join(directory, "program");
  await build({
    stdin: { contents: program, resolveDir: load, loader: "ts" },
    outdir,
    entryNames: "program",
    outExtension: { ".js": ".mjs" },
    // The compiler is a chunk of its own.
    splitting: true,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    mainFields: ["module", "main"],
    minifySyntax: true,
    minifyWhitespace: true,
    conditions: ["@tau/source"],
    logLevel: "error",
  });
  return join(outdir, "program.mjs");
}

const program = `
import { systemClock } from "@tau/ai";
import { createEventBus } from "../runner/create-api.ts";
import { createLifetime } from "../runner/create-context.ts";
import { discoverExtensions } from "./discover.ts";
import { loadInProcess } from "./load-in-process.ts";

const agentDir = process.argv[2];
const started = process.cpuUsage();
const { sources } = await discoverExtensions({ cwd: agentDir, agentDir, paths: [], userPaths: [], projectPaths: [],
  packages: [], discovers: true, isProjectTrusted: true });
const { extensions, problems } = await loadInProcess(sources, {
  clock: systemClock, loadShared: () => undefined, cacheDirectory: agentDir + "/cache", lifetime: createLifetime(),
  events: createEventBus(), getSession: () => undefined, flagValues: new Map(), findFlag: () => undefined,
  listMcpServers: () => [], report: () => {}, log: () => {},
});
const { user, system } = process.cpuUsage(started);
if (problems.length > 0 || extensions.length !== sources.length) throw new Error(JSON.stringify(problems));
console.log((user + system) / 1000);
`;

/**
 * TypeScript as people write it: types, a class, a tool, a command, handlers, comments; with about six tokens a line, as
 * published extensions have.
 */
function writeExtension(number) {
  const start = `/**
 * Keeps a list of items.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ExtensionAPI, ExtensionContext } from "@mariozechner/pi-coding-agent";

interface Item {
  id: number;
  text: string;
  tags?: readonly string[];
}

interface State {
  items: Item[];
  nextId: number;
}

const state: State = {
  items: [],
  nextId: 1,
};
`;
  const end = `
class Store {
  #items = new Map<number, Item>();

  constructor(private readonly directory: string) {}

  add(item: Item): void {
    this.#items.set(item.id, change0(item));
  }

  read(name: string): string {
    const path = join(this.directory, name);
    return readFileSync(path, "utf8");
  }
}

export default function (pi: ExtensionAPI): void {
  const store = new Store(import.meta.dirname);

  // What the user sees below the editor.
  pi.on("agent_end", async (_event: unknown, ctx: ExtensionContext) => {
    if (!ctx.hasUI) {
      return;
    }
    ctx.ui.setStatus("items", String(state.items.length));
  });

  pi.registerCommand("items-${number}", {
    description: "Shows the items",
    handler: async (_args, ctx) => {
      const lines = state.items.map((item) => item.text);
      ctx.ui.notify(lines.join(", "), "info");
    },
  });

  pi.registerTool({
    name: "item_${number}",
    label: "Item",
    description: "Adds an item to the list.",
    parameters: {
      type: "object",
      properties: {
        text: { type: "string" },
      },
      required: ["text"],
    },
    async execute(_id: string, params: { text: string }) {
      const item: Item = {
        id: state.nextId++,
        text: params.text,
      };
      state.items.push(item);
      store.add(item);
      return {
        content: [{ type: "text", text: "Added." }],
        details: item,
      };
    },
  });
}
`;
  const writeFunction = (index) => `
/**
 * Changes an item in the way of number ${index}.
 */
function change${index}(item: Item, by: Partial<Item> = {}): Item {
  const text = item.text.trim();
  const tags = [...(item.tags ?? []), "change${index}"];
  // Long texts are cut.
  if (text.length > ${100 + index} && !tags.includes("long")) {
    return { ...item, ...by, text: text.slice(0, ${100 + index}) };
  }
  return { ...item, ...by, tags };
}
`;
  const countLines = (text) => text.split("\n").length - 1;
  const functions = (lines - countLines(start) - countLines(end)) / countLines(writeFunction(0));
  return start + Array.from({ length: Math.ceil(functions) }, (_unused, index) => writeFunction(index)).join("") + end;
}
