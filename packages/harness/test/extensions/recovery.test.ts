/**
 * Tests the events that extensions get while a run recovers: after a failed request, and when the conversation is
 * shortened.
 */
import { type ScriptedTurn, text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import type { BudgetLimits } from "../../src/budget/budget.ts";
import { type ExtensionEvent, type ExtensionFactory, extensionEventNames } from "@tau/extensions";
import { createTestSession } from "../../src/testing/index.ts";

/** Two extensions that tell what they hear, so that the order of both is seen. */
const listen = (seen: string[]): ExtensionFactory[] =>
  ["a", "b"].map((extension) => (tau) => {
    for (const name of extensionEventNames.filter((each) => each !== "message_update")) {
      tau.on(name as "turn_start", ({ type, turnIndex }) => {
        seen.push(`${extension} ${type}${turnIndex === undefined ? "" : ` ${turnIndex}`}`);
      });
    }
  });

async function open(turns: readonly ScriptedTurn[], factories: ExtensionFactory[], budgets: BudgetLimits = {}) {
  const opened = await createTestSession(turns, { extensions: { factories }, budgets });
  onTestFinished(() => opened.dispose());
  return opened;
}

const both = (names: readonly string[]): string[] => names.flatMap((name) => [`a ${name}`, `b ${name}`]);
const start = ["input", "before_agent_start", "agent_start", "turn_start 0", "message_start", "message_end"];
const request = ["context", "context_with_system", "message_start", "message_end", "turn_end 0"];
const end = ["agent_before_settle", "agent_end", "agent_settled"];

test("after a failed request the same turn is told again, and the run begins and ends once", async () => {
  const overloaded: ScriptedTurn = { failure: { kind: "overloaded", message: "Busy." } };
  const seen: string[] = [];
  const { prompt } = await open([[text("Hello.")], overloaded, overloaded, [text("Done.")]], listen(seen));
  await prompt("hello");
  seen.splice(0);
  await prompt("go");
  expect(seen).toEqual(both([...start, ...request, "turn_start 0", ...request, "turn_start 0", ...request, ...end]));
});

const long = "word ".repeat(3_000);
const overflow: ScriptedTurn = { failure: { kind: "context_overflow", message: "Too long." } };
type Compacting = ExtensionEvent<"session_before_compact">;

/** A conversation that becomes too long in its third run. A summary of ours takes one answer of the model. */
async function overflowWith(factories: ExtensionFactory[], answers: readonly string[]) {
  const opened = await open(
    [[text(long)], [text(long)], overflow, ...answers.map((answer) => [text(answer)])],
    factories,
  );
  await opened.prompt("one");
  await opened.prompt("two");
  return opened;
}

test("a conversation that is too long is shortened within its run by an extension, and asked again", async () => {
  const seen: string[] = [];
  const summarise: ExtensionFactory = (tau) =>
    void tau.on("session_before_compact", ({ preparation: { firstKeptEntryId, tokensBefore }, reason, willRetry }) => {
      seen.push(`${reason} ${willRetry}`);
      return { compaction: { summary: "in short", firstKeptEntryId, tokensBefore } };
    });
  const { prompt, model } = await overflowWith([...listen(seen), summarise], ["It fits."]);
  seen.splice(0);
  await prompt("three");
  const shortened = [
    "a session_before_compact",
    "b session_before_compact",
    "overflow true",
    ...both(["session_compact"]),
  ];
  expect(seen).toEqual([...both([...start, ...request]), ...shortened, ...both(["turn_start 0", ...request, ...end])]);
  const asked = JSON.stringify(model.asked.at(-1)?.context.messages);
  expect(asked).toContain("in short");
  expect(asked).toContain("three");
});

const cannotBeUsed = "It answered with a compaction that cannot be used: ";

test.each<[string, (event: Compacting) => object, string]>([
  ["keeps an entry that there is not", () => ({ firstKeptEntryId: "none" }), "firstKeptEntryId is not an entry"],
  ["says nothing", () => ({ summary: " \n" }), "the summary is empty"],
  ["is longer", () => ({ summary: long.repeat(5) }), "the summary is longer than the conversation"],
  ["has less than no tokens", () => ({ tokensBefore: -1 }), "tokensBefore is not a number"],
  ["has no number of tokens", () => ({ tokensBefore: Number.NaN }), "tokensBefore is not a number"],
])("a compaction of an extension that %s is reported, and tau makes one", async (_what, change, problem) => {
  const { prompt, events, model } = await overflowWith(
    [
      (tau) =>
        void tau.on("session_before_compact", (event) => {
          const { firstKeptEntryId, tokensBefore } = event.preparation;
          return { compaction: { summary: "in short", firstKeptEntryId, tokensBefore, ...change(event) } };
        }),
    ],
    ["Our summary.", "It fits."],
  );
  await prompt("three");
  const notices = events.flatMap((event) => (event.type === "notice" ? [event.message] : []));
  expect(notices.join("\n")).toContain(cannotBeUsed + problem);
  expect(JSON.stringify(model.asked.at(-1)?.context.messages)).toContain("Our summary.");
});

test("a handler that changes what it is told of a compaction changes nothing", async () => {
  const { prompt, model } = await overflowWith(
    [
      (tau) =>
        void tau.on("session_before_compact", ({ preparation, branchEntries }) => {
          for (const list of [preparation.messagesToSummarize, preparation.turnPrefixMessages, branchEntries])
            list.splice(0);
          Object.assign(preparation, { firstKeptEntryId: "none", tokensBefore: -1, settings: undefined });
        }),
    ],
    ["Our summary.", "It fits."],
  );
  await prompt("three");
  expect(JSON.stringify(model.asked.at(-2)?.context.messages)).toContain("word word");
  expect(JSON.stringify(model.asked.at(-1)?.context.messages)).toContain("Our summary.");
});

test("a handler that never answers is left when the run is aborted", async () => {
  let ask = (): void => {};
  const asked = new Promise<void>((resolve) => (ask = resolve));
  const { prompt, session } = await overflowWith(
    [(tau) => void tau.on("session_before_compact", () => (ask(), new Promise(() => {})))],
    [],
  );
  const outcome = prompt("three");
  await asked;
  await session.abort();
  expect(await outcome).toMatchObject({ kind: "ran" });
});

test("a spent budget ends a run that a handler wants to continue", async () => {
  let settles = 0;
  const goOn: ExtensionFactory = (tau) => {
    tau.on("agent_before_settle", () => ({
      // The limit is for a run that would not end.
      continue: ++settles < 20,
      entries: [{ type: "custom_message", customType: "goal", content: "go on", display: false }],
    }));
  };
  const turns = ["One.", "Two.", "Three."].map((answer) => [text(answer)]);
  const { prompt, model } = await open(turns, [goOn], { turns: 2 });
  expect(await prompt("begin")).toMatchObject({ end: { kind: "budget", limit: "turns" } });
  expect(model.asked).toHaveLength(2);
  expect(settles).toBe(2);
});
