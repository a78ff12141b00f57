/**
 * Asking a model through a server that holds the keys, for pages and other places that must not. The server sends only
 * what is new, and the client rebuilds the message.
 */
import {
  type AssistantMessage,
  type AssistantMessageEvent,
  type AssistantMessageEventStream,
  type Context,
  defineProtocol,
  type Draft,
  type Failure,
  type Model,
  type Protocol,
  type SimpleStreamOptions,
  startRequest,
  type StopReason,
  type ToolCall,
} from "@tau/ai";

/** What the server sends: events without the message they belong to. */
export type ProxyAssistantMessageEvent =
  | { type: "start"; responseId?: string; responseModel?: string }
  | { type: "text_start" | "thinking_start"; contentIndex: number }
  | { type: "text_delta" | "thinking_delta" | "toolcall_delta"; contentIndex: number; delta: string }
  | { type: "text_end" | "thinking_end"; contentIndex: number; contentSignature?: string; redacted?: boolean }
  | { type: "toolcall_start"; contentIndex: number; id: string; toolName: string }
  | { type: "toolcall_end"; contentIndex: number; contentSignature?: string }
  | ({ type: "done"; reason: Extract<StopReason, "stop" | "length" | "toolUse"> } & ProxyEnding)
  | ({
      type: "error";
      reason: Extract<StopReason, "aborted" | "error">;
      errorMessage?: string;
      failure?: Failure;
    } & ProxyEnding);

/** Facts that are known at the end. */
interface ProxyEnding {
  usage: AssistantMessage["usage"];
  rawStopReason?: string;
  diagnostics?: AssistantMessage["diagnostics"];
  responseId?: string;
  responseModel?: string;
}

/** The options that travel to the server; everything else is the server's business. */
export const proxiedOptions = [
  "temperature",
  "maxTokens",
  "toolChoice",
  "reasoning",
  "thinkingBudgets",
  "cacheRetention",
  "sessionId",
  "metadata",
  "transport",
  "maxRetries",
  "maxRetryDelayMs",
] as const satisfies (keyof SimpleStreamOptions)[];

export interface ProxyStreamOptions extends SimpleStreamOptions {
  /** Proves to the server who is asking. */
  authToken: string;
  /** Where the server is; requests go to `/api/stream` below it. */
  proxyUrl: string;
}

/** A stream function that asks through a server: see `createProxyHandler` for the other half. */
export function streamProxy(model: Model, context: Context, options: ProxyStreamOptions): AssistantMessageEventStream {
  const { clock } = options;
  // The server retries; doing it here as well would multiply the attempts.
  const own: ProxyStreamOptions = { ...options, maxRetries: 0 };
  return startRequest(() => Promise.resolve(proxyProtocol(options)), { model, context, options: () => own, clock });
}

const proxyProtocol = (asked: ProxyStreamOptions): Protocol => {
  const protocol = defineProtocol<SimpleStreamOptions, Draft>({
    api: "proxy",
    framing: "sse",
    resolveOptions: (_model, options) => options,
    encode: (model, context) => ({
      path: "/api/stream",
      headers: {},
      payload: { model, context, options: pickOptions(asked) },
      notes: [],
    }),
    baseUrl: () => asked.proxyUrl.replace(/\/+$/, ""),
    authorize: (request) => ({
      ...request,
      headers: { ...request.headers, authorization: `Bearer ${asked.authToken}` },
    }),
    start: (draft) => draft,
    step(draft, { data }) {
      if (isProxyEvent(data)) applyEvent(draft, data);
      else draft.fail({ kind: "unknown", message: `The proxy sent what is no event: ${excerpt(data)}` });
      return draft.take();
    },
  });
  return protocol as unknown as Protocol;
};

/** Only what the server may be told. */
export function pickOptions(options: object): SimpleStreamOptions {
  const given = options as Record<string, unknown>;
  return Object.fromEntries(
    proxiedOptions.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]),
  );
}

