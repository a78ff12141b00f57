/**
 * Requests to a model through a server that has the keys, for web pages and other clients that must not have them. The
 * server sends deltas only, and the client rebuilds the message.
 */
import {
  type AssistantMessage,
  type AssistantMessageEvent,
  type AssistantMessageEventStream,
  type Context,
  defineProtocol,
  type Draft,
  type Model,
  type Protocol,
  type SimpleStreamOptions,
  startRequest,
  type StopReason,
} from "@tau/ai";

/** The events that the server sends: without the partial message. */
export type ProxyAssistantMessageEvent =
  | ({ type: "start" } & Pick<AssistantMessage, "responseId" | "responseModel">)
  | { type: "text_start" | "thinking_start"; contentIndex: number }
  | { type: "text_delta" | "thinking_delta" | "toolcall_delta"; contentIndex: number; delta: string }
  | { type: "text_end" | "thinking_end"; contentIndex: number; contentSignature?: string; redacted?: boolean }
  | { type: "toolcall_start"; contentIndex: number; id: string; toolName: string }
  | { type: "toolcall_end"; contentIndex: number; contentSignature?: string }
  | ({ type: "done"; reason: Extract<StopReason, "stop" | "length" | "toolUse"> } & ProxyEnding)
  | ({ type: "error"; reason: Extract<StopReason, "aborted" | "error"> } & ProxyEnding &
      Pick<AssistantMessage, "errorMessage" | "failure">);

/** Fields of the message that are known at its end. */
type ProxyEnding = Pick<AssistantMessage, (typeof endingFields)[number]>;

const endingFields = ["usage", "responseId", "responseModel", "rawStopReason", "diagnostics"] as const;

/** The options that are sent to the server; it decides all others itself. */
const proxiedOptions = [
  "temperature",
  "maxTokens",
  "toolChoice",
  "reasoning",
  "thinkingBudgets",
  "cacheRetention",
  "serviceTier",
  "sessionId",
  "metadata",
  "transport",
  "maxRetries",
  "maxRetryDelayMs",
] as const satisfies (keyof SimpleStreamOptions)[];

export interface ProxyStreamOptions extends SimpleStreamOptions {
  /** The bearer token that authenticates the client. */
  authToken: string;
  /** The base URL of the server; requests go to `/api/stream` below it. */
  proxyUrl: string;
}

/** A stream function that sends its requests to a server with `createProxyHandler`. */
export function streamProxy(model: Model, context: Context, options: ProxyStreamOptions): AssistantMessageEventStream {
  const { clock } = options;
  // The server retries; doing it here as well would multiply the attempts.
  const withoutRetries: ProxyStreamOptions = { ...options, maxRetries: 0 };
  return startRequest(() => Promise.resolve(createProtocol(options)), {
    model,
    context,
    options: () => withoutRetries,
    clock,
  });
}

const createProtocol = (proxyOptions: ProxyStreamOptions): Protocol => {
  const protocol = defineProtocol<SimpleStreamOptions, Draft>({
    api: "proxy",
    framing: "sse",
    resolveOptions: (_model, options) => options,
    encode: (model, context) => ({
      path: "/api/stream",
      headers: {},
      payload: { model, context, options: pickOptions(proxyOptions) },
      notes: [],
    }),
    baseUrl: () => proxyOptions.proxyUrl.replace(/\/+$/, ""),
    authorize: (request) => ({
      ...request,
      headers: { ...request.headers, authorization: `Bearer ${proxyOptions.authToken}` },
    }),
    start: (draft) => draft,
    step(draft, { data }) {
      if (isProxyEvent(data)) applyEvent(draft, data);
      else draft.fail({ kind: "unknown", message: `The proxy sent something that is not an event: ${excerpt(data)}` });
      return draft.take();
    },
  });
  return protocol as unknown as Protocol;
};

/** The options that are sent to the server, and accepted by it. */
export const pickOptions = (options: SimpleStreamOptions): SimpleStreamOptions => pick(options, proxiedOptions);

/** The named fields that are set. */
function pick<T extends object, Name extends keyof T>(value: T, names: readonly Name[]): Pick<T, Name> {
  const set = names.filter((name) => value[name] !== undefined);
  return Object.fromEntries(set.map((name) => [name, value[name]])) as Pick<T, Name>;
}

/** Unknown types are accepted, and ignored: a later version may send them. Known types must have their fields. */
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
      applySignature(draft, event);
      return draft.close(event.contentIndex);
    case "done":
      applyEnding(draft, event);
      draft.stop(event.reason, event.rawStopReason ?? event.reason);
      return draft.end();
    case "error": {
      applyEnding(draft, event);
      const message = event.errorMessage ?? "The proxy reported a failure without a reason.";
      const kind = event.reason === "aborted" ? "aborted" : "unknown";
      return draft.fail(event.failure ?? { kind, message }, event.rawStopReason);
    }
  }
}

