/** Requests of servers to the model of the session: each is shown to the person first. */
import type { Context, Model } from "@tau/ai";
import { isRecord, joinTextBlocks } from "@tau/ai/internal";
import type { ExtensionContext } from "@tau/extensions";
import type { SamplingAnswer } from "./ports.ts";
import { toVisible } from "../kit/visible-text.ts";

const maxMessages = 50;
const maxShownLength = 2_000;
const maxTokens = 8_192;

interface SampleOptions {
  context: Pick<ExtensionContext, "ui" | "model" | "modelRegistry">;
  server: string;
  signal: AbortSignal;
}

/** Rejects if the person does not allow it. Only texts are sent, and the server gets only the text of the answer. */
export async function sample(
  params: Readonly<Record<string, unknown>>,
  { context, server, signal }: SampleOptions,
): Promise<SamplingAnswer> {
  const { ui, model, modelRegistry } = context;
  if (!model) throw new Error("No model is chosen.");
  const request = toRequest(params);
  const text = request.messages.map(({ content }) => content).join("\n---\n");
  const shown = [request.systemPrompt, text].filter((part) => part !== undefined).join("\n---\n");
  const title = `The MCP server ${server} wants to ask ${model.name ?? model.id}, at your expense`;
  if (!(await ui.confirm(title, cutMiddle(toVisible(shown)), { signal })))
    throw new Error("The user did not allow it.");
  const wanted = typeof params["maxTokens"] === "number" ? params["maxTokens"] : maxTokens;
  const answer = await modelRegistry.complete(model as Model, toContext(request), {
    signal,
    maxTokens: Math.max(1, Math.min(wanted, maxTokens)),
  });
  const { stopReason } = answer;
  if (stopReason === "error" || stopReason === "aborted")
    throw new Error(answer.errorMessage ?? "The model did not answer.");
  return {
    role: "assistant",
    model: model.id,
    content: { type: "text", text: joinTextBlocks(answer.content.filter((block) => block.type === "text")) },
    stopReason: stopReason === "length" ? "maxTokens" : "endTurn",
  };
}

/** Shows both ends: what a server wants to hide would be at the one that is cut. */
function cutMiddle(text: string): string {
  if (text.length <= maxShownLength) return text;
  const half = maxShownLength / 2;
  return `${text.slice(0, half)}\n[${text.length - maxShownLength} characters are not shown here, but would be sent]\n${text.slice(-half)}`;
}

interface SamplingRequest {
  systemPrompt: string | undefined;
  messages: { role: "user" | "assistant"; content: string }[];
}

function toRequest({ messages, systemPrompt }: Readonly<Record<string, unknown>>): SamplingRequest {
  const list = Array.isArray(messages) ? messages.filter(isRecord) : [];
  if (list.length === 0 || list.length > maxMessages) throw new Error(`A request has 1 to ${maxMessages} messages.`);
  return {
    systemPrompt: typeof systemPrompt === "string" ? systemPrompt : undefined,
    messages: list.map(({ role, content }) => ({
      role: role === "assistant" ? "assistant" : "user",
      content: [content]
        .flat()
        .filter(isRecord)
        .map(({ type, text }) =>
          type === "text" && typeof text === "string" ? text : `[${String(type)} was left out]`,
        )
        .join("\n"),
    })),
  };
}

/** Earlier answers are quoted: a server cannot make up messages of the model. */
function toContext({ systemPrompt, messages }: SamplingRequest): Context {
  const text = messages
    .map(({ role, content }) => (role === "assistant" ? `Assistant: ${content}` : content))
    .join("\n\n");
  return {
    ...(systemPrompt !== undefined && { systemPrompt }),
    messages: [{ role: "user", content: text, timestamp: 0 }],
  };
}