/** Events of a later version are passed over; one that we know has what it must have. */
function isProxyEvent(data: unknown): data is ProxyAssistantMessageEvent {
  if (typeof data !== "object" || data === null) return false;
  const { type, contentIndex, delta, id, toolName } = data as Record<string, unknown>;
  if (typeof type !== "string") return false;
  if (!/^(text|thinking|toolcall)_(start|delta|end)$/.test(type)) return true;
  if (!Number.isSafeInteger(contentIndex) || Number(contentIndex) < 0) return false;
  if (type.endsWith("_delta")) return typeof delta === "string";
  return type !== "toolcall_start" || (typeof id === "string" && typeof toolName === "string");
}

const excerpt = (data: unknown) => (JSON.stringify(data) ?? String(data)).slice(0, 200);

function applyEvent(draft: Draft, event: ProxyAssistantMessageEvent): void {
  switch (event.type) {
    case "start":
      draft.identify(event);
      return;
    case "text_start":
      return draft.text(event.contentIndex, "");
    case "thinking_start":
      return draft.thinking(event.contentIndex, "");
    case "toolcall_start":
      return draft.toolCall(event.contentIndex, { id: event.id, name: event.toolName });
    case "text_delta":
      return draft.text(event.contentIndex, event.delta);
    case "thinking_delta":
      return draft.thinking(event.contentIndex, event.delta);
    case "toolcall_delta":
      return draft.argumentsDelta(event.contentIndex, event.delta);
    case "text_end":
    case "thinking_end":
    case "toolcall_end":
      sign(draft, event);
      return draft.close(event.contentIndex);
    case "done":
      takeEnding(draft, event);
      draft.stop(event.reason, event.rawStopReason ?? event.reason);
      return draft.end();
    case "error": {
      takeEnding(draft, event);
      const message = event.errorMessage ?? "The proxy reported a failure without a reason.";
      const kind = event.reason === "aborted" ? "aborted" : "unknown";
      return draft.fail(event.failure ?? { kind, message }, event.rawStopReason);
    }
  }
}

function sign(
  draft: Draft,
  event: ProxyAssistantMessageEvent & { contentIndex: number; contentSignature?: string },
): void {
  const block = draft.block(event.contentIndex);
  if (block?.type === "thinking" && "redacted" in event && event.redacted) block.redacted = true;
  if (event.contentSignature === undefined) return;
  if (block?.type === "text") block.textSignature = event.contentSignature;
  if (block?.type === "thinking") block.thinkingSignature = event.contentSignature;
  if (block?.type === "toolCall") block.thoughtSignature = event.contentSignature;
}

function takeEnding(draft: Draft, ending: ProxyEnding): void {
  draft.identify(ending);
  if (isUsage(ending.usage)) {
    draft.usage(ending.usage);
    // The server knows what it was charged; the client may not even know the prices.
    draft.message.usage.cost = ending.usage.cost;
  }
  if (ending.diagnostics) draft.message.diagnostics = ending.diagnostics;
}

const isUsage = (usage: unknown): usage is AssistantMessage["usage"] => {
  const { cost } = (usage ?? {}) as Partial<AssistantMessage["usage"]>;
  return typeof cost === "object" && cost !== null;
};

/**
 * Turns events into what goes over the wire. A provider may end a block, or the whole answer, without having said all
 * of it in deltas; the client sees nothing else, so what is missing is said first.
 */
