import type { AssistantMessageEvent } from "../../event.ts";
import { classifyError, describeError } from "../../failure.ts";
import { parseTokenCount, type UsageReport } from "../../usage.ts";
import { getPriceFactor } from "./service-tier.ts";
import type { Draft } from "../draft.ts";
import type { Frame } from "../protocol.ts";
import { asArray, asRecord, asString, joinText } from "../../json.ts";
import { findStreamError } from "../stream-error.ts";
import { StreamingJson } from "../streaming-json.ts";
import { isItemKind, type Item, type ItemKind, ItemTable, type ItemKey } from "./items.ts";
import { writeCallId, writeReasoning, writeTextSignature } from "./signature.ts";

type Fields = Record<string, unknown>;

export interface ResponsesState {
  readonly draft: Draft;
  readonly items: ItemTable;
  /** The refusal text of the model, if it declined to answer. */
  refusal: string;
}

export const start = (draft: Draft): ResponsesState => ({ draft, items: new ItemTable(), refusal: "" });

export function step(state: ResponsesState, frame: Frame): AssistantMessageEvent[] {
  // Some servers send it after the last response and then leave the connection open.
  if (frame.data === "[DONE]") state.draft.end();
  const data = asRecord(frame.data);
  const key = toItemKey(data["output_index"], data["item_id"]);
  const delta = asString(data["delta"]);
  const type = asString(data["type"] ?? frame.event);
  switch (type) {
    case "response.created":
    case "response.in_progress":
      identify(state, asRecord(data["response"]));
      break;
    case "response.output_item.added":
      openItem(state, data["output_index"], asRecord(data["item"]));
      break;
    case "response.output_item.done":
      closeItem(state, data["output_index"], asRecord(data["item"]));
      break;
    case "response.output_text.delta":
      appendText(state, key, delta);
      break;
    case "response.refusal.delta":
      state.refusal += delta;
      appendText(state, key, delta);
      break;
    case "response.reasoning_summary_part.added":
    case "response.reasoning_summary_text.delta":
      appendThinking(state, key, { part: `summary ${String(data["summary_index"])}`, delta });
      break;
    case "response.content_part.added":
    case "response.reasoning_part.added":
      if (asRecord(data["part"])["type"] === "reasoning_text") endPart(state, key);
      break;
    case "response.reasoning_text.delta":
      // Its content index says nothing: vLLM counts every delta.
      appendThinking(state, key, { part: "content", delta });
      break;
    case "response.output_text.done":
    case "response.reasoning_text.done":
    case "response.reasoning_summary_text.done":
      readWholeText(state, key, type, asString(data["text"]));
      break;
    case "response.function_call_arguments.delta":
      appendArguments(state, key, "function_call", delta);
      break;
    case "response.function_call_arguments.done":
      completeCall(state, state.items.findOrAdd(key, "function_call"), asString(data["arguments"]));
      break;
    case "response.custom_tool_call_input.delta":
      appendArguments(state, key, "custom_tool_call", delta);
      break;
    case "response.custom_tool_call_input.done":
      completeCall(state, state.items.findOrAdd(key, "custom_tool_call"), asString(data["input"]));
      break;
    case "response.completed":
    case "response.incomplete":
    case "response.failed":
    case "response.cancelled":
      endResponse(state, asRecord(data["response"]), type.replace("response.", ""));
      break;
    case "response.done":
      endResponse(state, asRecord(data["response"]), "completed");
      break;
    default: {
      const failure = findStreamError(frame);
      if (failure) state.draft.fail(failure);
    }
  }
  return state.draft.take();
}

const toItemKey = (index: unknown, id: unknown): ItemKey => ({
  index: typeof index === "number" ? index : undefined,
  id: asString(id),
});

/** A call without an id has its call id. */
const getItemKey = (index: unknown, raw: Fields): ItemKey => toItemKey(index, asString(raw["id"]) || raw["call_id"]);

const identify = ({ draft }: ResponsesState, response: Fields) =>
  draft.identify({ responseId: response["id"], responseModel: response["model"] });

function openItem(state: ResponsesState, index: unknown, raw: Fields): void {
  const kind = raw["type"];
  if (isItemKind(kind)) openBlock(state.draft, state.items.announce(getItemKey(index, raw), kind), raw);
}

