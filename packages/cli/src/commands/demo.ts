/**
 * `tau demo`: the real tools, a real session and its log, on a temporary project. Only the model is scripted, and that is
 * said wherever it speaks. Needs no key and no network.
 */
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { styleText } from "node:util";
import { type Context, streamSimple } from "@tau/ai";
import { call, scriptedModel, type ScriptedTurn, text, thinking } from "@tau/ai/testing";
import { createAgentSession, SessionManager } from "@tau/harness";
import type { SessionEvent } from "@tau/protocol";
import type { Io, Run } from "../command.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { toExitCode } from "../say.ts";
import { runForms } from "./run-forms.ts";

export const demo: Run = async (args, io) =>
  await runForms("demo", async (given) => await show(io, given.has("keep")), { args, io });

/** It subtracts. */
const script = `#!/bin/sh
# Adds up the numbers that it is given.
total=0
for number in "$@"; do
  total=$((total - number))
done
echo "$total"
`;

const request = "total.sh adds up wrongly. Mend it, and show that it works.";

/** What the last turn says depends on what the tools really answered. */
const turns: readonly ScriptedTurn[] = [
  [thinking("First I look at the file."), call("read", { path: "total.sh" })],
  [
    text("It subtracts where it should add."),
    call("edit", { path: "total.sh", oldText: "total - number", newText: "total + number" }),
  ],
  [text("Now I run it."), call("bash", { command: "sh total.sh 1 2 3" })],
  (context) => [
    text(
      lastResult(context).trim() === "6"
        ? "total.sh adds up now: 1, 2 and 3 make 6."
        : `I expected 6, and total.sh said: ${lastResult(context).trim()}`,
    ),
  ],
];

function lastResult({ messages }: Context): string {
  const message = messages.findLast(({ role }) => role === "toolResult");
  return message?.role === "toolResult"
    ? message.content.map((part) => (part.type === "text" ? part.text : "")).join("")
    : "";
}

async function show(io: Io, isKept: boolean): Promise<ExitCode> {
  if (io.signal.aborted) return exitCodes.interrupted;
  const root = await realpath(await mkdtemp(join(tmpdir(), "tau-demo-")));
  const project = join(root, "project");
  const agentDir = join(root, "tau");
  try {
    await mkdir(project);
    await writeFile(join(project, "total.sh"), script);
    const code = await work({ project, agentDir }, io);
    if (!isKept) io.out("All of it is removed again; tau demo --keep leaves it.\n");
    else {
      io.out(`\n${label(io, "kept")} ${root}\n`);
      io.out(`Look at it again: cd ${project} && TAU_DIR=${agentDir} tau sessions show\n`);
    }
    return code;
  } finally {
    if (!isKept) await rm(root, { recursive: true, force: true });
  }
}

async function work({ project, agentDir }: { project: string; agentDir: string }, io: Io): Promise<ExitCode> {
  // As fast as somebody reads, where somebody does.
  const model = scriptedModel(turns, io.terminal.out ? { tokensPerSecond: 40 } : {});
  const sessionManager = await SessionManager.create(project, undefined, { agentDir });
  const session = await createAgentSession({
    cwd: project,
    agentDir,
    sessionManager,
    model,
    streamFn: streamSimple,
    abortSignal: io.signal,
  });
  try {
    io.out("A demonstration: the model is scripted, nobody is asked. The tools, the files and the log are real.\n\n");
    await sessionManager.appendSessionInfo("Demo with a scripted model");
    io.out(`${label(io, "you")} ${request}\n`);
    session.onSessionEvent(createTeller(io));
    const outcome = await session.prompt(request);
    io.out(`${label(io, "log")} ${sessionManager.getEntryCount()} entries in ${sessionManager.getSessionFile()}\n`);
    return outcome.kind === "ran" ? toExitCode(outcome, 0) : exitCodes.failed;
  } finally {
    await session.dispose();
    model.dispose();
  }
}

/** One line for each thing that happens; what the model says comes as it is said. */
function createTeller(io: Io): (event: SessionEvent) => void {
  let speaking: "thinks" | "says" | undefined;
  const speak = (how: "thinks" | "says", delta: string) => {
    if (speaking !== how) {
      endLine();
      io.out(`${label(io, `scripted model ${how}`)} `);
    }
    speaking = how;
    io.out(io.colour && how === "thinks" ? styleText("dim", delta) : delta);
  };
  const endLine = () => {
    if (speaking !== undefined) io.out("\n");
    speaking = undefined;
  };
  const say = (who: string, what: string) => {
    endLine();
    io.out(`${label(io, who)} ${what}\n`);
  };
  const names = new Map<string, string>();
  return (event) => {
    switch (event.type) {
      case "thinking_delta":
        return speak("thinks", event.delta);
      case "text_delta":
        return speak("says", event.delta);
      case "tool_execution_start":
        names.set(event.toolCallId, event.toolName);
        return say("scripted model calls", `${event.toolName} ${JSON.stringify(event.input)}`);
      case "tool_execution_end":
        return say(`${names.get(event.toolCallId) ?? "tool"} answers`, indented(event.output));
      case "message_end":
        return endLine();
      case "error":
        return say("error", event.message);
    }
  };
}

const indented = (output: string): string => output.trimEnd().replaceAll("\n", "\n    ");

const label = (io: Io, name: string) => (io.colour ? styleText("cyan", name) : name);
