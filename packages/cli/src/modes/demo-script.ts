/** The demonstration: a small project with a bug, and a model that follows a script to correct it. */
import { mkdir, mkdtemp, realpath, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { call, type ScriptedModel, scriptedModel, type ScriptedTurn, text, thinking } from "@tau/ai/testing";
import { getMessageText } from "@tau/harness/host";

/** It subtracts. */
const script = `#!/bin/sh
# Adds up the numbers that it is given.
total=0
for number in "$@"; do
  total=$((total - number))
done
echo "$total"
`;

export const demoRequest = "total.sh calculates wrong sums. Fix it, and show that it works.";

const turns: readonly ScriptedTurn[] = [
  [thinking("First I read the file."), call("read", { path: "total.sh" })],
  [
    text("It subtracts where it should add."),
    call("edit", { path: "total.sh", oldText: "total - number", newText: "total + number" }),
  ],
  [text("Now I run it."), call("bash", { command: "sh total.sh 1 2 3" })],
  // The last turn depends on what the tool really returned.
  ({ messages }) => {
    const result = messages.findLast(({ role }) => role === "toolResult");
    const output = result ? getMessageText(result).trim() : "";
    return [
      text(output === "6" ? "total.sh works now: 1 + 2 + 3 = 6." : `I expected 6, but total.sh printed: ${output}`),
    ];
  },
];

/** Call `dispose` of the model when it is no longer used. On a terminal it is as fast as a real model. */
export function createDemoModel({ isOnTerminal }: { isOnTerminal: boolean }): ScriptedModel {
  const model = scriptedModel(turns, isOnTerminal ? { tokensPerSecond: 40 } : {});
  // To whatever else it is asked.
  const sayEnd: ScriptedTurn = () => {
    model.add(sayEnd);
    return [text("I only follow a script, and it has ended.")];
  };
  model.add(sayEnd);
  return model;
}

/** Temporary directories: `root` holds both others. */
export async function createDemoProject(): Promise<{ root: string; project: string; agentDir: string }> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "tau-demo-")));
  const project = join(root, "project");
  await mkdir(project);
  await writeFile(join(project, "total.sh"), script);
  return { root, project, agentDir: join(root, "tau") };
}
