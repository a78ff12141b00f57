import { expect, test } from "vitest";
import type { AgentMessage } from "@tau/agent";
import type { AssistantMessage } from "@tau/ai";
import type { SessionEntry } from "@tau/harness/session";
import { createFauxCore, fauxAssistantMessage } from "@tau/pi/pi-ai";
import { getCompactionReason } from "./compaction-reason.ts";

const [model] = createFauxCore({ models: [{ id: "faux-1", contextWindow: 1_000 }] }).models;
const settings = { enabled: true, reserveTokens: 100, keepRecentTokens: 10 };

const answer = (totalTokens: number, fields: Partial<AssistantMessage> = {}): AssistantMessage => {
  const message = fauxAssistantMessage("");
  return { ...message, usage: { ...message.usage, totalTokens }, timestamp: 10, ...fields };
};
const overflow = answer(0, { stopReason: "error", errorMessage: "prompt is too long: 2000 tokens > 1000 maximum" });
const broken = answer(0, { stopReason: "error", errorMessage: "no", timestamp: 30 });
const compactedAt = (time: number): SessionEntry[] => [
  {
    type: "compaction",
    id: "c",
    parentId: null,
    timestamp: new Date(time).toISOString(),
    summary: "",
    firstKeptEntryId: "a",
    tokensBefore: 1,
  },
];
const decide = (last: AssistantMessage, before: AgentMessage[] = [], branch: SessionEntry[] = [], enabled = true) =>
  getCompactionReason(last, {
    model,
    messages: [...before, last],
    branch,
    settings: { ...settings, enabled },
  });

test.each([
  { name: "little is used", decision: decide(answer(900)), reason: undefined },
  { name: "much is used", decision: decide(answer(901)), reason: "threshold" },
  {
    name: "an aborted answer used much",
    decision: decide(answer(901, { stopReason: "aborted" })),
    reason: "threshold",
  },
  { name: "the request was too long", decision: decide(overflow), reason: "overflow" },
  { name: "it was too long for another model", decision: decide({ ...overflow, model: "old" }), reason: undefined },
  { name: "the settings forbid it", decision: decide(overflow, [], [], false), reason: undefined },
  { name: "a compaction came later", decision: decide(answer(901), [], compactedAt(10)), reason: undefined },
  { name: "a compaction came before", decision: decide(answer(901), [], compactedAt(9)), reason: "threshold" },
  { name: "the answer failed and none before counted", decision: decide(broken), reason: undefined },
  { name: "it failed after much was used", decision: decide(broken, [answer(901)]), reason: "threshold" },
  {
    name: "it failed after much was used before a compaction",
    decision: decide(broken, [answer(901)], compactedAt(20)),
    reason: undefined,
  },
])("compacts for the reason $reason if $name", ({ decision, reason }) => {
  expect(decision).toBe(reason);
});
