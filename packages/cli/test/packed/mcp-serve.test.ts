/** The packed program as a client of MCP starts it, with the client of the official library over its standard streams. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Client, type JSONRPCMessage, type Transport } from "@modelcontextprotocol/client";
import type { WireReply } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { createModelWorkspace, type ModelWorkspace, textReply } from "../kit.ts";
import { cacheHome, installed } from "./kit.ts";

const hang: WireReply = { kind: "raw", chunks: [], ending: "hang" };

type Report = Record<string, unknown>;

async function start({ directory, agentDir }: ModelWorkspace) {
  const program = join(await installed(), "dist", "tau.cjs");
  const child: ChildProcess = spawn(process.execPath, [program, "mcp", "serve"], {
    cwd: directory,
    env: { PATH: process.env["PATH"], HOME: directory, TAU_DIR: agentDir, XDG_CACHE_HOME: cacheHome },
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const exited = once(child, "exit");
  const transport: Transport = {
    async start() {
      const lines = createInterface({ input: child.stdout! });
      lines.on("line", (line) => transport.onmessage?.(JSON.parse(line) as JSONRPCMessage));
      void exited.then(() => transport.onclose?.());
    },
    async send(message) {
      child.stdin!.write(`${JSON.stringify(message)}\n`);
    },
    async close() {
      child.stdin!.end();
      await exited;
    },
  };
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(transport);
  const call = async (name: string, input: Report) =>
    (await client.callTool({ name, arguments: input })).structuredContent as Report;
  return { call, child, exited, close: () => client.close() };
}

test("sessions are run over standard streams, and continue in another process after the first was killed", async () => {
  const workspace = await createModelWorkspace([textReply("It is 4."), hang, textReply("And 5.")]);
  const first = await start(workspace);
  const report = await first.call("run", { prompt: "What is 2 + 2?" });
  expect(report).toMatchObject({ state: "done", answer: "It is 4." });
  const session = report["session"] as string;
  const lost = first.call("run", { prompt: "And plus 1?", session }).catch((error: unknown) => error);
  await expect.poll(() => workspace.server.requests.length).toBe(2);
  first.child.kill("SIGKILL");
  await first.exited;
  // The client learns of it, and waits for nothing.
  expect(await lost).toBeInstanceOf(Error);

  const second = await start(workspace);
  expect(await second.call("run", { prompt: "Again: plus 1?", session })).toMatchObject({ session, answer: "And 5." });
  await second.close();
  expect(second.child.exitCode).toBe(0);
});
