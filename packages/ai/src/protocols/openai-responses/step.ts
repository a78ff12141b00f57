import type { AssistantMessageEvent } from "../../event.ts";
import { classifyError, describeError } from "../../failure.ts";
import { tokenCount, type UsageReport } from "../../usage.ts";
import type { Draft } from "../draft.ts";
import type { Frame } from "../protocol.ts";
import { list, record, text } from "../read.ts";
import { StreamingJson } from "../streaming-json.ts";
import { isItemKind, type Item, type ItemKind, ItemTable, type ItemKey } from "./items.ts";
import { writeCallId, writeReasoning, writeTextSignature } from "./signature.ts";

type Fields = Record<string, unknown>;

export interface ResponsesState {
  readonly draft: Draft;
  readonly items: ItemTable;
  /** What the model said instead of an answer, if it declined to give one. */
  refusal: string;
}

export const start = (draft: Draft): ResponsesState => ({ draft, items: new ItemTable(), refusal: "" });

export function step(state: ResponsesState, frame: Frame): AssistantMessageEvent[] {
  const data = record(frame.data);
  const place = toItemKey(data, data["item_id"]);
  switch (data["type"] ?? frame.event) {
    case "response.created":
    case "response.in_progress":
      identify(state, record(data["response"]));
      break;
    case "response.output_item.added":
      openItem(state, data["output_index"], record(data["item"]));
      break;
    case "response.output_item.done":
      closeItem(state, data["output_index"], record(data["item"]));
      break;
    case "response.output_text.delta":
      growText(state, place, text(data["delta"]));
      break;
    case "response.refusal.delta":
      state.refusal += text(data["delta"]);
      growText(state, place, text(data["delta"]));
      break;
    case "response.reasoning_summary_part.added":
      growThought(state, place, { part: `summary ${String(data["summary_index"])}`, delta: "" });
      break;
    case "response.reasoning_summary_text.delta":
      growThought(state, place, { part: `summary ${String(data["summary_index"])}`, delta: text(data["delta"]) });
      break;
    case "response.reasoning_text.delta":
      growThought(state, place, { part: `content ${String(data["content_index"])}`, delta: text(data["delta"]) });
      break;
    case "response.function_call_arguments.delta":
      growCall(state, place, "function_call", text(data["delta"]));
      break;
    case "response.function_call_arguments.done":
      completeCall(state, state.items.growing(place, "function_call"), text(data["arguments"]));
      break;
    case "response.custom_tool_call_input.delta":
      growCall(state, place, "custom_tool_call", text(data["delta"]));
      break;
    case "response.custom_tool_call_input.done":
      completeCall(state, state.items.growing(place, "custom_tool_call"), text(data["input"]));
      break;
    case "response.completed":
    case "response.done":
      endResponse(state, record(data["response"]), "completed");
      break;
    case "response.incomplete":
      endResponse(state, record(data["response"]), "incomplete");
      break;
    case "response.failed":
      endResponse(state, record(data["response"]), "failed");
      break;
    case "response.cancelled":
      endResponse(state, record(data["response"]), "cancelled");
      break;
    case "error":
      state.draft.fail(classifyError(describeError(data["error"] ?? data)));
      break;
  }
  return state.draft.take();
}

const toItemKey = (data: Fields, id: unknown): ItemKey => ({
  index: typeof data["output_index"] === "number" ? data["output_index"] : undefined,
  id: text(id),
});

const identify = ({ draft }: ResponsesState, response: Fields) =>
  draft.identify({ responseId: response["id"], responseModel: response["model"] });

function openItem(state: ResponsesState, index: unknown, raw: Fields): void {
  const kind = raw["type"];
  if (!isItemKind(kind)) return;
  const item = state.items.announced(toItemKey({ output_index: index }, raw["id"]), kind);
  openBlock(state.draft, item, raw);
}

/** Opens an item's block, if it is not open yet. What came of a call before its name was known follows at once. */
function openBlock(draft: Draft, item: Item, raw: Fields): void {
  if (draft.isOpen(item.key)) return;
  switch (item.kind) {
    case "message":
      draft.text(item.key, "");
      return;
    case "reasoning":
      draft.thinking(item.key, "");
      return;
    case "function_call":
    case "custom_tool_call":
      draft.toolCall(item.key, { id: writeCallId(raw, `call_${item.key}`), name: text(raw["name"]) });
      // Free text has no JSON of its own; it becomes an object with one string.
      if (item.kind === "custom_tool_call") draft.argumentsDelta(item.key, '{"input":"');
      draft.argumentsDelta(item.key, asArguments(item, item.received));
  }
}

const asArguments = (item: Item, delta: string): string =>
  item.kind === "custom_tool_call" ? JSON.stringify(delta).slice(1, -1) : delta;

function growText({ draft, items }: ResponsesState, place: ItemKey, delta: string): void {
  const item = items.growing(place, "message");
  if (item) draft.text(item.key, delta);
}

