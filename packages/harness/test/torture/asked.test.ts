/** Questions that outlive their run, in processes that are killed at every step. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAnswerFile, createStoredAnswers } from "@tau/policy";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createFileStorage } from "../../src/session/file-storage.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { bundle, patience } from "./kit.ts";

let root: string;
let script: string;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "tau-asked-"));
  script = await bundle("asked-session", root);
}, patience(60));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Where the session and the answers are. */
const kinds = ["files", "storage"] as const;

interface Run {
  /** Default 0: none. */
  step?: number;
  kind: (typeof kinds)[number];
}

/** Runs a phase and returns how many steps it has; undefined if it was killed. */
function run(directory: string, phase: "ask" | "resume", { step = 0, kind }: Run): number | undefined {
  const { status, signal, stdout, stderr } = spawnSync(
    process.execPath,
    [script, directory, phase, String(step), kind],
    { encoding: "utf8" },
  );
  if (signal === "SIGKILL") return undefined;
  expect([status, stderr]).toEqual([0, ""]);
  return Number(stdout);
}

const countMade = (directory: string) =>
  existsSync(join(directory, "made")) ? readFileSync(join(directory, "made"), "utf8").trim().split("\n").length : 0;

/** Whether the call has its one outcome, or waits for an answer without any. */
async function readState(directory: string, { kind }: Run) {
  const log = await SessionManager.open(join(directory, "log.jsonl"));
  const entries = await log.getEntries();
  const unfinished = await log.unfinishedCalls();
  await log.close();
  const messages = entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
  const calls = messages.filter(
    ({ role, ...message }) => role === "assistant" && JSON.stringify(message).includes('"c1"'),
  );
  const results = messages.filter((message) => message.role === "toolResult" && message.toolCallId === "c1");
  const answers =
    kind === "files"
      ? createAnswerFile({ directory })
      : createStoredAnswers({ storage: createFileStorage({ directory }) });
  const store = await answers.read(log.id);
  return { calls: calls.length, results: results.length, unfinished, kept: store.length };
}

/** The steps to die at: every one of a long run, else some from the beginning to the end. */
const choose = (steps: number, { kind }: Run): number[] =>
  Array.from({ length: steps }, (_, index) => index + 1).filter(
    (step) => process.env["TAU_LONG"] || step % 8 === (kind === "files" ? 2 : 6),
  );

test.each(kinds.map((kind) => ({ kind })))(
  "$kind: whichever step a process is killed at while it asks, nothing is made, and the call waits or has one outcome",
  { timeout: patience(120) },
  async (place) => {
    const whole = mkdtempSync(join(root, "whole-"));
    const steps = run(whole, "ask", place)!;
    expect(steps).toBeGreaterThan(5);
    for (const step of choose(steps, place)) {
      const directory = mkdtempSync(join(root, `ask-${step}-`));
      expect(run(directory, "ask", { ...place, step })).toBeUndefined();
      expect(countMade(directory)).toBe(0);
      if (!existsSync(join(directory, "log.jsonl"))) continue;
      run(directory, "resume", place);
      const { calls, results, unfinished, kept } = await readState(directory, place);
      expect([step, results, unfinished, kept]).toEqual([step, calls, [], 0]);
      expect(countMade(directory)).toBeLessThanOrEqual(1);
    }
  },
);

test.each(kinds.map((kind) => ({ kind })))(
  "$kind: whichever step a process is killed at while it resumes, the call is made once at most, and has one outcome",
  { timeout: patience(120) },
  async (place) => {
    const asked = mkdtempSync(join(root, "asked-"));
    run(asked, "ask", place);
    const copyTo = (name: string) => {
      // The log keeps its path: one with another path has no question.
      const directory = mkdtempSync(join(root, `${name}-`));
      return { directory, restore: () => cpSync(asked, directory, { recursive: true }) };
    };
    const backup = copyTo("backup");
    backup.restore();
    const steps = run(asked, "resume", place)!;
    expect(countMade(asked)).toBe(1);
    for (const step of choose(steps, place)) {
      rmSync(asked, { recursive: true });
      cpSync(backup.directory, asked, { recursive: true });
      expect(run(asked, "resume", { ...place, step })).toBeUndefined();
      const before = countMade(asked);
      run(asked, "resume", place);
      const { results, unfinished } = await readState(asked, place);
      expect([step, results, unfinished]).toEqual([step, 1, []]);
      expect(countMade(asked)).toBeLessThanOrEqual(1);
      expect(countMade(asked)).toBeGreaterThanOrEqual(before);
    }
  },
);
