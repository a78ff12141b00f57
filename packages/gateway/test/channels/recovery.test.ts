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

test("a person reads that a message is given up which waited for too long while the gateway was stopped", async () => {
  const agentDir = await createAgentDir();
  const open = (turns: ScriptedTurn[], ttlMs: number) =>
    openChannelGateway({
      model: scriptedModel(turns),
      options: { agentDir },
      params: { agentDir },
      paired: ["ann", "bob"],
      gateway: { lanes: { global: 1 }, queue: { debounceMs: 1, mode: "followup", ttlMs } },
    });
  const first = await open([never], 60_000);
  await first.channel.receive("Work", { sender: { id: "bob", name: "Bob" } });
  await expect.poll(() => first.model.asked.length).toBe(1);
  await first.channel.receive("Are you there?", { id: "late" });
  await first.gateway.stop();
  const second = await open([[text("Done.")]], 1);
  await expect.poll(() => second.channel.textsTo("with-ann")).toEqual([expect.stringMatching(/^I did not read this/)]);
  expect(second.channel.sent.find(({ address }) => address.channelId === "with-ann")).toMatchObject({
    replyTo: "late",
  });
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
