import type { AgentMessage } from "@tau/agent";
import { createTools, type FileTouches } from "@tau/tools";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addUsage } from "../budget/usage.ts";
import { createTouches } from "@tau/extensions/internal";
import { enclose } from "@tau/config/internal";
import { fileOperations, filesText, withoutFilesText } from "./files.ts";
import { summaryPrompt } from "./prompts.ts";
import { serialise, takePiece } from "./serialise.ts";
import { cutEnd, cutMiddle } from "./text.ts";
import { estimateTokens } from "./tokens.ts";

/** For the built-in tools, as in a session. */
const touches = createTouches({ current: () => [], builtIn: createTools({ cwd: "/w" }).byName });

/** Texts with surrogate pairs and many lines. */
const text = fc.string({ unit: fc.constantFrom("a", "b", " ", "\n", "é", "😀", "語"), maxLength: 300 });

describe("a text", () => {
  test.each([
    ["cutMiddle", cutMiddle],
    ["cutEnd", cutEnd],
  ])("that %s cuts is never too long, splits no surrogate pair, and keeps its beginning", (_name, cut) => {
    fc.assert(
      fc.property(text, fc.nat(400), (whole, maxLength) => {
        const short = cut(whole, maxLength);
        expect(short.length).toBeLessThanOrEqual(maxLength);
        expect(short.isWellFormed()).toBe(true);
        if (whole.length <= maxLength) expect(short).toBe(whole);
        if (maxLength >= 60) expect(whole.startsWith(short.slice(0, 10))).toBe(true);
      }),
    );
  });

  test("cut in the middle keeps its end and says how much is missing", () => {
    expect(cutMiddle(`${"a".repeat(500)}${"z".repeat(500)}`, 100)).toMatch(/^a+\n\[9\d\d characters left out\]\nz+$/);
  });

  test("in tags cannot close them", () => {
    expect(enclose("t", {}, "a</t>b</t-2>")).toBe("<t-3>\na</t>b</t-2>\n</t-3>");
    const closings = Array.from({ length: 40_000 }, (_unused, index) => `</t-${40_001 - index}>`).join("");
    const start = process.cpuUsage();
    expect(enclose("t", {}, `${closings}</t>`).startsWith("<t-40002>\n")).toBe(true);
    expect(process.cpuUsage(start).user / 1_000).toBeLessThan(500);
  });

  test("of a conversation is cut into pieces without loss, none too long and none empty", () => {
    fc.assert(
      fc.property(
        fc.array(text.filter(Boolean), { maxLength: 8 }),
        fc.integer({ min: 2, max: 400 }),
        (texts, maxLength) => {
          const pieces: string[] = [];
          for (let rest = texts; rest.length > 0;) {
            const taken = takePiece(rest, maxLength);
            pieces.push(taken.piece);
            rest = taken.rest;
          }
          for (const piece of pieces) {
            expect(piece.length).toBeGreaterThan(0);
            expect(piece.length).toBeLessThanOrEqual(maxLength);
            expect(piece.isWellFormed()).toBe(true);
          }
          expect(pieces.join("").replaceAll("\n", "")).toBe(texts.join("").replaceAll("\n", ""));
        },
      ),
    );
  });
});

test("a conversation becomes text: messages, calls and results", async () => {
  const messages = [
    {
      role: "user",
      content: [
        { type: "text", text: "Look." },
        { type: "image", data: "AAAA", mimeType: "image/png" },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "hidden" },
        { type: "text", text: "I do." },
        { type: "toolCall", id: "1", name: "read", arguments: { path: "a.ts", limit: 3 } },
      ],
      stopReason: "toolUse",
    },
    { role: "toolResult", toolName: "read", content: [{ type: "text", text: "sk-key-123" }], isError: false },
    { role: "toolResult", toolName: "bash", content: [], isError: true },
    { role: "assistant", content: [], stopReason: "aborted" },
    { role: "bashExecution", command: "x", output: "y", excludeFromContext: true },
    { role: "custom", content: "Note." },
  ] as unknown as AgentMessage[];
  expect(await serialise(messages, 100)).toEqual([
    "[person]\nLook.\n(image)",
    '[assistant]\nI do.\n[assistant calls read] path="a.ts" limit=3',
    "[result of read]\nsk-key-123",
    "[failed result of bash]\n(no text)",
    "[assistant]\n(no text)\n[aborted]",
    "[person]\nNote.",
  ]);
});

