import { type Clock, sleep, systemClock } from "../clock.ts";
import type { Context } from "../context.ts";
import { AiError } from "../errors.ts";
import { AssistantMessageEventStream } from "../event-stream.ts";
import type { Failure } from "../failure.ts";
import type { AssistantMessage } from "../message.ts";
import type { Model } from "../model.ts";
import type { SimpleStreamOptions } from "../options.ts";
import { Draft } from "../protocols/draft.ts";
import { registerApiProvider, unregisterApiProviders } from "../registry.ts";
import { pieces, type ScriptedAnswer, getStopReason } from "./script.ts";

/** One turn of the script: blocks, a whole answer, a failure, a wait, or a function that decides when it is asked. */
export type ScriptedTurn =
  | AssistantMessage["content"]
  | ScriptedAnswer
  | { failure: Failure; /** What is said before it fails. */ content?: AssistantMessage["content"] }
  | ((context: Context, options: SimpleStreamOptions, turn: number) => ScriptedTurn | Promise<ScriptedTurn>);

export interface ScriptedModelOptions {
  /** Any part of the model's description. */
  model?: Partial<Model>;
  /** How fast it speaks; default as fast as it is read. */
  tokensPerSecond?: number;
  /** Before the first token of each turn. Default 0. */
  delayMs?: number;
  clock?: Clock;
}

/** A model that says what its script says. Use it wherever a `Model` is wanted; `dispose` forgets it. */
export interface ScriptedModel extends Model {
  /** What it was asked, one entry a turn. `messages` is a copy taken at that moment. */
  readonly asked: { context: Context; options: SimpleStreamOptions }[];
  /** Adds turns to the end of the script. */
  add(...turns: ScriptedTurn[]): void;
  /** Turns that have not been spoken yet. */
  readonly left: number;
  dispose(): void;
}

let created = 0;

export function scriptedModel(turns: readonly ScriptedTurn[], options: ScriptedModelOptions = {}): ScriptedModel {
  const api = `scripted-${++created}`;
  const queue = [...turns];
  const asked: ScriptedModel["asked"] = [];
  const clock = options.clock ?? systemClock;
  const speak = (model: Model, context: Context, request: SimpleStreamOptions = {}) => {
    asked.push({ context: { ...context, messages: structuredClone(context.messages) }, options: request });
    const stream = new AssistantMessageEventStream();
    const turn = queue.shift();
    const voice: Voice = { model, stream, clock, options, signal: request.signal };
    const number = asked.length;
    resolveTurn(turn, context, request, number)
      .then((resolved) => say(voice, resolved, number))
      .catch((error: unknown) => stream.fail(error));
    return stream;
  };
  registerApiProvider({ api, stream: speak, streamSimple: speak }, api);
  const description: Model = {
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
  return Object.defineProperties(description, {
    asked: { value: asked },
    add: { value: (...more: ScriptedTurn[]) => void queue.push(...more) },
    left: { get: () => queue.length },
    dispose: { value: () => unregisterApiProviders(api) },
  }) as ScriptedModel;
}

interface Voice {
  model: Model;
  stream: AssistantMessageEventStream;
  clock: Clock;
  options: ScriptedModelOptions;
  signal: AbortSignal | undefined;
}

type ResolvedTurn = Exclude<ScriptedTurn, (...args: never[]) => unknown>;

async function resolveTurn(
  turn: ScriptedTurn | undefined,
  context: Context,
  options: SimpleStreamOptions,
  number: number,
): Promise<ResolvedTurn> {
  let resolved = turn;
  while (typeof resolved === "function") resolved = await resolved(context, options, number);
  if (resolved) return resolved;
  throw new AiError("script_exhausted", `The scripted model was asked ${number} times, and its script is shorter.`);
}

async function say(voice: Voice, turn: ResolvedTurn, number: number): Promise<void> {
  const { stream, clock, options, model } = voice;
  const draft = new Draft(model, clock.now());
  const fail = (failure: Failure) => {
    draft.abandon();
    for (const event of draft.take()) stream.push(event);
    const stopReason = failure.kind === "aborted" ? "aborted" : "error";
    stream.end(Object.assign(draft.message, { stopReason, errorMessage: failure.message, failure }));
  };
  const pause = async (afterMs: number) => afterMs > 0 && (await sleep(clock, afterMs, voice.signal)) === "aborted";
  const aborted: Failure = { kind: "aborted", message: "The request was aborted." };
  if (voice.signal?.aborted || (await pause(options.delayMs ?? 0))) return fail(aborted);

  const answer: ScriptedAnswer = Array.isArray(turn) ? { content: turn } : { content: [], ...turn };
  let spoken = 0;
  for (const [key, block] of answer.content.entries()) {
    for (const write of writes(draft, key, block)) {
      write();
      for (const event of draft.take()) stream.push(event);
      spoken++;
      if (voice.signal?.aborted || (await pause(options.tokensPerSecond ? 1_000 / options.tokensPerSecond : 0))) {
        return fail(aborted);
      }
    }
    draft.close(key);
    for (const event of draft.take()) stream.push(event);
  }
  if (!Array.isArray(turn) && "failure" in turn) return fail(turn.failure);
  const reason = getStopReason(answer);
  draft.identify({ responseId: answer.id ?? `answer-${number}`, responseModel: answer.model });
  draft.usage({ input: 0, output: spoken, ...answer.usage });
  if (reason === "refused") return fail({ kind: "refused", message: "The scripted model refused." });
  draft.message.rawStopReason = reason;
  stream.end(Object.assign(draft.message, { stopReason: reason }));
}

/** The steps in which a block is spoken. */
function* writes(draft: Draft, key: number, block: AssistantMessage["content"][number]): Generator<() => void> {
  if (block.type === "text") for (const piece of pieces(block.text)) yield () => draft.text(key, piece);
  else if (block.type === "thinking" && block.redacted) {
    yield () => draft.redactedThinking(key, block.thinkingSignature ?? "");
  } else if (block.type === "thinking") {
    for (const piece of pieces(block.thinking)) yield () => draft.thinking(key, piece);
    const { thinkingSignature } = block;
    if (thinkingSignature !== undefined) yield () => void Object.assign(draft.block(key) ?? {}, { thinkingSignature });
  } else {
    yield () => draft.toolCall(key, { id: block.id, name: block.name });
    for (const piece of pieces(JSON.stringify(block.arguments))) yield () => draft.argumentsDelta(key, piece);
  }
}
