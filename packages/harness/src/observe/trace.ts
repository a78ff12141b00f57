/** What a run reports to whoever traces it. Spans and their attributes follow OpenTelemetry's conventions for GenAI. */
import type { AssistantMessage, Failure, Model } from "@tau/ai";
import type { TerminationReason } from "@tau/protocol";

/** Something with a duration. Its methods never throw. */
export interface RequestSpan {
  end(answer: AssistantMessage): void;
}

export interface ToolSpan {
  end(outcome: { isError: boolean; message?: string }): void;
}

export interface RunSpan {
  /** A request to a model, below the run. */
  request(model: Model): RequestSpan;
  /** A call, below the run. */
  tool(call: { id: string; name: string; description?: string }): ToolSpan;
  /** Waits before a request is sent again. */
  retry(attempt: number, delayMs: number, failure: Failure): void;
  /** Runs `work` so that spans it starts elsewhere hang below the run. */
  within<T>(work: () => T): T;
  end(reason: TerminationReason, detail: string | undefined): void;
}

export interface Tracer {
  /** Hangs below the span that is active where it is called. */
  run(about: { sessionId: string; agentName?: string; model: Model }): RunSpan;
}
