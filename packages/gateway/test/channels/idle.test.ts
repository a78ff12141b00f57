/** When a conversation counts as answered, whatever order the end of a run and the arrival of a message have. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isRecord, tryParseJson } from "@tau/ai/internal";
import { scriptedModel, type ScriptedTurn, text } from "@tau/ai/testing";
import { expect, test } from "vitest";
import { type ChannelRecord, ChannelTable } from "../../src/channels/records.ts";
import { openChannelGateway } from "./kit.ts";

function createGate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}

/** Whether an answer is still to be looked for after a crash, as the disk says. */
async function isExpecting(agentDir: string): Promise<boolean | undefined> {
  const table = new ChannelTable();
  const lines = (await readFile(join(agentDir, "gateway", "channels.jsonl"), "utf8")).split("\n");
  for (const line of lines) {
    const record = tryParseJson(line);
    if (isRecord(record)) table.take(record as ChannelRecord);
  }
  return [...table.conversations()][0]?.isExpecting;
}

test("a message whose run is over before the inbox has said that it is kept is answered, and gets its last reaction", async () => {
  const model = scriptedModel([[text("Yes.")]]);
  const opened = await openChannelGateway({ model, account: { reactions: true } });
  const { channel, gateway, agentDir } = opened;
  const { inbox, channels } = gateway.parts;
  const gate = createGate();
  const accept = inbox.accept.bind(inbox);
  inbox.accept = async (draft) => {
    const accepted = await accept(draft);
    await gate.opened;
    return accepted;
  };
  const received = channel.receive("Well?", { id: "m" });
  await expect.poll(() => channel.textsTo()).toEqual(["Yes."]);
  const { sessionId } = gateway.parts.sessions.list()[0]!;
  await expect.poll(() => gateway.parts.sessions.find(sessionId)!.hosted.session.isStreaming).toBe(false);
  // The end of the run is dealt with, and the message is still on its way.
  await channels.settled(sessionId);
  expect([channel.reactions, await isExpecting(agentDir)]).toEqual([[], true]);
  gate.open();
  await received;
  await expect.poll(() => isExpecting(agentDir)).toBe(false);
  expect(channel.reactions).toEqual([
    ["m", "👀"],
    ["m", "👍"],
  ]);
});

test("a conversation does not count as answered while its next message arrives, though its run is over", async () => {
  const [run, arrival] = [createGate(), createGate()];
  const waits: ScriptedTurn = async () => {
    await run.opened;
    return [text("One.")];
  };
  const model = scriptedModel([waits, [text("Two.")]]);
  const { channel, gateway, agentDir } = await openChannelGateway({ model, account: { queue: "followup" } });
  await channel.receive("First", { id: "m1" });
  await expect.poll(() => model.asked.length).toBe(1);
  const received = channel.receive("Second", {
    id: "m2",
    loadFiles: async () => {
      await arrival.opened;
      return [];
    },
  });
  const { sessionId } = gateway.parts.sessions.list()[0]!;
  // It is recorded as received.
  await expect
    .poll(async () => (await readFile(join(agentDir, "gateway", "channels.jsonl"), "utf8")).includes('"m2"'))
    .toBe(true);
  run.open();
  await expect.poll(() => channel.textsTo()).toEqual(["One."]);
  await expect.poll(() => gateway.parts.sessions.find(sessionId)!.hosted.session.isStreaming).toBe(false);
  await gateway.parts.channels.settled(sessionId);
  expect(await isExpecting(agentDir)).toBe(true);
  arrival.open();
  await received;
  await expect.poll(() => channel.textsTo()).toEqual(["One.", "Two."]);
  await expect.poll(() => isExpecting(agentDir)).toBe(false);
});
