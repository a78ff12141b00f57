/** The tool `agents`: list, send, wait, read and stop. */
import type { ToolResultMessage } from "@tau/ai";
import { call, text } from "@tau/ai/testing";
import { expect, test } from "vitest";
import { createGate, getAgentId, hang, openPlay, type Parts } from "./script.ts";

const task = (description: string) => ({ description, prompt: `Do ${description}.` });
const inBackground = (...names: string[]) => [call("task", { tasks: names.map(task), background: true })];
const act = (args: Record<string, unknown>) => [call("call_tool", { name: "agents", arguments: args })];

const getTexts = ({ messages }: { messages: readonly { role: string }[] }): string[] =>
  (messages.filter(({ role }) => role === "toolResult") as ToolResultMessage[]).map(({ content }) =>
    content.map((block) => (block.type === "text" ? block.text : "")).join(""),
  );

/** The reports of tasks that the model got in results and in messages, by their ids. */
const getReports = ({ messages }: { messages: readonly { role: string; content?: unknown }[] }): string[] =>
  messages
    .filter(({ role }) => role === "toolResult" || role === "custom")
    .map(({ content }) =>
      typeof content === "string" ? content : (content as { text?: string }[]).map((block) => block.text).join(""),
    )
    .flatMap((content) => content.split("\n\n"))
    .filter((part) => part.startsWith("[Task "))
    .toSorted();

/** Starts agents in the background, and takes one action after the other. */
async function play(names: string[], actions: readonly object[], parts: Parts) {
  const opened = await openPlay({
    main: (step) => {
      if (step === 1) return inBackground(...names);
      const action = actions[step - 2];
      return action ? act(action as Record<string, unknown>) : [text("Done.")];
    },
    ...parts,
  });
  await opened.prompt("go");
  return { ...opened, results: getTexts(opened.session).slice(1) };
}

test("wait answers with what ended, which is then not delivered again", async () => {
  const { results, session } = await play(["one", "two"], [{ action: "wait" }, { action: "wait", id: "1" }], {
    default: (_step, context) => [text(`I am ${getAgentId(context)}.`)],
  });
  expect(results[1]).toBe("Nothing of yours is running in the background.");
  // One that ends before the call waits for it arrives as a message.
  expect(getReports(session)).toEqual([
    expect.stringMatching(/^\[Task 1 .*\nI am 1\.$/s),
    expect.stringMatching(/^\[Task 2 .*\nI am 2\.$/s),
  ]);
});

test("wait gives up after its time, and the answer arrives later", async () => {
  const gate = createGate();
  const { results, session } = await play(["slow"], [{ action: "wait", seconds: 0.01 }, { action: "list" }], {
    "1": async () => {
      await gate.opened;
      return [text("Finally.")];
    },
    main: (step) => {
      if (step === 1) return inBackground("slow");
      if (step === 2) return act({ action: "wait", seconds: 0.01 });
      gate.open();
      return [text("Done.")];
    },
  });
  expect(results[0]).toBe("Still running: agent 1 (slow).");
  expect(JSON.stringify(session.messages)).toContain("Finally.");
});

test("agents send messages to each other and to the main agent, and read transcripts", async () => {
  const heard = createGate();
  const { results, session } = await play(
    ["one", "two"],
    [{ action: "wait" }, { action: "read", id: "2" }, { action: "list" }],
    {
      "1": async (step) => {
        if (step === 1) return act({ action: "send", id: "2", message: "the number is 7" });
        if (step === 2) return act({ action: "send", id: "main", message: "all is well" });
        return [text("Sent.")];
      },
      "2": async (_step, context) => {
        if (JSON.stringify(context.messages).includes("the number is 7")) {
          heard.open();
          return [text("I heard 7.")];
        }
        return [call("ls", {})];
      },
    },
  );
  await heard.opened;
  expect(results[0]).toContain("I heard 7.");
  expect(results[1]).toMatch(/^\[Lines 1 to \d+ of \d+\.\]\n> Do two\.\n/);
  expect(results[1]).toContain("> [Message of agent 1 (one)]\n> the number is 7");
  expect(results[2]).toMatch(/^You are the main agent\.\n1 one · done.*\n2 two · done/);
  expect(JSON.stringify(session.messages)).toContain("[Message of agent 1 (one)]\\nall is well");
});

test("a mailbox holds 100 messages and refuses more by name", async () => {
  const refusals: string[] = [];
  await play(
    ["flooder", "deaf"],
    [
      { action: "wait", id: "1", seconds: 600 },
      { action: "stop", id: "2" },
    ],
    {
      "1": (step, context) => {
        const last = JSON.stringify(context.messages.at(-1));
        if (last.includes("is full")) refusals.push(last);
        if (refusals.length > 0) return [text("Full.")];
        return step > 5
          ? [text("Never full.")]
          : Array.from({ length: 40 }, (_, index) =>
              call("call_tool", { name: "agents", arguments: { action: "send", id: "2", message: `m${index}` } }),
            );
      },
      "2": (_step, _context, signal) => hang(signal),
    },
  );
  expect(refusals.join("")).toContain("The mailbox of agent 2 (deaf) is full: it has not read 100 messages.");
});

test("stop ends an agent, but only those of the one who asks", async () => {
  const { results, session } = await play(
    ["one", "two"],
    [
      { action: "wait", id: "2" },
      { action: "stop", id: "1" },
      { action: "wait" },
      { action: "send", id: "1", message: "x" },
    ],
    {
      "1": (_step, _context, signal) => hang(signal),
      "2": (step) => (step === 1 ? act({ action: "stop", id: "1" }) : [text("I tried.")]),
    },
  );
  expect(results[0]).toContain("I tried.");
  expect(results[1]).toBe("Stopped agent 1 (one).");
  expect(getReports(session)[0]).toMatch(/^\[Task 1 \(one\): stopped/);
  expect(results[3]).toMatch(/^It has ended: agent 1 \(one\)\. To continue it/);
  expect(session.hasWork).toBe(false);
});

test("an unknown agent is refused with those that there are", async () => {
  const { results } = await play(["one"], [{ action: "read", id: "9" }, { action: "dance" }], {
    "1": () => [text("ok")],
  });
  expect(results[0]).toBe('There is no agent "9". There are: main, 1.');
  expect(results[1]).toMatch(/is not one of|must be|action/);
});

test("a task that ended can be resumed with what it knows", async () => {
  const { session } = await openPlay({
    main: (step) => {
      if (step === 1) return [call("task", task("one"))];
      if (step === 2) return [call("task", { resume: "1", prompt: "And now?" })];
      return [text("Done.")];
    },
    "1": (step) => [text(`Answer ${step}.`)],
  }).then(async (opened) => {
    await opened.prompt("go");
    return opened;
  });
  expect(getTexts(session)[1]).toMatch(/^\[Task 1 \(one\): done.*\nAnswer 2\.$/);
});
