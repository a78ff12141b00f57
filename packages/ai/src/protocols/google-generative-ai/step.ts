import type { AssistantMessageEvent } from "../../event.ts";
import { parseTokenCount, type UsageReport } from "../../usage.ts";
import { toUniqueCallId } from "../call-id.ts";
import type { Draft } from "../draft.ts";
import type { Frame } from "../protocol.ts";
import { asArray, asRecord, asString } from "../../json.ts";
import { findStreamError } from "../stream-error.ts";
import { maxJsonDepth, isTooDeep } from "../streaming-json.ts";
import { PartialArguments } from "./partial-arguments.ts";

export interface GoogleState {
  readonly draft: Draft;
  /** The key of the next block. A part that does not continue the previous one starts a new block. */
  nextKey: number;
  /** The text or thinking block that the next part may continue. */
  openText: { key: number; kind: "text" | "thinking" } | undefined;
  /** The call whose arguments are not complete yet. */
  call: { key: number; arguments: PartialArguments } | undefined;
}

export const start = (draft: Draft): GoogleState => ({
  draft,
  nextKey: 0,
  openText: undefined,
  call: undefined,
});

export function step(state: GoogleState, frame: Frame): AssistantMessageEvent[] {
  const { draft } = state;
  const data = asRecord(frame.data);
  const failure = findStreamError(frame);
  if (failure) draft.fail(failure);
  draft.identify({ responseId: data["responseId"], responseModel: data["modelVersion"] });
  draft.usage(readUsage(data["usageMetadata"]));
  readFeedback(draft, asRecord(data["promptFeedback"]));
  const candidate = asRecord(asArray(data["candidates"])[0]);
  for (const part of asArray(asRecord(candidate["content"])["parts"])) readPart(state, asRecord(part));
  readFinish(state, candidate);
  return draft.take();
}

function readPart(state: GoogleState, part: Record<string, unknown>): void {
  const signature = asString(part["thoughtSignature"]);
  if (part["functionCall"] !== undefined) readCall(state, asRecord(part["functionCall"]), signature);
  else if (typeof part["text"] === "string") readText(state, part["text"], part["thought"] === true, signature);
}

function readText(state: GoogleState, delta: string, isThought: boolean, signature: string): void {
  if (delta === "" && !signature) return;
  const { draft } = state;
  const kind = isThought ? "thinking" : "text";
  if (state.openText?.kind !== kind) {
    closeText(state);
    state.openText = { key: state.nextKey++, kind };
  }
  const { key } = state.openText;
  draft[kind](key, delta);
  if (!signature) return;
  const block = draft.block(key);
  if (block?.type === "text") block.textSignature = signature;
  if (block?.type === "thinking") block.thinkingSignature = signature;
  // A signature covers the whole block, so later text starts a new block.
  closeText(state);
}

function closeText(state: GoogleState): void {
  if (state.openText) state.draft.close(state.openText.key);
  state.openText = undefined;
}

/** A call arrives complete, or as a part with a name followed by parts without one until `willContinue` is not set. */
function readCall(state: GoogleState, call: Record<string, unknown>, signature: string): void {
  const { draft } = state;
  const name = asString(call["name"]);
  const willContinue = call["willContinue"] === true;
  if (name) {
    closeText(state);
    closeCall(state);
    const key = state.nextKey++;
    const thoughtSignature = signature ? { thoughtSignature: signature } : {};
    draft.toolCall(key, { id: toUniqueCallId(draft, asString(call["id"]), name), name, ...thoughtSignature });
    state.call = { key, arguments: new PartialArguments() };
    if (call["args"] !== undefined && !willContinue) readArguments(draft, key, call["args"]);
  }
  if (!state.call) return;
  draft.argumentsDelta(state.call.key, state.call.arguments.write(call["partialArgs"]));
  if (!willContinue) closeCall(state);
}

function readArguments(draft: Draft, key: number, value: unknown): void {
  if (isTooDeep(value)) rejectArguments(draft, key, `the JSON is nested deeper than ${maxJsonDepth} levels`);
  else if (value !== null) draft.argumentsDelta(key, JSON.stringify(value));
}

