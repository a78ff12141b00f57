/** The spans of a run, and the metrics of a session. They follow OpenTelemetry's conventions for GenAI. */
import type { AssistantMessage, Failure, Model } from "@tau/ai";
import type { TerminationReason } from "@tau/protocol";
import type { Metrics } from "./metrics.ts";

/** The methods of all spans never throw. */
export interface RequestSpan {
  end(answer: AssistantMessage): void;
}

export interface ToolSpan {
  /** `errorCode` is that of `tool_execution_end`. */
  end(outcome: { isError: boolean; errorCode?: string; message?: string }): void;
}

export interface RunSpan {
  /** A request to a model, as a child of the run. */
  request(model: Model): RequestSpan;
  /** A tool call, as a child of the run, or of the call `parentId` if that has not ended. */
  tool(call: { id: string; name: string; description?: string; parentId?: string }): ToolSpan;
  /** A failed request that is sent again after `delayMs`. */
  retry(attempt: number, delayMs: number, failure: Failure): void;
  /** Runs `work` so that the spans that it starts are children of the run. */
  within<T>(work: () => T): T;
  /** Runs `work` so that the spans that it starts are children of the call with this id, or of the run if that is not open. */
  withinTool<T>(callId: string, work: () => T): T;
  end(reason: TerminationReason, detail: string | undefined): void;
}

export interface Tracer {
  readonly metrics: Metrics;
  /** A child of the span that is active where it is called. */
  run(options: { sessionId: string; agentName?: string; model: Model }): RunSpan;
}
