/**
 * The attributes of spans, by OpenTelemetry's conventions for GenAI (`gen_ai.*`, `server.*`, `error.type`). They have no
 * prompts, answers, arguments or results, and no messages of failures, in which providers may quote them.
 */
import type { AssistantMessage, Failure, Model, Usage } from "@tau/ai";
import type { TerminationReason } from "@tau/protocol";
import { getFailure } from "@tau/ai/internal";
import { getProviderName } from "./provider-names.ts";

export type Attributes = Record<string, string | number | boolean | string[]>;

/** The token counts that are summed over a run. */
type UsageTotals = Pick<Usage, "input" | "output" | "cacheRead" | "cacheWrite">;

/** Names also come from models and servers, which may send anything. */
const maxNameLength = 128;
const maxDescriptionLength = 1024;

const shorten = (name: string): string => name.slice(0, maxNameLength);

/** Creates what a span begins with. Its name is its operation, and what that is about. */
const createStart = (operation: string, subject: string, others: Attributes) => ({
  name: `${operation} ${shorten(subject)}`,
  attributes: { "gen_ai.operation.name": operation, ...others },
});

export const startRun = (run: { sessionId: string; agentName: string; model: Model }) =>
  createStart("invoke_agent", run.agentName, {
    "gen_ai.provider.name": shorten(getProviderName(run.model.provider)),
    "gen_ai.agent.name": shorten(run.agentName),
    "gen_ai.conversation.id": shorten(run.sessionId),
    "gen_ai.request.model": shorten(run.model.id),
  });

export const startRequest = (model: Model, sessionId: string) =>
  createStart("chat", model.id, {
    "gen_ai.provider.name": shorten(getProviderName(model.provider)),
    "gen_ai.conversation.id": shorten(sessionId),
    "gen_ai.request.model": shorten(model.id),
    "gen_ai.request.stream": true,
    ...serverAttributes(model.baseUrl),
  });

export const startTool = (call: { id: string; name: string; description?: string }, sessionId: string) =>
  createStart("execute_tool", call.name, {
    "gen_ai.conversation.id": shorten(sessionId),
    "gen_ai.tool.name": shorten(call.name),
    "gen_ai.tool.call.id": shorten(call.id),
    "gen_ai.tool.type": "function",
    ...(call.description !== undefined && {
      "gen_ai.tool.description": call.description.slice(0, maxDescriptionLength),
    }),
  });

/** The attributes that an answer adds to its request. */
export const answerAttributes = (answer: AssistantMessage): Attributes => ({
  "gen_ai.response.model": shorten(answer.responseModel ?? answer.model),
  ...(answer.responseId !== undefined && { "gen_ai.response.id": shorten(answer.responseId) }),
  "gen_ai.response.finish_reasons": [shorten(answer.rawStopReason ?? answer.stopReason)],
  ...usageAttributes(answer.usage),
  ...(answer.usage.reasoning !== undefined && { "gen_ai.usage.reasoning.output_tokens": answer.usage.reasoning }),
});

/** Adds the tokens of an answer to those of the run. */
export function addToTotals(totals: UsageTotals, usage: UsageTotals): void {
  totals.input += usage.input;
  totals.output += usage.output;
  totals.cacheRead += usage.cacheRead;
  totals.cacheWrite += usage.cacheWrite;
}

/** By the convention, cached tokens are input tokens too. */
export const usageAttributes = (usage: UsageTotals): Attributes => ({
  "gen_ai.usage.input_tokens": usage.input + usage.cacheRead + usage.cacheWrite,
  "gen_ai.usage.output_tokens": usage.output,
  "gen_ai.usage.cache_read.input_tokens": usage.cacheRead,
  "gen_ai.usage.cache_creation.input_tokens": usage.cacheWrite,
});

export const retryAttributes = (attempt: number, delayMs: number, failure: Failure): Attributes => ({
  "tau.retry.attempt": attempt,
  "tau.retry.delay_ms": delayMs,
  "error.type": failure.kind,
});

/** Why a run ended, for which there is no convention. A detail that is not an identifier is left out. */
export const endAttributes = (reason: TerminationReason, detail: string | undefined): Attributes => ({
  "tau.run.end_reason": reason,
  ...(detail !== undefined && /^[\w.:-]{1,64}$/.test(detail) && { "tau.run.end_detail": detail }),
});

/** The `error.type` of a request. Undefined if it did not fail. */
export function getAnswerError(answer: AssistantMessage): string | undefined {
  return answer.stopReason === "error" || answer.stopReason === "aborted" ? getFailure(answer).kind : undefined;
}

/** The `error.type` of a run: that of its last request if the run failed because of it. Undefined if it did not fail. */
export function getRunError(reason: TerminationReason, lastRequestError: string | undefined): string | undefined {
  if (reason === "no_tool_calls") return undefined;
  return reason === "error" ? (lastRequestError ?? reason) : reason;
}

/** Empty for an address with placeholders, which are filled in for each request. */
function serverAttributes(baseUrl: string): Attributes {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (!url?.hostname || /[{}]/.test(url.hostname)) return {};
  const port = url.port === "" ? defaultPorts[url.protocol] : Number(url.port);
  return {
    "server.address": url.hostname.replace(/^\[|\]$/g, ""),
    ...(port !== undefined && { "server.port": port }),
  };
}

const defaultPorts: Record<string, number> = { "https:": 443, "http:": 80, "wss:": 443, "ws:": 80 };
