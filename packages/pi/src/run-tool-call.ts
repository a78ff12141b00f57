/** Executes a call of a tool as the agent loop does, without its events and messages. */
import type {
  AgentContext,
  AgentLoopConfig,
  AgentTool,
  AgentToolCall,
  AgentToolResult,
  AgentToolUpdateCallback,
} from "@tau/agent";
import { type AssistantMessage, validateToolArguments } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";

interface ToolCallOptions extends Pick<AgentLoopConfig, "beforeToolCall" | "afterToolCall"> {
  tools: readonly AgentTool[];
  assistantMessage: AssistantMessage;
  context: AgentContext;
  signal?: AbortSignal;
  onUpdate?: AgentToolUpdateCallback;
}

interface Outcome {
  toolCall: AgentToolCall;
  result: AgentToolResult;
  isError: boolean;
}

/** Never rejects for a tool or a guard that fails. */
export async function runToolCall(toolCall: AgentToolCall, options: ToolCallOptions): Promise<Outcome> {
  const { assistantMessage, context, signal, onUpdate, beforeToolCall, afterToolCall } = options;
  const fail = (text: string): Outcome => ({
    toolCall,
    result: { content: [{ type: "text", text }], details: {} },
    isError: true,
  });
  try {
    const tool = options.tools.find(({ name }) => name === toolCall.name);
    if (!tool) return fail(`Tool ${toolCall.name} not found`);
    const prepared = tool.prepareArguments ? tool.prepareArguments(toolCall.arguments) : toolCall.arguments;
    const args: unknown = validateToolArguments(tool, { ...toolCall, arguments: prepared });
    const question = { assistantMessage, toolCall, args, context };
    const verdict = await beforeToolCall?.(question, signal);
    if (verdict?.block) return fail(verdict.reason || "Tool execution was blocked");
    const outcome = await tool
      .execute(toolCall.id, args as never, signal, onUpdate)
      .then((result) => ({ result, isError: false }))
      .catch((error: unknown) => fail(getErrorMessage(error)));
    const changes = await afterToolCall?.({ ...question, result: outcome.result, isError: outcome.isError }, signal);
    const { isError = outcome.isError, ...replaced } = changes ?? {};
    return { toolCall, result: { ...outcome.result, ...replaced }, isError };
  } catch (error) {
    return fail(getErrorMessage(error));
  }
}
