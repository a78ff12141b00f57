/**
 * Makes any stored history fit to be sent to any model. Pure, and stable: a longer history begins with the same
 * messages as a shorter one, so that prompt caches keep hitting.
 *
 * What a model cannot take degrades alone: foreign thinking becomes text, images become a note, ids are rewritten, a
 * call without a result gets one, a result without a call is dropped, and what is empty vanishes.
 */
import { shortHash } from "./hash.ts";
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
import { readStoredMessage } from "./stored.ts";

/** What a protocol accepts. */
export interface HandoffRules {
  /** Turns an id into one the provider accepts; same input, same output. Clashes are resolved afterwards. */
  toolCallId: (id: string) => string;
  /** Image types the provider decodes. */
  imageTypes: readonly string[];
  /** The most base64 characters of one image. */
  maxImageCharacters: number;
  /** The first message must be the user's. A history that was cut elsewhere gets a short one. */
  userFirst: boolean;
  /** The last message must not be the assistant's. A history that ends with an answer gets a short reply. */
  userLast?: boolean;
  /** Turns the name of a called tool into one the provider accepts. Default `plainName(64)`. */
  toolName?: (name: string) => string;
}

/** The image types that every provider with vision decodes. */
export const commonImageTypes = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;

/** The text of a result that never came. */
export const missingResultText = "No result was recorded for this tool call.";

/** A user message after hand-off: blocks only, none of them empty. */
export type PreparedUser = Omit<UserMessage, "content"> & { content: (TextContent | ImageContent)[] };
export type PreparedMessage = PreparedUser | AssistantMessage | ToolResultMessage;

export function handOff(stored: readonly Message[], model: Model, rules: HandoffRules): PreparedMessage[] {
  const messages = stored.map(readStoredMessage);
  const { toolName = plainName(64) } = rules;
  const ids = new IdRewriter(rules.toolCallId);
  const results = new ResultIndex(messages);
  const prepared: PreparedMessage[] = [];
  messages.forEach((message, position) => {
    if (message?.role === "user") {
      const content = prepareContent(asBlocks(message.content), model, rules);
      if (content.length > 0) prepared.push({ ...message, content });
    } else if (message?.role === "assistant") {
      const answered = (call: ToolCall) => results.has(call.id, position);
      const assistant = prepareAssistant(message, model, answered);
      if (assistant.content.length === 0) return;
      const calls = assistant.content.filter((block) => block.type === "toolCall");
      const fresh = new Map(calls.map((call) => [call, ids.assign(call.id)]));
      prepared.push({
        ...assistant,
        content: assistant.content.map((block) =>
          block.type === "toolCall" ? { ...block, id: fresh.get(block)!, name: toolName(block.name) } : block,
        ),
      });
      for (const call of calls) {
        const result = results.take(call.id, position) ?? missingResult(call, message.timestamp);
        const named = { ...call, id: fresh.get(call)!, name: toolName(call.name) };
        prepared.push(prepareResult(result, named, model, rules));
      }
    }
    // Results were placed right behind their calls; one that is left has no call.
  });
  const first = prepared[0];
  if (rules.userFirst && first && first.role !== "user") prepared.unshift(filler(first, openingText));
  const last = prepared.at(-1);
  if (rules.userLast && last?.role === "assistant") prepared.push(filler(last, replyText));
  return prepared;
}

const openingText = "(The conversation before this point is not shown.)";
const replyText = "(Go on.)";

/** What a person would have said where the provider insists on it. */
const filler = ({ timestamp }: PreparedMessage, text: string): PreparedUser => ({
  role: "user",
  content: [{ type: "text", text }],
  timestamp,
});

/** Whether a message was written by this very model, so that its signatures mean something to it. */
export const isFrom = (message: AssistantMessage, model: Model): boolean =>
  message.provider === model.provider && message.api === model.api && message.model === model.id;

