import type { SessionEntry } from "@tau/protocol";
import { exportParts, type ExportPart } from "@tau/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { exportHtml } from "./html.ts";
import { exportMarkdown } from "./markdown.ts";
import { leaveOut } from "./leave-out.ts";
import type { ExportSource } from "./source.ts";

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
const image = { type: "image", mimeType: "image/png", data: png };
const output = (place: string) => ({ type: "text", text: `OUTPUT in ${place}` });

/** An entry of every kind that can have one of the parts, with a mark for each. */
const contents: Record<string, unknown>[] = [
  { type: "message", message: { role: "user", content: [{ type: "text", text: "KEPT question" }, image] } },
  {
    type: "message",
    message: {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "THOUGHT", thinkingSignature: "THOUGHT-signature" },
        { type: "text", text: "KEPT answer" },
        { type: "toolCall", id: "c1", name: "bash", arguments: { command: "KEPT command" } },
      ],
      diagnostics: [{ kind: "x", message: "OUTPUT in diagnostics" }],
    },
  },
  { type: "custom", customType: "tau.call_started", data: { toolCallId: "c1", toolName: "bash" } },
  {
    type: "message",
    message: {
      role: "toolResult",
      toolCallId: "c1",
      toolName: "bash",
      content: [output("result"), image],
      details: { diff: "OUTPUT in diff", path: "OUTPUT in details" },
      structuredContent: { a: "OUTPUT in structured" },
      isError: false,
    },
  },
  {
    type: "message",
    message: { role: "bashExecution", command: "KEPT shell", output: "OUTPUT in shell", exitCode: 0 },
  },
  {
    type: "custom",
    customType: "tau.nested_call",
    data: {
      toolCallId: "n1",
      toolName: "read",
      parentToolCallId: "c1",
      input: {},
      content: [output("nested"), image],
      isError: false,
    },
  },
  {
    type: "custom",
    customType: "other",
    data: { kept: "OUTPUT in data", thoughts: [{ type: "thinking", thinking: "THOUGHT" }] },
  },
  {
    type: "custom_message",
    customType: "note",
    content: [{ type: "text", text: "KEPT note" }, image],
    details: { a: "OUTPUT" },
  },
  {
    type: "compaction",
    summary: "KEPT summary",
    firstKeptEntryId: "e0",
    tokensBefore: 1,
    details: { files: "OUTPUT" },
  },
  { type: "context_edit", targetId: "e3", replacement: { content: [output("edit"), image] } },
  { type: "of_a_later_version", value: "OUTPUT in an unknown entry" },
  { type: "message", message: { role: "of_a_later_version", value: "OUTPUT in an unknown role" } },
];

function createSource(order: readonly Record<string, unknown>[]): ExportSource {
  const entries = order.map((content, index) => ({
    ...content,
    id: `e${index}`,
    parentId: index === 0 ? null : `e${index - 1}`,
    timestamp: "2026-11-19T00:00:00.000Z",
  }));
  const header = { type: "session", version: 3, id: "s", timestamp: "2026-11-19T00:00:00.000Z", cwd: "/p" } as const;
  return { header, entries: entries as unknown as SessionEntry[], leafId: `e${order.length - 1}` };
}

const marks: Record<ExportPart, string> = { thinking: "THOUGHT", images: png, output: "OUTPUT" };

test("of what is left out nothing remains in any export, wherever it was; the conversation stays", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.subarray([...exportParts]),
      fc.shuffledSubarray(contents, { minLength: contents.length }),
      async (parts, order) => {
        const source = createSource(order);
        const shown = leaveOut(source, parts);
        const texts = [JSON.stringify(shown), await exportHtml(shown), exportMarkdown(shown)];
        for (const part of parts) for (const text of texts) expect(text).not.toContain(marks[part]);
        for (const part of exportParts) {
          if (!parts.includes(part) && !(part === "images" && parts.includes("output"))) {
            expect(JSON.stringify(shown)).toContain(marks[part]);
          }
        }
        for (const kept of ["question", "answer", "command", "shell", "note", "summary"]) {
          expect(texts[1]).toContain(`KEPT ${kept}`);
        }
        expect(shown.entries.map(({ id, parentId }) => [id, parentId])).toEqual(
          source.entries.map(({ id, parentId }) => [id, parentId]),
        );
      },
    ),
    { numRuns: 40 },
  );
});

test("a call whose output is left out still counts as answered", async () => {
  const page = await exportHtml(leaveOut(createSource(contents), ["output"]));
  expect(page).not.toContain("the session has no result for it");
  expect(page).toContain("(The output is left out.)");
});

test("without anything to leave out, the session is the same", () => {
  const source = createSource(contents);
  expect(leaveOut(source, [])).toBe(source);
});