test("content of a damaged log has a size and a text", async () => {
  const content = fc.oneof(
    fc.jsonValue(),
    fc.array(fc.record({ type: fc.constantFrom("text", "thinking", "image", "toolCall", "x"), text: fc.jsonValue() })),
    fc.array(fc.record({ type: fc.constant("toolCall"), name: fc.jsonValue(), arguments: fc.jsonValue() })),
  );
  const role = fc.constantFrom("user", "assistant", "toolResult", "custom");
  await fc.assert(
    fc.asyncProperty(fc.record({ role, content, stopReason: fc.jsonValue() }), async (message) => {
      const invalid = message as unknown as AgentMessage;
      expect(estimateTokens(invalid)).toBeGreaterThanOrEqual(0);
      expect((await serialise([invalid], 50)).every((part) => typeof part === "string")).toBe(true);
    }),
    { numRuns: 500 },
  );
  const odd = { toString: false };
  const call = { type: "toolCall", name: odd, arguments: {} };
  const patch = { type: "toolCall", name: "hashline_patch", arguments: { patch: odd } };
  const messages = [
    { role: "assistant", content: [call, patch] },
    { role: "toolResult", toolName: odd, content: [] },
  ] as unknown as AgentMessage[];
  expect(messages.map(estimateTokens)).toEqual([expect.any(Number), 0]);
  expect(await serialise(messages, 50)).toHaveLength(2);
  expect(fileOperations([], messages, touches)).toEqual({ readFiles: [], modifiedFiles: [] });
});

test("results, arguments and output are cut, and the user's messages are not", async () => {
  const long = "x".repeat(5_000);
  const messages = [
    { role: "user", content: long },
    { role: "assistant", content: [{ type: "toolCall", id: "1", name: "write", arguments: { content: long } }] },
    { role: "toolResult", toolName: "read", content: [{ type: "text", text: long }], isError: false },
    { role: "bashExecution", command: "x", output: long },
  ] as unknown as AgentMessage[];
  const [person, ...others] = await serialise(messages, 200);
  expect(person).toContain(long);
  for (const other of others) expect(other.length).toBeLessThan(300);
});

test("a prompt has the summary so far if there is one, and ends with the user's instructions", () => {
  const prompt = { kind: "history", piece: "PIECE", maxTokens: 1_000 } as const;
  const fresh = summaryPrompt({ ...prompt, summary: undefined, instructions: undefined });
  expect(fresh).toContain("<conversation>\nPIECE\n</conversation>");
  expect(fresh).not.toContain("<summary>");
  const next = summaryPrompt({ ...prompt, summary: "SO FAR", instructions: "Mind X." });
  expect(next).toContain("<summary>\nSO FAR\n</summary>");
  expect(next.endsWith("Mind X.")).toBe(true);
});

describe("lists of files", () => {
  const files = {
    readFiles: ["a", "b\nc"],
    modifiedFiles: Array.from({ length: 50 }, (_unused, index) => `file-${index}`),
  };

  test("name the latest files first, as many as fit, and quote names with line feeds", () => {
    const listed = filesText(files, 100);
    expect(listed).toBe(
      '## Files so far\nChanged:\nfile-49\nfile-48\nfile-47\nfile-46\nfile-45\nfile-44\nfile-43\n(43 more)\nRead:\n"b\\nc"\na',
    );
    expect(filesText({ readFiles: [], modifiedFiles: [] }, 100)).toBe("");
  });

  test("are removed from a summary", () => {
    expect(withoutFilesText(`Words.\n\n${filesText(files, 1_000)}`)).toBe("Words.");
    expect(withoutFilesText("Words.")).toBe("Words.");
    expect([undefined, null, 5, {}].map(withoutFilesText)).toEqual(["", "", "", ""]);
  });

  test("take only valid paths from a tool, and nothing from an unknown tool", () => {
    const call = { type: "toolCall", id: "1", name: "sync", arguments: {} };
    const messages = [{ role: "assistant", content: [call] }] as unknown as AgentMessage[];
    const odd = { read: "a", modified: ["b", 7, "", "x".repeat(401), null] } as unknown as FileTouches;
    expect(fileOperations([], messages, () => odd)).toEqual({ readFiles: [], modifiedFiles: ["b"] });
    expect(fileOperations([], messages, () => undefined)).toEqual({ readFiles: [], modifiedFiles: [] });
    expect(fileOperations([], messages, touches)).toEqual({ readFiles: [], modifiedFiles: [] });
  });
});

test("usages are added up, and missing counts stay missing", () => {
  const cost = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, total: 10 };
  const usage = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, totalTokens: 10, cost };
  expect(addUsage(usage, usage)).toEqual({
    input: 2,
    output: 4,
    cacheRead: 6,
    cacheWrite: 8,
    totalTokens: 20,
    cost: { input: 2, output: 4, cacheRead: 6, cacheWrite: 8, total: 20 },
  });
  expect(addUsage(usage, { ...usage, reasoning: 5 })).toMatchObject({ reasoning: 5 });
  expect(addUsage(usage, {})).toEqual(usage);
  expect(addUsage(usage, { input: Number.NaN, output: 1 })).toEqual({ ...usage, output: 3 });
});
