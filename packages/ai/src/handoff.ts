/**
 * Prepares any stored history for any model. Pure, and stable: when messages are appended, the prepared messages before
 * them do not change, so prompt caches keep hitting.
 *
 * Only the parts that a model cannot accept are changed: another model's thinking becomes text, images become a note,
 * tool call ids are rewritten, a call without a result gets one, and results without a call and empty blocks are dropped.
 */
import { toShortHash } from "./hash.ts";
import { oncePer, oncePerPair } from "./internal/once.ts";
import type {
  AssistantMessage,
  ImageContent,
  Message,
  TextContent,
  ToolCall,
  ToolResultMessage,
  UserMessage,
} from "./message.ts";
import type { Model } from "./model.ts";
import { toProviderId } from "./providers/index.ts";
import { readStoredMessage } from "./stored.ts";
import { wrapToolCall } from "./wrapped-call.ts";

/** The history that a protocol accepts. */
export interface HandoffRules {
  /** Turns an id into one the provider accepts. Must be deterministic. Duplicates are resolved afterwards. */
  toolCallId: (id: string) => string;
  /** Image types that the provider accepts. */
  imageTypes: readonly string[];
  /** Maximum length of one image, in base64 characters. */
  maxImageCharacters: number;
  /** The first message must be from the user. If it is not, a short user message is put before it. */
  userFirst: boolean;
  /** The last message must not be from the assistant. If it is, a short user message is put after it. */
  userLast?: boolean;
  /** Turns the name of a called tool into one the provider accepts. Default: `toPlainName` with 64 characters. */
  toolName?: (name: string) => string;
}

/** The image types that every provider with vision accepts. */
export const commonImageTypes = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;

/** The text of the result added to a call without one. */
export const missingResultText = "No result was recorded for this tool call.";

/** A user message after hand-off: its content is a list of non-empty blocks. */
export type PreparedUser = Omit<UserMessage, "content"> & { content: (TextContent | ImageContent)[] };
export type PreparedMessage = PreparedUser | AssistantMessage | ToolResultMessage;

/**
 * A message is prepared once: in a long conversation nearly all messages of a request were in the one before. So the
 * same message gives the same object until its content changes, and callers must not change that object.
 */
export function handOff(stored: readonly Message[], model: Model, rules: HandoffRules): PreparedMessage[] {
  const known = getPreparations(model, rules);
  const messages = stored.map(readOnce);
  const rewriteId = createIdRewriter(known.acceptedId, rules.toolCallId);
  const results = new Results(messages);
  const prepared: PreparedMessage[] = [];
  for (const [position, message] of messages.entries()) {
    if (message?.role === "user") {
      const user = known.user(message);
      if (user.content.length > 0) prepared.push(user);
    } else if (message?.role === "assistant") {
      const assistant = isIncomplete(message)
        ? prepareAssistant(message, model, (call) => results.has(call.id, position))
        : known.assistant(message);
      if (assistant.content.length === 0) continue;
      const rewritten = known.withIds(assistant, rewriteId);
      prepared.push(rewritten.message);
      rewritten.calls.forEach((call, index) => {
        const result = results.take(call.id, position) ?? createMissingResult(call, message.timestamp);
        prepared.push(known.result(result, rewritten.sentCalls[index]!));
      });
    }
    // Results were placed right after their calls. Results without a call are dropped.
  }
  leaveOutOldImages(prepared, model.inputLimits?.images?.maxPerRequest);
  const first = prepared[0];
  if (rules.userFirst && first && first.role !== "user") prepared.unshift(createFiller(first, openingText));
  const last = prepared.at(-1);
  if (rules.userLast && last?.role === "assistant") prepared.push(createFiller(last, replyText));
  return prepared;
}

/**
 * Replaces the oldest images by notes if there are more than `maxImages`. A quarter of the limit goes at once, so that the
 * messages before the newest ones change seldom.
 */
