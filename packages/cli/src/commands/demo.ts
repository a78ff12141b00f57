/** `tau demo`: real tools and a real session on a temporary project. Only the model is scripted, and the output says so. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { streamSimple } from "@tau/ai";
import { call, scriptedModel, type ScriptedTurn, text, thinking } from "@tau/ai/testing";
import { createAgentSession, SessionManager } from "@tau/harness";
import { getMessageText } from "@tau/harness/host";
import type { SessionEvent } from "@tau/protocol";
import type { Io } from "../command.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { toExitCode } from "../run-prompts.ts";
import { paint } from "../terminal-text.ts";
import type { CommandArgs } from "./usage.ts";

/** It subtracts. */
const script = `#!/bin/sh
# Adds up the numbers that it is given.
total=0
for number in "$@"; do
  total=$((total - number))
done
echo "$total"
`;

const request = "total.sh calculates wrong sums. Fix it, and show that it works.";

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

export async function runDemo(args: CommandArgs, io: Io): Promise<ExitCode> {
  if (io.signal.aborted) return exitCodes.interrupted;
  const isKept = args.has("keep");
  const root = await realpath(await mkdtemp(join(tmpdir(), "tau-demo-")));
  const project = join(root, "project");
  const agentDir = join(root, "tau");
  try {
    await mkdir(project);
    await writeFile(join(project, "total.sh"), script);
    const code = await runScript({ project, agentDir }, io);
    if (!isKept) io.out("The project and its session are removed again; tau demo --keep keeps them.\n");
    else {
      io.out(`\n${formatLabel(io, "kept")} ${root}\n`);
      io.out(`To look at the session: cd ${project} && TAU_DIR=${agentDir} tau sessions show\n`);
    }
    return code;
  } finally {
    if (!isKept) await rm(root, { recursive: true, force: true });
  }
}

async function runScript({ project, agentDir }: { project: string; agentDir: string }, io: Io): Promise<ExitCode> {
  // On a terminal, at the speed of a real model.
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
    io.out("This is a demonstration: the model is scripted. The tools, the files and the session log are real.\n\n");
    await sessionManager.appendSessionInfo("Demo with a scripted model");
    io.out(`${formatLabel(io, "you")} ${request}\n`);
    session.onSessionEvent(createPrinter(io));
    const outcome = await session.prompt(request);
    const file = sessionManager.getSessionFile();
    io.out(`${formatLabel(io, "log")} ${sessionManager.getEntryCount()} entries in ${file}\n`);
    return outcome.kind === "ran" ? toExitCode(outcome, 0) : exitCodes.failed;
  } finally {
    await session.dispose();
    model.dispose();
  }
}

/** Prints one line for each event; the text of the model appears as it streams. */
function createPrinter(io: Io): (event: SessionEvent) => void {
  let streaming: "thinks" | "says" | undefined;
  const endLine = () => {
    if (streaming !== undefined) io.out("\n");
    streaming = undefined;
  };
  const printDelta = (kind: "thinks" | "says", delta: string) => {
    if (streaming !== kind) {
      endLine();
      io.out(`${formatLabel(io, `scripted model ${kind}`)} `);
    }
    streaming = kind;
    io.out(io.colour && kind === "thinks" ? paint(delta, "dim") : delta);
  };
  const printLine = (label: string, line: string) => {
    endLine();
    io.out(`${formatLabel(io, label)} ${line}\n`);
  };
  const toolNames = new Map<string, string>();
  return (event) => {
    switch (event.type) {
      case "thinking_delta":
        return printDelta("thinks", event.delta);
      case "text_delta":
        return printDelta("says", event.delta);
      case "tool_execution_start":
        toolNames.set(event.toolCallId, event.toolName);
        return printLine("scripted model calls", `${event.toolName} ${JSON.stringify(event.input)}`);
      case "tool_execution_end": {
        const output = event.output.trimEnd().replaceAll("\n", "\n    ");
        return printLine(`${toolNames.get(event.toolCallId) ?? "tool"} returns`, output);
      }
      case "message_end":
        return endLine();
      case "error":
        return printLine("error", event.message);
    }
  };
}

const formatLabel = (io: Io, label: string) => (io.colour ? paint(label, "cyan") : label);
