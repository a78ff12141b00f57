import { type Clock, sleep, systemClock } from "../clock.ts";
import type { Context } from "../context.ts";
import { AiError } from "../errors.ts";
import { AssistantMessageEventStream } from "../event-stream.ts";
import type { Failure } from "../failure.ts";
import type { AssistantMessage, Message } from "../message.ts";
import type { Model } from "../model.ts";
import type { SimpleStreamOptions } from "../options.ts";
import { Draft } from "../protocols/draft.ts";
import { registerApiProvider, unregisterApiProviders } from "../registry.ts";
import { splitText, type ScriptedAnswer, getStopReason, withUniqueIds } from "./script.ts";

/** A turn of the script: content blocks, an answer, a failure, or a function that returns one of these. */
export type ScriptedTurn =
  | AssistantMessage["content"]
  | ScriptedAnswer
  | { failure: Failure; /** Sent before the failure. */ content?: AssistantMessage["content"] }
  | ((context: Context, options: SimpleStreamOptions, turn: number) => ScriptedTurn | Promise<ScriptedTurn>);

export interface ScriptedModelOptions {
  /** Overrides fields of the model. */
  model?: Partial<Model>;
  /** Deltas per second. Default: no delay between deltas. */
  tokensPerSecond?: number;
  /** The delay before the first delta of each turn. Default 0. */
  delayMs?: number;
  clock?: Clock;
}

/** A model that answers with its script. Call `dispose` to unregister it. */
export interface ScriptedModel extends Model {
  /** The requests, one entry per turn. `messages` is a copy made at the time of the request. */
  readonly asked: { context: Context; options: SimpleStreamOptions }[];
  /** Adds turns to the end of the script. */
  add(...turns: ScriptedTurn[]): void;
  /** The number of remaining turns. */
  readonly left: number;
  dispose(): void;
}

/** Details of a tool are not sent to a model and may contain functions, which cannot be copied: they are shared. */
function copyMessage(message: Message): Message {
  if (message.role !== "toolResult") return structuredClone(message);
  const { details, ...rest } = message;
  return { ...structuredClone(rest), ...(details !== undefined && { details }) };
}

let created = 0;

export function scriptedModel(turns: readonly ScriptedTurn[], options: ScriptedModelOptions = {}): ScriptedModel {
  const api = `scripted-${++created}`;
  const queue = [...turns];
  const asked: ScriptedModel["asked"] = [];
  const clock = options.clock ?? systemClock;
  const streamTurn = (model: Model, context: Context, requestOptions: SimpleStreamOptions = {}) => {
    asked.push({ context: { ...context, messages: context.messages.map(copyMessage) }, options: requestOptions });
    const stream = new AssistantMessageEventStream();
    const output: Output = { model, stream, clock, options, signal: requestOptions.signal };
    const turnNumber = asked.length;
    const play = async () => {
      let turn = queue.shift();
      while (typeof turn === "function") turn = await turn(context, requestOptions, turnNumber);
      if (turn) return await playTurn(output, turn, turnNumber);
      const message = `The scripted model was asked ${turnNumber} times, but its script is shorter.`;
      throw new AiError("script_exhausted", message);
    };
    play().catch((error: unknown) => stream.fail(error));
    return stream;
  };
  registerApiProvider({ api, stream: streamTurn, streamSimple: streamTurn }, api);
  const model: Model = {
    id: "scripted",
    name: "Scripted model",
    provider: "scripted",
    baseUrl: "",
    reasoning: false,
    input: ["text", "image"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 200_000,
    maxTokens: 32_000,
    ...options.model,
    api,
  };
  return Object.defineProperties(model, {
    asked: { value: asked },
    add: { value: (...newTurns: ScriptedTurn[]) => void queue.push(...newTurns) },
    left: { get: () => queue.length },
    dispose: { value: () => unregisterApiProviders(api) },
  }) as ScriptedModel;
}

interface Output {
  model: Model;
  stream: AssistantMessageEventStream;
  clock: Clock;
  options: ScriptedModelOptions;
  signal: AbortSignal | undefined;
}

type ResolvedTurn = Exclude<ScriptedTurn, (...args: never[]) => unknown>;

async function playTurn(output: Output, turn: ResolvedTurn, turnNumber: number): Promise<void> {
  const { stream, clock, options, model, signal } = output;
  const draft = new Draft(model, clock.now());
  const fail = (failure: Failure) => {
    draft.abandon();
    for (const event of draft.take()) stream.push(event);
    const stopReason = failure.kind === "aborted" ? "aborted" : "error";
    stream.end(Object.assign(draft.message, { stopReason, errorMessage: failure.message, failure }));
  };
  const isAbortedAfter = async (afterMs: number) =>
    signal?.aborted === true || (afterMs > 0 && (await sleep(clock, afterMs, signal)) === "aborted");
  const aborted: Failure = { kind: "aborted", message: "The request was aborted." };
  if (await isAbortedAfter(options.delayMs ?? 0)) return fail(aborted);

  const answer: ScriptedAnswer = Array.isArray(turn) ? { content: turn } : { content: [], ...turn };
  const deltaMs = options.tokensPerSecond ? 1_000 / options.tokensPerSecond : 0;
  const started = clock.monotonic();
  let deltas = 0;
  for (const [key, block] of withUniqueIds(answer.content).entries()) {
    for (const writeDelta of getDeltas(draft, key, block)) {
      writeDelta();
      for (const event of draft.take()) stream.push(event);
      deltas++;
      // Counted from the start, so that timers that fire late do not add up.
      if (await isAbortedAfter(deltaMs && started + deltas * deltaMs - clock.monotonic())) return fail(aborted);
    }
    draft.close(key);
    for (const event of draft.take()) stream.push(event);
  }
  if (!Array.isArray(turn) && "failure" in turn) return fail(turn.failure);
  const reason = getStopReason(answer);
  draft.identify({ responseId: answer.id ?? `answer-${turnNumber}`, responseModel: answer.model });
  draft.usage({ input: 0, output: deltas, ...answer.usage });
  if (reason === "refused") return fail({ kind: "refused", message: "The scripted model refused." });
  draft.message.rawStopReason = reason;
  stream.end(Object.assign(draft.message, { stopReason: reason }));
}

/** The deltas of a block, as functions that write them to the draft. */
function* getDeltas(draft: Draft, key: number, block: AssistantMessage["content"][number]): Generator<() => void> {
  if (block.type === "text") for (const piece of splitText(block.text)) yield () => draft.text(key, piece);
  else if (block.type === "thinking" && block.redacted) {
    yield () => draft.redactedThinking(key, block.thinkingSignature ?? "");
  } else if (block.type === "thinking") {
    for (const piece of splitText(block.thinking)) yield () => draft.thinking(key, piece);
    const { thinkingSignature } = block;
    if (thinkingSignature !== undefined) yield () => void Object.assign(draft.block(key) ?? {}, { thinkingSignature });
  } else {
    yield () => draft.toolCall(key, { id: block.id, name: block.name });
    for (const piece of splitText(JSON.stringify(block.arguments))) yield () => draft.argumentsDelta(key, piece);
  }
}