function leaveOutOldImages(prepared: PreparedMessage[], maxImages = Number.POSITIVE_INFINITY): void {
  const excess = prepared.reduce((sum, message) => sum + countImages(message), 0) - maxImages;
  if (excess <= 0) return;
  const step = Math.max(1, Math.floor(maxImages / 4));
  let remaining = Math.ceil(excess / step) * step;
  for (let index = 0; remaining > 0 && index < prepared.length; index++) {
    const message = prepared[index]!;
    if (message.role === "assistant" || countImages(message) === 0) continue;
    const text = `a request may have ${maxImages} images, and newer ones follow`;
    const content = message.content.map((block) =>
      block.type === "image" && remaining-- > 0 ? createImageNote(text) : block,
    );
    prepared[index] = { ...message, content };
  }
}

const countImages = ({ role, content }: PreparedMessage): number =>
  role === "assistant" ? 0 : content.filter(({ type }) => type === "image").length;

const createImageNote = (reason: string): TextContent => ({
  type: "text",
  text: `[An image was left out: ${reason}.]`,
});

const openingText = "(The conversation before this point is not shown.)";
const replyText = "(Go on.)";

/** A user message for a place where the provider requires one. */
const createFiller = ({ timestamp }: PreparedMessage, text: string): PreparedUser => ({
  role: "user",
  content: [{ type: "text", text }],
  timestamp,
});

/** Reads a stored message once, until its content changes or it is found at another position. */
function readOnce(stored: Message, position: number): Message | undefined {
  if (typeof stored !== "object" || stored === null) return undefined;
  const known = readMessages.get(stored);
  if (known?.position === position && hasParts(stored.content, known.parts)) return known.message;
  const message = readStoredMessage(stored, position);
  readMessages.set(stored, { parts: getParts(stored.content), position, message });
  return message;
}

const readMessages = new WeakMap<
  Message,
  { parts: readonly unknown[]; position: number; message: Message | undefined }
>();

/** Lists what a change of the content changes: its blocks and what they hold. Arguments are compared as objects. */
const getParts = (content: unknown): unknown[] =>
  Array.isArray(content) ? (content as Block[]).flatMap((block) => [block, getValue(block)]) : [content];

/** Whether `getParts(content)` would be `parts`. Each message is asked for each request. */
function hasParts(content: unknown, parts: readonly unknown[]): boolean {
  if (!Array.isArray(content)) return parts.length === 1 && parts[0] === content;
  if (parts.length !== 2 * content.length) return false;
  for (const [index, block] of (content as Block[]).entries()) {
    if (parts[2 * index] !== block || parts[2 * index + 1] !== getValue(block)) return false;
  }
  return true;
}

type Block = Readonly<Record<string, unknown>> | null | undefined;

const getValue = (block: Block): unknown =>
  block?.["text"] ?? block?.["thinking"] ?? block?.["arguments"] ?? block?.["data"];

/** Keeps how the messages for a model were prepared, for its next request. */
const getPreparations = oncePerPair((model: Model, rules: HandoffRules) => {
  const { toolName = (name: string) => toPlainName(name, 64) } = rules;
  const withIds = new WeakMap<AssistantMessage, RewrittenAssistant>();
  const results = new WeakMap<ToolResultMessage, { call: ToolCall; result: ToolResultMessage }>();
  return {
    user: oncePer((message: UserMessage): PreparedUser => ({
      ...message,
      content: prepareContent(toBlocks(message.content), model, rules),
    })),
    /** For a complete answer: which calls of another are sent depends on the results. */
    assistant: oncePer((message: AssistantMessage) => prepareAssistant(message, model, () => true)),
    withIds(assistant: AssistantMessage, rewriteId: (call: ToolCall) => string): RewrittenAssistant {
      const known = withIds.get(assistant);
      const calls = known?.calls ?? assistant.content.filter((block) => block.type === "toolCall");
      const ids = calls.map(rewriteId);
      if (known?.sentCalls.every(({ id }, index) => id === ids[index])) return known;
      const sentCalls: ToolCall[] = [];
      const content = assistant.content.map((block) => {
        if (block.type !== "toolCall") return block;
        const call = wrapToolCall(block);
        sentCalls.push({ ...call, id: ids[sentCalls.length]!, name: toolName(call.name) });
        return sentCalls.at(-1)!;
      });
      const rewritten = { message: { ...assistant, content }, calls, sentCalls };
      withIds.set(assistant, rewritten);
      return rewritten;
    },
    /** The id of a call as the provider accepts it. Another call of the request may have the same. */
    acceptedId: oncePer((call: ToolCall) => rules.toolCallId(call.id)),
    result(stored: ToolResultMessage, call: ToolCall): ToolResultMessage {
      const known = results.get(stored);
      if (known?.call === call) return known.result;
      const result = prepareResult(stored, call, model, rules);
      results.set(stored, { call, result });
      return result;
    },
  };
});

