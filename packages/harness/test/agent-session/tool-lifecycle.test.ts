/** Tools with methods that accompany their calls. */
import { createHash } from "node:crypto";
import { getEventListeners } from "node:events";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentTool } from "@tau/agent";
import { createAI } from "@tau/ai";
import { call, createFakeClock, startWireServer, text, type WireReply } from "@tau/ai/testing";
import type { ToolContext } from "@tau/tools";
import { expect, onTestFinished, test } from "vitest";
import { createAgent } from "../../src/construct/create-agent.ts";
import type { Tool as InputSchemaTool } from "@tau/extensions";
import { SessionManager } from "../../src/session/session-manager.ts";
import { type Desk, never, openDesk, sayTool, temporaryDirectory, until } from "./desk.ts";

interface ChecksumParams {
  path: string;
  algorithm?: "sha256" | "md5";
}

interface ChecksumResult {
  algorithm: string;
  hash: string;
  bytes: number;
}

/** A tool of the documented form, which notes what happens to it. */
function checksum(steps: string[], more: Partial<InputSchemaTool<ChecksumParams, ChecksumResult>> = {}) {
  const tool: InputSchemaTool<ChecksumParams, ChecksumResult> = {
    name: "checksum",
    description: "Computes a checksum of a file",
    inputSchema: {
      type: "object",
      properties: { path: { type: "string" }, algorithm: { type: "string", enum: ["sha256", "md5"] } },
      required: ["path"],
    },
    async onLoad(context) {
      steps.push("load");
      context.registerConfig({ algorithm: { type: "string", default: "sha256" } });
    },
    async beforeInvoke(params) {
      steps.push(`before ${params.path}`);
      const found = await stat(params.path).catch(() => undefined);
      if (!found?.isFile()) throw new Error(`File not found: ${params.path}`);
    },
    async execute(params, context) {
      steps.push(`execute ${context.toolCallId === "" ? "without" : "with"} an id`);
      const algorithm: string = params.algorithm ?? context.getConfig("algorithm") ?? "none";
      const bytes = await readFile(params.path);
      return { algorithm, hash: createHash(algorithm).update(bytes).digest("hex"), bytes: bytes.length };
    },
    async afterInvoke(result, context) {
      steps.push(`after ${result.algorithm} ${result.bytes}`);
      context.getLog().info("hash", result.hash);
    },
    onUnload() {
      steps.push("unload");
    },
    ...more,
  };
  return tool;
}

const getResults = ({ session }: Desk) =>
  session.messages.flatMap((message) =>
    message.role === "toolResult"
      ? [{ isError: message.isError, text: (message.content[0] as { text: string }).text }]
      : [],
  );

/** A file, and a desk whose model calls the tool with it. */
async function openWith(tool: InputSchemaTool, paths: readonly string[] = ["a.txt"]) {
  const cwd = await temporaryDirectory();
  await writeFile(join(cwd, "a.txt"), "apples");
  const turns = paths.map((path) => [call(tool.name, { path: join(cwd, path) })]);
  return await openDesk([...turns, [text("Done.")]], { cwd, customTools: [tool] });
}

test("loading, the guard, the execution and what follows come in order, and unloading at the end", async () => {
  const steps: string[] = [];
  const desk = await openWith(checksum(steps));
  expect(steps).toEqual(["load"]);
  await desk.session.prompt("Sum.");
  const path = join(desk.directory, "a.txt");
  expect(steps).toEqual(["load", `before ${path}`, "execute with an id", "after sha256 6"]);
  const hash = createHash("sha256").update("apples").digest("hex");
  expect(getResults(desk)).toEqual([{ isError: false, text: JSON.stringify({ algorithm: "sha256", hash, bytes: 6 }) }]);
  await desk.session.dispose();
  expect(steps.at(-1)).toBe("unload");
});

test("a guard that throws denies the call with its message, and nothing follows", async () => {
  const steps: string[] = [];
  const desk = await openWith(checksum(steps), ["missing.txt"]);
  await desk.session.prompt("Sum.");
  const path = join(desk.directory, "missing.txt");
  expect(steps).toEqual(["load", `before ${path}`]);
  expect(getResults(desk)).toEqual([{ isError: true, text: `File not found: ${path}` }]);
  expect(desk.events.find(({ type }) => type === "tool_execution_end")).toMatchObject({ error: { code: "denied" } });
});

test("after an execution that failed, afterInvoke is not called", async () => {
  const steps: string[] = [];
  const desk = await openWith(checksum(steps, { execute: () => Promise.reject(new Error("broken")) }));
  await desk.session.prompt("Sum.");
  expect(steps).toHaveLength(2);
  expect(getResults(desk)).toEqual([{ isError: true, text: "broken" }]);
});

test("an afterInvoke that throws loses no result, and the user is told", async () => {
  const desk = await openWith(
    checksum([], {
      afterInvoke: () => {
        throw new Error("no disk");
      },
    }),
  );
  await desk.session.prompt("Sum.");
  expect(getResults(desk)[0]?.isError).toBe(false);
  expect(desk.session.notices).toContainEqual(
    expect.objectContaining({ message: "afterInvoke of the tool checksum failed: no disk" }),
  );
});

