/** The outline of long source files in results of `read`. */
import { call, text } from "@tau/ai/testing";
import type { ToolResultMessage } from "@tau/ai";
import { expect, onTestFinished, test } from "vitest";
import { ast } from "../../src/index.ts";
import { createTestSession } from "../kit.ts";

const long = `class First {\n  method() {\n    return 1;\n  }\n}\n${"// filler\n".repeat(2_500)}function last() {}\n`;

async function read(outline: boolean) {
  const calls = [
    { path: "a.ts" },
    { path: "a.ts", offset: 2 },
    { path: "a.ts", limit: 3 },
    { path: "b.ts" },
    { path: "a.txt" },
  ];
  const turns = [...calls.map((args) => [call("read", args)]), [text("Done.")]];
  const opened = await createTestSession(turns, {
    files: { "a.ts": long, "b.ts": "function short() {}\n", "a.txt": long },
    settings: { read: { outline } } as object,
    features: [ast()],
  });
  onTestFinished(() => opened.dispose());
  await opened.prompt("go");
  const results = opened.session.messages.filter(({ role }) => role === "toolResult") as ToolResultMessage[];
  return results.map(({ content }) => content.map((block) => (block.type === "text" ? block.text : "")).join("\n"));
}

test("with read.outline the beginning of a long source file has its outline, and nothing else has", async () => {
  const [whole, ...others] = await read(true);
  expect(whole).toContain("[Outline, by lines:]\n1-5 class First\n  2-4 method method\n2506-2506 function last");
  for (const other of others) expect(other).not.toContain("Outline");
});

test("it is off unless it is set", async () => {
  expect((await read(false)).join("\n")).not.toContain("Outline");
});
