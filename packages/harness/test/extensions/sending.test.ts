/** Messages that extensions send at moments when no run can take them any more, or none has begun. */
import { text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import type { ExtensionAPI, ExtensionFactory } from "@tau/extensions";
import { createTestSession } from "../../src/testing/index.ts";

async function open(factory: ExtensionFactory) {
  const turns = [[text("First.")], [text("Second.")], [text("Third.")]];
  const opened = await createTestSession(turns, { extensions: { factories: [factory] } });
  onTestFinished(() => opened.dispose());
  return opened;
}

/** Calls `send` at the first event of this name. */
const once =
  (name: "agent_end" | "agent_settled" | "session_start", send: (tau: ExtensionAPI) => void): ExtensionFactory =>
  (tau) => {
    let isSent = false;
    tau.on(name as "agent_end", () => {
      if (!isSent) send(tau);
      isSent = true;
    });
  };

const custom = { customType: "note", content: "Go on.", display: true };

test.each([
  ["agent_end", (tau: ExtensionAPI) => tau.sendMessage(custom, { triggerTurn: true })],
  ["agent_settled", (tau: ExtensionAPI) => tau.sendMessage(custom, { triggerTurn: true })],
  ["agent_end", (tau: ExtensionAPI) => tau.sendUserMessage("Go on.", { deliverAs: "followUp" })],
  ["agent_end", (tau: ExtensionAPI) => tau.sendUserMessage("Go on.")],
  ["agent_settled", (tau: ExtensionAPI) => tau.sendUserMessage("Go on.")],
] as const)("what is sent at %s is answered before the prompt is over", async (name, send) => {
  const { prompt, model, session } = await open(once(name, send));
  await prompt("begin");
  expect(session.isStreaming).toBe(false);
  expect(model.asked).toHaveLength(2);
  expect(JSON.stringify(model.asked[1]?.context.messages.at(-1))).toContain("Go on.");
});

test("a message that asks for no answer is kept for the next prompt, and begins no run", async () => {
  const { prompt, model, session } = await open(once("agent_end", (tau) => tau.sendMessage(custom)));
  await prompt("begin");
  expect(model.asked).toHaveLength(1);
  expect((await session.sessionManager.getEntries()).at(-1)).toMatchObject({ type: "custom_message", ...custom });
  await prompt("again");
  expect(JSON.stringify(model.asked[1]?.context.messages)).toContain("Go on.");
});

test("a prompt that is sent when the session begins is answered, and so is that of the user", async () => {
  const { prompt, model, session } = await open(once("session_start", (tau) => tau.sendUserMessage("Hello.")));
  await prompt("begin");
  await expect.poll(() => model.asked.length).toBe(2);
  await session.waitForIdle();
  const said = session.messages.flatMap((message) =>
    message.role === "user" ? [JSON.stringify(message.content)] : [],
  );
  expect(said.map((content) => content.includes("Hello."))).toContain(true);
  expect(said.map((content) => content.includes("begin"))).toContain(true);
});

test.each([undefined, {}, { customType: "x" }, { customType: "x", content: 5 }, { customType: "tau.x", content: "" }])(
  "what is no message is refused, and the run goes on",
  async (message) => {
    const { prompt, model, session } = await open((tau) => {
      tau.on("agent_start", () => tau.sendMessage(message as never));
    });
    await prompt("begin");
    expect(model.asked).toHaveLength(1);
    expect(session.notices.map((notice) => notice.message).join()).toContain("This is not a message.");
  },
);

test("an abort, and the end of a session, stop an extension that sends something after each run", async () => {
  const turns = Array.from({ length: 200 }, () => [text("Again.")]);
  let isTold = false;
  const follow: ExtensionFactory = (tau) => {
    tau.on("agent_end", async () => {
      isTold = true;
      await new Promise((resolve) => setTimeout(resolve, 5));
      tau.sendUserMessage("again", { deliverAs: "followUp" });
      isTold = false;
    });
  };
  const { session, prompt, model, dispose } = await createTestSession(turns, { extensions: { factories: [follow] } });
  for (const end of [() => session.abort(), dispose]) {
    const asked = model.asked.length;
    const running = prompt("begin");
    // When the run is over, and nothing of it is left that could be aborted.
    await expect.poll(() => model.asked.length > asked + 2 && isTold, { interval: 1 }).toBe(true);
    await end();
    await running;
  }
  expect(model.asked.length).toBeLessThan(turns.length);
});
