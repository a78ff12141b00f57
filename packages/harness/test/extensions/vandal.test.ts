/** A trusted extension that writes garbage into what it is told costs its own events, and no run. */
import { call, text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { type ExtensionEventName, extensionEventNames, type ExtensionFactory } from "@tau/extensions";
import { createTestSession } from "../../src/testing/index.ts";

async function open(factory: ExtensionFactory) {
  const opened = await createTestSession([[text("I look. "), call("ls", {})], [text("Done.")], [text("Again.")]], {
    extensions: { factories: [factory] },
  });
  onTestFinished(() => opened.dispose());
  return opened;
}

const told = async (factory: ExtensionFactory): Promise<string[]> => {
  const { prompt, transcript } = await open(factory);
  await prompt("look");
  await prompt("once more");
  return transcript().filter((line) => !line.startsWith("notice extension"));
};

const plain = [
  "user: look",
  "assistant: I look. ",
  "call ls {}",
  "result ls: (the directory is empty)",
  "assistant: Done.",
  "end: no_tool_calls",
  "user: once more",
  "assistant: Again.",
  "end: no_tool_calls",
];

/** Replaces everything in an object by values of other types, and adds more. */
function wreck(value: unknown, garbage: () => unknown, seen = new Set<unknown>()): void {
  if (typeof value !== "object" || value === null || seen.has(value)) return;
  seen.add(value);
  for (const field of Object.values(value)) wreck(field, garbage, seen);
  for (const key of Object.keys(value)) {
    if (key !== "type" && key !== "signal") Reflect.set(value, key, garbage());
  }
  if (Array.isArray(value)) value.push(garbage(), garbage());
}

const garbage: [string, () => unknown][] = [
  ["nothing", () => undefined],
  ["numbers", () => 7],
  ["functions", () => () => {}],
  [
    "circles",
    () => {
      const circle: Record<string, unknown> = {};
      circle["self"] = circle;
      return circle;
    },
  ],
  [
    "getters that throw",
    () => ({
      get type(): string {
        throw new Error("trap");
      },
    }),
  ],
];

/** Told after the fact, or made to be changed with an answer. */
const names: ExtensionEventName[] = [
  "message_start",
  "message_update",
  "message_end",
  "tool_execution_start",
  "tool_execution_update",
  "tool_execution_end",
  "tool_result",
  "turn_start",
  "turn_end",
  "agent_start",
  "agent_end",
  "agent_before_settle",
  "agent_settled",
  "before_agent_start",
  "input",
  "session_start",
];

test.each(garbage.flatMap(([what, make]) => names.map((name) => [what, name, make] as const)))(
  "%s in the event %s change nothing of the conversation",
  async (_what, name, make) => {
    expect(await told((tau) => void tau.on(name as "agent_start", (event) => wreck(event, make)))).toEqual(plain);
  },
);

test("the events are all of those that there are", () => {
  expect(extensionEventNames).toEqual(expect.arrayContaining(names));
});
