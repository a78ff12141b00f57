/** A provider that answers with what it was given, for tests. */
import {
  type AssistantMessage,
  type Context,
  emptyUsage,
  type Model,
  systemIds,
  type TextContent,
  type ThinkingContent,
  type ToolCall,
  unregisterApiProviders,
} from "@tau/ai";
import { replay } from "./faux-replay.ts";
import { estimateUsage } from "./faux-usage.ts";
import { createProvider, type Provider } from "./provider.ts";
import { registerApiProvider } from "./streams.ts";
import { lazyStream, type ProviderStreams } from "./lazy.ts";

type Block = TextContent | ThinkingContent | ToolCall;

interface FauxState {
  callCount: number;
  deferredFetchCount: number;
  cancelledDeferred: unknown[];
}

type Answer =
  | AssistantMessage
  | ((
      context: Context,
      options: unknown,
      state: FauxState,
      model: Model,
    ) => AssistantMessage | Promise<AssistantMessage>);

interface FauxOptions {
  /** Default: one that no other has. */
  api?: string;
  provider?: string;
  models?: (Partial<Model> & { id: string })[];
  /** How many tokens of four characters a delta has: always the smaller number, 3 by default. */
  tokenSize?: { min?: number; max?: number };
  /** Default: without pauses. */
  tokensPerSecond?: number;
}

export const fauxText = (text: string): TextContent => ({ type: "text", text });
export const fauxThinking = (thinking: string): ThinkingContent => ({ type: "thinking", thinking });
export const fauxToolCall = (name: string, args: ToolCall["arguments"], options: { id?: string } = {}): ToolCall => ({
  type: "toolCall",
  id: options.id ?? systemIds(),
  name,
  arguments: args,
});

export function fauxAssistantMessage(
  content: string | Block | Block[],
  options: Partial<Pick<AssistantMessage, "stopReason" | "errorMessage" | "responseId" | "timestamp">> = {},
): AssistantMessage {
  const blocks = typeof content === "string" ? [fauxText(content)] : Array.isArray(content) ? content : [content];
  return {
    role: "assistant",
    content: blocks,
    api: "faux",
    provider: "faux",
    model: "faux-1",
    usage: emptyUsage(),
    stopReason: "stop",
    timestamp: Date.now(),
    ...options,
  };
}

interface FauxCore extends ProviderStreams {
  api: string;
  provider: string;
  models: [Model, ...Model[]];
  state: FauxState;
  getModel(modelId?: string): Model | undefined;
  setResponses(answers: Answer[]): void;
  appendResponses(answers: Answer[]): void;
  getPendingResponseCount(): number;
}

export function createFauxCore({
  api = `faux:${systemIds()}`,
  provider = "faux",
  models = [{ id: "faux-1", name: "Faux Model" }],
  tokenSize: { min: deltaTokens = 3 } = {},
  tokensPerSecond,
}: FauxOptions): FauxCore {
  const all = models.map((model) => toModel(model, api, provider)) as FauxCore["models"];
  const state: FauxState = { callCount: 0, deferredFetchCount: 0, cancelledDeferred: [] };
  const prompts = new Map<string, string>();
  let pending: Answer[] = [];
  const start: ProviderStreams["stream"] = (model, context, options) => {
    state.callCount++;
    const next = pending.shift();
    return lazyStream(model, async () => {
      await options?.onResponse?.({ status: 200, headers: {} }, model);
      if (next === undefined) throw new Error("No more faux responses queued");
      const answer = typeof next === "function" ? await next(context, options, state, model) : next;
      const usage = estimateUsage(answer, context, options ?? {}, prompts);
      const pace = { deltaLength: Math.max(1, deltaTokens) * 4, tokensPerSecond, signal: options?.signal };
      return replay({ ...answer, api, provider, model: model.id, usage }, pace);
    });
  };
  return {
    api,
    provider,
    models: all,
    state,
    stream: start,
    streamSimple: start,
    getModel: (modelId) => (modelId === undefined ? all[0] : all.find(({ id }) => id === modelId)),
    setResponses: (answers) => void (pending = [...answers]),
    appendResponses: (answers) => void pending.push(...answers),
    getPendingResponseCount: () => pending.length,
  };
}

export function fauxProvider(options: FauxOptions = {}): FauxCore & { provider: Provider } {
  const core = createFauxCore(options);
  const auth = { apiKey: { name: "Faux", resolve: async () => ({ auth: {}, source: "faux" }) } };
  return { ...core, provider: createProvider({ id: core.provider, auth, models: core.models, api: core }) } as never;
}

export function registerFauxProvider(options: FauxOptions = {}): FauxCore & { unregister(): void } {
  const core = createFauxCore(options);
  const sourceId = systemIds();
  registerApiProvider(core, sourceId);
  return { ...core, unregister: () => unregisterApiProviders(sourceId) };
}

const toModel = (model: Partial<Model> & { id: string }, api: string, provider: string): Model => ({
  name: model.id,
  baseUrl: "http://localhost:0",
  reasoning: false,
  input: ["text", "image"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 128_000,
  maxTokens: 16_384,
  ...model,
  api,
  provider,
});
