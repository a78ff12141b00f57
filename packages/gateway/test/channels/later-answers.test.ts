/** Questions of the policy that people answer in a chat after the run that asked them, and after a restart. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { call, scriptedModel, type ScriptedTurn, text } from "@tau/ai/testing";
import { defineTool } from "@tau/harness";
import { describe, expect, onTestFinished, test } from "vitest";
import { connectRaw } from "../../src/testing/index.ts";
import { openChannelGateway, TestChannel } from "./kit.ts";

const group = { address: { channelId: "group" }, peer: { kind: "group" as const, id: "group" }, isMentioned: true };
const bob = { ...group, sender: { id: "bob", name: "Bob" } };

/** An agent directory that gateways use one after the other, and what the calls of their sessions did. */
async function createDesk() {
  const directory = await mkdtemp(join(tmpdir(), "tau-later-answers-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const agentDir = join(directory, "agent");
  const made: string[] = [];
  const refund = defineTool({
    name: "refund",
    description: "Refunds an order.",
    input: { type: "object", properties: { order: { type: "string" } }, required: ["order"] } as const,
    needsApproval: true,
    execute: ({ order }) => {
      made.push(order);
      return "Refunded.";
    },
  });
  // One for all gateways, as a platform gives its messages ids of their own.
  const channel = new TestChannel();
  const open = (turns: ScriptedTurn[]) => {
    channel.forgetSent();
    return openChannelGateway({
      channel,
      model: scriptedModel(turns),
      paired: ["ann", "bob"],
      account: { tools: ["*"] },
      settings: { approvals: { later: true } },
      options: { agentDir },
      params: { agentDir, customTools: [refund] },
    });
  };
  return { agentDir, made, channel, open };
}

type Opened = Awaited<ReturnType<typeof openChannelGateway>>;

const refundOf = (...orders: string[]) => orders.map((order, index) => call("refund", { order }, `c${index}`));

/** Returns what the buttons of the last question say, once there are this many questions. */
async function getButtons({ channel }: Opened, count = 1): Promise<{ allow: string; deny: string }[]> {
  const list = () => channel.sent.filter(({ buttons }) => buttons);
  await expect.poll(() => list().length).toBe(count);
  return list().map(({ buttons }) => ({ allow: buttons![0]!.value, deny: buttons![1]!.value }));
}

const getLast = ({ channel }: Opened) => channel.textsTo("group").at(-1);

/** Waits until the run is over that has asked. */
const untilIdle = async ({ gateway }: Opened) =>
  await expect.poll(() => [...gateway.parts.sessions.all].some(({ hosted }) => hosted.session.isStreaming)).toBe(false);

describe("a question that outlives its run", () => {
  test("is answered by a button or a reply after a restart, by nobody else, and its call is made once", async () => {
    const { open, made } = await createDesk();
    const first = await open([refundOf("a")]);
    await first.channel.receive("Refund it", group);
    const [{ allow } = { allow: "" }] = await getButtons(first);
    await untilIdle(first);
    await first.gateway.stop();

    const second = await open([[text("It is refunded.")]]);
    await second.channel.receive(allow, bob);
    await expect.poll(() => getLast(second)).toMatch(/^Only the person/);
    expect([made, second.model.asked.length]).toEqual([[], 0]);
    await second.channel.receive(allow, group);
    await expect.poll(() => second.channel.textsTo("group").slice(1).toSorted()).toEqual(["It is refunded.", "Noted."]);
    expect(made).toEqual(["a"]);
    await second.channel.receive(allow, group);
    await expect.poll(() => getLast(second)).toBe("This question is not open any more.");
    expect(made).toEqual(["a"]);
  });

  test("is not asked again by a restart, and the run does not continue without its answer", async () => {
    const { open, made } = await createDesk();
    const first = await open([refundOf("a")]);
    await first.channel.receive("Refund it", group);
    const [{ deny } = { deny: "" }] = await getButtons(first);
    await untilIdle(first);
    await first.gateway.stop();
    const second = await open([[text("Then not.")]]);
    await second.channel.receive("/status", group);
    await expect.poll(() => getLast(second)).toContain("Nothing runs.");
    expect([second.channel.textsTo("group").length, second.model.asked.length]).toEqual([1, 0]);
    await second.channel.receive(deny, group);
    await expect.poll(() => second.channel.textsTo("group")).toContain("Then not.");
    expect(made).toEqual([]);
  });

  test("is answered at once while its run is still ending", async () => {
    const { open, made, channel } = await createDesk();
    const opened = await open([refundOf("a"), [text("It is refunded.")]]);
    const answered: Promise<void>[] = [];
    const send = channel.send.bind(channel);
    channel.send = async (message) => {
      const [allow] = message.buttons ?? [];
      if (allow) answered.push(channel.receive(allow.value, group));
      return await send(message);
    };
    await channel.receive("Refund it", group);
    await expect.poll(() => channel.textsTo("group")).toContain("It is refunded.");
    await Promise.all(answered);
    expect([made, opened.model.asked.length]).toEqual([["a"], 2]);
  });

  test("begins one run, however many answers arrive at once", async () => {
    const { open, made } = await createDesk();
    const opened = await open([refundOf("a", "b"), [text("Both are refunded.")]]);
    const { channel, model, gateway, token } = opened;
    await channel.receive("Refund both", group);
    const questions = await getButtons(opened, 2);
    await untilIdle(opened);
    const client = await connectRaw(gateway.url, { token });
    const { sessionId } = gateway.parts.sessions.list()[0]!;
    const approve = (value: string) =>
      client.call("session.approve", { sessionId, approvalId: value.split(" ")[1]!, decision: "allow" });
    const [responses] = await Promise.all([
      Promise.all(questions.map(({ allow }) => approve(allow))),
      ...questions.flatMap(({ allow }) => [channel.receive(allow, group), channel.receive(allow, group)]),
    ]);
    await expect.poll(() => channel.textsTo("group")).toContain("Both are refunded.");
    await untilIdle(opened);
    expect([made, model.asked.length]).toEqual([["a", "b"], 2]);
    // Of the three answers to each question, one is taken.
    const listReplies = () => channel.textsTo("group").filter((each) => /^(Noted|This question)/.test(each));
    await expect.poll(() => listReplies().length).toBe(4);
    const taken = listReplies().filter((each) => each === "Noted.").length;
    expect(taken + responses.filter(({ ok }) => ok).length).toBe(2);
  });

  test("belongs to the same person when the run that was resumed asks again, whoever wrote last", async () => {
    const { open, made } = await createDesk();
    const first = await open([refundOf("a")]);
    await first.channel.receive("Refund it", group);
    const [{ allow } = { allow: "" }] = await getButtons(first);
    await untilIdle(first);
    await first.gateway.stop();
    const second = await open([refundOf("b"), [text("Both.")]]);
    await second.channel.receive(allow, group);
    const [{ allow: again } = { allow: "" }] = await getButtons(second);
    await second.channel.receive(again, bob);
    await expect.poll(() => getLast(second)).toMatch(/^Only the person/);
    await second.channel.receive(again, group);
    await expect.poll(() => second.channel.textsTo("group")).toContain("Both.");
    expect(made).toEqual(["a", "b"]);
  });

  test("is closed by the next message, which comes first", async () => {
    const { open, made } = await createDesk();
    const opened = await open([refundOf("a"), [text("I leave it.")]]);
    await opened.channel.receive("Refund it", group);
    const [{ allow } = { allow: "" }] = await getButtons(opened);
    await untilIdle(opened);
    await opened.channel.receive("Never mind", group);
    await expect.poll(() => getLast(opened)).toBe("I leave it.");
    await opened.channel.receive(allow, group);
    await expect.poll(() => getLast(opened)).toBe("This question is not open any more.");
    expect(made).toEqual([]);
  });

  test("can be answered after the person has begun a new session", async () => {
    const { open, made } = await createDesk();
    const opened = await open([refundOf("a"), [text("It is refunded.")]]);
    await opened.channel.receive("Refund it", group);
    const [{ allow } = { allow: "" }] = await getButtons(opened);
    await untilIdle(opened);
    await opened.channel.receive("/new", group);
    await opened.channel.receive(allow, group);
    await expect.poll(() => opened.channel.textsTo("group")).toContain("It is refunded.");
    expect(made).toEqual(["a"]);
  });
});

test("a client's answer resumes the run, unless the client wants to do that itself", async () => {
  const { open, made } = await createDesk();
  const opened = await open([refundOf("a"), [text("One.")], refundOf("b"), [text("Two.")]]);
  const { channel, gateway, token } = opened;
  const client = await connectRaw(gateway.url, { token });
  await channel.receive("Refund it", group);
  const [first] = await getButtons(opened);
  await untilIdle(opened);
  const { sessionId } = gateway.parts.sessions.list()[0]!;
  const answer = { sessionId, decision: "allow" };
  await client.must("session.approve", { ...answer, approvalId: first!.allow.split(" ")[1]! });
  await expect.poll(() => getLast(opened)).toBe("One.");
  await channel.receive("And this", group);
  const [, second] = await getButtons(opened, 2);
  await untilIdle(opened);
  await client.must("session.approve", { ...answer, approvalId: second!.allow.split(" ")[1]!, resume: false });
  expect(made).toEqual(["a"]);
  await client.must("session.resume", { sessionId });
  await expect.poll(() => getLast(opened)).toBe("Two.");
  expect(made).toEqual(["a", "b"]);
});

test("an answer that was kept before the gateway ended resumes its run after the next start, whoever gave it", async () => {
  const { open, made } = await createDesk();
  const first = await open([refundOf("a")]);
  const client = await connectRaw(first.gateway.url, { token: first.token });
  const { sessionId } = await client.must<{ sessionId: string }>("sessions.create", { cwd: first.workspace });
  await client.must("session.execute", { sessionId, prompt: "Refund it", outcome: true });
  const { session } = first.gateway.parts.sessions.find(sessionId)!.hosted;
  const [question] = await session.getQuestions();
  // As `session.approve` does, if the gateway is killed before the run begins.
  await session.approve(question!.id, { decision: "allow" }, { resumes: true });
  await first.gateway.stop();
  expect(made).toEqual([]);
  const second = await open([[text("It is refunded.")]]);
  await expect.poll(() => made).toEqual(["a"]);
  await expect.poll(() => second.gateway.parts.sessions.find(sessionId)?.hosted.session.isStreaming).toBe(false);
  await second.gateway.stop();
  await open([]);
  expect(made).toEqual(["a"]);
});