function applySignature(
  draft: Draft,
  event: ProxyAssistantMessageEvent & { contentIndex: number; contentSignature?: string },
): void {
  const block = draft.block(event.contentIndex);
  if (block?.type === "thinking" && "redacted" in event && event.redacted) block.redacted = true;
  if (!block || event.contentSignature === undefined) return;
  Object.assign(block, { [signatureFields[block.type]]: event.contentSignature });
}

const signatureFields = { text: "textSignature", thinking: "thinkingSignature", toolCall: "thoughtSignature" } as const;

function applyEnding(draft: Draft, ending: ProxyEnding): void {
  draft.identify(ending);
  const usage = ending.usage as AssistantMessage["usage"] | null | undefined;
  if (typeof usage?.cost === "object" && usage.cost !== null) {
    draft.usage(usage);
    // The server computed the cost; the client may not know the prices.
    draft.message.usage.cost = usage.cost;
  }
  if (ending.diagnostics) draft.message.diagnostics = ending.diagnostics;
}

/**
 * Encodes events for the client. A provider may end a block, or the whole answer, without having sent all of its
 * content in deltas. The client gets deltas only, so the missing content is sent first.
 */
export function createProxyEncoder(): (event: AssistantMessageEvent) => ProxyAssistantMessageEvent[] {
  /** How many characters of each block have been sent; `Infinity` when it has ended. */
  const sentLengths = new Map<number, number>();
  const endBlock = (message: AssistantMessage, contentIndex: number): ProxyAssistantMessageEvent[] => {
    const block = message.content[contentIndex];
    if (!block) return [];
    const events: ProxyAssistantMessageEvent[] = [];
    const sentLength = sentLengths.get(contentIndex);
    const kind = block.type === "toolCall" ? "toolcall" : block.type;
    if (sentLength === undefined) {
      if (block.type === "toolCall") events.push(createCallStart(contentIndex, block));
      else events.push({ type: `${block.type}_start`, contentIndex });
    }
    const delta = getContent(block, sentLength).slice(sentLength ?? 0);
    if (delta !== "") events.push({ type: `${kind}_delta`, contentIndex, delta });
    sentLengths.set(contentIndex, Number.POSITIVE_INFINITY);
    return [...events, { type: `${kind}_end`, contentIndex, ...getSignature(block) }];
  };
  const endAll = (message: AssistantMessage) => {
    const open = [...message.content.keys()].filter((index) => sentLengths.get(index) !== Number.POSITIVE_INFINITY);
    return open.flatMap((index) => endBlock(message, index));
  };
  return (event) => {
    switch (event.type) {
      case "start":
        return [{ type: "start", ...pick(event.partial, ["responseId", "responseModel"]) }];
      case "text_start":
      case "thinking_start":
      case "toolcall_start": {
        const { type, contentIndex, partial } = event;
        sentLengths.set(contentIndex, 0);
        if (type !== "toolcall_start") return [{ type, contentIndex }];
        const block = partial.content[contentIndex];
        return [createCallStart(contentIndex, block?.type === "toolCall" ? block : { id: "", name: "" })];
      }
      case "text_delta":
      case "thinking_delta":
      case "toolcall_delta": {
        const { type, contentIndex, delta } = event;
        sentLengths.set(contentIndex, (sentLengths.get(contentIndex) ?? 0) + delta.length);
        return [{ type, contentIndex, delta }];
      }
      case "text_end":
      case "thinking_end":
      case "toolcall_end":
        return endBlock(event.partial, event.contentIndex);
      case "done": {
        const { type, reason, message } = event;
        return [...endAll(message), { type, reason, ...pick(message, endingFields) }];
      }
      case "error": {
        const { type, reason, error } = event;
        return [...endAll(error), { type, reason, ...pick(error, [...endingFields, "errorMessage", "failure"]) }];
      }
    }
  };
}

type Block = AssistantMessage["content"][number];

function getContent(block: Block, sentLength: number | undefined): string {
  if (block.type === "text") return block.text;
  if (block.type === "thinking") return block.thinking;
  // The deltas of arguments are any JSON text, which cannot be compared with ours: once some were sent, all were.
  return sentLength ? "" : JSON.stringify(block.arguments);
}

const createCallStart = (contentIndex: number, { id, name }: { id: string; name: string }) =>
  ({ type: "toolcall_start", contentIndex, id, toolName: name }) as const;

function getSignature(block: Block): { contentSignature?: string; redacted?: boolean } {
  const contentSignature = (block as Partial<Record<(typeof signatureFields)[Block["type"]], string>>)[
    signatureFields[block.type]
  ];
  return {
    ...(contentSignature !== undefined && { contentSignature }),
    ...(block.type === "thinking" && block.redacted && { redacted: true }),
  };
}
