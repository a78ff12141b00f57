/** The calls of a session whose tools are being executed, so that what a tool calls is made inside its own call. */
import type { AgentTool, NestedCallOptions, RunningToolCall, ToolCallOutcome } from "@tau/agent";

interface CallToolOptions extends Pick<NestedCallOptions, "signal" | "onUpdate"> {
  /** The tools that can be called. */
  tools: readonly AgentTool[];
  /** Called with the id of the call, and with the id of each call made inside it, before that call is judged. */
  onBegin?: ((id: string) => void) | undefined;
}

export class RunningCalls {
  readonly #calls = new Set<RunningToolCall>();
  /** Callbacks for calls that are made inside a nested call, by its id. */
  readonly #onBegin = new Map<string, readonly ((id: string) => void)[]>();
  #nestedCalls = 0;

  add(call: RunningToolCall): void {
    for (const other of this.#calls) if (other.hasEnded) this.#calls.delete(other);
    this.#calls.add(call);
  }

  /** Makes a call inside the call `parentId`. If that is not running, the outcome is an error. Never rejects. */
  async callTool(
    parentId: string,
    name: string,
    args: unknown,
    { onBegin, ...options }: CallToolOptions,
  ): Promise<ToolCallOutcome> {
    const parent = [...this.#calls].findLast(({ toolCallId, hasEnded }) => toolCallId === parentId && !hasEnded);
    if (!parent) {
      const text = `The call of ${name} was not executed: the call that it belongs to is not running.`;
      return { result: { content: [{ type: "text", text }] }, isError: true, errorCode: "aborted" };
    }
    const id = `${parentId}/${++this.#nestedCalls}`;
    const inherited = this.#onBegin.get(parentId) ?? [];
    const begins = onBegin ? [...inherited, onBegin] : inherited;
    this.#onBegin.set(id, begins);
    for (const begin of begins) begin(id);
    try {
      return await parent.callTool(name, args, { ...options, id });
    } finally {
      this.#onBegin.delete(id);
    }
  }
}
