import { expect, onTestFinished, test } from "vitest";
import { connectRaw } from "../../src/testing/index.ts";
import { openChannelGateway } from "./kit.ts";

test("messages, replies and connections of an account are counted where the gateway reports its health", async () => {
  const { gateway, channel, token } = await openChannelGateway({ paired: [] });
  const client = await connectRaw(gateway.url, { token });
  onTestFinished(client.close);
  const getCounts = async () => (await client.must<{ channels: Record<string, object> }>("health")).channels;
  const none = { received: 0, sent: 0, refused: 0, uncertain: 0, reconnects: 0 };
  expect(await getCounts()).toEqual({ chat: none });
  // One that nobody answers is a message too.
  await channel.receive("Hello?");
  await channel.receive("Hello?");
  await expect.poll(getCounts).toEqual({ chat: { ...none, received: 2, sent: 1 } });
  channel.nextDeliveries.push({ kind: "refused", reason: "Closed." }, { kind: "unknown", reason: "No answer." });
  const address = { channelId: "c" };
  const reply = { sessionId: "", accountId: "chat", address, text: "", recordedAt: Date.now() };
  await gateway.parts.channels.outbox.add(["a", "b", "c"].map((id) => ({ ...reply, id })));
  await expect.poll(getCounts).toEqual({ chat: { ...none, received: 2, sent: 2, refused: 1, uncertain: 1 } });
  // Only a connection after a lost one is counted.
  channel.setState({ kind: "connected" });
  for (const kind of ["connecting", "connected"] as const) channel.setState({ kind });
  expect(await getCounts()).toMatchObject({ chat: { reconnects: 1 } });
});