interface RewrittenAssistant {
  message: AssistantMessage;
  /** The calls in order, with their own ids. */
  calls: readonly ToolCall[];
  /** The calls as they are in `message`. */
  sentCalls: readonly ToolCall[];
}

const isIncomplete = ({ stopReason }: AssistantMessage): boolean => stopReason === "error" || stopReason === "aborted";

/** Whether this model wrote the message. Only then does it accept the message's signatures. */
export const isWrittenBy = (message: AssistantMessage, model: Model): boolean =>
  toProviderId(message.provider) === toProviderId(model.provider) &&
  message.api === model.api &&
  message.model === model.id;

function prepareAssistant(
  message: AssistantMessage,
  model: Model,
  isAnswered: (call: ToolCall) => boolean,
): AssistantMessage {
  const isOwn = isWrittenBy(message, model);
  const wasCut = isIncomplete(message);
  const content: AssistantMessage["content"] = [];
  for (const block of message.content) {
    if (block.type === "text") {
      const text = block.text.toWellFormed();
      if (text.trim() === "" && !(isOwn && block.textSignature)) continue;
      content.push(isOwn && block.textSignature ? { ...block, text } : { type: "text", text });
    } else if (block.type === "thinking") {
      // Thinking that was cut off has no valid signature.
      if (wasCut) continue;
      const thinking = block.thinking.toWellFormed();
      if (isOwn) content.push({ ...block, thinking });
      else if (!block.redacted && thinking.trim() !== "") content.push({ type: "text", text: thinking });
    } else if (!wasCut || isAnswered(block)) {
      const { thoughtSignature: _signature, ...unsigned } = block;
      content.push({ ...(isOwn ? block : unsigned), arguments: toWellFormed(block.arguments) });
    }
  }
  return { ...message, content };
}

function prepareResult(
  result: ToolResultMessage,
  call: ToolCall,
  model: Model,
  rules: HandoffRules,
): ToolResultMessage {
  const content = prepareContent(result.content, model, rules);
  return {
    ...result,
    toolCallId: call.id,
    toolName: call.name,
    content: content.length > 0 ? content : [{ type: "text", text: "(no output)" }],
  };
}

const createMissingResult = (call: ToolCall, timestamp: number): ToolResultMessage => ({
  role: "toolResult",
  toolCallId: call.id,
  toolName: call.name,
  content: [{ type: "text", text: missingResultText }],
  isError: true,
  timestamp,
});

const toBlocks = (content: UserMessage["content"]): (TextContent | ImageContent)[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : content;

function prepareContent(
  content: readonly (TextContent | ImageContent)[],
  model: Model,
  rules: HandoffRules,
): (TextContent | ImageContent)[] {
  const { maxPerMessage = Number.POSITIVE_INFINITY } = model.inputLimits?.images ?? {};
  let images = 0;
  return content.flatMap((block): (TextContent | ImageContent)[] => {
    if (block.type === "text") {
      return block.text.trim() === "" ? [] : [{ type: "text", text: block.text.toWellFormed() }];
    }
    const problem =
      findImageProblem(block, model, rules) ??
      (++images > maxPerMessage ? `a message may have ${maxPerMessage} images` : undefined);
    return [problem ? createImageNote(problem) : block];
  });
}

function findImageProblem(image: ImageContent, model: Model, rules: HandoffRules): string | undefined {
  if (!model.input.includes("image")) return "this model does not see images";
  if (!rules.imageTypes.includes(image.mimeType)) return `${JSON.stringify(image.mimeType)} is not a type it accepts`;
  if (image.data.length > rules.maxImageCharacters) return "it is too large";
  return isBase64(image.data) ? undefined : "its data is damaged";
}

// Checking both ends finds data URLs, truncation and plain text without scanning a large image.
const isBase64 = (data: string) =>
  data.length > 0 &&
  data.length % 4 === 0 &&
  /^[A-Za-z0-9+/]+={0,2}$/.test(data.length > 512 ? data.slice(0, 256) + data.slice(-256) : data);

/** A copy of a JSON value with all lone surrogates replaced, in keys too. */
function toWellFormed<T>(value: T): T {
  if (typeof value === "string") return value.toWellFormed() as T;
  if (Array.isArray(value)) return value.map(toWellFormed) as T;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key.toWellFormed(), toWellFormed(inner)]);
  return Object.fromEntries(entries) as T;
}

