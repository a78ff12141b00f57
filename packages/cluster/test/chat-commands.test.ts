/** Commands that people type in a chat, for sessions that another node than the one with the account runs. */
import { call, scriptedModel, type ScriptedTurn, text } from "@tau/ai/testing";
import { describe, expect, test } from "vitest";
import { pairWith, TestChannel } from "../../gateway/test/channels/kit.ts";
import { type GatewayNode, useCluster } from "./kit.ts";
import { hasNats } from "./nats-servers.ts";

/** A turn that waits until it is aborted. */
const endless: ScriptedTurn = (_context, { signal }) =>
  new Promise((resolve) => signal?.addEventListener("abort", () => resolve([text("")])));

const settings = { gateway: { queue: { debounceMs: 1 }, channels: { chat: { type: "test" } } } };

describe.skipIf(!hasNats)("a chat whose session runs on another node", () => {
  const { openGateway } = useCluster();

  test("its run is stopped, its questions are answered, and it is renewed", async () => {
    const channel = new TestChannel();
    const channelTypes = { test: async () => ({ secrets: {}, open: async () => channel }) };
    /** Before it, the node reads that the session is idle, as if the record of the message came after the message. */
    const late: ScriptedTurn = async () => {
      await b.gateway.parts.cluster!.channels.append({ type: "idle", sessionId });
      return [call("read", { path: "/etc/hostname" })];
    };
    const models = [scriptedModel([[text("Hi.")]]), scriptedModel([endless, late, [text("Done.")]])];
    const open = (name: string, index: number) =>
      openGateway(name, models[index]!, { settings, options: { channelTypes } });
    const a = await open("chat-a", 0);
    await expect.poll(() => channel.isOpen).toBe(true);
    const b = await open("chat-b", 1);
    await pairWith(a.gateway.parts.channels, { accountId: "chat", channel }, "ann");
    await channel.receive("Hello");
    await expect.poll(() => channel.textsTo().at(-1)).toBe("Hi.");
    const { sessionId } = a.gateway.parts.sessions.list()[0]!;
    const say = async (words: string) => {
      const before = channel.textsTo().length;
      await channel.receive(words);
      await expect.poll(() => channel.textsTo().length).toBeGreaterThan(before);
      return channel.textsTo().at(-1);
    };

    await moveSession(sessionId, a, b);
    await expect.poll(() => models[1]!.asked.length).toBe(1);
    expect(await say("/status")).toContain("A run is in progress.");
    expect(await say("/stop")).toBe("The run is stopped.");
    expect(await say("/think nonsense")).toContain("nonsense");
    expect(await say("/status")).toContain("Nothing runs.");
    await channel.receive("Which host?");
    await expect.poll(() => channel.sent.at(-1)?.buttons).toHaveLength(2);
    await channel.press(channel.sent.at(-1)!.buttons![0]!.value);
    // The answer may come before what is said of the press.
    await expect.poll(() => channel.textsTo()).toEqual(expect.arrayContaining(["Noted.", "Done."]));
    expect(models[1]!.asked[2]!.context.messages.at(-1)).toMatchObject({ role: "toolResult", isError: false });
    expect(a.gateway.parts.sessions.find(sessionId)).toBeUndefined();
    expect(await say("/new")).toBe("The next message begins a new session.");
  });
});

/** Closes a session at one node, and begins a run of it at another. */
async function moveSession(sessionId: string, from: GatewayNode, to: GatewayNode): Promise<void> {
  await from.gateway.parts.sessions.close(sessionId);
  // Answered when the run is over.
  void to.client.call("session.execute", { sessionId, prompt: "Work" });
  await expect.poll(() => to.gateway.parts.sessions.find(sessionId)).toBeDefined();
}