function prepareAssistant(
  message: AssistantMessage,
  model: Model,
  isAnswered: (call: ToolCall) => boolean,
): AssistantMessage {
  const own = isFrom(message, model);
  const incomplete = message.stopReason === "error" || message.stopReason === "aborted";
  const content: AssistantMessage["content"] = [];
  for (const block of message.content) {
    if (block.type === "text") {
      const text = block.text.toWellFormed();
      if (text.trim() === "" && !(own && block.textSignature)) continue;
      content.push(own && block.textSignature ? { ...block, text } : { type: "text", text });
    } else if (block.type === "thinking") {
      // What was cut off carries no signature that would be accepted.
      if (incomplete) continue;
      const thinking = block.thinking.toWellFormed();
      if (own) content.push({ ...block, thinking });
      else if (!block.redacted && thinking.trim() !== "") content.push({ type: "text", text: thinking });
    } else if (!incomplete || isAnswered(block)) {
      const { thoughtSignature: _foreign, ...plain } = block;
      content.push({ ...(own ? block : plain), arguments: wellFormed(block.arguments) });
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

const missingResult = (call: ToolCall, timestamp: number): ToolResultMessage => ({
  role: "toolResult",
  toolCallId: call.id,
  toolName: call.name,
  content: [{ type: "text", text: missingResultText }],
  isError: true,
  timestamp,
});

const asBlocks = (content: UserMessage["content"]): (TextContent | ImageContent)[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : content;

function prepareContent(
  content: readonly (TextContent | ImageContent)[],
  model: Model,
  rules: HandoffRules,
): (TextContent | ImageContent)[] {
  return content.flatMap((block): (TextContent | ImageContent)[] => {
    if (block.type === "text") {
      return block.text.trim() === "" ? [] : [{ type: "text", text: block.text.toWellFormed() }];
    }
    const problem = imageProblem(block, model, rules);
    return problem ? [{ type: "text", text: `[An image was left out: ${problem}.]` }] : [block];
  });
}

function imageProblem(image: ImageContent, model: Model, rules: HandoffRules): string | undefined {
  if (!model.input.includes("image")) return "this model does not see images";
  if (!rules.imageTypes.includes(image.mimeType)) return `${JSON.stringify(image.mimeType)} is not a type it accepts`;
  if (image.data.length > rules.maxImageCharacters) return "it is too large";
  return isBase64(image.data) ? undefined : "its data is damaged";
}

// Looking at both ends is enough to find data URLs, truncation and plain text, and costs nothing for large images.
const isBase64 = (data: string) =>
  data.length > 0 &&
  data.length % 4 === 0 &&
  /^[A-Za-z0-9+/]+={0,2}$/.test(data.length > 512 ? data.slice(0, 256) + data.slice(-256) : data);

/** Lone surrogates anywhere in a value, repaired; the value itself where there are none. */
function wellFormed<T>(value: T): T {
  if (typeof value === "string") return value.toWellFormed() as T;
  if (Array.isArray(value)) return value.map(wellFormed) as T;
  if (typeof value !== "object" || value === null) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value)) {
    Object.defineProperty(copy, key.toWellFormed(), {
      value: wellFormed(inner),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return copy as T;
}

/** Finds the result of a call: the first one after it that no earlier call with the same id has taken. */
class ResultIndex {
  readonly #byId = new Map<string, { position: number; result: ToolResultMessage }[]>();

  constructor(messages: readonly (Message | undefined)[]) {
    messages.forEach((message, position) => {
      if (message?.role !== "toolResult") return;
      const list = this.#byId.get(message.toolCallId) ?? [];
      list.push({ position, result: message });
      this.#byId.set(message.toolCallId, list);
    });
  }

  has(id: string, after: number): boolean {
    return (this.#byId.get(id) ?? []).some(({ position }) => position > after);
  }

  take(id: string, after: number): ToolResultMessage | undefined {
    const list = this.#byId.get(id) ?? [];
    const at = list.findIndex(({ position }) => position > after);
    return at < 0 ? undefined : list.splice(at, 1)[0]!.result;
  }
}

/** Gives each call an id that the provider accepts and that no other call in the request has. */
class IdRewriter {
  readonly #rewrite: (id: string) => string;
  readonly #used = new Set<string>();

  constructor(rewrite: (id: string) => string) {
    this.#rewrite = rewrite;
  }

  assign(id: string): string {
    let fresh = this.#rewrite(id);
    for (let clash = 1; this.#used.has(fresh) || fresh === ""; clash++)
      fresh = this.#rewrite(shortHash(`${id}#${clash}`));
    this.#used.add(fresh);
    return fresh;
  }
}

/** Ids of letters, digits, `_` and `-`, at most `longest` characters: what most providers want. Longer ones are hashed. */
export const plainId = (longest: number) => (id: string) => {
  const plain = id.replace(/[^a-zA-Z0-9_-]/g, "_");
  return plain.length <= longest ? plain : `${plain.slice(0, longest - 14)}_${shortHash(id)}`;
};

/** Names of letters, digits, `_` and `-`. A model may have made one up, and a history may come from elsewhere. */
export const plainName = (longest: number) => (name: string) => plainId(longest)(name) || "unknown_tool";
