/** Conversations that every protocol's encoder is compared on, with what the vendor's own SDK sends for them. */
import type { Context } from "../src/context.ts";
import type { AssistantMessage, ToolResultMessage, UserMessage } from "../src/message.ts";
import type { Model } from "../src/model.ts";
import type { SimpleStreamOptions } from "../src/options.ts";
import { emptyUsage } from "../src/usage.ts";

/** A white pixel. */
export const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

export const weatherTool = {
  name: "weather",
  description: "The weather of a place",
  parameters: {
    type: "object",
    properties: { place: { type: "string", description: "A city" }, unit: { type: "string", enum: ["C", "F"] } },
    required: ["place"],
  },
};

export const clockTool = { name: "clock", description: "The time", parameters: { type: "object", properties: {} } };

export const user = (content: UserMessage["content"]): UserMessage => ({ role: "user", content, timestamp: 1 });

/** An answer of `model`, so that its signatures are its own. */
export const assistant = (
  model: Model,
  content: AssistantMessage["content"],
  extra: Partial<AssistantMessage> = {},
): AssistantMessage => ({
  role: "assistant",
  content,
  api: model.api,
  provider: model.provider,
  model: model.id,
  usage: emptyUsage(),
  stopReason: content.some((block) => block.type === "toolCall") ? "toolUse" : "stop",
  timestamp: 2,
  ...extra,
});

export const result = (
  toolCallId: string,
  toolName: string,
  content: ToolResultMessage["content"],
  isError = false,
): ToolResultMessage => ({ role: "toolResult", toolCallId, toolName, content, isError, timestamp: 3 });

/** One comparison: what we are given, and by hand what the vendor's SDK is asked to send for the same. */
export interface OracleCase<TParams> {
  name: string;
  context: Context;
  options?: SimpleStreamOptions;
  model?: Partial<Model>;
  params: TParams;
}
