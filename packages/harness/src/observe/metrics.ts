/**
 * The metrics of requests and calls: by OpenTelemetry's conventions for GenAI where there are some, else `tau.*`. Their attributes have
 * few values: no ids of sessions or calls.
 */
import type { MetricOptions, Meter } from "@opentelemetry/api";
import type { AssistantMessage, Model } from "@tau/ai";
import { parseUsage } from "../budget/usage.ts";
import { type Attributes, getAnswerError, startRequest } from "./attributes.ts";
import type { Attempt } from "./attempt.ts";

/** `failed` includes calls that were aborted. */
type ToolOutcome = "ok" | "failed" | "denied";

/** The methods never throw. */
export interface Metrics {
  /** Counts a request that has ended. */
  countRequest(model: Model, answer: AssistantMessage, durationMs: number): void;
  countCall(name: string, outcome: ToolOutcome): void;
}

/** The boundaries of the conventions. */
const tokenBoundaries = Array.from({ length: 14 }, (_unused, index) => 4 ** index);
const secondBoundaries = Array.from({ length: 14 }, (_unused, index) => 2 ** index / 100);

const withBoundaries = (unit: string, description: string, boundaries: number[]): MetricOptions => ({
  unit,
  description,
  advice: { explicitBucketBoundaries: boundaries },
});

interface MetricsParts {
  meter: Meter;
  attempt: Attempt;
  redact: (text: string) => string;
}

export function createMetrics({ meter, attempt, redact }: MetricsParts): Metrics {
  const tokens = meter.createHistogram(
    "gen_ai.client.token.usage",
    withBoundaries("{token}", "Input and output tokens of requests.", tokenBoundaries),
  );
  const duration = meter.createHistogram(
    "gen_ai.client.operation.duration",
    withBoundaries("s", "How long requests took.", secondBoundaries),
  );
  const cost = meter.createCounter("tau.cost", { unit: "{USD}", description: "The cost of requests." });
  const calls = meter.createCounter("tau.tool.calls", { unit: "{call}", description: "Calls of tools." });
  const clean = (attributes: Attributes): Attributes =>
    Object.fromEntries(
      Object.entries(attributes).map(([name, value]) => [name, typeof value === "string" ? redact(value) : value]),
    );
  return {
    countRequest(model, answer, durationMs) {
      attempt(() => {
        const attributes = clean(toRequestAttributes(model, answer));
        const error = getAnswerError(answer);
        duration.record(durationMs / 1_000, error === undefined ? attributes : { ...attributes, "error.type": error });
        const used = parseUsage(answer.usage);
        // By the convention, cached tokens are input tokens too.
        const input = used.input + used.cacheRead + used.cacheWrite;
        // A provider that did not count has not used nothing.
        if (used.total > 0) {
          tokens.record(input, { ...attributes, "gen_ai.token.type": "input" });
          tokens.record(used.output, { ...attributes, "gen_ai.token.type": "output" });
        }
        if (used.cost > 0) cost.add(used.cost, attributes);
      });
    },
    countCall(name, outcome) {
      attempt(() => calls.add(1, clean({ "gen_ai.tool.name": name.slice(0, 128), outcome })));
    },
  };
}

function toRequestAttributes(model: Model, { responseModel = model.id }: AssistantMessage): Attributes {
  const start: Attributes = startRequest(model, "").attributes;
  const { "gen_ai.conversation.id": _session, "gen_ai.request.stream": _stream, ...shared } = start;
  return { ...shared, "gen_ai.response.model": responseModel.slice(0, 128) };
}
