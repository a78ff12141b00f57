/**
 * What spans say about a run, by OpenTelemetry's conventions for GenAI (`gen_ai.*`, `server.*`, `error.type`). Facts
 * only: no prompt, no answer, no argument, no result, and no message of a failure, since providers quote in them.
 */
import type { AssistantMessage, Failure, Model, Usage } from "@tau/ai";
import type { TerminationReason } from "@tau/protocol";
import { providerName } from "./provider-names.ts";

export type Attributes = Record<string, string | number | boolean | string[]>;

/** The parts of a bill that are added up over a run. */
export type UsageTotals = Pick<Usage, "input" | "output" | "cacheRead" | "cacheWrite">;

/** Names come from models and servers too, which may send anything. */
const maxNameLength = 128;
const maxDescriptionLength = 1024;

const short = (name: string): string => name.slice(0, maxNameLength);

export const runName = (agentName: string): string => `invoke_agent ${short(agentName)}`;
export const requestName = (model: Model): string => `chat ${short(model.id)}`;
export const toolName = (name: string): string => `execute_tool ${short(name)}`;

export const runAttributes = (about: { sessionId: string; agentName: string; model: Model }): Attributes => ({
  "gen_ai.operation.name": "invoke_agent",
  "gen_ai.provider.name": short(providerName(about.model.provider)),
  "gen_ai.agent.name": short(about.agentName),
  "gen_ai.conversation.id": short(about.sessionId),
  "gen_ai.request.model": short(about.model.id),
});

export const requestAttributes = (model: Model, sessionId: string): Attributes => ({
  "gen_ai.operation.name": "chat",
  "gen_ai.provider.name": short(providerName(model.provider)),
  "gen_ai.conversation.id": short(sessionId),
  "gen_ai.request.model": short(model.id),
  "gen_ai.request.stream": true,
  ...serverAttributes(model.baseUrl),
});

export const toolAttributes = (
  call: { id: string; name: string; description?: string },
  sessionId: string,
): Attributes => ({
  "gen_ai.operation.name": "execute_tool",
  "gen_ai.conversation.id": short(sessionId),
  "gen_ai.tool.name": short(call.name),
  "gen_ai.tool.call.id": short(call.id),
  "gen_ai.tool.type": "function",
  ...(call.description !== undefined && { "gen_ai.tool.description": call.description.slice(0, maxDescriptionLength) }),
});

/** What an answer adds to its request. */
export const answerAttributes = (answer: AssistantMessage): Attributes => ({
  "gen_ai.response.model": short(answer.responseModel ?? answer.model),
  ...(answer.responseId !== undefined && { "gen_ai.response.id": short(answer.responseId) }),
  "gen_ai.response.finish_reasons": [short(answer.rawStopReason ?? answer.stopReason)],
  ...usageAttributes(answer.usage),
  ...(answer.usage.reasoning !== undefined && { "gen_ai.usage.reasoning.output_tokens": answer.usage.reasoning }),
});

/** Adds what an answer used to what a run used. */
export function addUsage(totals: UsageTotals, usage: UsageTotals): void {
  totals.input += usage.input;
  totals.output += usage.output;
  totals.cacheRead += usage.cacheRead;
  totals.cacheWrite += usage.cacheWrite;
}

/** The convention counts what a cache served, or took in, as input. */
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

/** The convention has no words for why a run ended. A detail that is prose, not a name, is left out. */
export const endAttributes = (reason: TerminationReason, detail: string | undefined): Attributes => ({
  "tau.run.end_reason": reason,
  ...(detail !== undefined && /^[\w.:-]{1,64}$/.test(detail) && { "tau.run.end_detail": detail }),
});

/** The value of a request's `error.type`; undefined when all went well. */
export function errorOfAnswer(answer: AssistantMessage): string | undefined {
  if (answer.failure) return answer.failure.kind;
  return answer.stopReason === "error" || answer.stopReason === "aborted" ? answer.stopReason : undefined;
}

/** The value of a run's `error.type`. A run that failed did so for what its last request failed for, if that is known. */
export function errorOfRun(reason: TerminationReason, ofLastRequest: string | undefined): string | undefined {
  if (reason === "no_tool_calls") return undefined;
  return reason === "error" ? (ofLastRequest ?? reason) : reason;
}

/** Nothing for an address that is completed only when the request is made. */
export function serverAttributes(baseUrl: string): Attributes {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (!url?.hostname || /[{}]/.test(url.hostname)) return {};
  const port = url.port === "" ? defaultPorts[url.protocol] : Number(url.port);
  return {
    "server.address": url.hostname.replace(/^\[|\]$/g, ""),
    ...(port !== undefined && { "server.port": port }),
  };
}

const defaultPorts: Record<string, number> = { "https:": 443, "http:": 80, "wss:": 443, "ws:": 80 };
