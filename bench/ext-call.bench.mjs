/**
 * Measures what extensions cost: a tool call in process above a built-in one, a tool call of an isolated extension, and
 * a streamed answer that ten extensions listen to.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { streamSimple, systemClock, systemIds } from "@tau/ai";
import { createAgentSession, SessionManager, SettingsManager } from "@tau/harness";
import { loadIsolated, StreamBatch, systemNetwork } from "@tau/extensions/isolated";
import { createEventBus } from "@tau/extensions";
import { resolvePolicy } from "@tau/policy";
import { cpuSince, echoTool, model } from "./memory-model.mjs";
import { withModel } from "./streaming.mjs";

const dist = join(import.meta.dirname, "..", "packages", "cli", "dist");
const deltas = 20_000;
const listeners = 10;
const rounds = 9;

export default async function bench(report) {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "tau-bench-")));
  const opened = [];
  try {
    await benchInProcess(directory, report);
    const load = async (name, code) => {
      const extension = await loadIsolated(createSource(directory, name, code), createPorts(directory));
      opened.push(extension);
      await extension.begin();
      return extension;
    };
    await benchIsolated(await load("tool", toolCode), report);
    const isolated = [];
    for (let index = 0; index < listeners; index++) isolated.push(await load(`listener-${index}`, listenerCode));
    await withModel((getModel) =>
      benchDeltas(directory, { isolated, model: getModel({ count: deltas, size: 5, kind: "text" }) }, report),
    );
  } finally {
    for (const extension of opened) await extension.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function benchInProcess(directory, report) {
  const calls = 20_000;
  const session = await openSession(directory, {
    customTools: [{ ...echoTool, name: "built-in" }],
    extensions: { factories: [(tau) => tau.registerTool({ ...echoTool, name: "extended" })] },
  });
  const [builtIn, extended] = ["built-in", "extended"].map((name) => session.tools.find((tool) => tool.name === name));
  const best = { builtIn: Number.POSITIVE_INFINITY, extended: Number.POSITIVE_INFINITY };
  for (let round = 0; round < rounds; round++) {
    for (const [name, tool] of Object.entries({ builtIn, extended })) {
      const started = process.cpuUsage();
      for (let call = 0; call < calls; call++) await tool.execute("id", { value: "x" });
      best[name] = Math.min(best[name], cpuSince(started) / calls);
    }
  }
  await session.dispose();
  report("a tool call in process above a built-in one", best.extended - best.builtIn, "µs of CPU (at most 3)");
}

async function benchIsolated(extension, report) {
  const tool = extension.tools.get("echo");
  const times = [];
  for (let call = -3_000; call < 5_000; call++) {
    const started = process.hrtime.bigint();
    await tool.execute("id", { value: "x" });
    if (call >= 0) times.push(Number(process.hrtime.bigint() - started) / 1_000);
  }
  times.sort((a, b) => a - b);
  report("a tool call of an isolated extension, p50", times[times.length / 2], "µs (at most 100)");
  report("a tool call of an isolated extension, p99", times[Math.floor(times.length * 0.99)], "µs");
}

async function benchDeltas(directory, { isolated, model: streaming }, report) {
  const streamFn = (_model, context, options) => streamSimple(streaming, context, { ...options, apiKey: "none" });
  const received = { inProcess: 0 };
  const ways = {
    none: [],
    inProcess: Array.from(
      { length: listeners },
      () => (tau) => tau.on("message_update", () => void received.inProcess++),
    ),
    isolated: isolated.map(
      ({ handlers }) =>
        (tau) =>
          tau.on("message_update", handlers.get("message_update")[0]),
    ),
  };
  const best = {};
  for (let round = 0; round < rounds; round++) {
    for (const [name, factories] of Object.entries(ways)) {
      const session = await openSession(directory, { streamFn, extensions: { factories } });
      const started = process.cpuUsage();
      await session.prompt("go");
      best[name] = Math.min(best[name] ?? Number.POSITIVE_INFINITY, cpuSince(started));
      await session.dispose();
    }
  }
  if (received.inProcess < deltas * listeners * rounds) throw new Error(`${received.inProcess} deltas were received`);
  const [answer] = (await isolated[0].tools.get("count").execute("id", {})).content;
  if (Number(answer.text) < deltas * rounds) throw new Error(`${answer.text} deltas crossed`);
  report(`${deltas} deltas without extensions`, best.none / 1_000, "ms of CPU");
  report(`with ${listeners} extensions in process`, best.inProcess / best.none, "times none (at most 1.3)");
  report(`with ${listeners} isolated extensions`, best.isolated / best.none, "times none (at most 1.3)");
}

const openSession = async (directory, params) =>
  await createAgentSession({
    cwd: directory,
    agentDir: join(directory, "agent"),
    model,
    settingsManager: SettingsManager.inMemory({}),
    sessionManager: await SessionManager.inMemory(directory),
    ...params,
  });

const toolCode = `export default (tau) => tau.registerTool({ name: "echo", label: "Echo", description: "Says it again",
  parameters: { type: "object", properties: { value: { type: "string" } } },
  execute: async (_id, { value }) => ({ content: [{ type: "text", text: value }], details: {} }) });`;

const listenerCode = `let count = 0; export default (tau) => { tau.on("message_update", () => { count++; });
  tau.registerTool({ name: "count", label: "Count", description: "Says how many", parameters: { type: "object", properties: {} },
    execute: async () => ({ content: [{ type: "text", text: String(count) }], details: {} }) }); };`;

function createSource(directory, name, code) {
  const path = join(directory, "extensions", name, "index.js");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, code);
  const info = { path, source: name, scope: "user", origin: "package", baseDir: dirname(path) };
  return { id: name, name, path, origin: "package", digest: name, info };
}

/** Shared by all extensions, as in a session. */
const stream = new StreamBatch(systemClock);

function createPorts(directory) {
  const policy = resolvePolicy();
  return {
    program: { path: join(dist, "extension-child.cjs"), readable: [dist] },
    agentDir: join(directory, "agent"),
    home: join(directory, "home"),
    cwd: directory,
    env: {},
    getPolicy: () => policy,
    createJudge: () => ({ judge: async () => undefined, createFiles: () => undefined, endCall: () => {} }),
    audit: () => {},
    getSession: () => undefined,
    flagValues: new Map(),
    findFlag: () => undefined,
    isKnownProvider: () => false,
    events: createEventBus(),
    log: () => {},
    report: ({ extension, message }) => console.error(`${extension}: ${message}`),
    onInputChanged: () => {},
    network: systemNetwork,
    stream,
    clock: systemClock,
    ids: systemIds,
  };
}