/** Finds the result of a call: the first one after it that was not taken by an earlier call with the same id. */
class Results {
  readonly #messages: readonly (Message | undefined)[];
  /** Positions of results that followed their calls. */
  readonly #taken = new Set<number>();
  /** The position of the last answer with calls, and of the first message after it that was not taken. */
  #last = { answer: -1, next: 0 };
  /** The positions of the other results with an id. Created when a result does not follow its call, and then used. */
  #byId: Map<string, number[]> | undefined;

  constructor(messages: readonly (Message | undefined)[]) {
    this.#messages = messages;
  }

  has(id: string, after: number): boolean {
    return this.#getPositions(id).some((position) => position > after);
  }

  take(id: string, after: number): ToolResultMessage | undefined {
    const next = this.#byId ? undefined : this.#takeNext(id, after);
    if (next) return next;
    const positions = this.#getPositions(id);
    const index = positions.findIndex((position) => position > after);
    return index < 0 ? undefined : (this.#messages[positions.splice(index, 1)[0]!] as ToolResultMessage);
  }

  #takeNext(id: string, after: number): ToolResultMessage | undefined {
    if (this.#last.answer !== after) this.#last = { answer: after, next: after + 1 };
    const message = this.#messages[this.#last.next];
    if (message?.role !== "toolResult" || message.toolCallId !== id) return undefined;
    this.#taken.add(this.#last.next++);
    return message;
  }

  #getPositions(id: string): number[] {
    this.#byId ??= this.#createIndex();
    return this.#byId.get(id) ?? [];
  }

  #createIndex(): Map<string, number[]> {
    const byId = new Map<string, number[]>();
    for (const [position, message] of this.#messages.entries()) {
      if (message?.role !== "toolResult" || this.#taken.has(position)) continue;
      const positions = byId.get(message.toolCallId);
      if (positions) positions.push(position);
      else byId.set(message.toolCallId, [position]);
    }
    return byId;
  }
}

/**
 * Returns a function that gives each call an id that is unique in the request: the accepted one, or if that is taken,
 * `rewrite` of a hash.
 */
function createIdRewriter(
  getAccepted: (call: ToolCall) => string,
  rewrite: (id: string) => string,
): (call: ToolCall) => string {
  const used = new Set<string>();
  /** How often each id was tried again. Some servers number the calls of each answer from 1, so an id may come often. */
  const attempts = new Map<string, number>();
  return (call) => {
    const accepted = getAccepted(call);
    if (accepted !== "" && !used.has(accepted)) {
      used.add(accepted);
      return accepted;
    }
    let attempt = attempts.get(call.id) ?? 0;
    let newId: string;
    do newId = rewrite(toShortHash(`${call.id}#${++attempt}`));
    while (used.has(newId) || newId === "");
    attempts.set(call.id, attempt);
    used.add(newId);
    return newId;
  };
}

/** The id with only letters, digits, `_` and `-`, as most providers require. If it is too long, it ends in a hash. */
export function toPlainId(id: string, maxLength: number): string {
  const plain = id.replace(/[^a-zA-Z0-9_-]/g, "_");
  return plain.length <= maxLength ? plain : `${plain.slice(0, maxLength - 14)}_${toShortHash(id)}`;
}

/** Like `toPlainId`, for the name of a called tool. The model may have invented it, and it may be empty. */
export const toPlainName = (name: string, maxLength: number): string => toPlainId(name, maxLength) || "unknown_tool";
