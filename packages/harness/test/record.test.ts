import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, type AgentTool } from "@tau/agent";
import { streamSimple } from "@tau/ai";
import { call, scriptedModel, text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { recordRuns } from "../src/run/record.ts";
import { SessionManager } from "../src/session/session-manager.ts";

async function desk(turns: Parameters<typeof scriptedModel>[0]) {
  const directory = await mkdtemp(join(tmpdir(), "tau-record-"));
  const session = await SessionManager.create("/project", directory);
  const model = scriptedModel(turns);
  onTestFinished(async () => {
    model.dispose();
    await session.close();
    await rm(directory, { recursive: true });
  });
  const onDisk = async () => await readFile(session.getSessionFile()!, "utf8");
  return { session, model, onDisk };
}

test("a prompt is on the disk before the request, and a call before its tool runs", async () => {
  const { session, model, onDisk } = await desk([[call("look", {}, "call-1")], [text("done")]]);
  const seen: string[] = [];
  const tool: AgentTool = {
    name: "look",
    label: "Look",
    description: "Looks",
    parameters: { type: "object", properties: {} },
    async execute() {
      seen.push(
        (await onDisk()).includes('"customType":"tau.call_started","data":{"toolCallId":"call-1"') ? "call" : "nothing",
      );
      return { content: [text("seen")], details: {} };
    },
  };
  const agent = new Agent({
    initialState: { model, tools: [tool] },
    async streamFn(...request) {
      seen.push((await onDisk()).includes("Where are we?") ? "prompt" : "nothing");
      return streamSimple(...request);
    },
  });
  recordRuns(agent, session);
  await agent.prompt("Where are we?");
  expect(seen).toEqual(["prompt", "call", "prompt"]);
  const roles = (await session.buildContext()).messages.map(({ role }) => role);
  expect(roles).toEqual(["user", "assistant", "toolResult", "assistant"]);
  expect(await session.unfinishedCalls()).toEqual([]);
});

test("a log that cannot be written ends the run before the request, with the reason", async () => {
  const { session, model } = await desk([[text("never")]]);
  await session.appendMessage({ role: "user", content: "first", timestamp: 1 });
  const reader = await SessionManager.open(session.getSessionFile()!, { access: "read" });
  let asked = 0;
  const agent = new Agent({
    initialState: { model },
    streamFn(...request) {
      asked++;
      return streamSimple(...request);
    },
  });
  recordRuns(agent, reader);
  await agent.prompt("second");
  expect(asked).toBe(0);
  expect(agent.state.errorMessage).toContain("opened for reading only");
  await reader.close();
});