/** Opens the block of an item if it is not open yet, and adds the arguments that arrived before it. */
function openBlock(draft: Draft, item: Item, raw: Fields): void {
  if (draft.isOpen(item.key)) return;
  if (item.kind === "message") return draft.text(item.key, "");
  if (item.kind === "reasoning") return draft.thinking(item.key, "");
  draft.toolCall(item.key, { id: writeCallId(raw, `call_${item.key}`), name: asString(raw["name"]) });
  // The input of a custom tool is free text; it becomes a JSON object with one string.
  if (item.kind === "custom_tool_call") draft.argumentsDelta(item.key, '{"input":"');
  draft.argumentsDelta(item.key, toArgumentsJson(item, item.received));
}

/** The JSON text for a piece of a call's arguments or free-text input. */
const toArgumentsJson = (item: Item, delta: string): string =>
  item.kind === "custom_tool_call" ? JSON.stringify(delta).slice(1, -1) : delta;

function appendText({ draft, items }: ResponsesState, key: ItemKey, delta: string): void {
  const item = items.findOrAdd(key, "message");
  if (item) draft.text(item.key, delta);
}

function appendThinking(
  { draft, items }: ResponsesState,
  key: ItemKey,
  { part, delta }: { part: string; delta: string },
): void {
  const item = items.findOrAdd(key, "reasoning");
  if (!item) return;
  if (item.part !== undefined && item.part !== part) draft.thinking(item.key, "\n\n");
  item.part = part;
  draft.thinking(item.key, delta);
}

/** Reads a text that did not come in deltas. After deltas of its kind it is only a repetition, whatever its ids say. */
function readWholeText({ draft, items }: ResponsesState, key: ItemKey, type: string, text: string): void {
  const kind = type === "response.output_text.done" ? "text" : "thinking";
  const isStreamed = draft.message.content.some(
    (block) => block.type === kind && (block.type === "text" ? block.text : block.thinking) !== "",
  );
  const item = isStreamed || text === "" ? undefined : items.findOrAdd(key, kind === "text" ? "message" : "reasoning");
  if (item) draft[kind](item.key, text);
}

/** Makes the next piece of thinking, if it is not the first one, the start of a new paragraph. */
function endPart({ items }: ResponsesState, key: ItemKey): void {
  const item = items.findOrAdd(key, "reasoning");
  if (item?.part !== undefined) item.part = "";
}

function appendArguments({ draft, items }: ResponsesState, key: ItemKey, kind: ItemKind, delta: string): void {
  const item = items.findOrAdd(key, kind);
  if (!item) return;
  item.received += delta;
  draft.argumentsDelta(item.key, toArgumentsJson(item, delta));
}

/** Adds the end of the arguments that the deltas did not contain. */
function completeCall({ draft }: ResponsesState, item: Item | undefined, whole: string): void {
  if (!item || whole.length <= item.received.length || !whole.startsWith(item.received)) return;
  const missing = whole.slice(item.received.length);
  item.received = whole;
  draft.argumentsDelta(item.key, toArgumentsJson(item, missing));
}

function closeItem(state: ResponsesState, index: unknown, raw: Fields): void {
  const kind = raw["type"];
  if (!isItemKind(kind)) return;
  const item = state.items.findOrAdd(getItemKey(index, raw), kind);
  if (!item) return;
  openBlock(state.draft, item, raw);
  item.done = true;
  if (kind === "message") closeMessage(state, item, raw);
  else if (kind === "reasoning") closeReasoning(state, item, raw);
  else closeCall(state, item, asString(raw[kind === "function_call" ? "arguments" : "input"]));
}

function closeMessage(state: ResponsesState, { key }: Item, raw: Fields): void {
  const { draft } = state;
  const parts = asArray(raw["content"]).map(asRecord);
  if (state.refusal === "") state.refusal = parts.map((part) => asString(part["refusal"])).join("");
  const whole = parts.map((part) => asString(part["text"]) || asString(part["refusal"])).join("");
  const block = draft.block(key);
  if (block?.type === "text") {
    if (whole.startsWith(block.text)) draft.text(key, whole.slice(block.text.length));
    else if (whole) block.text = whole;
    const signature = writeTextSignature(raw);
    if (signature) block.textSignature = signature;
  }
  draft.close(key);
}

