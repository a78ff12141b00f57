import type { AgentTool, NestedCallOptions, RunningToolCall, ToolCallOutcome } from "@tau/agent";

/** The calls of a session whose tools are being executed: what a tool calls is made inside its own call. */
export class NestedCalls {
  readonly #running = new Set<RunningToolCall>();

  add(call: RunningToolCall): void {
    for (const other of this.#running) if (other.hasEnded) this.#running.delete(other);
    this.#running.add(call);
  }

  /** Makes a call inside the call `callerId`. If that has ended, the outcome is an error. Never rejects. */
  async callTool(
    callerId: string,
    name: string,
    args: unknown,
    options: Pick<NestedCallOptions, "signal" | "onUpdate"> & { tools: readonly AgentTool[] },
  ): Promise<ToolCallOutcome> {
    const caller = [...this.#running].find(({ toolCallId, hasEnded }) => toolCallId === callerId && !hasEnded);
    if (caller) return await caller.callTool(name, args, options);
    const text = `The call of ${name} was not executed: the call that it belongs to is not running.`;
    return { result: { content: [{ type: "text", text }], details: undefined }, isError: true };
  }
}
