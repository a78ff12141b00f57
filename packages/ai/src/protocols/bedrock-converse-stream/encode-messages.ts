import { commonImageTypes, handOff, type HandoffRules, toPlainId, type PreparedMessage } from "../../handoff.ts";
import type { AssistantMessage, ImageContent, Message, TextContent, ToolResultMessage } from "../../message.ts";
import type { Model } from "../../model.ts";
import type { Family } from "./families.ts";

export type Block = Record<string, unknown>;
export type CachePoint = { cachePoint: { type: "default"; ttl?: "1h" } };

export interface EncodedMessage {
  role: "user" | "assistant";
  content: Block[];
}

const rules: HandoffRules = {
  toolCallId: (id) => toPlainId(id, 64),
  imageTypes: commonImageTypes,
  // 3.75 MB, counted in base64.
  maxImageCharacters: 5 * 1024 * 1024,
  userFirst: true,
  // Newer models reject a history that ends with an assistant message.
  userLast: true,
};

/** The history with consecutive messages of one role merged. */
export function encodeMessages(history: readonly Message[], model: Model, family: Family): EncodedMessage[] {
  const turns = new Turns(family);
  for (const message of handOff(history, model, rules)) {
    if (message.role === "toolResult") turns.addResult(message);
    else turns.add(message.role, encodeBlocks(message, family));
  }
  return turns.end();
}

class Turns {
  readonly #family: Family;
  readonly #turns: EncodedMessage[] = [];
  /** Images of failed calls. They are added after all results of their turn. */
  #pendingImages: Block[] = [];

  constructor(family: Family) {
    this.#family = family;
  }

  addResult(message: ToolResultMessage): void {
    const images = message.isError && !this.#family.imagesInErrors ? message.content.filter(isImage) : [];
    const blocks = images.length > 0 ? message.content.filter((block) => !isImage(block)) : message.content;
    const content = blocks.length > 0 ? blocks.map(encodeContent) : [{ text: "(The images follow.)" }];
    const status = message.isError && { status: "error" };
    this.#push("user", [{ toolResult: { toolUseId: message.toolCallId, content, ...status } }]);
    if (images.length === 0) return;
    const caption = { text: `Images of the failed call of ${message.toolName}:` };
    this.#pendingImages.push(caption, ...images.map(encodeContent));
  }

  add(role: EncodedMessage["role"], content: Block[]): void {
    this.#flush();
    if (!this.#family.separatesTools) {
      this.#push(role, content);
      return;
    }
    // Results must directly follow their calls, so the calls come last.
    const calls = content.filter(isToolBlock);
    for (const block of [...content.filter((item) => !isToolBlock(item)), ...calls]) {
      const last = this.#turns.at(-1);
      if (last?.role === role && isToolBlock(last.content.at(-1)) !== isToolBlock(block)) {
        this.#push(role === "user" ? "assistant" : "user", [{ text: "(continued)" }]);
      }
      this.#push(role, [block]);
    }
  }

  end(): EncodedMessage[] {
    this.#flush();
    return this.#turns;
  }

  #flush(): void {
    this.#push("user", this.#pendingImages);
    this.#pendingImages = [];
  }

  #push(role: EncodedMessage["role"], content: Block[]): void {
    if (content.length === 0) return;
    const last = this.#turns.at(-1);
    if (last?.role === role) last.content.push(...content);
    else this.#turns.push({ role, content: [...content] });
  }
}

const isToolBlock = (block: Block | undefined): boolean =>
  block?.["toolUse"] !== undefined || block?.["toolResult"] !== undefined;

const isImage = (block: TextContent | ImageContent): block is ImageContent => block.type === "image";

const encodeBlocks = (message: Exclude<PreparedMessage, ToolResultMessage>, family: Family): Block[] =>
  message.role === "user"
    ? message.content.map(encodeContent)
    : message.content.flatMap((block) => encodeAssistantBlock(block, family));

const encodeContent = (block: TextContent | ImageContent): Block =>
  block.type === "text"
    ? { text: block.text }
    : { image: { format: block.mimeType.replace("image/", ""), source: { bytes: block.data } } };

function encodeAssistantBlock(block: AssistantMessage["content"][number], family: Family): Block[] {
  switch (block.type) {
    case "text":
      return encodeText(block.text);
    case "toolCall":
      return [{ toolUse: { toolUseId: block.id, name: block.name, input: withoutEmptyKeys(block.arguments) } }];
    case "thinking": {
      const { thinking, thinkingSignature: signature, redacted } = block;
      if (redacted) return signature ? [{ reasoningContent: { redactedContent: signature } }] : [];
      if (thinking.trim() === "" && !(family.signsThinking && signature)) return [];
      if (!family.signsThinking) return [{ reasoningContent: { reasoningText: { text: thinking } } }];
      return signature
        ? [{ reasoningContent: { reasoningText: { text: thinking, signature } } }]
        : encodeText(thinking);
    }
  }
}

/** The API rejects blank text. */
const encodeText = (text: string): Block[] => (text.trim() === "" ? [] : [{ text }]);

/** The API rejects arguments with an empty property name. */
function withoutEmptyKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmptyKeys);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => key !== "");
  return Object.fromEntries(entries.map(([key, inner]) => [key, withoutEmptyKeys(inner)]));
}
