/** pi's `Agent`, with the names that earlier versions had for its settings and its state. */
import { Agent as TauAgent, type AgentMessage, type AgentOptions, type AgentState, type AgentTool } from "@tau/agent";
import { getDefaultStreamFn } from "./default-stream.ts";

interface PiAgentState extends AgentState {
  /** Equals `streamingMessage`, but is null where that is undefined. */
  readonly streamMessage: AgentMessage | null;
  /** Equals `errorMessage`. */
  readonly error: string | undefined;
}

export class Agent extends TauAgent {
  constructor(options: AgentOptions = {}) {
    const streamFn = options.streamFn ?? getDefaultStreamFn();
    super(streamFn ? { ...options, streamFn } : options);
    const state = super.state;
    // Not enumerable: a copy of the state has each value once.
    Object.defineProperties(state, {
      streamMessage: { get: () => state.streamingMessage ?? null },
      error: { get: () => state.errorMessage },
    });
  }

  override get state(): PiAgentState {
    return super.state as PiAgentState;
  }

  /** The list itself is kept, as in pi: who changes it later changes the tools. */
  override setTools(tools: AgentTool[]): void {
    Object.defineProperty(this.state, "tools", { value: tools, writable: true, enumerable: true, configurable: true });
  }

  setTransport(transport: this["transport"]): void {
    this.transport = transport;
  }

  setToolExecution(mode: this["toolExecution"]): void {
    this.toolExecution = mode;
  }

  setBeforeToolCall(hook: this["beforeToolCall"]): void {
    this.beforeToolCall = hook;
  }

  setAfterToolCall(hook: this["afterToolCall"]): void {
    this.afterToolCall = hook;
  }
}
