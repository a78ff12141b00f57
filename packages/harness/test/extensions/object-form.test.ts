import { createHash } from "node:crypto";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { call, createFakeClock, text } from "@tau/ai/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createPorts } from "../../../extensions/test/ports.ts";
import type { GivenTool } from "@tau/extensions/internal";
import { createTestSession } from "@tau/harness/testing";
import {
  type ExtensionSource,
  type Extension as ExtensionObject,
  ExtensionRunner,
  noUi,
  type ExtensionSessionPort,
} from "@tau/extensions";
import { loadInProcess } from "../../../extensions/src/load/load-in-process.ts";
import { capabilityNames, getCapabilities, toFactory } from "../../../extensions/src/api/object-form.ts";

/** A tool with every part of its lifecycle, and hooks; what happens is noted in the global `steps`. */
const checksumExtension = `
import type { Extension, Tool, ToolContext } from "@earendil-works/pi-agent-core";
import crypto from "crypto";
import fs from "fs/promises";

interface Params { path: string; algorithm?: "sha256" | "md5" }
interface Result { algorithm: string; hash: string; bytes: number }

const checksum: Tool<Params, Result> = {
  name: "checksum",
  description: "Computes the checksum of a file",
  inputSchema: {
    type: "object",
    properties: { path: { type: "string" }, algorithm: { type: "string", enum: ["sha256", "md5"] } },
    required: ["path"],
  },
  async onLoad(context: ToolContext) {
    steps.push("load");
    context.registerConfig({ algorithm: { type: "string", default: "sha256" } });
  },
  async beforeInvoke(params: Params) {
    const stat = await fs.stat(params.path).catch(() => null);
    if (!stat) throw new Error("File not found: " + params.path);
    steps.push("before");
  },
  async execute(params: Params, context: ToolContext): Promise<Result> {
    const algorithm = params.algorithm ?? context.getConfig("algorithm");
    const bytes = await fs.readFile(params.path);
    return { algorithm, hash: crypto.createHash(algorithm).update(bytes).digest("hex"), bytes: bytes.length };
  },
  async afterInvoke(result: Result, context: ToolContext) {
    steps.push("after " + result.bytes);
  },
  onUnload() { steps.push("unload"); },
};

const extension: Extension = {
  name: "my-checksum",
  version: "1.0.0",
  tools: [checksum],
  hooks: {
    onAgentStart: async (context) => {
      context.registerConfig({ greeting: { default: "hello" } });
      context.getLog().info("started");
    },
    onToolCall: async (name, params, result, context) => {
      steps.push([name, params, result, context.getConfig("greeting"), context.signal.aborted]);
    },
    onAgentEnd: async () => { steps.push("end"); },
  },
  dependencies: [],
  capabilities: ["fs:read", "crypto"],
};
export default extension;
`;

let directory: string;
const steps: unknown[] = [];

beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), "tau-object-form-")));
  steps.length = 0;
  (globalThis as Record<string, unknown>)["steps"] = steps;
});
afterEach(() => {
  rmSync(directory, { recursive: true });
  delete (globalThis as Record<string, unknown>)["steps"];
});

function write(name: string, source: string): ExtensionSource {
  const path = join(directory, `${name}.ts`);
  writeFileSync(path, source);
  const info = { path, source: "local", scope: "user", origin: "top-level" } as const;
  return { id: path, name, path, origin: "user", digest: "", info };
}

const logged: string[] = [];

const load = (sources: readonly ExtensionSource[], otherNames: readonly string[] = []) =>
  loadInProcess(
    sources,
    createPorts({
      log: (extension, level, message) => logged.push(`${extension} ${level} ${message}`),
      otherNames,
    }).ports,
  );

