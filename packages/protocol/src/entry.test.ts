import { emptyUsage } from "@tau/ai";
import { describe, expect, test } from "vitest";
import { customTypes, getLeafAfter, type SessionEntry } from "./entry.ts";

const base = { id: "b", parentId: "a", timestamp: "2026-01-01T00:00:00.000Z" };

/** Has an entry of each type: a type that is added to `SessionEntry` does not compile without one. */
const entries: { [Type in SessionEntry["type"]]: SessionEntry & { type: Type } } = {
  message: { ...base, type: "message", message: { role: "user", content: "Hi", timestamp: 1 } },
  model_change: { ...base, type: "model_change", provider: "p", modelId: "m" },
  thinking_level_change: { ...base, type: "thinking_level_change", thinkingLevel: "low" },
  compaction: { ...base, type: "compaction", summary: "s", firstKeptEntryId: "a", tokensBefore: 1 },
  branch_summary: { ...base, type: "branch_summary", fromId: "z", summary: "s" },
  custom: { ...base, type: "custom", customType: "extension.state" },
  custom_message: { ...base, type: "custom_message", customType: "extension.text", content: "c", display: true },
  label: { ...base, type: "label", targetId: "a", label: "here" },
  session_info: { ...base, type: "session_info", name: "n" },
  usage: { ...base, type: "usage", kind: "child", provider: "p", model: "m", usage: emptyUsage() },
  context_edit: { ...base, type: "context_edit", targetId: "a", replacement: null },
  queue: { ...base, type: "queue", queueId: "q", state: "accepted", kind: "steer", content: "c" },
  permission_mode: { ...base, type: "permission_mode", mode: "ask" },
  prefix: { ...base, type: "prefix", model: "p/m", tools: [], sections: [] },
};

describe("after an entry was appended", () => {
  test.each(Object.values(entries))("the next one hangs on it: $type", (entry) => {
    expect(getLeafAfter(entry)).toBe("b");
  });

  test.each([customTypes.callStarted, customTypes.decision])("the next one hangs on it: custom %s", (customType) => {
    expect(getLeafAfter({ ...entries.custom, customType })).toBe("b");
  });

  test.each(["a", null])("the next one hangs on %s when the entry is a navigation to it", (parentId) => {
    expect(getLeafAfter({ ...entries.custom, customType: customTypes.navigated, parentId })).toBe(parentId);
  });

  test("only a custom entry navigates, whatever else carries the name", () => {
    expect(getLeafAfter({ ...entries.custom_message, customType: customTypes.navigated })).toBe("b");
  });
});
