/** `tau demo`: real tools and a real session on a temporary project. Only the model is scripted, and the output says so. */
import { rm } from "node:fs/promises";
import { streamSimple } from "@tau/ai";
import { createAgentSession, SessionManager } from "@tau/harness";
import type { SessionEvent } from "@tau/protocol";
import type { Io } from "./command.ts";
import { createDemoModel, createDemoProject, demoRequest } from "../modes/demo-script.ts";
import { type ExitCode, exitCodes } from "../process/exit-codes.ts";
import { toExitCode } from "../modes/prompt-end.ts";
import { paint } from "../process/terminal-text.ts";
import type { CommandArgs } from "./usage.ts";

export async function runDemo(args: CommandArgs, io: Io): Promise<ExitCode> {
  if (io.signal.aborted) return exitCodes.interrupted;
  const isKept = args.has("keep");
  const { root, project, agentDir } = await createDemoProject();
  try {
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
  const model = createDemoModel({ isOnTerminal: io.terminal.out });
  const sessionManager = await SessionManager.create(project, undefined, { agentDir });
  const session = await createAgentSession({
    cwd: project,
    use: ["user", "project"],
    agentDir,
    sessionManager,
    model,
    streamFn: streamSimple,
    abortSignal: io.signal,
  });
  try {
    io.out("This is a demonstration: the model is scripted. The tools, the files and the session log are real.\n\n");
    await sessionManager.appendSessionInfo("Demo with a scripted model");
    io.out(`${formatLabel(io, "you")} ${demoRequest}\n`);
    session.onSessionEvent(createPrinter(io));
    const outcome = await session.prompt(demoRequest);
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
