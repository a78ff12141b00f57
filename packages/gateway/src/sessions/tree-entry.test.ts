import type { SessionEntry } from "@tau/protocol";
import { expect, test } from "vitest";
import { listTreeEntries } from "./tree-entry.ts";

const say = (id: string, role: string, content: unknown, more: object = {}) =>
  ({ type: "message", id, parentId: null, timestamp: "", message: { role, content, ...more, timestamp: 1 } }) as never;

test("a tree has the words of a person whole, the beginning of answers, and nothing of outputs, images and thinking", () => {
  const long = "x".repeat(5_000);
  const image = { type: "image", data: long, mimeType: "image/png" };
  const entries: SessionEntry[] = [
    say("a", "user", [{ type: "text", text: long }, image]),
    say("b", "assistant", [
      { type: "thinking", thinking: long },
      { type: "text", text: `${"y".repeat(299)}\u{1F600}` },
    ]),
    say("c", "assistant", [{ type: "toolCall", id: "1", name: "read", arguments: { path: long } }]),
    say("d", "toolResult", [{ type: "text", text: long }]),
    say("e", "bashExecution", undefined, { command: "ls", output: long }),
    { type: "compaction", id: "f", parentId: "e", timestamp: "", summary: "Short." } as SessionEntry,
    { type: "custom", id: "g", parentId: "f", timestamp: "", customType: "big", data: long } as SessionEntry,
    { type: "label", id: "h", parentId: "g", timestamp: "", targetId: "a", label: "first" } as SessionEntry,
    { type: "label", id: "i", parentId: "h", timestamp: "", targetId: "b", label: "gone" } as SessionEntry,
    { type: "label", id: "j", parentId: "i", timestamp: "", targetId: "b" } as SessionEntry,
  ];
  expect(listTreeEntries(entries)).toEqual([
    { id: "a", parentId: null, kind: "user", text: long, label: "first" },
    { id: "b", parentId: null, kind: "assistant", text: `${"y".repeat(299)}\uFFFD` },
    { id: "c", parentId: null },
    { id: "d", parentId: null },
    { id: "e", parentId: null, kind: "bash", text: "ls" },
    { id: "f", parentId: "e", kind: "summary", text: "Short." },
    { id: "g", parentId: "f" },
    { id: "h", parentId: "g" },
    { id: "i", parentId: "h" },
    { id: "j", parentId: "i" },
  ]);
});
