import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { call, scriptedModel, type ScriptedTurn, text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { openChannelGateway } from "./kit.ts";

const never: ScriptedTurn = (_context, { signal }) =>
  new Promise((resolve) => signal?.addEventListener("abort", () => resolve([text("")])));

async function createAgentDir(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "tau-channels-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return join(directory, "agent");
}

test("an answer whose run was cut is given after the restart, once", async () => {
  const agentDir = await createAgentDir();
  const first = await openChannelGateway({
    model: scriptedModel([[call("ls", { path: "." })], never]),
    options: { agentDir },
    params: { agentDir },
  });
  await first.channel.receive("Look around");
  await expect.poll(() => first.model.asked.length).toBe(2);
  await first.gateway.stop();
  const second = await openChannelGateway({
    model: scriptedModel([[text("It is empty.")], [text("Again.")]]),
    options: { agentDir },
    params: { agentDir },
  });
  await expect.poll(() => second.channel.textsTo()).toEqual(["It is empty."]);
  await second.gateway.stop();
  const third = await openChannelGateway({
    model: scriptedModel([[text("Not asked for.")]]),
    options: { agentDir },
    params: { agentDir },
  });
  await third.channel.receive("/help");
  await expect.poll(() => third.channel.textsTo()).toHaveLength(1);
  expect(third.model.asked).toHaveLength(0);
});

test("a session keeps its tools and its conversation over a restart", async () => {
  const agentDir = await createAgentDir();
  const first = await openChannelGateway({
    model: scriptedModel([[text("One.")]]),
    options: { agentDir },
    params: { agentDir },
  });
  await first.channel.receive("Hi");
  await expect.poll(() => first.channel.textsTo()).toEqual(["One."]);
  await first.gateway.stop();
  const second = await openChannelGateway({
    model: scriptedModel([[text("Two.")]]),
    options: { agentDir },
    params: { agentDir },
  });
  await second.channel.receive("Hi", { id: "later" });
  await expect.poll(() => second.channel.textsTo()).toEqual(["Two."]);
  const { messages, tools } = second.model.asked[0]!.context;
  expect(messages).toHaveLength(3);
  expect(tools!.map(({ name }) => name)).toContain("test_reply");
  expect(tools!.map(({ name }) => name)).not.toContain("bash");
});
