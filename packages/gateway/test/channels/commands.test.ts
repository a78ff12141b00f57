import { call, scriptedModel, type ScriptedTurn, text } from "@tau/ai/testing";
import { describe, expect, test } from "vitest";
import { openChannelGateway } from "./kit.ts";

/** A turn that waits until it is aborted. */
const endless: ScriptedTurn = (_context, { signal }) =>
  new Promise((resolve) => signal?.addEventListener("abort", () => resolve([text("")])));

test("/help lists the commands, and costs nothing", async () => {
  const model = scriptedModel([]);
  const { channel } = await openChannelGateway({ model });
  await channel.receive("/help");
  await expect.poll(() => channel.textsTo()[0]).toContain("/stop: ends the run");
  expect(model.asked).toHaveLength(0);
});

test("/new makes the next message begin a session", async () => {
  const model = scriptedModel([[text("One.")], [text("Two.")]]);
  const { channel } = await openChannelGateway({ model });
  await channel.receive("Hi");
  await expect.poll(() => channel.textsTo()).toEqual(["One."]);
  await channel.receive("/new");
  await channel.receive("Hi again");
  await expect.poll(() => channel.textsTo().at(-1)).toBe("Two.");
  expect(model.asked[1]!.context.messages).toHaveLength(1);
});

test("/stop ends the run, and a message in the mode interrupt does too", async () => {
  const model = scriptedModel([endless, endless, [text("Here.")]]);
  const { channel, gateway } = await openChannelGateway({ model });
  const ends: string[] = [];
  gateway.parts.sessions.watch({
    onOpened: ({ session }) =>
      session.onSessionEvent((event) => {
        if (event.type === "agent_end") ends.push(event.terminationReason);
      }),
  });
  await channel.receive("Work");
  await expect.poll(() => model.asked.length).toBe(1);
  await channel.receive("/stop");
  await expect.poll(() => channel.textsTo()).toEqual(["The run is stopped."]);
  await channel.receive("/queue interrupt");
  await channel.receive("Work again");
  await expect.poll(() => model.asked.length).toBe(2);
  await channel.receive("No, this");
  await expect.poll(() => channel.textsTo().at(-1)).toBe("Here.");
  expect(ends.slice(0, 2)).toEqual(["abort_signal", "abort_signal"]);
});

test("/status, /model and /think say what the session has, and nothing is there before it", async () => {
  const model = scriptedModel([[text("Hi.")]]);
  const { channel } = await openChannelGateway({ model });
  await channel.receive("/status");
  await expect.poll(() => channel.textsTo()).toEqual(["There is no session yet. Write something first."]);
  await channel.receive("Hi");
  await expect.poll(() => channel.textsTo().at(-1)).toBe("Hi.");
  await channel.receive("/status");
  await expect.poll(() => channel.textsTo().at(-1)).toMatch(/^Model: .+\nThinking: .+\nNothing runs\.\nSession: /);
  await channel.receive("/thinking nonsense");
  await expect.poll(() => channel.textsTo().at(-1)).toContain("nonsense");
  await channel.receive("/model there-is-none");
  await expect.poll(() => channel.textsTo().at(-1)).toContain("there-is-none");
  await channel.receive("/compact");
  await expect.poll(() => channel.textsTo().at(-1)).toMatch(/shorten/);
});

describe("a question of the policy", () => {
  const asking = () => scriptedModel([[call("read", { path: "/etc/hostname" })], [text("Done.")]]);
  const group = { address: { channelId: "group" }, peer: { kind: "group" as const, id: "group" }, isMentioned: true };

  test("is asked in the conversation, with buttons, and answered by who it is for", async () => {
    const model = asking();
    const { channel } = await openChannelGateway({ model, paired: ["ann", "bob"] });
    await channel.receive("Which host?", group);
    await expect.poll(() => channel.textsTo("group")[0]).toMatch(/\/etc\/hostname/);
    const { buttons = [] } = channel.sent.at(-1)!;
    expect(buttons.map(({ label }) => label)).toEqual(["Allow once", "Deny"]);
    const allow = buttons[0]!.value;
    await channel.receive(allow, { ...group, sender: { id: "bob", name: "Ann" } });
    await expect.poll(() => channel.textsTo("group").at(-1)).toMatch(/^Only the person/);
    expect(model.asked).toHaveLength(1);
    await channel.receive(allow, group);
    await expect.poll(() => channel.textsTo("group")).toContain("Done.");
    expect(model.asked[1]!.context.messages.at(-1)).toMatchObject({ role: "toolResult", isError: false });
    await channel.receive(allow, group);
    await expect.poll(() => channel.textsTo("group").at(-1)).toBe("This question is not open any more.");
  });

  test("cannot be answered by somebody who writes meanwhile", async () => {
    const model = asking();
    const { channel } = await openChannelGateway({
      model,
      paired: ["ann", "bob"],
      account: { queue: "followup" },
    });
    await channel.receive("Which host?", group);
    await expect.poll(() => channel.sent.at(-1)?.buttons).toHaveLength(2);
    const allow = channel.sent.at(-1)!.buttons![0]!.value;
    const bob = { ...group, sender: { id: "bob", name: "Bob" } };
    await channel.receive("Me too", bob);
    await channel.receive(allow, bob);
    await expect.poll(() => channel.textsTo("group").at(-1)).toMatch(/^Only the person/);
    expect(model.asked).toHaveLength(1);
    await channel.receive(allow, group);
    await expect.poll(() => channel.textsTo("group")).toContain("Done.");
  });

  test("is answered by a button, and not by the button of a stranger", async () => {
    const model = asking();
    const { channel } = await openChannelGateway({ model });
    await channel.receive("Which host?");
    await expect.poll(() => channel.sent.at(-1)?.buttons).toHaveLength(2);
    const deny = channel.sent.at(-1)!.buttons![1]!.value;
    await channel.press(deny, "mallory");
    expect(model.asked).toHaveLength(1);
    await channel.press(deny);
    await expect.poll(() => channel.textsTo()).toContain("Done.");
    expect(model.asked[1]!.context.messages.at(-1)).toMatchObject({ role: "toolResult", isError: true });
  });
});