test("a tool whose onLoad fails is not offered, and the user is told why; a reload tries again", async () => {
  let isBroken = true;
  const onLoad = () => {
    if (isBroken) throw new Error("no licence");
  };
  const desk = await openWith(checksum([], { onLoad }));
  const { session } = desk;
  expect(session.tools.map(({ name }) => name)).not.toContain("checksum");
  expect(session.notices).toContainEqual(
    expect.objectContaining({
      code: "tool_dropped",
      message: "The tool checksum is left out: Its onLoad failed: no licence",
    }),
  );
  isBroken = false;
  await session.reload();
  expect(session.tools.map(({ name }) => name)).toContain("checksum");
});

test("an onLoad that hangs is given up after 30 s", async () => {
  const clock = createFakeClock();
  const sessionManager = await SessionManager.inMemory("/project", { clock });
  const opening = openDesk([], { clock, sessionManager, customTools: [checksum([], { onLoad: () => never() })] });
  let desk: Desk | undefined;
  void opening.then((opened) => (desk = opened));
  await until(() => clock.waiting > 0);
  while (!desk) await clock.advance(1_000);
  expect(desk.session.droppedTools).toContainEqual(
    expect.objectContaining({ name: "checksum", reason: "Its onLoad failed: it was not done after 30 s." }),
  );
});

test("an onUnload that throws is told, and the session still ends", async () => {
  const desk = await openWith(
    checksum([], {
      onUnload: () => {
        throw new Error("still busy");
      },
    }),
  );
  await desk.session.dispose();
  expect(desk.session.notices).toContainEqual(
    expect.objectContaining({ message: "onUnload of the tool checksum failed: still busy" }),
  );
});

test("a tool that the session gets later is loaded then, and unloaded when it is taken away", async () => {
  const steps: string[] = [];
  const { session } = await openDesk([]);
  session.setTools([checksum(steps)]);
  await expect.poll(() => steps).toEqual(["load"]);
  session.setActiveTools([]);
  session.setTools(["read"]);
  await expect.poll(() => steps).toEqual(["load", "unload"]);
});

test("a tool that the settings hide is never loaded", async () => {
  const steps: string[] = [];
  const { session } = await openDesk([], { customTools: [checksum(steps)], excludedTools: ["checksum"] });
  await session.dispose();
  expect(steps).toEqual([]);
});

test("each session loads the tool for itself, with a configuration of its own", async () => {
  const steps: string[] = [];
  const tool = checksum(steps);
  const first = await openWith(tool);
  const second = await openWith(tool);
  await second.session.prompt("Sum.");
  await first.session.dispose();
  await second.session.dispose();
  expect(steps.filter((step) => step === "load")).toHaveLength(2);
  expect(steps.filter((step) => step === "unload")).toHaveLength(2);
});

test("what a tool warns of is told to the user, and the rest is not", async () => {
  const beforeInvoke = (_params: ChecksumParams, context: ToolContext) => {
    context.getLog().info("quiet");
    context.getLog().warn("slow: %d", 3);
  };
  const desk = await openWith(checksum([], { beforeInvoke }));
  await desk.session.prompt("Sum.");
  const told = desk.session.notices.filter(({ code }) => code === "tool");
  expect(told).toEqual([expect.objectContaining({ message: "checksum: slow: 3" })]);
});

test("a tool with `parameters` keeps the engine's form of execute, and has the methods too", async () => {
  const steps: string[] = [];
  const tool: AgentTool & { beforeInvoke: (params: unknown, context: ToolContext) => void } = {
    ...sayTool("look", "seen"),
    beforeInvoke: (_params, { toolCallId }) => void steps.push(toolCallId),
  };
  const desk = await openDesk([[call("look")], [text("Done.")]], { customTools: [tool] });
  await desk.session.prompt("Look.");
  expect(getResults(desk)).toEqual([{ isError: false, text: "seen" }]);
  expect(steps).toEqual([expect.stringMatching(/./)]);
});

test("createAgent takes such a tool, also as an instance of a class", async () => {
  const steps: string[] = [];
  class Sum {
    readonly name = "sum";
    readonly description = "Adds";
    readonly inputSchema = { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } };
    #calls = 0;
    onLoad(): void {
      steps.push("load");
    }
    execute({ a, b }: { a: number; b: number }): { sum: number } {
      this.#calls++;
      return { sum: a + b };
    }
    afterInvoke({ sum }: { sum: number }): void {
      steps.push(`${this.#calls}: ${sum}`);
    }
    onUnload(): void {
      steps.push("unload");
    }
  }
  const reply = (content: (ReturnType<typeof call> | ReturnType<typeof text>)[]): WireReply => ({
    kind: "answer",
    answer: { content },
  });
  const server = await startWireServer("anthropic-messages", [
    reply([call("sum", { a: 1, b: 2 })]),
    reply([text("3")]),
  ]);
  onTestFinished(() => server.close());
  const directory = await temporaryDirectory();
  const config = { baseUrl: server.url };
  const ai = createAI({ provider: "anthropic", model: "claude-sonnet-4-5", apiKey: "test-key-0123456789", config });
  const agent = createAgent({ ai, cwd: directory, agentDir: directory, tools: [new Sum()] });
  expect(await agent.run("Add.")).toBe("3");
  await agent.dispose();
  expect(steps).toEqual(["load", "1: 3", "unload"]);
});

test("however many tools a session loads, one listener waits for its end", async () => {
  const counts: number[] = [];
  const tools = Array.from({ length: 12 }, (_, index): AgentTool & Partial<InputSchemaTool> => ({
    ...sayTool(`say_${index}`),
    async onLoad({ signal }: ToolContext) {
      counts.push(getEventListeners(signal, "abort").length);
    },
  }));
  await openDesk([], { customTools: tools });
  expect(counts).toEqual(tools.map(() => 1));
});