function closeCall(state: GoogleState): void {
  const { draft, call } = state;
  if (!call) return;
  state.call = undefined;
  draft.argumentsDelta(call.key, call.arguments.end());
  if (call.arguments.problem !== undefined) rejectArguments(draft, call.key, call.arguments.problem);
  draft.close(call.key);
}

/** Marks the call as malformed, so that it is never executed. */
function rejectArguments(draft: Draft, key: number, reason: string): void {
  const block = draft.block(key);
  if (block?.type !== "toolCall") return;
  block.arguments = {};
  block.argumentsError = `The arguments of ${block.name} could not be read: ${reason}.`;
}

const stopReasons = new Map<string, "stop" | "length">([
  ["STOP", "stop"],
  ["MAX_TOKENS", "length"],
]);

/** Finish reasons that mean a refusal. */
const refusals = new Set([
  "SAFETY",
  "RECITATION",
  "LANGUAGE",
  "BLOCKLIST",
  "PROHIBITED_CONTENT",
  "SPII",
  "MODEL_ARMOR",
  "IMAGE_SAFETY",
  "IMAGE_PROHIBITED_CONTENT",
  "IMAGE_RECITATION",
]);

/** Finish reasons that mean a failure of the model or the server. */
const failures = new Map<string, string>([
  ["MALFORMED_FUNCTION_CALL", "The model wrote a tool call that could not be read"],
  ["UNEXPECTED_TOOL_CALL", "The model called a tool although the request had none"],
  ["TOO_MANY_TOOL_CALLS", "The model called too many tools in a row"],
  ["MISSING_THOUGHT_SIGNATURE", "The history lacks a thought signature"],
  ["MALFORMED_RESPONSE", "The model's answer could not be read"],
  ["NO_IMAGE", "The model did not generate the requested image"],
  ["IMAGE_OTHER", "The model could not generate the requested image"],
  ["OTHER", "The provider stopped the answer without a reason"],
]);

function readFinish(state: GoogleState, candidate: Record<string, unknown>): void {
  const raw = asString(candidate["finishReason"]);
  if (!raw) return;
  const { draft } = state;
  // An incomplete call cannot be completed any more.
  if (state.call) rejectArguments(draft, state.call.key, "the answer ended before they were complete");
  closeCall(state);
  // The text stays open: older models send a reason with every piece of it.
  const explanation = asString(candidate["finishMessage"]);
  const failure = failures.get(raw);
  if (refusals.has(raw)) {
    draft.refuse(explanation || `The provider refused to answer (${raw}).`, raw);
  } else if (failure !== undefined) {
    draft.fail({ kind: "unknown", message: `${failure} (${raw}).${explanation && ` ${explanation}`}` }, raw);
  } else draft.stop(stopReasons.get(raw) ?? "stop", raw);
}

function readFeedback(draft: Draft, feedback: Record<string, unknown>): void {
  const raw = asString(feedback["blockReason"]);
  if (!raw) return;
  const message = asString(feedback["blockReasonMessage"]) || `The provider refused the prompt (${raw}).`;
  draft.refuse(message, raw);
}

function readUsage(value: unknown): UsageReport {
  const usage = asRecord(value);
  const promptTokens = parseTokenCount(usage["promptTokenCount"]);
  const cached = parseTokenCount(usage["cachedContentTokenCount"]);
  const answer = parseTokenCount(usage["candidatesTokenCount"]);
  const thoughts = parseTokenCount(usage["thoughtsTokenCount"]);
  // The results of server-side tools are billed as prompt tokens but not included in `promptTokenCount`.
  const toolTokens = parseTokenCount(usage["toolUsePromptTokenCount"]) ?? 0;
  return {
    ...(promptTokens !== undefined && { input: Math.max(0, promptTokens - (cached ?? 0)) + toolTokens }),
    ...(cached !== undefined && { cacheRead: cached }),
    ...((answer !== undefined || thoughts !== undefined) && { output: (answer ?? 0) + (thoughts ?? 0) }),
    ...(thoughts !== undefined && { reasoning: thoughts }),
  };
}
