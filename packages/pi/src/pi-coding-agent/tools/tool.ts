/** Shared by the tools of this module. */
import type { AgentToolResult, AgentToolUpdateCallback } from "@tau/agent";
import type { ImageContent, TextContent } from "@tau/ai";
import { definitions, type DescribedTool } from "@tau/tools";
import type { TSchema } from "typebox";

/** The tools that pi has and tau has too. */
export type ToolName = "read" | "bash" | "edit" | "write" | "grep" | "find" | "ls";

type Execute<TArguments, TDetails> = (
  args: TArguments,
  signal: AbortSignal | undefined,
  onUpdate: AgentToolUpdateCallback<TDetails> | undefined,
) => Promise<AgentToolResult<TDetails>>;

/** Takes arguments of any kind, as extensions pass them. */
export type PiTool<TDetails> = DescribedTool<TSchema, TDetails>;

/**
 * A tool with the parameters of pi's and the description of ours, so that a tool of an extension that is made from it is
 * judged, summed up and drawn as ours.
 */
export function createTool<TArguments, TDetails>(
  name: ToolName,
  parameters: TSchema,
  execute: Execute<TArguments, TDetails>,
): PiTool<TDetails> {
  const { parameterNeeds: _needs, ...definition }: Partial<DescribedTool> = definitions[name];
  return {
    ...(definition as Omit<DescribedTool, "execute">),
    parameters,
    promptGuidelines: [],
    execute: (_id, args, signal, onUpdate) => execute(args as TArguments, signal, onUpdate),
  };
}

export const toResult = <TDetails>(text: string, details: TDetails): AgentToolResult<TDetails> => ({
  content: [{ type: "text", text }] satisfies (TextContent | ImageContent)[],
  details,
});

/** Throws for a call that was aborted. */
export function refuseAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new Error("Operation aborted");
}