export function createProxyEncoder(): (event: AssistantMessageEvent) => ProxyAssistantMessageEvent[] {
  /** How much of each block has been said; `Infinity` when it has ended. */
  const said = new Map<number, number>();
  const rest = (message: AssistantMessage, contentIndex: number): ProxyAssistantMessageEvent[] => {
    const block = message.content[contentIndex];
    if (!block) return [];
    const events: ProxyAssistantMessageEvent[] = [];
    const before = said.get(contentIndex);
    const kind = block.type === "toolCall" ? "toolcall" : block.type;
    if (before === undefined) {
      if (block.type === "toolCall") events.push(getStart(contentIndex, block));
      else events.push({ type: `${block.type}_start`, contentIndex });
    }
    // Arguments are JSON: what came of them in pieces cannot be compared, but none at all can be told.
    const whole =
      block.type === "toolCall" ? toArguments(block, before) : block.type === "text" ? block.text : block.thinking;
    const delta = whole.slice(before ?? 0);
    if (delta !== "") events.push({ type: `${kind}_delta`, contentIndex, delta });
    said.set(contentIndex, Number.POSITIVE_INFINITY);
    return [...events, { type: `${kind}_end`, contentIndex, ...getSignature({ contentIndex, partial: message }) }];
  };
  return (event) => {
    switch (event.type) {
      case "text_start":
      case "thinking_start":
      case "toolcall_start":
        said.set(event.contentIndex, 0);
        return [toProxyEvent(event)];
      case "text_delta":
      case "thinking_delta":
      case "toolcall_delta":
        said.set(event.contentIndex, (said.get(event.contentIndex) ?? 0) + event.delta.length);
        return [toProxyEvent(event)];
      case "text_end":
      case "thinking_end":
      case "toolcall_end":
        return rest(event.partial, event.contentIndex);
      case "done":
      case "error": {
        const message = event.type === "done" ? event.message : event.error;
        const open = [...message.content.keys()].filter((at) => said.get(at) !== Number.POSITIVE_INFINITY);
        return [...open.flatMap((at) => rest(message, at)), toProxyEvent(event)];
      }
      case "start":
        return [toProxyEvent(event)];
    }
  };
}

const toArguments = (call: ToolCall, before: number | undefined) => (before ? "" : JSON.stringify(call.arguments));

const getStart = (contentIndex: number, { id, name }: { id: string; name: string }) =>
  ({ type: "toolcall_start", contentIndex, id, toolName: name }) as const;

/** An event as it goes over the wire. */
function toProxyEvent(event: AssistantMessageEvent): ProxyAssistantMessageEvent {
  switch (event.type) {
    case "start":
      return { type: "start", ...identity(event.partial) };
    case "text_start":
    case "thinking_start":
      return { type: event.type, contentIndex: event.contentIndex };
    case "text_delta":
    case "thinking_delta":
    case "toolcall_delta":
      return { type: event.type, contentIndex: event.contentIndex, delta: event.delta };
    case "toolcall_start": {
      const block = event.partial.content[event.contentIndex];
      return getStart(event.contentIndex, block?.type === "toolCall" ? block : { id: "", name: "" });
    }
    case "text_end":
    case "thinking_end":
    case "toolcall_end":
      return { type: event.type, contentIndex: event.contentIndex, ...getSignature(event) };
    case "done":
      return { type: "done", reason: event.reason, ...getEnding(event.message) };
    case "error": {
      const { errorMessage, failure } = event.error;
      return {
        type: "error",
        reason: event.reason,
        ...getEnding(event.error),
        ...(errorMessage !== undefined && { errorMessage }),
        ...(failure && { failure }),
      };
    }
  }
}

/** Where a block is, and the message it is in. */
type AtBlock = { contentIndex: number; partial: AssistantMessage };

function getSignature({ contentIndex, partial }: AtBlock): { contentSignature?: string; redacted?: boolean } {
  const block = partial.content[contentIndex];
  const signature =
    block?.type === "text"
      ? block.textSignature
      : block?.type === "thinking"
        ? block.thinkingSignature
        : block?.thoughtSignature;
  return {
    ...(signature !== undefined && { contentSignature: signature }),
    ...(block?.type === "thinking" && block.redacted && { redacted: true }),
  };
}

const identity = ({ responseId, responseModel }: AssistantMessage) => ({
  ...(responseId !== undefined && { responseId }),
  ...(responseModel !== undefined && { responseModel }),
});

const getEnding = (message: AssistantMessage): ProxyEnding => ({
  usage: message.usage,
  ...identity(message),
  ...(message.rawStopReason !== undefined && { rawStopReason: message.rawStopReason }),
  ...(message.diagnostics && { diagnostics: message.diagnostics }),
});
