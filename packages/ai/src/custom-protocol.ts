/** Runs a custom provider as a protocol. Whatever its functions throw becomes a failure. */
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
import { describeMissingKey } from "./auth/env-keys.ts";
import { getErrorMessage } from "./errors.ts";
import { classifyError, parseErrorBody } from "./failure.ts";
import { handOff, type HandoffRules, type PreparedMessage } from "./handoff.ts";
import type { Model } from "./model.ts";
import { asRecord, asString, tryParseJson } from "./json.ts";
import type { Draft } from "./protocols/draft.ts";
import { defineProtocol, type EncodeNote, MissingCredentials, type Protocol } from "./protocols/protocol.ts";
import { selectTools } from "./protocols/tools.ts";

/** A request to a custom provider. */
interface CustomRequest {
  model: Model;
  context: Context;
  options: CustomProviderOptions;
}

/** The protocol for one request. It is created per request because a custom provider builds URL and key itself. */
export function createCustomProtocol<TConfig>(
  provider: CustomProvider<TConfig>,
  { model, context, options }: CustomRequest,
): Protocol {
  const { api, displayName, definition } = provider;
  const notes: EncodeNote[] = [];
  // Custom providers do not support tools; this adds the note that they were left out.
  selectTools(model, context.tools, notes);
  const request = buildRequest(provider, { model, context, options });
  const protocol = defineProtocol<CustomProviderOptions, Draft>({
    api,
    framing: "text",
    resolveOptions: (_model, simpleOptions) => simpleOptions,
    encode: () => ({ path: "", headers: request.headers ?? {}, payload: request.body, notes }),
    baseUrl: () => request.url,
    authorize: (httpRequest) => httpRequest,
    start: (draft) => draft,
    step(draft, frame) {
      const data = asString(frame.data);
      try {
        if (frame.event === "document") readDocument(definition, draft, data);
        else readEvent(definition, draft, data);
      } catch (error) {
        const message = `The answer of ${displayName} could not be read: ${getErrorMessage(error)}`;
        draft.fail(classifyError({ codes: parseErrorBody(data).codes, message }));
      }
      return draft.take();
    },
    explain: ({ status }) => (status === undefined ? undefined : definition.errorMap?.[status]),
  });
  return protocol as unknown as Protocol;
}

function buildRequest<TConfig>(
  provider: CustomProvider<TConfig>,
  { model, context, options }: CustomRequest,
): ProviderRequest {
  const { definition } = provider;
  const key = findKey(provider, options);
  const config = { ...asRecord(options.config), ...(key !== undefined && { apiKey: key }) } as TConfig;
  const request = definition.buildRequest(config, model.id, flattenMessages(context, model));
  const headers: Record<string, string> = { accept: "application/json, text/event-stream" };
  for (const [name, value] of Object.entries(request.headers ?? {})) headers[name.toLowerCase()] = value;
  const { auth } = definition;
  if (auth && key !== undefined)
    headers[auth.header.toLowerCase()] ??= [auth.prefix?.trim(), key].filter(Boolean).join(" ");
  return { ...request, headers };
}

/** The key from the request, else the config, else the environment. Throws if a key is required and there is none. */
function findKey<TConfig>(
  { displayName, definition: { auth } }: CustomProvider<TConfig>,
  options: CustomProviderOptions,
): string | undefined {
  const variable = auth?.envVar;
  const env = (name: string) =>
    options.env?.[name] ?? (options.ambientCredentials === false ? undefined : platform.env(name));
  const fromEnv = variable === undefined ? undefined : env(variable);
  const key = options.apiKey || asString(asRecord(options.config)["apiKey"]) || fromEnv;
  if (key || !auth) return key || undefined;
  throw new MissingCredentials(describeMissingKey(displayName, options, variable === undefined ? [] : [variable]));
}

function readDocument<TConfig>(definition: Provider<TConfig>, draft: Draft, body: string): void {
  const json = tryParseJson(body);
  if (json === undefined) throw new Error(parseErrorBody(body).message);
  const answer = definition.parseResponse(json);
  if (typeof answer?.content !== "string") throw new Error("parseResponse returned no content");
  if (answer.content !== "") draft.text("text", answer.content);
  applyMetadata(draft, answer);
  finish(draft, answer.finishReason);
}

function readEvent<TConfig>(definition: Provider<TConfig>, draft: Draft, data: string): void {
  if (!definition.parseStreamChunk) throw new Error("it is a stream, and the provider defines no parseStreamChunk");
  const chunk = definition.parseStreamChunk(`data: ${data}`);
  if (chunk) {
    if (typeof chunk.delta !== "string") throw new Error("parseStreamChunk returned no delta");
    if (chunk.delta !== "") draft.text("text", chunk.delta);
    applyMetadata(draft, chunk);
  }
  if (chunk?.done || data.trim() === "[DONE]") finish(draft, chunk?.finishReason);
  else if (chunk?.finishReason) stop(draft, chunk.finishReason);
}

function applyMetadata(draft: Draft, { model, usage }: Pick<ChatCompletionResponse, "model" | "usage">): void {
  draft.identify({ responseModel: model === "unknown" ? undefined : model });
  if (!usage) return;
  const { inputTokens, outputTokens, cost } = usage;
  draft.usage({ input: inputTokens, output: outputTokens, ...(cost !== undefined && { cost }) });
}

/** If the end carries no reason, one that came earlier is kept. */
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

/** Only text is sent, so images are not allowed and tool call ids do not matter. */
const rules: HandoffRules = { toolCallId: (id) => id, imageTypes: [], maxImageCharacters: 0, userFirst: true };

/** The conversation as text. Consecutive messages of one role are merged: many chat templates require alternation. */
function flattenMessages(context: Context, model: Model): ChatMessage[] {
  const flat: ChatMessage[] = [];
  if (context.systemPrompt?.trim()) flat.push({ role: "system", content: context.systemPrompt.toWellFormed() });
  for (const message of handOff(context.messages, model, rules)) {
    const role = message.role === "assistant" ? "assistant" : "user";
    const content = flattenContent(message);
    const previous = flat.at(-1);
    if (content === "") continue;
    if (previous?.role === role) previous.content += `\n\n${content}`;
    else flat.push({ role, content });
  }
  return flat;
}

function flattenContent(message: PreparedMessage): string {
  const parts = message.content.flatMap((block) => {
    if (block.type === "text") return [block.text];
    if (block.type === "toolCall") return [`[Called ${block.name} with ${JSON.stringify(block.arguments)}]`];
    return [];
  });
  if (message.role === "toolResult") parts.unshift(`[${message.isError ? "Error" : "Result"} of ${message.toolName}]`);
  return parts.join("\n");
}
