import type { AgentMessage } from "@tau/agent";
import { describe, expect, test } from "vitest";
import { buildContext, contextEntries } from "./context.ts";
import type { NewEntry, SessionEntry } from "./entry.ts";
import { convertToLlm } from "./message.ts";
import { toEntry } from "../../test/entries.ts";

/** Entries with the ids `1`, `2`, …, each the child of the one before. */
const getBranch = (...entries: NewEntry[]): SessionEntry[] =>
  entries.map((entry, index) => toEntry(entry, String(index + 1), index === 0 ? null : String(index)));
const prompt = (text: string): NewEntry => ({
  type: "message",
  message: { role: "user", content: [{ type: "text", text }], timestamp: 1 },
});
const answered = (model: string): NewEntry => ({
  type: "message",
  message: { role: "assistant", content: [], api: "a", provider: "p", model } as unknown as AgentMessage,
});
const compacted = (firstKeptEntryId: string, summary = "so far"): NewEntry => ({
  type: "compaction",
  summary,
  firstKeptEntryId,
  tokensBefore: 10,
});
const texts = async (branch: SessionEntry[]) =>
  (await buildContext(branch)).messages.map((message) =>
    "summary" in message ? message.summary : JSON.stringify(message),
  );

describe("a compaction", () => {
  test("comes first, then the kept entries, then the later ones", () => {
    const branch = getBranch(prompt("a"), prompt("b"), prompt("c"), compacted("3"), prompt("d"));
    expect(contextEntries(branch).map(({ id }) => id)).toEqual(["4", "3", "5"]);
  });

  test("that kept nothing names itself, and only the latest is used", () => {
    const branch = getBranch(prompt("a"), compacted("1", "first"), prompt("b"), compacted("4", "second"), prompt("c"));
    expect(contextEntries(branch).map(({ id }) => id)).toEqual(["4", "5"]);
    expect(
      contextEntries(getBranch(prompt("a"), compacted("1"), prompt("b"), compacted("1"))).map(({ id }) => id),
    ).toEqual(["4", "1", "3"]);
  });
});

test("an edited entry is hidden or has other content, and the latest edit applies", async () => {
  const edited = (targetId: string, replacement: { content: string } | null): NewEntry => ({
    type: "context_edit",
    targetId,
    replacement,
  });
  const branch = getBranch(
    prompt("a"),
    prompt("b"),
    edited("1", null),
    edited("2", { content: "x" }),
    edited("2", { content: "y" }),
  );
  expect((await buildContext(branch)).messages).toMatchObject([{ role: "user", content: "y" }]);
  expect(await texts(branch.slice(0, 2))).toHaveLength(2);
  const ran: NewEntry = {
    type: "message",
    message: {
      role: "bashExecution",
      command: "env",
      output: "SECRET=1",
      cancelled: false,
      truncated: false,
      timestamp: 1,
    },
  };
  const hidden = getBranch(ran, edited("1", { content: "(left out)" }));
  expect(JSON.stringify(convertToLlm((await buildContext(hidden)).messages))).not.toContain("SECRET");
});

test("the latest model applies, and an answer names its model", async () => {
  const branch = getBranch(
    { type: "model_change", provider: "p", modelId: "first" },
    answered("second"),
    { type: "thinking_level_change", thinkingLevel: "high" },
    prompt("a"),
  );
  expect(await buildContext(branch)).toMatchObject({
    thinkingLevel: "high",
    hasThinkingLevel: true,
    model: { provider: "p", modelId: "second" },
  });
  expect(await buildContext([])).toEqual({ messages: [], thinkingLevel: "off", hasThinkingLevel: false, model: null });
});

test("every message of a session is converted for the model, and unknown roles are left out", () => {
  const messages = [
    {
      role: "bashExecution",
      command: "ls",
      output: "a ``` b",
      exitCode: 2,
      cancelled: false,
      truncated: false,
      timestamp: 1,
    },
    {
      role: "bashExecution",
      command: "secret",
      output: "",
      excludeFromContext: true,
      cancelled: false,
      truncated: false,
      timestamp: 1,
    },
    { role: "custom", customType: "x", content: "note", display: true, timestamp: 1 },
    { role: "branchSummary", summary: "tried", fromId: "1", timestamp: 1 },
    { role: "compactionSummary", summary: "before </summary> after", tokensBefore: 1, timestamp: 1 },
    { role: "system", content: "from another program", timestamp: 1 },
    { role: "bashExecution", output: 5, timestamp: 1 },
  ] as unknown as AgentMessage[];
  const sent = convertToLlm(messages);
  expect(sent.map(({ role }) => role)).toEqual(["user", "user", "user", "user", "user"]);
  expect(JSON.stringify(sent[0])).toContain("exited with code 2");
  // The output cannot close its fence.
  expect(JSON.stringify(sent[0])).toContain("````\\na ``` b\\n````");
  // Nor can a summary close its tag.
  expect(JSON.stringify(sent[3])).toContain("<summary-2>\\nbefore </summary> after\\n</summary-2>");
});

test("signals and timers are served while the context of a long branch is built", async () => {
  const branch = getBranch(...Array.from({ length: 35_000 }, () => prompt("a")));
  let turns = 0;
  const count = () => void (turns++, (timer = setImmediate(count)));
  let timer = setImmediate(count);
  const { messages } = await buildContext(branch);
  clearImmediate(timer);
  expect(messages).toHaveLength(35_000);
  expect(turns).toBeGreaterThanOrEqual(3);
  turns = 0;
  timer = setImmediate(count);
  await buildContext(branch.slice(0, 10_000));
  clearImmediate(timer);
  expect(turns, "none for a short one").toBe(0);
});
