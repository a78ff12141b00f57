/** Runs a command in a terminal of somebody else, who shows its output. */
import type { AgentToolResult } from "@tau/agent";
import { ToolsError, type ToolsErrorCode } from "../errors.ts";
import type { TerminalCommand } from "../platform/command-terminal.ts";
import type { ExitStatus } from "../platform/spawn.ts";
import { keepTail } from "../truncate.ts";
import type { BashDetails } from "./bash-details.ts";
import { describeStatus, getSignal } from "./command.ts";
import { type CallLimits, getOutcome } from "./outcome.ts";
import { createSafeText } from "./safe-text.ts";

interface TerminalCall extends CallLimits {
  cwd: string;
}

/** Waits for the end, and answers as for a command of our own. Throws a `ToolsError` with its output if it fails. */
export async function finishInTerminal(
  command: TerminalCommand,
  { cwd, timeoutMs, signal, clock }: TerminalCall,
): Promise<AgentToolResult<BashDetails>> {
  try {
    const outcome = await getOutcome(command.exit, { timeoutMs, signal, clock });
    if (outcome.kind !== "done") await command.kill();
    const output = await command.readOutput();
    const status = outcome.kind === "done" ? outcome.status : undefined;
    const { text, details } = describeOutput(output, status);
    const fail = (code: ToolsErrorCode, verdict: string) =>
      new ToolsError(code, text === "" ? verdict : `${text}\n\n${verdict}`, { details });
    if (outcome.kind === "aborted") throw fail("aborted", "Command aborted");
    if (outcome.kind === "timeout") {
      const seconds = timeoutMs! / 1_000;
      throw fail("timeout", `Command timed out after ${seconds} second${seconds === 1 ? "" : "s"} and was ended`);
    }
    const verdict = describeStatus(outcome.status, cwd);
    if (verdict !== undefined) throw fail("failed", verdict);
    return { content: [{ type: "text", text: text || "(no output)" }], details };
  } finally {
    await command.release();
  }
}

function describeOutput(output: { text: string; isCut: boolean }, status: ExitStatus | undefined) {
  const safe = createSafeText();
  const plain = Buffer.concat([safe.push(Buffer.from(output.text)), safe.end()])
    .toString("utf8")
    .trimEnd();
  const { text: shown, shownLines, totalLines, by } = keepTail(plain);
  const text = `${output.isCut || by ? "[The beginning of the output is left out.]\n" : ""}${shown}`;
  const exitCode = status?.kind === "exited" ? status.code : undefined;
  const signal =
    status?.kind === "signalled" ? status.signal : exitCode === undefined ? undefined : getSignal(exitCode);
  const details: BashDetails = {
    containment: "best effort",
    shownLines,
    totalLines,
    outputLength: text.length,
    ...(exitCode !== undefined && { exitCode }),
    ...(signal !== undefined && { signal }),
  };
  return { text, details };
}
