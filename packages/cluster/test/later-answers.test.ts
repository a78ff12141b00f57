/** Questions that outlive their run, answered at nodes that do not have the session, or after its node was lost. */
import { call, scriptedModel, type ScriptedTurn, text } from "@tau/ai/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { pairWith, TestChannel } from "../../gateway/test/channels/kit.ts";
import { type GatewayNode, useCluster } from "./kit.ts";
import { hasNats } from "./nats-servers.ts";

describe.skipIf(!hasNats)("a question in a chat that outlives its run", () => {
  const { openGateway } = useCluster();

  /** Two nodes, of which the first has the account, and a session there that has asked Ann. */
  async function ask(turns: readonly ScriptedTurn[]) {
    // Of each test's own: the servers remember the messages and sessions of the others.
    const accountId = `chat-${crypto.randomUUID()}`;
    const gateway = { queue: { debounceMs: 1 }, channels: { [accountId]: { type: "test" } } };
    const settings = { approvals: { later: true }, gateway };
    const channel = new TestChannel();
    const channelTypes = { test: async () => ({ secrets: {}, open: async () => channel }) };
    const models = [scriptedModel([[call("read", { path: "/etc/hostname" })]]), scriptedModel([...turns])];
    const open = (name: string, index: number) =>
      openGateway(`${name}-${crypto.randomUUID()}`, models[index]!, { settings, options: { channelTypes } });
    const a = await open("a", 0);
    await expect.poll(() => channel.isOpen, { timeout: 20_000 }).toBe(true);
    const b = await open("b", 1);
    await pairWith(a.gateway.parts.channels, { accountId, channel }, "ann");
    await channel.receive("Which host?");
    await expect.poll(() => channel.sent.at(-1)?.buttons, { timeout: 20_000 }).toHaveLength(2);
    const { sessionId } = a.gateway.parts.sessions.list()[0]!;
    const session = a.gateway.parts.sessions.find(sessionId)!.hosted.session;
    await expect.poll(() => session.isStreaming).toBe(false);
    const allow = channel.sent.at(-1)!.buttons![0]!.value;
    return { a, b, channel, sessionId, session, allow, model: models[1]! };
  }

  const closeAt = (node: GatewayNode, sessionId: string) => node.gateway.parts.sessions.close(sessionId);

  test("is answered at the node that has the account, and its run is resumed at the one that has the session", async () => {
    const { a, b, channel, sessionId, allow, model } = await ask([[text("This one.")]]);
    await closeAt(a, sessionId);
    await b.gateway.parts.sessions.open(sessionId);
    const approve = ({ client }: GatewayNode) =>
      client.call("session.approve", { sessionId, approvalId: allow.split(" ")[1]!, decision: "allow" });
    const answers = [approve(a), approve(b)];
    await Promise.all([channel.press(allow), channel.receive(allow)]);
    const responses = await Promise.all(answers);
    await expect.poll(() => channel.textsTo(), { timeout: 20_000 }).toContain("This one.");
    expect(model.asked).toHaveLength(1);
    const results = model.asked[0]!.context.messages.filter(({ role }) => role === "toolResult");
    expect(results).toMatchObject([{ isError: false }]);
    const listReplies = () => channel.textsTo().filter((each) => /^(Noted|This question)/.test(each));
    await expect.poll(() => listReplies().length, { timeout: 20_000 }).toBe(2);
    const taken = listReplies().filter((each) => each === "Noted.").length;
    expect(taken + responses.filter(({ ok }) => ok).length).toBe(1);
  });

  test("is resumed by the node that opens the session next, if its node was lost after the answer", async () => {
    const { a, b, channel, sessionId, session, allow, model } = await ask([[text("This one.")]]);
    // As the answer of a person does, if the node is lost before the run begins.
    await session.approve(allow.split(" ")[1]!, { decision: "allow" }, { resumes: true });
    a.cable.cut();
    onTestFinished(() => a.cable.heal());
    await expect.poll(() => b.gateway.parts.sessions.find(sessionId), { timeout: 30_000 }).toBeDefined();
    await expect.poll(() => channel.textsTo(), { timeout: 30_000 }).toContain("This one.");
    expect(model.asked).toHaveLength(1);
    expect(channel.textsTo().filter((each) => each === "This one.")).toHaveLength(1);
  });
});
