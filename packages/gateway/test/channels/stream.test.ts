import { createFakeClock, scriptedModel, type ScriptedTurn, text } from "@tau/ai/testing";
import { createMemoryStorage } from "@tau/harness/session";
import { describe, expect, onTestFinished, test } from "vitest";
import { splitText } from "../../src/channels/split-text.ts";
import { openChannelGateway, TestChannel } from "./kit.ts";

const limits = { minEditIntervalMs: 50 };

/** A model that writes a piece whenever its clock is advanced by a second. */
function slowModel(turns: readonly ScriptedTurn[]) {
  const clock = createFakeClock();
  const model = scriptedModel(turns, { tokensPerSecond: 1, clock });
  return { model, write: (pieces: number) => clock.advance(pieces * 1_000) };
}

const paragraphs = Array.from({ length: 8 }, (_, index) => `Paragraph ${index}: ${"word ".repeat(12).trim()}.`);
const longText = [
  ...paragraphs.slice(0, 4),
  `\`\`\`js\n${"const value = compute();\n".repeat(20)}\`\`\``,
  ...paragraphs.slice(4),
].join("\n\n");

/** Whether every code block of a message ends in it. */
const isClosed = (message: string) => (message.match(/^```/gm) ?? []).length % 2 === 0;

test("people see an answer grow, and in the end all of it, once", async () => {
  const { model, write } = slowModel([[text(longText)]]);
  const { channel, gateway } = await openChannelGateway({
    model,
    channel: new TestChannel({ ...limits, maxTextLength: 300 }),
  });
  await channel.receive("Tell me");
  await expect.poll(() => model.asked.length).toBe(1);
  let pieces = 0;
  const writeUntil = async (isEnough: () => boolean) => {
    for (; !isEnough() && pieces < 2_000; pieces += 5) {
      await write(5);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await writeUntil(() => pieces >= 60);
  await expect.poll(() => channel.seen.length).toBeGreaterThan(0);
  const before = channel.seen.length;
  await writeUntil(() => channel.seen.length > before);
  await write(2_000);
  const wanted = splitText(longText, 300);
  await expect.poll(() => [...channel.shown.values()]).toEqual(wanted);
  await expect.poll(() => gateway.parts.channels.listUndelivered()).toEqual([]);
  expect(channel.attempts).toHaveLength(wanted.length);
  expect(channel.seen.filter((seen) => !isClosed(seen) || seen.length > 300)).toEqual([]);
  expect(channel.sent.filter(({ replyTo }) => replyTo !== undefined)).toHaveLength(1);
});

test("a run that is stopped says so below what people saw", async () => {
  const { model, write } = slowModel([[text(paragraphs.join("\n\n"))]]);
  const { channel } = await openChannelGateway({ model, channel: new TestChannel(limits) });
  await channel.receive("Tell me");
  await expect.poll(() => model.asked.length).toBe(1);
  await write(60);
  await expect.poll(() => channel.seen.length).toBe(1);
  await channel.receive("/stop");
  await expect
    .poll(() => [...channel.shown.values()])
    .toEqual([
      expect.stringMatching(/^Paragraph 0[^]*\(The answer ends here, because the run was ended\.\)$/),
      "The run is stopped.",
    ]);
});

test("an answer that failed on its way continues in the same message", async () => {
  const failed = {
    content: text(paragraphs.slice(0, 5).join("\n\n")),
    failure: { kind: "overloaded", message: "Busy." },
  };
  const { model, write } = slowModel([
    { ...failed, content: [failed.content] } as ScriptedTurn,
    [text("All in all: forty-two.")],
  ]);
  const { channel } = await openChannelGateway({
    model,
    channel: new TestChannel(limits),
    settings: { retry: { baseDelayMs: 1 } },
  });
  await channel.receive("Tell me");
  await expect.poll(() => model.asked.length).toBe(1);
  await write(40);
  await expect.poll(() => channel.seen.length).toBe(1);
  await write(1_000);
  await expect.poll(() => model.asked.length, { timeout: 20_000 }).toBe(2);
  await write(1_000);
  await expect.poll(() => [...channel.shown.values()]).toEqual(["All in all: forty-two."]);
});

describe("nobody sees while it is written", () => {
  test.each([
    ["a silent answer", [text("HEARTBEAT_OK")], {}],
    ["thinking", [{ type: "thinking" as const, thinking: longText }, text("__SILENT__")], {}],
    ["an answer where the account turns it off", [text(longText)], { stream: false }],
  ])("%s", async (_name, content, account) => {
    const { model, write } = slowModel([content, [text("Next.")]]);
    const { channel } = await openChannelGateway({ model, channel: new TestChannel(limits), account });
    await channel.receive("Tell me");
    await expect.poll(() => model.asked.length).toBe(1);
    await write(1);
    // Longer than it takes until the first piece is shown.
    await new Promise((resolve) => setTimeout(resolve, 1_700));
    expect(channel.seen).toEqual([]);
    await write(5_000);
    await channel.receive("And?");
    await expect.poll(() => model.asked.length).toBe(2);
    await write(1_000);
    await expect.poll(() => channel.seen.at(-1)).toBe("Next.");
    expect(channel.attempts.length).toBe(channel.seen.length);
  });
});

test("a run is over when it ends, also if the inbox has not written yet that its message was injected", async () => {
  const storage = createMemoryStorage();
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  const open = storage.open.bind(storage);
  storage.open = async (key, options) => {
    const log = await open(key, options);
    const append = log.append.bind(log);
    log.append = async (bytes, ...rest) => {
      if (key === "gateway/inbox" && Buffer.from(bytes).includes("injected")) await held;
      return await append(bytes, ...rest);
    };
    return log;
  };
  const model = scriptedModel([[text("Yes.")]]);
  const { channel } = await openChannelGateway({ model, options: { storage }, account: { reactions: true } });
  onTestFinished(() => release());
  await channel.receive("Well?", { id: "good" });
  await expect.poll(() => channel.reactions.at(-1)).toEqual(["good", "👍"]);
});

test("reactions say what became of a message, if the account wants them", async () => {
  const model = scriptedModel([[text("Yes.")]]);
  const { channel } = await openChannelGateway({ model, account: { reactions: true } });
  await channel.receive("Well?", { id: "good" });
  await expect
    .poll(() => channel.reactions)
    .toEqual([
      ["good", "👀"],
      ["good", "👍"],
    ]);
  await channel.receive("And now?", { id: "bad" });
  await expect
    .poll(() => channel.reactions.slice(2))
    .toEqual([
      ["bad", "👀"],
      ["bad", "👎"],
    ]);
});
