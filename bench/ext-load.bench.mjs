/**
 * What it costs to find and load ten extensions of 200 lines: the first time, when they are compiled, and later, from the
 * cache; and what it costs when there is none. Each round is a process of its own, with our modules loaded.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";

const root = join(import.meta.dirname, "..");
const load = join(root, "packages/harness/src/extensions/load");
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
import { createEventBus } from "../create-api.ts";
import { createLifetime } from "../create-context.ts";
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

/** TypeScript as people write it: types, classes, closures, a tool, commands and handlers. */
function writeExtension(number) {
  const start = [
    'import { readFileSync } from "node:fs";',
    'import { join } from "node:path";',
    'import type { ExtensionAPI, ExtensionContext } from "@mariozechner/pi-coding-agent";',
    "",
    "interface Item { id: number; text: string; tags?: readonly string[] }",
    "type State = { items: Item[]; nextId: number };",
    "const state: State = { items: [], nextId: 1 };",
  ];
  const functions = [];
  for (let index = 0; functions.length < lines - 45; index++) {
    functions.push(
      `/** Number ${index}. */`,
      `function change${index}(item: Item, by: Partial<Item> = {}): Item {`,
      `  const text = \`\${item.text.trim()} ${index}\`;`,
      `  if (text.length > ${100 + index}) return { ...item, ...by, text: text.slice(0, ${100 + index}) };`,
      `  return { ...item, ...by, text, tags: [...(item.tags ?? []), "change${index}"] };`,
      "}",
    );
  }
  const end = [
    "class Store {",
    "  #items = new Map<number, Item>();",
    "  constructor(private readonly directory: string) {}",
    "  add(item: Item): void { this.#items.set(item.id, change0(item)); }",
    '  read(name: string): string { return readFileSync(join(this.directory, name), "utf8"); }',
    "}",
    "export default function (pi: ExtensionAPI): void {",
    "  const store = new Store(import.meta.dirname);",
    ...Array.from({ length: 4 }, (_unused, index) =>
      [
        `  pi.on("${["agent_start", "agent_end", "turn_start", "turn_end"][index]}", async (_event: unknown, ctx: ExtensionContext) => {`,
        '    if (ctx.hasUI) ctx.ui.setStatus("items", String(state.items.length));',
        "  });",
      ].join("\n"),
    ),
    "  pi.registerTool({",
    `    name: "item_${number}",`,
    '    label: "Item",',
    '    description: "Adds an item.",',
    '    parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },',
    "    async execute(_id: string, { text }: { text: string }) {",
    "      const item: Item = { id: state.nextId++, text };",
    "      state.items.push(item);",
    "      store.add(item);",
    '      return { content: [{ type: "text", text: `Added ${item.id}.` }], details: item };',
    "    },",
    "  });",
    "}",
  ];
  return [...start, ...functions, ...end].join("\n");
}
