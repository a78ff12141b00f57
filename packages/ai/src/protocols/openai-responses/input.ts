/** A history as Responses takes it: a flat list of items. */
import { commonImageTypes, handOff, type HandoffRules, isFrom, plainId, type PreparedMessage } from "../../handoff.ts";
import { shortHash } from "../../hash.ts";
import type { AssistantMessage, ImageContent, Message, TextContent, ToolCall } from "../../message.ts";
import type { Model } from "../../model.ts";
import { readItemId, readReasoning, readTextSignature } from "./signature.ts";

type Item = Record<string, unknown>;

const plain = plainId(64);

const rules: HandoffRules = {
  // Both halves of `call_id|item_id` survive if they can; what another provider put behind a bar does not.
  toolCallId(id) {
    const [call = "", item] = id.split("|");
    // Codex refuses ids that end in an underscore.
    const callId = plain(call || id).replace(/_+$/, "");
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

/** What the ids of one request depend on. */
interface Ids {
  /** The call id of each call, by its id in the history. */
  readonly calls: ReadonlyMap<string, string>;
  /** The ids of the items so far. Histories repeat them, providers refuse that. */
  readonly sent: Set<string>;
}

/** The id, unless there is none or an earlier item has it. */
function claimId(id: string | undefined, { sent }: Ids): string | undefined {
  if (id === undefined || sent.has(id)) return undefined;
  sent.add(id);
  return id;
}

/** Ids that differ only behind the bar need call ids that differ too. */
function assignCallIds(messages: readonly PreparedMessage[]): ReadonlyMap<string, string> {
  const assigned = new Map<string, string>();
  const taken = new Set<string>();
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    for (const block of message.content) {
      if (block.type !== "toolCall") continue;
      const wanted = block.id.split("|")[0]!;
      const callId = taken.has(wanted) ? `call_${shortHash(block.id)}` : wanted;
      taken.add(callId);
      assigned.set(block.id, callId);
    }
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
      return encodeAnswer(message, isFrom(message, model), ids);
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
 * The provider remembers which item it wrote after which reasoning, by their ids, and refuses one without the other.
 * So reasoning goes out only before the item that followed it, and only once; an item whose reasoning stays behind
 * loses its id.
 */
function encodeAnswer(message: AssistantMessage, own: boolean, ids: Ids): Item[] {
  const items: Item[] = [];
  let reasoning: Item[] = [];
  let paired = own && message.stopReason !== "error" && message.stopReason !== "aborted";
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

/** Whether no reasoning with the same id went out, or is about to. */
const isNew = (item: Item, waiting: readonly Item[], { sent }: Ids): boolean =>
  typeof item["id"] !== "string" || (!sent.has(item["id"]) && waiting.every(({ id }) => id !== item["id"]));

function encodeText(block: TextContent, paired: boolean, ids: Ids): Item | undefined {
  const { id: written, phase } = readTextSignature(block.textSignature);
  const id = paired ? claimId(written, ids) : undefined;
  const labelled = phase === undefined ? {} : { phase };
  if (id === undefined) {
    return block.text.trim() ? { role: "assistant", content: block.text, ...labelled } : undefined;
  }
  return {
    type: "message",
    id,
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: block.text, annotations: [] }],
    ...labelled,
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
