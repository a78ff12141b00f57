/** Checks the arguments of tool calls. What it throws begins with pi's words, which programs compare. */
import {
  AiError,
  type Tool,
  type ToolCall,
  validateToolArguments as validateArguments,
  validateToolCall as validateCall,
} from "@tau/ai";

export const validateToolArguments: typeof validateArguments = (tool, toolCall) =>
  rephrase(toolCall, () => validateArguments(tool, toolCall));

export const validateToolCall = (tools: readonly Tool[], toolCall: ToolCall): ToolCall["arguments"] =>
  rephrase(toolCall, () => validateCall(tools, toolCall));

function rephrase<T>({ name }: ToolCall, validate: () => T): T {
  try {
    return validate();
  } catch (error) {
    if (!(error instanceof AiError)) throw error;
    const words = error.code === "unknown_tool" ? `Tool "${name}" not found` : `Validation failed for tool "${name}"`;
    throw new AiError(error.code, `${words}: ${error.message}`, { cause: error });
  }
}
