import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";

/** Loads what is in a directory as many times as it is told, and prints what was left after 50 and after all of them. */
const program = `
import { discoverExtensions } from "./discover.ts";
import { loadInProcess } from "./load-in-process.ts";
import { loadTypeboxModule } from "./shared-modules.ts";
import { createEventBus } from "../runner/create-api.ts";
import { createLifetime } from "../runner/create-context.ts";
import { systemClock } from "@tau/ai";

const [agentDir, rounds] = [process.argv[2], Number(process.argv[3])];
const events = createEventBus();
globalThis.pings = 0;
const seen = [];
for (let round = 1; round <= rounds; round++) {
  const { sources } = await discoverExtensions({ cwd: agentDir, agentDir, paths: [], userPaths: [], projectPaths: [],
    packages: [], discovers: true, isProjectTrusted: false });
  const { extensions, problems } = await loadInProcess(sources, {
    clock: systemClock, loadShared: loadTypeboxModule, cacheDirectory: agentDir + "/cache", lifetime: createLifetime(),
    events, getSession: () => undefined, flagValues: new Map(), findFlag: () => undefined, listMcpServers: () => [],
    report: () => {}, log: () => {},
  });
  if (problems.length > 0 || extensions.length !== 2) throw new Error(JSON.stringify(problems));
  if (round === 1 && extensions.some(({ tools }) => tools.size !== 1)) throw new Error("There is no tool.");
  events.emit("ping");
  for (const extension of extensions) await extension.close();
  if (round !== 50 && round !== rounds) continue;
  await new Promise((done) => setImmediate(done));
  for (let turn = 0; turn < 5; turn++) globalThis.gc();
  const timers = process.getActiveResourcesInfo().filter((name) => name === "Timeout" || name === "Immediate").length;
  seen.push({ heap: process.memoryUsage().heapUsed, timers, listeners: process.listenerCount("SIGUSR2"), pings: globalThis.pings });
}
console.log(JSON.stringify(seen));
`;

const main = `
import { Type, type Static } from "@sinclair/typebox";
import { join } from "node:path";
import { createStore, type Store } from "./store.js";
const parameters = Type.Object({ text: Type.String() });
export default async function (tau: any): Promise<void> {
  const store: Store = createStore(join("a", import.meta.filename));
  setInterval(() => store.add("tick"), 1_000_000);
  setTimeout(() => store.add("tock"), 1_000_000);
  process.on("SIGUSR2", () => store.add("signal"));
  tau.events.on("ping", () => void globalThis.pings++);
  tau.on("agent_end", () => store.add("end"));
  tau.registerCommand("x", { handler: () => store.add("x") });
  tau.registerTool({ name: "keep", label: "Keep", description: "Keeps", parameters,
    execute: async (id: string, { text }: Static<typeof parameters>) => (store.add(text), { content: [] }) });
}
`;
const store = `
export interface Store { add(text: string): void }
const filler = "x".repeat(50_000) + Math.random();
export const createStore = (path: string): Store => {
  const lines = [path, filler];
  return { add: (text) => void lines.push(text) };
};
`;

let directory: string;
let outfile: string;

beforeAll(async () => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), "tau-reload-")));
  outfile = join(directory, "program.mjs");
  mkdirSync(join(directory, "extensions/dir"), { recursive: true });
  writeFileSync(join(directory, "extensions/dir/index.ts"), main);
  writeFileSync(join(directory, "extensions/dir/store.ts"), store);
  const tool = "{ name: 'sum', execute: () => 1, onLoad: () => {} }";
  writeFileSync(
    join(directory, "extensions/object.js"),
    `const waited = await 1;\nexport default { name: "object", version: "1.0.0", tools: [${tool}], hooks: { onAgentEnd() {} } };`,
  );
  await build({
    stdin: { resolveDir: import.meta.dirname, loader: "ts", contents: program },
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    conditions: ["@tau/source"],
    external: ["sucrase"],
    logLevel: "error",
  });
});
afterAll(() => rmSync(directory, { recursive: true }));

interface Left {
  heap: number;
  timers: number;
  listeners: number;
  pings: number;
}

async function reload(rounds: number): Promise<Left[]> {
  const args = ["--expose-gc", outfile, directory, String(rounds)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as Left[];
}

test("a thousand reloads leave no code, no timer and no listener behind; the compiler is not loaded for cached code", async () => {
  const modules = join(directory, "node_modules");
  symlinkSync(join(import.meta.dirname, "../../../../node_modules"), modules);
  await reload(1);
  // From here on there is no compiler.
  rmSync(modules);
  const [early, late] = await reload(1000);
  expect(late!.heap - early!.heap).toBeLessThan(2 * 1024 * 1024);
  expect(late).toMatchObject({ timers: 0, listeners: 0, pings: 1000 });
  rmSync(join(directory, "cache"), { recursive: true });
  await expect(reload(1)).rejects.toThrow("sucrase");
});
