/** Files in the format of pi: every type of entry, and an unknown one. */
import { copyFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { convertToLlm } from "../src/session/message.ts";
import { SessionManager } from "../src/session/session-manager.ts";

const sample = join(import.meta.dirname, "samples", "pi-version-3.jsonl");
let path: string;
beforeEach(async () => {
  path = join(await mkdtemp(join(tmpdir(), "tau-samples-")), "2026-03-01T08-00-00-000Z_sample.jsonl");
  await copyFile(sample, path);
});
afterEach(() => rm(join(path, ".."), { recursive: true }));

test("a file of pi opens with every entry and without problems", async () => {
  const session = await SessionManager.open(path, { access: "read" });
  const lines = (await readFile(sample, "utf8"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as object);
  expect(session.problems).toEqual([]);
  expect(session.getHeader()).toEqual(lines[0]);
  expect(await session.getEntries()).toEqual(lines.slice(1));
  expect(await session.getSessionName()).toBe("Wheels");
  expect(await session.getLabel("a0000006")).toBe("counted");
  await session.close();
});

test("its context is what pi sends: the summary, the kept entries, and the later ones", async () => {
  const session = await SessionManager.open(path, { access: "read" });
  const context = await session.buildContext();
  expect(context).toMatchObject({
    thinkingLevel: "medium",
    model: { provider: "anthropic", modelId: "claude-sonnet-4-5" },
    messages: [
      { role: "compactionSummary", summary: "The engine has 24,000 wheels." },
      { role: "user" },
      { role: "branchSummary", fromId: "a000000e" },
      { role: "user", content: "Go on." },
    ],
  });
  expect(convertToLlm(context.messages)).toHaveLength(4);
  // The other branch, where the result of the command was edited.
  const left = await session.buildContext("a000000e");
  expect(left.messages.map(({ role }) => role)).toEqual(
    "user assistant toolResult assistant bashExecution custom custom".split(" "),
  );
  expect(left.messages[2]).toMatchObject({ content: [{ type: "text", text: "24000" }] });
  await session.close();
});

test("it can be appended to, and its lines do not change", async () => {
  const session = await SessionManager.open(path);
  await session.appendMessage({ role: "user", content: "More.", timestamp: 1 });
  await session.close();
  const [before, after] = [await readFile(sample, "utf8"), await readFile(path, "utf8")];
  expect(after.startsWith(before)).toBe(true);
  expect(JSON.parse(after.slice(before.length))).toMatchObject({ type: "message", parentId: "a0000013" });
});
