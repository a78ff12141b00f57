/** Runs what a custom provider describes as a protocol. A wall: whatever its functions throw is a failure. */
import { platform } from "#platform";
import type { Context } from "./context.ts";
import type {
  ChatCompletionResponse,
  ChatMessage,
  CustomProvider,
  CustomProviderOptions,
  Provider,
  ProviderRequest,
} from "./custom-definition.ts";
import { getErrorMessage } from "./errors.ts";
import { classifyError, parseErrorBody } from "./failure.ts";
import { handOff, type HandoffRules, type PreparedMessage } from "./handoff.ts";
import type { Model } from "./model.ts";
import type { Draft } from "./protocols/draft.ts";
import { defineProtocol, type EncodeNote, MissingCredentials, type Protocol } from "./protocols/protocol.ts";
import { record, text } from "./protocols/read.ts";
import { offeredTools } from "./protocols/tools.ts";

/** One request to a custom provider. */
export interface Asked {
  model: Model;
  context: Context;
  options: CustomProviderOptions;
}

/** What reading one response needs. */
interface Reading<TConfig> {
  definition: Provider<TConfig>;
  draft: Draft;
}

/** The protocol of one request: a custom provider builds it whole, address and key included. */
export function customProtocol<TConfig>(provider: CustomProvider<TConfig>, asked: Asked): Protocol {
  const { api, called, definition } = provider;
  const notes: EncodeNote[] = [];
  offeredTools(asked.model, asked.context.tools, notes);
  const request = buildRequest(provider, asked);
  const protocol = defineProtocol<CustomProviderOptions, Reading<TConfig>>({
    api,
    framing: "text",
    resolveOptions: (_model, options) => options,
    encode: () => ({ path: "", headers: request.headers ?? {}, payload: request.body, notes }),
    baseUrl: () => request.url,
    authorize: (sent) => sent,
    start: (draft) => ({ definition, draft }),
    step(reading, frame) {
      const data = text(frame.data);
      try {
        if (frame.event === "document") readDocument(reading, data);
        else readEvent(reading, data);
      } catch (error) {
        const message = `The answer of ${called} could not be read: ${getErrorMessage(error)}`;
        reading.draft.fail(classifyError({ codes: parseErrorBody(data).codes, message }));
      }
      return reading.draft.take();
    },
    explain: ({ status }) => (status === undefined ? undefined : definition.errorMap?.[status]),
  });
  return protocol as unknown as Protocol;
}

function buildRequest<TConfig>(provider: CustomProvider<TConfig>, asked: Asked): ProviderRequest {
  const { definition } = provider;
  const { model, context, options } = asked;
  const key = findKey(provider, options);
  const config = { ...record(options.config), ...(key !== undefined && { apiKey: key }) } as TConfig;
  const built = definition.buildRequest(config, model.id, flattenMessages(context, model));
  const headers: Record<string, string> = { accept: "application/json, text/event-stream" };
  for (const [header, value] of Object.entries(built.headers ?? {})) headers[header.toLowerCase()] = value;
  const { auth } = definition;
  if (auth && key !== undefined)
    headers[auth.header.toLowerCase()] ??= [auth.prefix?.trim(), key].filter(Boolean).join(" ");
  return { ...built, headers };
}

/** The request's key, else the configuration's, else the environment's. Throws when one is needed and there is none. */
function findKey<TConfig>(
  { called, definition: { auth } }: CustomProvider<TConfig>,
  options: CustomProviderOptions,
): string | undefined {
  const variable = auth?.envVar;
  const fromEnv = variable === undefined ? undefined : (options.env?.[variable] ?? platform.env(variable));
  const key = options.apiKey || text(record(options.config)["apiKey"]) || fromEnv;
  if (key || !auth) return key || undefined;
  const where = variable === undefined ? "Pass apiKey." : `Set ${variable}, or pass apiKey.`;
  throw new MissingCredentials(`There is no API key for ${called}. ${where}`);
}

function readDocument<TConfig>({ definition, draft }: Reading<TConfig>, body: string): void {
  const json = parseJson(body);
  if (json === undefined) throw new Error(parseErrorBody(body).message);
  const answer = definition.parseResponse(json);
  if (typeof answer?.content !== "string") throw new Error("parseResponse gave no content");
  if (answer.content !== "") draft.text("text", answer.content);
  takeFacts(draft, answer);
  finish(draft, answer.finishReason);
}

function readEvent<TConfig>({ definition, draft }: Reading<TConfig>, data: string): void {
  if (!definition.parseStreamChunk) throw new Error("it came as a stream, and there is no parseStreamChunk");
  const chunk = definition.parseStreamChunk(`data: ${data}`);
  if (chunk) {
    if (typeof chunk.delta !== "string") throw new Error("parseStreamChunk gave no delta");
    if (chunk.delta !== "") draft.text("text", chunk.delta);
    takeFacts(draft, chunk);
  }
  if (chunk?.done || data.trim() === "[DONE]") finish(draft, chunk?.finishReason);
  else if (chunk?.finishReason) stop(draft, chunk.finishReason);
}

function takeFacts(draft: Draft, { model, usage }: Pick<ChatCompletionResponse, "model" | "usage">): void {
  draft.identify({ responseModel: model === "unknown" ? undefined : model });
  if (usage) draft.usage({ input: usage.inputTokens, output: usage.outputTokens });
}

/** A reason that came earlier is not overwritten by an end without one. */
function finish(draft: Draft, reason: string | undefined): void {
  if (reason !== undefined || draft.state.kind === "open") stop(draft, reason ?? "done");
  draft.end();
}

function stop(draft: Draft, raw: string): void {
  const reason = raw.toLowerCase();
  if (/^(content_filter|refusal|safety)$/.test(reason)) {
    draft.fail({ kind: "refused", message: `The provider refused to answer (${raw}).` }, raw);
  } else draft.stop(/^(length|max_tokens)$/.test(reason) ? "length" : "stop", raw);
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** No images, and ids of no consequence: there is only text. */
const rules: HandoffRules = { toolCallId: (id) => id, imageTypes: [], maxImageCharacters: 0, userFirst: true };

/** The conversation as text. Neighbours of the same role become one message, since many chat templates want turns. */
export function flattenMessages(context: Context, model: Model): ChatMessage[] {
  const flat: ChatMessage[] = [];
  if (context.systemPrompt?.trim()) flat.push({ role: "system", content: context.systemPrompt.toWellFormed() });
  for (const message of handOff(context.messages, model, rules)) {
    const role = message.role === "assistant" ? "assistant" : "user";
    const content = flatContent(message);
    const before = flat.at(-1);
    if (content === "") continue;
    if (before?.role === role) before.content += `\n\n${content}`;
    else flat.push({ role, content });
  }
  return flat;
}

function flatContent(message: PreparedMessage): string {
  const parts = message.content.flatMap((block) => {
    if (block.type === "text") return [block.text];
    if (block.type === "toolCall") return [`[Called ${block.name} with ${JSON.stringify(block.arguments)}]`];
    return [];
  });
  if (message.role === "toolResult") parts.unshift(`[${message.isError ? "Error" : "Result"} of ${message.toolName}]`);
  return parts.join("\n");
}