function closeReasoning({ draft }: ResponsesState, item: Item, raw: Fields): void {
  const whole = joinText(raw["summary"], "\n\n") || joinText(raw["content"], "\n\n");
  const block = draft.block(item.key);
  if (block?.type === "thinking") {
    if (whole.startsWith(block.thinking)) draft.thinking(item.key, whole.slice(block.thinking.length));
    else if (whole) block.thinking = whole;
    const signature = writeReasoning(raw);
    if (signature) block.thinkingSignature = signature;
    item.thought = { block, item: raw };
  }
  draft.close(item.key);
}

function closeCall(state: ResponsesState, item: Item, whole: string): void {
  const { draft } = state;
  completeCall(state, item, whole);
  if (item.kind === "custom_tool_call") draft.argumentsDelta(item.key, '"}');
  const block = draft.block(item.key);
  draft.close(item.key);
  if (block?.type !== "toolCall" || !whole || whole === item.received) return;
  // The deltas differ from the final arguments; the final arguments win.
  const json = new StreamingJson();
  json.push(item.kind === "custom_tool_call" ? JSON.stringify({ input: whole }) : whole);
  if (json.end() !== undefined) return;
  block.arguments = json.value;
  delete block.argumentsError;
  delete block.argumentsText;
}

/** `impliedStatus` is used if the response itself has no status. */
function endResponse(state: ResponsesState, response: Fields, impliedStatus: string): void {
  const { draft } = state;
  identify(state, response);
  const priceFactor = getPriceFactor(draft.model.id, asString(response["service_tier"]));
  draft.usage({ ...readUsage(response["usage"]), priceFactor });
  readOutput(state, asArray(response["output"]));
  const status = asString(response["status"]) || impliedStatus;
  const reason = asString(asRecord(response["incomplete_details"])["reason"]);
  const raw = reason ? `${status}.${reason}` : status;
  if (status === "failed" || status === "cancelled") {
    const message = `The provider ended the response as ${raw}, without an explanation.`;
    draft.fail(classifyError(describeError(response["error"] ?? { message })), raw);
  } else if (reason === "content_filter") {
    draft.refuse("The provider's content filter stopped the answer.", raw);
  } else if (state.refusal) {
    draft.refuse(`The model declined to answer: ${state.refusal}`, raw);
  } else {
    // The draft is not ended here: a gateway may send several responses in one stream.
    draft.stop(status === "incomplete" || reason ? "length" : "stop", raw);
  }
}

/** Reads the complete output. Needed if events were missing, and for encrypted reasoning that only comes at the end. */
function readOutput(state: ResponsesState, output: readonly unknown[]): void {
  const seenKinds = state.items.kinds;
  output.forEach((value, index) => {
    const raw = asRecord(value);
    const kind = raw["type"];
    if (!isItemKind(kind)) return;
    const item = state.items.find(getItemKey(index, raw));
    // Ids and positions may differ from those of the events, so an unknown item of a kind that had events is not read again.
    const isUnread = item?.kind === kind ? !item.done : !seenKinds.has(kind) || isUnknownCall(state.draft, raw);
    if (isUnread) closeItem(state, index, raw);
    const { thought } = item ?? {};
    const content = kind === "reasoning" ? asString(raw["encrypted_content"]) : "";
    if (!thought || !content || thought.item["encrypted_content"]) return;
    const signature = writeReasoning({ ...thought.item, encrypted_content: content });
    if (signature) thought.block.thinkingSignature = signature;
  });
}

function isUnknownCall({ message }: Draft, { call_id: callId }: Fields): boolean {
  const isSame = (id: string) => id.split("|")[0] === callId;
  return Boolean(callId) && !message.content.some((block) => block.type === "toolCall" && isSame(block.id));
}

function readUsage(value: unknown): UsageReport {
  const usage = asRecord(value);
  const cached = asRecord(usage["input_tokens_details"]);
  const cacheRead = parseTokenCount(cached["cached_tokens"]);
  const cacheWrite = parseTokenCount(cached["cache_write_tokens"]);
  // `input_tokens` includes cached tokens.
  const promptTokens = parseTokenCount(usage["input_tokens"]);
  return {
    input: promptTokens === undefined ? undefined : Math.max(0, promptTokens - (cacheRead ?? 0) - (cacheWrite ?? 0)),
    output: usage["output_tokens"],
    cacheRead,
    cacheWrite,
    reasoning: asRecord(usage["output_tokens_details"])["reasoning_tokens"],
  };
}
