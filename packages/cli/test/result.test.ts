/** The line that ends JSON mode, and `--output-format`. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { exitCodes } from "../src/process/exit-codes.ts";
import { createModelWorkspace, type ModelWorkspace, run, textReply, toolReply } from "./kit.ts";

const resultOf = async (workspace: ModelWorkspace, ...args: string[]) => {
  const { code, out, err } = await run(workspace, args);
  const lines = out.trimEnd().split("\n");
  return { code, err, lines: lines.length, result: JSON.parse(lines.at(-1)!) as Record<string, unknown> };
};

test("JSON mode ends with one result: the answer, the session, the end and what it used", async () => {
  const workspace = await createModelWorkspace([toolReply("ls"), textReply("Done.")]);
  const { code, result } = await resultOf(workspace, "--mode", "json", "--session-id", "job", "Look.");
  expect(code).toBe(exitCodes.done);
  expect(result).toEqual({
    type: "result",
    answer: "Done.",
    sessionId: "job",
    sessionFile: expect.stringMatching(/job\.jsonl$/),
    terminationReason: "no_tool_calls",
    detail: null,
    turns: 2,
    usage: {
      input: expect.any(Number),
      output: expect.any(Number),
      cacheRead: 0,
      cacheWrite: 0,
      total: expect.any(Number),
    },
    cost: expect.any(Number),
  });
});

test("--output-format json prints the result alone, and counts only this run of a session", async () => {
  const workspace = await createModelWorkspace([textReply("One."), textReply("Two."), textReply("Three.")]);
  const first = await resultOf(workspace, "--output-format", "json", "--session-id", "job", "Hi");
  const second = await resultOf(workspace, "--output-format", "json", "--session-id", "job", "Hi");
  expect([first.lines, second.lines]).toEqual([1, 1]);
  expect(second.result).toMatchObject({ answer: "Two.", turns: 1, usage: first.result["usage"] as object });
  const unsaved = await resultOf(workspace, "--output-format", "json", "--no-session", "Hi");
  expect(unsaved.result).toMatchObject({ answer: "Three.", sessionFile: null });
});

test("--output-format json tells on standard error what print mode tells there, such as damage of the session", async () => {
  const workspace = await createModelWorkspace([textReply("One."), textReply("Two."), textReply("Three.")]);
  const args = ["--output-format", "json", "--session-id", "job", "Where are the apples?"];
  const { result } = await resultOf(workspace, ...args);
  const path = result["sessionFile"] as string;
  await writeFile(path, (await readFile(path, "utf8")).replace("apples", "pearls"));
  const damaged = await resultOf(workspace, ...args);
  expect(damaged).toMatchObject({ lines: 1, result: { answer: "Two." } });
  expect(damaged.err).toContain("is damaged");
  expect((await resultOf(workspace, "--quiet", ...args)).err).toBe("");
});

test("a run that failed has a result with the failure, and the exit code stays", async () => {
  const workspace = await createModelWorkspace([{ kind: "status", status: 401, body: "no such key" }]);
  const { code, result } = await resultOf(workspace, "--mode", "json", "Hi");
  expect(code).toBe(exitCodes.failed);
  expect(result).toMatchObject({ type: "result", answer: "", terminationReason: "error", detail: "auth", turns: 1 });
  expect(result["error"]).toEqual({ kind: "auth", message: expect.stringContaining("no such key") });
});

test("--output-format text and stream-json are print and JSON mode, and another --mode contradicts", async () => {
  const workspace = await createModelWorkspace([textReply("One."), textReply("Two.")]);
  expect(await run(workspace, ["--output-format", "text", "Hi"])).toMatchObject({ code: 0, out: "One.\n" });
  const { lines, result } = await resultOf(workspace, "--output-format", "stream-json", "--mode", "json", "Hi");
  expect(lines).toBeGreaterThan(3);
  expect(result).toMatchObject({ type: "result", answer: "Two." });
  for (const args of [
    ["--mode", "json", "--output-format", "text"],
    ["--mode", "rpc", "--output-format", "json"],
    ["--mode", "json", "--output-format", "json"],
  ]) {
    const { code, out, err } = await run(workspace, [...args, "Hi"]);
    expect({ code, out }).toEqual({ code: exitCodes.usage, out: "" });
    expect(err).toContain("do not go together");
  }
});

test("an empty answer says so, and is an empty text in the result", async () => {
  const workspace = await createModelWorkspace([textReply(""), textReply("")]);
  const printed = await run(workspace, ["-p", "Hi"]);
  expect(printed).toEqual({ code: 0, out: "", err: "tau: the answer is empty.\n" });
  const { err, result } = await resultOf(workspace, "--output-format", "json", "Hi");
  expect(err).toBe("tau: the answer is empty.\n");
  expect(result).toMatchObject({ answer: "" });
});

test("a usage error prints no result", async () => {
  const workspace = await createModelWorkspace([]);
  const { code, out } = await run(workspace, ["--output-format", "json", `@${join(workspace.directory, "gone")}`]);
  expect({ code, out }).toEqual({ code: exitCodes.usage, out: "" });
});
