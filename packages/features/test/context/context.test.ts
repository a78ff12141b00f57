/** `/context`: what fills the window, in real sessions and as a table. */
import { call, text } from "@tau/ai/testing";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { drawBar, formatContext } from "../../src/context/format-context.ts";
import { type ContextContent, measureContext } from "../../src/context/measure-context.ts";
import { context } from "../../src/index.ts";
import { DialogSurface } from "../dialogs.ts";
import { createTestSession, type TestSessionParams } from "../kit.ts";

type Turns = Parameters<typeof createTestSession>[0];

async function open(turns: Turns, params: TestSessionParams = {}) {
  const surface = new DialogSurface();
  const opened = await createTestSession(turns, { features: [context()], ...params });
  onTestFinished(() => opened.dispose());
  await opened.session.attachSurface(surface);
  return { ...opened, surface };
}

const content: ContextContent = {
  systemPrompt: "s".repeat(4_000),
  instructions: [{ path: "/p/AGENTS.md", content: "i".repeat(2_000) }],
  tools: [{ name: "read", description: "d".repeat(1_000), parameters: {} }],
  messages: [
    { role: "user", content: "u".repeat(400) },
    { role: "custom", customType: "memory", content: "m".repeat(200) },
    { role: "assistant", content: [{ type: "toolCall", name: "read", arguments: { path: "a" } }] },
    { role: "toolResult", content: [{ type: "image", data: "x".repeat(90_000) }] },
    { role: "bashExecution", command: "ls", output: "x".repeat(8_000), excludeFromContext: true },
  ],
  windowTokens: 10_000,
};

test("before the first answer the parts are estimates, and what the model is not sent is none of them", () => {
  const { parts, files, totalTokens, isCounted } = measureContext(content);
  expect(parts).toMatchObject({ system: 500, instructions: 500, memory: 50 });
  expect(files).toEqual([{ path: "/p/AGENTS.md", tokens: 500 }]);
  // The prompt, the call and 1,200 for the image.
  expect(parts.messages).toBeGreaterThan(1_300);
  expect(parts.messages).toBeLessThan(1_320);
  expect(isCounted).toBe(false);
  expect(totalTokens).toBe(Object.values(parts).reduce((sum, tokens) => sum + tokens, 0));
});

test("the parts always add up to what the provider counted", () => {
  const messages = fc.array(fc.record({ role: fc.constantFrom("user", "custom"), content: fc.string() }));
  fc.assert(
    fc.property(messages, fc.string(), fc.nat(1_000_000), (list, systemPrompt, countedTokens) => {
      const measured = measureContext({ systemPrompt, instructions: [], tools: [], messages: list, countedTokens });
      const sum = Object.values(measured.parts).reduce((total, tokens) => total + tokens, 0);
      expect(sum).toBe(countedTokens);
      expect(Object.values(measured.parts).every((tokens) => tokens >= 0)).toBe(true);
    }),
  );
});

test("the bar has the same width whatever fills it, and a cell for everything that is there", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(300_000), { minLength: 2, maxLength: 6 }), (tokens) => {
      const parts = tokens.map((count, index) => ({ mark: String(index), tokens: count }));
      const whole = tokens.reduce((sum, count) => sum + count, 0);
      fc.pre(whole > 0);
      const bar = drawBar(parts, whole);
      expect(bar).toHaveLength(36);
      for (const [index, count] of tokens.entries()) expect(bar.includes(String(index))).toBe(count > 0);
    }),
  );
});

test("a row for each part fits into 40 columns, and a window that is full has nothing free", () => {
  const shown = formatContext(measureContext({ ...content, countedTokens: 12_000 }), { provider: "acme", id: "small" });
  const lines = shown.split("\n");
  expect(lines[0]).toBe("12k of 10k tokens of acme/small (120%)");
  expect(lines.find((line) => line.includes("Free"))).toMatch(/ 0 +0%$/);
  expect(lines[1]).not.toContain("·");
  for (const line of lines.slice(1, 8)) expect(line.length).toBeLessThanOrEqual(40);
});

test("/context shows the instructions of the project by file, and asks no model", async () => {
  const { session, surface, model } = await open([], {
    files: { "AGENTS.md": "Use tabs. ".repeat(400) },
    scripted: { model: { contextWindow: 100_000 } },
  });
  await session.prompt("/context");
  const [shown] = surface.notices;
  expect(shown).toMatch(/^About [\d.]+k of 100k tokens of /);
  expect(shown).toMatch(/Instructions +1\.0k +1%/);
  expect(shown).toMatch(/AGENTS\.md: 1\.0k/);
  expect(shown).toContain("All of it is estimated");
  expect(model.asked).toHaveLength(0);
  expect(session.messages).toEqual([]);
});

test("after an answer the total is the provider's count, and after a compaction it is an estimate again", async () => {
  const usage = { input: 5_000, output: 1_000 };
  const { session, surface, prompt } = await open(
    [[call("read", { path: "a.txt" })], { content: [text("Done.")], usage }, [text("A summary.")]],
    { files: { "a.txt": "text ".repeat(2_000) }, scripted: { model: { contextWindow: 50_000 } } },
  );
  await prompt("look");
  await session.prompt("/context");
  expect(surface.notices.at(-1)).toMatch(/^6\.0k of 50k tokens/);
  expect(surface.notices.at(-1)).toContain("The total is the provider's count");
  await session.compact("");
  await session.prompt("/context");
  expect(surface.notices.at(-1)).toMatch(/^About /);
});