function growThought(
  { draft, items }: ResponsesState,
  place: ItemKey,
  { part, delta }: { part: string; delta: string },
): void {
  const item = items.growing(place, "reasoning");
  if (!item) return;
  if (item.part !== undefined && item.part !== part) draft.thinking(item.key, "\n\n");
  item.part = part;
  draft.thinking(item.key, delta);
}

function growCall({ draft, items }: ResponsesState, place: ItemKey, kind: ItemKind, delta: string): void {
  const item = items.growing(place, kind);
  if (!item) return;
  item.received += delta;
  draft.argumentsDelta(item.key, asArguments(item, delta));
}

/** Adds what the deltas lacked. */
function completeCall({ draft }: ResponsesState, item: Item | undefined, whole: string): void {
  if (!item || whole.length <= item.received.length || !whole.startsWith(item.received)) return;
  const rest = whole.slice(item.received.length);
  item.received = whole;
  draft.argumentsDelta(item.key, asArguments(item, rest));
}

function closeItem(state: ResponsesState, index: unknown, raw: Fields): void {
  const kind = raw["type"];
  if (!isItemKind(kind)) return;
  const item = state.items.growing(toItemKey({ output_index: index }, raw["id"]), kind);
  if (!item) return;
  openBlock(state.draft, item, raw);
  item.done = true;
  switch (kind) {
    case "message":
      return closeMessage(state, item, raw);
    case "reasoning":
      return closeReasoning(state, item, raw);
    case "function_call":
      return closeCall(state, item, text(raw["arguments"]));
    case "custom_tool_call":
      return closeCall(state, item, text(raw["input"]));
  }
}

function closeMessage(state: ResponsesState, { key }: Item, raw: Fields): void {
  const { draft } = state;
  const parts = list(raw["content"]).map(record);
  if (state.refusal === "") state.refusal = parts.map((part) => text(part["refusal"])).join("");
  const whole = parts.map((part) => text(part["text"]) || text(part["refusal"])).join("");
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
  const joined = (parts: unknown) =>
    list(parts)
      .map((part) => text(record(part)["text"]))
      .join("\n\n");
  const whole = joined(raw["summary"]) || joined(raw["content"]);
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
  // The deltas said something else: the last word counts.
  const json = new StreamingJson();
  json.push(item.kind === "custom_tool_call" ? JSON.stringify({ input: whole }) : whole);
  if (json.end() !== undefined) return;
  block.arguments = json.value;
  delete block.argumentsError;
}

function endResponse(state: ResponsesState, response: Fields, implied: string): void {
  const { draft } = state;
  identify(state, response);
  draft.usage(readUsage(response["usage"]));
  readOutput(state, list(response["output"]));
  const status = text(response["status"]) || implied;
  const reason = text(record(response["incomplete_details"])["reason"]);
  const raw = reason ? `${status}.${reason}` : status;
  if (status === "failed" || status === "cancelled") {
    const error = response["error"] ?? {
      message: `The provider ended the response as ${raw}, without an explanation.`,
    };
    draft.fail(classifyError(describeError(error)), raw);
  } else if (reason === "content_filter") {
    draft.refuse("The provider's content filter stopped the answer.", raw);
  } else if (state.refusal) {
    draft.refuse(`The model declined to answer: ${state.refusal}`, raw);
  } else {
    // Not the end: a gateway may send several responses in one stream, and the server closes it anyway.
    draft.stop(reason === "max_output_tokens" ? "length" : "stop", raw);
  }
}

/** The output as a whole. It matters where events were missing, and for reasoning whose encrypted content comes last. */
function readOutput(state: ResponsesState, output: readonly unknown[]): void {
  const unannounced = state.items.isEmpty;
  output.forEach((value, index) => {
    const raw = record(value);
    const item = state.items.find(toItemKey({ output_index: index }, raw["id"]));
    if (unannounced || (item && !item.done && item.kind === raw["type"])) closeItem(state, index, raw);
    const { thought } = item ?? {};
    const content = raw["type"] === "reasoning" ? text(raw["encrypted_content"]) : "";
    if (!thought || !content || thought.item["encrypted_content"]) return;
    const signature = writeReasoning({ ...thought.item, encrypted_content: content });
    if (signature) thought.block.thinkingSignature = signature;
  });
}

function readUsage(value: unknown): UsageReport {
  const usage = record(value);
  const cached = record(usage["input_tokens_details"]);
  const cacheRead = tokenCount(cached["cached_tokens"]);
  const cacheWrite = tokenCount(cached["cache_write_tokens"]);
  // The prompt's count includes both.
  const prompt = tokenCount(usage["input_tokens"]);
  return {
    input: prompt === undefined ? undefined : Math.max(0, prompt - (cacheRead ?? 0) - (cacheWrite ?? 0)),
    output: usage["output_tokens"],
    cacheRead,
    cacheWrite,
    reasoning: record(usage["output_tokens_details"])["reasoning_tokens"],
  };
}
