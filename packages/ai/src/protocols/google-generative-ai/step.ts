import type { AssistantMessageEvent } from "../../event.ts";
import { classifyError, describeError } from "../../failure.ts";
import { toShortHash } from "../../hash.ts";
import { parseTokenCount, type UsageReport } from "../../usage.ts";
import type { Draft } from "../draft.ts";
import type { Frame } from "../protocol.ts";
import { asArray, asRecord, asString } from "../read.ts";
import { deepestJson, isTooDeep } from "../streaming-json.ts";
import { PartialArguments } from "./partial-arguments.ts";

export interface GoogleState {
  readonly draft: Draft;
  /** Names the blocks: each part that does not continue the one before it has the next number. */
  parts: number;
  /** The text or thought that the next part may continue. */
  spoken: { key: number; kind: "text" | "thinking" } | undefined;
  /** The call whose arguments are still arriving. */
  call: { key: number; arguments: PartialArguments } | undefined;
}

export const start = (draft: Draft): GoogleState => ({ draft, parts: 0, spoken: undefined, call: undefined });

export function step(state: GoogleState, frame: Frame): AssistantMessageEvent[] {
  const { draft } = state;
  const data = asRecord(frame.data);
  if (data["error"] !== undefined) draft.fail(classifyError(describeError(data)));
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
  if (state.spoken?.kind !== kind) {
    closeSpoken(state);
    state.spoken = { key: state.parts++, kind };
  }
  const { key } = state.spoken;
  draft[kind](key, delta);
  if (!signature) return;
  const block = draft.block(key);
  if (block?.type === "text") block.textSignature = signature;
  if (block?.type === "thinking") block.thinkingSignature = signature;
  // A signature ends its part: what follows must not be mixed with what was signed.
  closeSpoken(state);
}

function closeSpoken(state: GoogleState): void {
  if (state.spoken) state.draft.close(state.spoken.key);
  state.spoken = undefined;
}

/** A call comes whole, or starts with a name and goes on in parts without one until a part says that it is over. */
function readCall(state: GoogleState, call: Record<string, unknown>, signature: string): void {
  const { draft } = state;
  const name = asString(call["name"]);
  const goesOn = call["willContinue"] === true;
  if (name) {
    closeSpoken(state);
    closeCall(state);
    const key = state.parts++;
    const thoughtSignature = signature ? { thoughtSignature: signature } : {};
    draft.toolCall(key, { id: callId(draft, asString(call["id"]), name), name, ...thoughtSignature });
    state.call = { key, arguments: new PartialArguments() };
    if (call["args"] !== undefined && !goesOn) readArguments(draft, key, call["args"]);
  }
  if (!state.call) return;
  draft.argumentsDelta(state.call.key, state.call.arguments.write(call["partialArgs"]));
  if (!goesOn) closeCall(state);
}

function readArguments(draft: Draft, key: number, value: unknown): void {
  if (isTooDeep(value)) refuse(draft, key, `the JSON is nested deeper than ${deepestJson} levels`);
  else if (value !== null) draft.argumentsDelta(key, JSON.stringify(value));
}

function closeCall(state: GoogleState): void {
  const { draft, call } = state;
  if (!call) return;
  state.call = undefined;
  draft.argumentsDelta(call.key, call.arguments.end());
  if (call.arguments.problem !== undefined) refuse(draft, call.key, call.arguments.problem);
  draft.close(call.key);
}

/** Marks the call, so that it is answered and never executed. */
function refuse(draft: Draft, key: number, reason: string): void {
  const block = draft.block(key);
  if (block?.type !== "toolCall") return;
  block.arguments = {};
  block.argumentsError = `The arguments of ${block.name} could not be read: ${reason}.`;
}

/** The server's own id, or one made of what is known: the answer's id, the name and how many blocks came before. */
function callId(draft: Draft, given: string, name: string): string {
  const { content, responseId = "" } = draft.message;
  const taken = content.some((block) => block.type === "toolCall" && block.id === given);
  return given && !taken ? given : `call_${toShortHash(`${responseId}/${name}/${content.length}`)}`;
}

const stopReasons = new Map<string, "stop" | "length">([
  ["STOP", "stop"],
  ["MAX_TOKENS", "length"],
]);

/** The answer was withheld for what it says. */
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

/** The model, or the server, could not go on. */
const breakdowns = new Map<string, string>([
  ["MALFORMED_FUNCTION_CALL", "The model wrote a tool call that could not be read"],
  ["UNEXPECTED_TOOL_CALL", "The model called a tool although none was offered"],
  ["TOO_MANY_TOOL_CALLS", "The model called too many tools in a row"],
  ["MISSING_THOUGHT_SIGNATURE", "The history lacks a thought signature"],
  ["MALFORMED_RESPONSE", "The model's answer could not be read"],
  ["NO_IMAGE", "The model was to draw and did not"],
  ["IMAGE_OTHER", "The model was to draw and could not"],
  ["OTHER", "The provider stopped the answer and does not say why"],
]);

function readFinish(state: GoogleState, candidate: Record<string, unknown>): void {
  const raw = asString(candidate["finishReason"]);
  if (!raw) return;
  const { draft } = state;
  // Nothing can complete a call any more.
  if (state.call) refuse(draft, state.call.key, "the answer ended before they were complete");
  closeCall(state);
  closeSpoken(state);
  const explanation = asString(candidate["finishMessage"]);
  const breakdown = breakdowns.get(raw);
  if (refusals.has(raw)) {
    draft.refuse(explanation || `The provider refused to answer (${raw}).`, raw);
  } else if (breakdown !== undefined) {
    draft.fail({ kind: "unknown", message: `${breakdown} (${raw}).${explanation && ` ${explanation}`}` }, raw);
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
  const prompt = parseTokenCount(usage["promptTokenCount"]);
  const cached = parseTokenCount(usage["cachedContentTokenCount"]);
  const answer = parseTokenCount(usage["candidatesTokenCount"]);
  const thoughts = parseTokenCount(usage["thoughtsTokenCount"]);
  // What server-side tools read counts as prompt, but is not in the prompt's count.
  const tools = parseTokenCount(usage["toolUsePromptTokenCount"]) ?? 0;
  return {
    ...(prompt !== undefined && { input: Math.max(0, prompt - (cached ?? 0)) + tools }),
    ...(cached !== undefined && { cacheRead: cached }),
    ...((answer !== undefined || thoughts !== undefined) && { output: (answer ?? 0) + (thoughts ?? 0) }),
    ...(thoughts !== undefined && { reasoning: thoughts }),
  };
}