describe("the object form", () => {
  test("its tools run with their lifecycle in a session", async () => {
    const { extensions, problems } = await load([write("checksum", checksumExtension)]);
    expect(problems).toEqual([]);
    writeFileSync(join(directory, "apples.txt"), "apples");
    const tools = [...extensions[0]!.tools.values()] as unknown as GivenTool[];
    const desk = await createTestSession(
      [
        [call("checksum", { path: join(directory, "apples.txt") })],
        [call("checksum", { path: join(directory, "gone.txt") })],
        [text("Done.")],
      ],
      { customTools: tools },
    );
    await desk.prompt("Sum.");
    const answers = desk.session.messages.flatMap((message) =>
      message.role === "toolResult" ? [(message.content[0] as { text: string }).text] : [],
    );
    const hash = createHash("sha256").update("apples").digest("hex");
    expect(answers).toEqual([
      JSON.stringify({ algorithm: "sha256", hash, bytes: 6 }),
      expect.stringContaining(`File not found: ${directory}/gone.txt`),
    ]);
    await desk.dispose();
    expect(steps).toEqual(["load", "before", "after 6", "unload"]);
  });

  test("its hooks are called for runs and for every call, also one that failed", async () => {
    const { extensions } = await load([write("checksum", checksumExtension)]);
    const session = { ui: noUi, getSignal: () => undefined } as unknown as ExtensionSessionPort;
    const runner = new ExtensionRunner({ extensions, session, clock: createFakeClock(), report: () => {} });
    await runner.emit({ type: "agent_start" });
    const end = { type: "tool_execution_end" as const, toolName: "read", result: { content: [] } };
    for (const [toolCallId, isError] of [
      ["1", false],
      ["2", true],
    ] as const) {
      await runner.emit({ type: "tool_execution_start", toolCallId, toolName: "read", args: { path: toolCallId } });
      await runner.emit({ ...end, toolCallId, isError });
    }
    // A call that was denied never began.
    await runner.emit({ ...end, toolCallId: "3", isError: true });
    await runner.emit({ type: "agent_end", messages: [] });
    expect(steps).toEqual([
      ["read", { path: "1" }, { content: [] }, "hello", false],
      ["read", { path: "2" }, undefined, "hello", false],
      ["read", undefined, undefined, "hello", false],
      "end",
    ]);
    expect(logged).toEqual(["my-checksum info started"]);
  });

  test.each<[string, object, string]>([
    ["an empty name", { name: "" }, "It has no name."],
    ["a version that is a number", { version: 1 }, "Its version is not a text."],
    ["tools that are no list", { tools: {} }, "Its tools are not a list."],
    ["a tool without execute", { tools: [{ name: "x" }] }, "x is not a tool. It has no function `execute`."],
    ["hooks that are a function", { hooks: () => {} }, "Its hooks are not an object."],
    ["an unknown capability", { capabilities: ["fs:raed"] }, 'no capability "fs:raed". Did you mean "fs:read"'],
    ["a capability by a name that all objects have", { capabilities: ["toString"] }, 'no capability "toString".'],
  ])("%s is refused", (_name, change, message) => {
    const object = { name: "x", version: "1.0.0", ...change } as ExtensionObject;
    expect(() => toFactory(object, () => {})).toThrow(message);
  });

  test("capabilities are those of the policy", () => {
    const capabilities = Object.keys(capabilityNames);
    expect(getCapabilities({ name: "x", version: "1.0.0", capabilities })).toEqual([
      "read",
      "write",
      "http",
      "exec",
      "env",
      "ui",
      "session",
    ]);
    expect(getCapabilities({ name: "x", version: "1.0.0" })).toEqual([]);
  });
});

describe("dependencies", () => {
  const object = (name: string, dependencies: string[]) =>
    write(
      name,
      `export default { name: "the-${name}", version: "1.0.0", dependencies: ${JSON.stringify(dependencies)},
        tools: [{ name: "${name}", execute: () => 1 }] };`,
    );
  const listLoaded = async (sources: readonly ExtensionSource[], others: readonly string[] = []) => {
    const { extensions, problems } = await load(sources, others);
    return [
      extensions.map(({ source }) => source.name),
      problems.map(({ extension, message }) => [extension, message]),
    ];
  };

  test("come first, and all else stays in order", async () => {
    const sources = [object("a", ["the-c"]), object("b", []), object("c", ["the-d", "elsewhere"]), object("d", [])];
    expect(await listLoaded(sources, ["elsewhere"])).toEqual([["d", "c", "a", "b"], []]);
  });

  test("that are missing or a circle are errors, and so are those that need them", async () => {
    const sources = [
      object("a", ["nowhere"]),
      object("b", ["the-a"]),
      object("c", ["the-d"]),
      object("d", ["the-c"]),
      object("e", ["the-e"]),
      object("f", []),
    ];
    expect(await listLoaded(sources)).toEqual([
      ["f"],
      [
        ["a", "It needs the extension nowhere, which is not there."],
        ["b", "It needs the extension the-a, which cannot be loaded."],
        ["d", "Its dependencies are a circle: the-c needs the-d needs the-c."],
        ["c", "It needs the extension the-d, which cannot be loaded."],
        ["e", "Its dependencies are a circle: the-e needs the-e."],
      ],
    ]);
  });

  test("that fail while they are loaded take those with them that need them", async () => {
    const broken = write("broken", "export default () => { throw new Error('no'); };");
    expect(await listLoaded([object("a", ["broken"]), broken])).toEqual([
      [],
      [
        ["broken", `${directory}/broken.ts:1: no`],
        ["a", "It needs the extension broken, which cannot be loaded."],
      ],
    ]);
  });
});
