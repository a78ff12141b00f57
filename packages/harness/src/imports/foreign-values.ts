/** Reads values that another program wrote: anything may be missing, or of another type. */
import {
  type AssistantMessage,
  emptyUsage,
  type ImageContent,
  type StopReason,
  type TextContent,
  type Usage,
} from "@tau/ai";
import { isRecord, tryParseJson } from "@tau/ai/internal";

export type ForeignRecord = Readonly<Record<string, unknown>>;

export const getRecord = (value: unknown): ForeignRecord => (isRecord(value) ? value : {});

export const getText = (value: unknown): string => (typeof value === "string" ? value : "");

export const getList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The object in a line; undefined if there is none. */
export function parseRecord(text: string): ForeignRecord | undefined {
  const value = tryParseJson(text);
  return isRecord(value) ? value : undefined;
}

/** Dates before 1970 and after 9999 cannot be written in our form. */
const maxTime = 253_402_300_799_000;

/** Milliseconds since the epoch, of a text or of milliseconds; else `fallback`. */
export function getTime(value: unknown, fallback: number): number {
  const time =
    typeof value === "string" ? Date.parse(value) : typeof value === "number" ? Math.trunc(value) : Number.NaN;
  return time >= 0 && time <= maxTime ? time : fallback;
}

const getCount = (value: unknown): number =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.min(Math.round(value), 1e12) : 0;

/** `input` is without what was read from or written to a cache. */
interface ForeignUsage {
  input: unknown;
  output: unknown;
  cacheRead?: unknown;
  cacheWrite?: unknown;
  reasoning?: unknown;
  cost?: unknown;
}

export function toUsage({ input, output, cacheRead, cacheWrite, reasoning, cost }: ForeignUsage): Usage {
  const counts = {
    input: getCount(input),
    output: getCount(output),
    cacheRead: getCount(cacheRead),
    cacheWrite: getCount(cacheWrite),
  };
  const total = typeof cost === "number" && Number.isFinite(cost) && cost > 0 ? cost : 0;
  return {
    ...counts,
    ...(getCount(reasoning) > 0 && { reasoning: getCount(reasoning) }),
    totalTokens: counts.input + counts.output + counts.cacheRead + counts.cacheWrite,
    cost: { ...emptyUsage().cost, total },
  };
}

interface ForeignAnswer {
  content: AssistantMessage["content"];
  provider: string;
  model: string;
  time: number;
  usage?: Usage;
  stopReason?: StopReason;
}

/** The APIs of the providers that most sessions are from. For others it only says that no signature is valid. */
const apis: Readonly<Record<string, string>> = {
  anthropic: "anthropic-messages",
  openai: "openai-responses",
  google: "google-generative-ai",
};

export function toAnswer({
  content,
  provider,
  model,
  time,
  usage,
  stopReason = "stop",
}: ForeignAnswer): AssistantMessage {
  const hasCalls = content.some(({ type }) => type === "toolCall");
  return {
    role: "assistant",
    content,
    api: apis[provider] ?? "openai-completions",
    provider,
    model,
    usage: usage ?? emptyUsage(),
    stopReason: hasCalls && stopReason === "stop" ? "toolUse" : stopReason,
    timestamp: time,
  };
}

export const toTextBlock = (text: string): TextContent => ({ type: "text", text });

/** The image of a `data:` address; undefined for any other address. */
export function parseDataUrl(url: string): ImageContent | undefined {
  const match = /^data:(image\/[a-z0-9.+-]+);base64,([A-Za-z0-9+/=]*)$/i.exec(url);
  return match ? { type: "image", mimeType: match[1]!.toLowerCase(), data: match[2]! } : undefined;
}

/** Arguments of a call: an object, or the JSON of one. What is neither is kept as text. */
export function toArguments(value: unknown): Record<string, unknown> {
  const parsed = typeof value === "string" ? tryParseJson(value) : value;
  if (isRecord(parsed)) return parsed;
  return value === undefined || value === null || value === "" ? {} : { input: value };
}
