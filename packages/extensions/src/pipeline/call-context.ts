/** Gives each call of a tool a context of its own, which the engine does not know. */
import { oncePerPair } from "@tau/ai/internal";
import type { AgentToolResult } from "@tau/agent";
import { removeSecrets } from "@tau/policy/internal";
import type { PipelineInput, PipelineTool } from "./layer.ts";

/**
 * Removes from the result of a call the secrets that the call was given. It reports nothing before: a report could end in
 * the middle of a secret.
 */
export const withCallContext = oncePerPair(
  (createCallContext: PipelineInput["createCallContext"], tool: PipelineTool): PipelineTool => ({
    ...tool,
    async execute(toolCallId, params, signal, onUpdate) {
      const context = createCallContext(toolCallId);
      const secrets = Object.values(context.env ?? {});
      if (secrets.length === 0) return await tool.execute(toolCallId, params, signal, onUpdate, context);
      try {
        return clean(await tool.execute(toolCallId, params, signal, undefined, context), secrets);
      } catch (error) {
        if (error instanceof Error) error.message = removeSecrets(error.message, secrets);
        throw error;
      }
    },
  }),
);

const clean = (result: AgentToolResult<unknown>, secrets: readonly string[]): AgentToolResult<unknown> => ({
  ...result,
  content: result.content.map((part) =>
    part.type === "text" ? { ...part, text: removeSecrets(part.text, secrets) } : part,
  ),
});
