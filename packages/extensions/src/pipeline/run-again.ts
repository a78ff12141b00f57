/** Runs a call again that the sandbox stopped, if a person allows it. */
import type { AgentToolResult } from "@tau/agent";
import { type CommandSandbox, type SandboxRefusal, ToolsError } from "@tau/tools";
import type { AskNextTry, StoppedToolCall } from "./layer.ts";

/** The sandbox may stop a command several times, but a person is not asked forever. */
const maxTries = 3;

export async function runUntilAllowed(
  call: Omit<StoppedToolCall, "refused">,
  { ask, sandbox, signal }: { ask: AskNextTry; sandbox: CommandSandbox; signal: AbortSignal },
  run: (sandbox: CommandSandbox | undefined) => Promise<AgentToolResult<unknown>>,
): Promise<AgentToolResult<unknown>> {
  let inside: CommandSandbox | undefined = sandbox;
  const notes: string[] = [];
  for (let tries = 0; ; tries++) {
    try {
      const result = await run(inside);
      return notes.length === 0
        ? result
        : { ...result, content: [...result.content, { type: "text", text: notes.at(-1)! }] };
    } catch (error) {
      const refused = getRefusal(error);
      const next = refused && tries < maxTries ? await ask({ ...call, refused }, signal) : undefined;
      if (next?.kind !== "again")
        throw withNotes(error, [...notes.slice(-1), ...(next?.message ? [`[${next.message}]`] : [])]);
      inside = next.sandbox;
      notes.push(`[${next.note}]`);
    }
  }
}

function getRefusal(error: unknown): SandboxRefusal | undefined {
  if (!(error instanceof ToolsError) || error.code !== "failed") return undefined;
  return (error.details as { refused?: SandboxRefusal } | undefined)?.refused;
}

function withNotes(error: unknown, notes: readonly string[]): unknown {
  if (error instanceof Error) error.message = [error.message, ...notes].join("\n\n");
  return error;
}
