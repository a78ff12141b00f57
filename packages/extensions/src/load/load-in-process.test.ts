import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeClock } from "@tau/ai/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createPorts } from "../../test/ports.ts";
import { createEventBus } from "../runner/create-api.ts";
import type { ExtensionSource } from "../api/extension.ts";
import type { ExtensionSessionPort } from "../api/session-port.ts";
import { loadInProcess } from "./load-in-process.ts";
import { maxFactoryMs } from "./start-extension.ts";

let directory: string;

beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), "tau-in-process-")));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
  delete (globalThis as Record<string, unknown>)["seen"];
});

function write(name: string, text: string): ExtensionSource {
  const path = join(directory, name);
  writeFileSync(path, text);
  const info = { path, source: "local", scope: "user", origin: "top-level" } as const;
  return { id: path, name, path, origin: "user", digest: "", info };
}

/** Values that the extensions wrote into the global `seen`. */
const seen = (): unknown[] => ((globalThis as Record<string, unknown>)["seen"] ??= []) as unknown[];

describe("loadInProcess", () => {
  test("factories run in order, each after the one before is done", async () => {
    const slow = "seen.push('a1'); await new Promise((done) => setImmediate(done)); seen.push('a2');";
    const sources = [
      write("a.ts", `export default async () => { ${slow} };`),
      write("b.ts", "export default () => { seen.push('b'); };"),
    ];
    seen();
    const { extensions, problems } = await loadInProcess(sources, createPorts().ports);
    expect(problems).toEqual([]);
    expect(extensions.map(({ source, host, state }) => [source.name, host, state])).toEqual([
      ["a.ts", "process", "trusted"],
      ["b.ts", "process", "trusted"],
    ]);
    expect(seen()).toEqual(["a1", "a2", "b"]);
  });

  test("one that fails is named with its line, leaves nothing, and does not keep others from loading", async () => {
    const bus = createEventBus();
    const sources = [
      write(
        "a.ts",
        "export default (tau) => {\n  tau.registerTool({ name: 'x', execute() {} });\n  tau.events.on('ping', () => seen.push('a'));\n" +
          "  setInterval(() => {}, 1e6);\n  process.on('SIGUSR2', () => {});\n  throw new Error('broken');\n};",
      ),
      write("b.ts", "const x: = 1;"),
      write("c.ts", "export default () => {};"),
    ];
    const listeners = process.listenerCount("SIGUSR2");
    const { extensions, problems } = await loadInProcess(sources, createPorts({ events: bus }).ports);
    expect(extensions.map(({ source }) => source.name)).toEqual(["c.ts"]);
    expect(problems).toEqual([
      { extension: "b.ts", message: expect.stringMatching(`^${directory}/b.ts:1: `) },
      { extension: "a.ts", message: `${directory}/a.ts:6: broken` },
    ]);
    expect(process.listenerCount("SIGUSR2")).toBe(listeners);
    bus.emit("ping", undefined);
    expect(seen()).toEqual([]);
  });

  test("a factory that takes too long is given up, and what it does later counts no more", async () => {
    const clock = createFakeClock();
    const session = { refreshTools: () => seen().push("refreshed") } as unknown as ExtensionSessionPort;
    const source = write(
      "a.ts",
      "export default async (tau) => {\n  await new Promise((done) => (globalThis.finish = done));\n" +
        "  try { tau.registerTool({ name: 'late' }); } catch (error) { seen.push(error.code); }\n};",
    );
    seen();
    const loading = loadInProcess([source], createPorts({ clock, getSession: () => session }).ports);
    await expect.poll(() => clock.waiting).toBe(1);
    await clock.advance(maxFactoryMs);
    expect(await loading).toEqual({
      extensions: [],
      problems: [{ extension: "a.ts", message: expect.stringContaining("It was not loaded after 10 seconds.") }],
    });
    const { finish } = globalThis as unknown as { finish: () => void };
    finish();
    await expect.poll(seen).toEqual(["closed"]);
    delete (globalThis as Record<string, unknown>)["finish"];
  });

  test("an unknown event is kept by its name and not reported, and the extension is loaded", async () => {
    const { ports, reported } = createPorts();
    const text = "tau.on('agent_strat', () => {});";
    const source = write(
      "a.ts",
      `export default (tau) => { ${text} ${text} globalThis.seen = () => tau.on('x', () => {}); };`,
    );
    const { extensions, problems } = await loadInProcess([source], ports);
    expect(extensions).toHaveLength(1);
    (seen() as unknown as () => void)();
    expect([problems, reported]).toEqual([[], []]);
    expect([...extensions[0]!.unknownEvents]).toEqual(["agent_strat", "x"]);
  });

  test.each([
    ["tau.registerTool(5)", "(no name) is not a tool. A tool is an object with a name and a function `execute`."],
    ["tau.registerTool({ name: 'x' })", "x is not a tool. It has no function `execute`."],
    [
      "tau.registerTool({ name: 'x', execute() {}, promptGuidelines: 'Be brief.' })",
      "x is not a tool. Its `promptGuidelines` are not a list.",
    ],
    ["tau.registerCommand(undefined, {})", "A command needs a name, which is a text."],
    ["tau.registerCommand('x')", "The command x needs an object that describes it."],
    ["tau.registerCommand('x', {})", "The handler of the command x is not a function."],
    ["tau.registerProvider(null)", "A provider needs a name, which is a text."],
    ['tau.registerProvider(" ", {})', "A provider needs a name, which is a text."],
    ["tau.registerProvider({ getModels: () => [] })", "A provider needs a name, which is a text."],
    ['tau.registerProvider("p", 7)', "The provider p needs an object that describes it."],
    ['tau.registerProvider("p", { streamSimple: 1 })', "streamSimple of the provider p is not a function."],
    ['tau.registerProvider("p", { refreshModels: 1 })', "refreshModels of the provider p is not a function."],
    ['tau.registerProvider("p", { oauth: "yes" })', "oauth of the provider p needs to be an object."],
    ['tau.registerProvider("p", { oauth: {} })', "oauth.login of the provider p is not a function."],
    ["tau.registerShortcut(undefined, {})", "A shortcut needs a name, which is a text."],
    ["tau.registerShortcut('ctrl+x', {})", "The handler of the shortcut ctrl+x is not a function."],
    ["tau.registerFlag('x')", "The flag x needs an object that describes it."],
    ["tau.on('input', 5)", "The handler of input is not a function."],
  ])("%s fails where it is", async (text, message) => {
    const source = write("a.ts", `export default (tau) => {\n  ${text};\n};`);
    const { extensions, problems } = await loadInProcess([source], createPorts().ports);
    expect(extensions).toEqual([]);
    expect(problems).toEqual([{ extension: "a.ts", message: `${directory}/a.ts:2: ${message}` }]);
  });

  test("code that goes on after close starts no timer and no listener", async () => {
    const source = write(
      "a.ts",
      `export default (tau) => {
        seen.push(() => { setInterval(() => {}, 1e6); setTimeout(() => {}, 1e6); process.on("SIGUSR2", () => {}); });
      };`,
    );
    seen();
    const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const { extensions } = await loadInProcess([source], createPorts().ports);
    await extensions[0]?.close();
    const before = [timers(), process.listenerCount("SIGUSR2")];
    (seen()[0] as () => void)();
    expect([timers(), process.listenerCount("SIGUSR2")]).toEqual(before);
  });

  test("close ends timers, listeners of the process and of the bus, and the API", async () => {
    const bus = createEventBus();
    const source = write(
      "a.ts",
      "import { on } from 'node:process';\nimport process2 from 'process';\n" +
        "export default (tau) => {\n  const timer = setInterval(() => {}, 1e6);\n  setTimeout(() => {}, 1e6);\n" +
        "  clearTimeout(setTimeout(() => {}, 1e6));\n" +
        "  process.on('SIGUSR2', () => {}); process2.once('SIGUSR2', () => {});\n" +
        "  tau.events.on('ping', () => seen.push('ping'));\n" +
        "  tau.registerCommand('x', { handler: () => seen.push(timer.hasRef(), timer._destroyed) && tau.on('agent_end', () => {}) });\n};",
    );
    const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const before = { timers: timers(), listeners: process.listenerCount("SIGUSR2") };
    const { extensions, problems } = await loadInProcess([source], createPorts({ events: bus }).ports);
    expect(problems).toEqual([]);
    expect(timers()).toBe(before.timers + 2);
    expect(process.listenerCount("SIGUSR2")).toBe(before.listeners + 2);
    await extensions[0]!.close();
    expect(timers()).toBe(before.timers);
    expect(process.listenerCount("SIGUSR2")).toBe(before.listeners);
    bus.emit("ping", undefined);
    expect(seen()).toEqual([]);
    const { handler } = extensions[0]!.commands.get("x")!;
    expect(() => handler("", {} as never)).toThrow("This extension ctx is stale");
    expect(seen()).toEqual([true, true]);
  });
});
