/** Tests that everyday commands are not held up: `ordinary.txt` has a command on each line. Nothing is run. */
import { expect, test } from "vitest";
import { classifyCommand } from "../../src/exec/classify-command.ts";
import { defaultExecMediation, mediate } from "../../src/exec/mediation.ts";
import { corpusContext, ordinaryCommands as commands } from "./corpus.ts";

const decideAll = (sandboxed: boolean) =>
  commands.map((command) => ({
    command,
    kind: mediate(defaultExecMediation, classifyCommand(command, corpusContext), { attended: true, sandboxed }).kind,
  }));

test("at least 1,000 different ordinary commands are tried", () => {
  expect(new Set(commands).size).toBe(commands.length);
  expect(commands.length).toBeGreaterThanOrEqual(1_000);
});

test("with a sandbox at most 1 % of them are asked about, and none is denied", () => {
  const decisions = decideAll(true);
  expect(decisions.filter(({ kind }) => kind === "deny")).toEqual([]);
  expect(decisions.filter(({ kind }) => kind === "ask").length).toBeLessThanOrEqual(commands.length / 100);
});

test("without a sandbox at most 5 % of them are asked about, and none is denied", () => {
  const decisions = decideAll(false);
  expect(decisions.filter(({ kind }) => kind === "deny")).toEqual([]);
  expect(decisions.filter(({ kind }) => kind === "ask").length).toBeLessThanOrEqual(commands.length / 20);
});
