/** Asks a virtual model which model a request uses, and checks the answer. */
import type { StreamFn, ThinkingLevel } from "@tau/agent";
import {
  clampThinkingLevel,
  type Clock,
  type Failure,
  type Message,
  type Model,
  modelsAreEqual,
  parseThinkingLevel,
} from "@tau/ai";
import { asRecord, getErrorMessage, isRecord } from "@tau/ai/internal";
import type { ModelRegistry } from "@tau/config/models";
import { mustBeData, type ModelRouteRequest, type RunExtensions } from "@tau/extensions/internal";
import { modelName } from "./prefix.ts";
import { failedStream } from "./request.ts";

export interface RoutePort {
  registry: Pick<ModelRegistry, "find" | "isVirtual" | "isUsable" | "scope">;
  getExtensions: () => Pick<RunExtensions, "route"> | undefined;
  /** The models to choose from. Undefined for all. */
  getPatterns: () => readonly string[] | undefined;
}

export type RouteOutcome =
  /** `state` is undefined if it stays the same. */
  { kind: "routed"; model: Model; thinkingLevel: ThinkingLevel; state: unknown } | { kind: "failed"; failure: Failure };

export async function routeRequest(port: RoutePort, request: ModelRouteRequest): Promise<RouteOutcome> {
  const name = modelName(request.model);
  const fail = (why: string): RouteOutcome => {
    const message = `The virtual model ${name} did not choose a model: ${why} Select another model, or correct the extension.`;
    return { kind: "failed", failure: { kind: request.signal?.aborted ? "aborted" : "invalid_request", message } };
  };
  let answer: unknown;
  try {
    answer = mustBeData(await port.getExtensions()?.route(request), "Its answer");
  } catch (error) {
    return fail(`${getErrorMessage(error)}.`);
  }
  const { model: chosen, thinkingLevel, state } = asRecord(answer);
  if (!isRecord(chosen)) return fail("its answer has no model.");
  const [provider, id] = [String(chosen["provider"]), String(chosen["id"])];
  const reference = `${provider}/${id}`;
  // The registry's own: an extension cannot change where requests are sent, and with which key.
  const model = port.registry.find(provider, id);
  if (!model) return fail(`there is no model ${reference}.`);
  if (port.registry.isVirtual(model)) return fail(`${reference} is virtual too.`);
  if (!port.registry.isUsable(model)) return fail(`there is no key for ${reference}.`);
  const patterns = port.getPatterns();
  if (patterns && !port.registry.scope(patterns).models.some((scoped) => modelsAreEqual(scoped.model, model)))
    return fail(`${reference} is not one of the models to choose from.`);
  const level = parseThinkingLevel(String(thinkingLevel)) ?? request.thinkingLevel;
  return {
    kind: "routed",
    model,
    thinkingLevel: clampThinkingLevel(model, level),
    state: state === request.state ? undefined : state,
  };
}

/** Routes requests that are made for a virtual model outside of runs, such as those for summaries. */
export function withRoutes(streamFn: StreamFn, port: RoutePort, clock: Pick<Clock, "now">): StreamFn {
  return async (model, context, options) => {
    if (!port.registry.isVirtual(model)) return await streamFn(model, context, options);
    const outcome = await routeRequest(port, {
      model,
      thinkingLevel: options?.reasoning ?? "off",
      reason: "direct",
      messages: toRouteMessages(context.messages, context.systemPrompt, clock.now()),
      ...(options?.signal && { signal: options.signal }),
    });
    if (outcome.kind === "failed") return failedStream(model, outcome.failure, clock.now());
    return await streamFn(outcome.model, context, withLevel(options, outcome.thinkingLevel));
  };
}

/** The options of a request with another thinking level. */
export function withLevel(options: Parameters<StreamFn>[2], level: ThinkingLevel): Parameters<StreamFn>[2] {
  const { reasoning: _reasoning, ...others } = options ?? {};
  return level === "off" ? others : { ...others, reasoning: level };
}

/** Copies of the messages, since `route` may change them, with the system prompt as the first. */
export function toRouteMessages(
  messages: readonly Message[],
  systemPrompt: string | undefined,
  timestamp: number,
): Message[] {
  const system = { role: "system", content: systemPrompt ?? "", timestamp } as unknown as Message;
  return structuredClone(systemPrompt === undefined ? [...messages] : [system, ...messages]);
}
