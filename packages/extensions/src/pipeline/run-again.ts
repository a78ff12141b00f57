/** Runs a call again that the sandbox stopped, if a person allows it. */
import type { AgentToolResult } from "@tau/agent";
import { type CommandSandbox, type SandboxRefusal, ToolsError } from "@tau/tools";
import type { PipelineTool } from "./layer.ts";

export interface StoppedToolCall {
  readonly toolCallId: string;
  readonly tool: PipelineTool;
  readonly args: unknown;
  readonly refused: SandboxRefusal;
}

export type NextTry =
  /** `sandbox`: undefined runs it outside. `note`: what is different, for the model. */
  | { readonly kind: "again"; readonly sandbox: CommandSandbox | undefined; readonly note: string }
  | { readonly kind: "denied"; readonly message?: string };

/** Asks a person. Never rejects. */
export type AskNextTry = (call: StoppedToolCall, signal: AbortSignal) => Promise<NextTry>;

/** A command may run into one wall after the other, but a person is not asked forever. */
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
