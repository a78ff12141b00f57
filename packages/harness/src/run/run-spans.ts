/** The spans of one run, where somebody traces it: its requests and its calls hang below it. */
import type { AgentEvent } from "@tau/agent";
import type { AssistantMessage, Failure, Model } from "@tau/ai";
import type { TerminationReason } from "@tau/protocol";
import type { RequestSpan, RunSpan, ToolSpan } from "../observe/trace.ts";
import type { RunHost } from "./run-host.ts";

type StartedCall = Pick<
  Extract<AgentEvent, { type: "tool_execution_start" }>,
  "toolCallId" | "toolName" | "parentToolCallId"
>;

type EndedCall = Pick<Extract<AgentEvent, { type: "tool_execution_end" }>, "toolCallId" | "isError" | "errorCode">;

export class RunSpans {
  readonly #run: RunSpan | undefined;
  #request: RequestSpan | undefined;
  readonly #tools = new Map<string, ToolSpan>();

  constructor({ tracer, agentName, session, current }: Pick<RunHost, "tracer" | "agentName" | "session" | "current">) {
    const about = { sessionId: session.id, model: current().model };
    this.#run = tracer?.run({ ...about, ...(agentName !== undefined && { agentName }) });
  }

  /** Runs `work` so that spans it starts elsewhere hang below the run. */
  within<T>(work: () => T): T {
    return this.#run ? this.#run.within(work) : work();
  }

  /** Executes a tool so that spans it starts are children of its own. */
  withinCall<T>(id: string, work: () => T): T {
    return this.#run ? this.#run.withinTool(id, work) : work();
  }

  startRequest(model: Model): void {
    this.#request = this.#run?.request(model);
  }

  endRequest(answer: AssistantMessage): void {
    this.#request?.end(answer);
    this.#request = undefined;
  }

  startCall(
    { toolCallId: id, toolName: name, parentToolCallId: parentId }: StartedCall,
    { current }: Pick<RunHost, "current">,
  ): void {
    if (!this.#run) return;
    const tool = current().tools.find((candidate) => candidate.name === name);
    const described = { id, name, ...(tool && { description: tool.description }) };
    this.#tools.set(id, this.#run.tool({ ...described, ...(parentId !== undefined && { parentId }) }));
  }

  endCall({ toolCallId: id, isError, errorCode }: EndedCall): void {
    this.#tools.get(id)?.end({ isError, ...(errorCode !== undefined && { errorCode }) });
    this.#tools.delete(id);
  }

  retry(attempt: number, delayMs: number, failure: Failure): void {
    this.#run?.retry(attempt, delayMs, failure);
  }

  end(reason: TerminationReason, detail: string | undefined): void {
    this.#run?.end(reason, detail);
  }
}
