/** Encodes a history as the flat list of items that the Responses API expects. */
import {
  commonImageTypes,
  handOff,
  type HandoffRules,
  isWrittenBy,
  type PreparedMessage,
  toPlainId,
} from "../../handoff.ts";
import { toShortHash } from "../../hash.ts";
import type { AssistantMessage, ImageContent, Message, TextContent, ToolCall } from "../../message.ts";
import type { Model } from "../../model.ts";
import { readItemId, readReasoning, readTextSignature } from "./signature.ts";

type Item = Record<string, unknown>;

const rules: HandoffRules = {
  // Keeps both halves of `call_id|item_id`. If the second half is not a valid item id, it is dropped.
  toolCallId(id) {
    const [call = "", item] = id.split("|");
    // Codex rejects ids that end in an underscore.
    const callId = toPlainId(call || id, 64).replace(/_+$/, "");
    const itemId = readItemId("fc", item);
    return callId && itemId ? `${callId}|${itemId}` : callId;
  },
  imageTypes: commonImageTypes,
  maxImageCharacters: 20 * 1024 * 1024,
  userFirst: false,
};

export function encodeInput(model: Model, messages: readonly Message[]): Item[] {
  const prepared = handOff(messages, model, rules);
  const ids: Ids = { calls: assignCallIds(prepared), sent: new Set() };
  return prepared.flatMap((message) => encodeMessage(model, message, ids));
}

/** The ids used in one request. */
interface Ids {
  /** The call id of each call, by its id in the history. */
  readonly calls: ReadonlyMap<string, string>;
  /** The ids of the items encoded so far. A history may repeat ids, but the provider rejects duplicates. */
  readonly sent: Set<string>;
}

/** The id, or undefined if it is missing or already used by an earlier item. */
function claimId(id: string | undefined, { sent }: Ids): string | undefined {
  if (id === undefined || sent.has(id)) return undefined;
  sent.add(id);
  return id;
}

/** Ids that differ only after the `|` get different call ids. */
function assignCallIds(messages: readonly PreparedMessage[]): ReadonlyMap<string, string> {
  const assigned = new Map<string, string>();
  const used = new Set<string>();
  const blocks = messages.flatMap((message) => (message.role === "assistant" ? message.content : []));
  for (const { id } of blocks.filter((block) => block.type === "toolCall")) {
    const preferred = id.split("|")[0]!;
    const callId = used.has(preferred) ? `call_${toShortHash(id)}` : preferred;
    used.add(callId);
    assigned.set(id, callId);
  }
  return assigned;
}

function encodeMessage(model: Model, message: PreparedMessage, ids: Ids): Item[] {
  switch (message.role) {
    case "user":
      return [{ role: "user", content: message.content.map(encodeContent) }];
    case "toolResult":
      return [
        {
          type: "function_call_output",
          call_id: ids.calls.get(message.toolCallId),
          output: encodeOutput(message.content),
        },
      ];
    case "assistant":
      return encodeAssistant(message, isWrittenBy(message, model), ids);
  }
}

const encodeContent = (block: TextContent | ImageContent): Item =>
  block.type === "text"
    ? { type: "input_text", text: block.text }
    : { type: "input_image", detail: "auto", image_url: `data:${block.mimeType};base64,${block.data}` };

function encodeOutput(content: readonly (TextContent | ImageContent)[]): string | Item[] {
  if (content.some((block) => block.type === "image")) return content.map(encodeContent);
  return content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}

/**
 * The provider knows by their ids which item followed which reasoning, and rejects one without the other. So reasoning
 * is sent only once and only before the item that followed it. If the reasoning of an item is not sent, the item is
 * sent without its id (`paired` is false).
 */
function encodeAssistant(message: AssistantMessage, isOwn: boolean, ids: Ids): Item[] {
  const items: Item[] = [];
  let reasoning: Item[] = [];
  let paired = isOwn && message.stopReason !== "error" && message.stopReason !== "aborted";
  for (const block of message.content) {
    if (block.type === "thinking") {
      const item = readReasoning(block.thinkingSignature);
      if (item && isNew(item, reasoning, ids)) reasoning.push(item);
      else {
        paired = false;
        if (!item && block.thinking.trim()) items.push({ role: "assistant", content: block.thinking });
      }
      continue;
    }
    const item = block.type === "text" ? encodeText(block, paired, ids) : encodeCall(block, paired, ids);
    if (!item) continue;
    for (const { id } of reasoning) if (typeof id === "string") ids.sent.add(id);
    items.push(...reasoning, item);
    reasoning = [];
  }
  return items;
}

/** Whether no reasoning with the same id was encoded or is pending. */
const isNew = (item: Item, pending: readonly Item[], { sent }: Ids): boolean =>
  typeof item["id"] !== "string" || (!sent.has(item["id"]) && pending.every(({ id }) => id !== item["id"]));

function encodeText(block: TextContent, paired: boolean, ids: Ids): Item | undefined {
  const { id: storedId, phase } = readTextSignature(block.textSignature);
  const id = paired ? claimId(storedId, ids) : undefined;
  const phaseField = phase === undefined ? {} : { phase };
  if (id === undefined) {
    return block.text.trim() ? { role: "assistant", content: block.text, ...phaseField } : undefined;
  }
  return {
    type: "message",
    id,
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: block.text, annotations: [] }],
    ...phaseField,
  };
}

function encodeCall(call: ToolCall, paired: boolean, ids: Ids): Item {
  const id = paired ? claimId(call.id.split("|")[1], ids) : undefined;
  return {
    type: "function_call",
    ...(id !== undefined && { id }),
    call_id: ids.calls.get(call.id),
    name: call.name,
    arguments: JSON.stringify(call.arguments),
  };
}
