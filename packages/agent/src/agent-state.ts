import type { AssistantMessage, Model } from "@tau/ai";
import { toThinkingLevel } from "./thinking-level.ts";
import type { AgentEvent, AgentMessage, AgentState, AgentTool, ThinkingLevel } from "./types.ts";

/** What an agent may be started with. */
export type InitialAgentState = Partial<
  Pick<AgentState, "systemPrompt" | "model" | "thinkingLevel" | "tools" | "messages">
>;

/** Stands in until an application names a model; a request to it fails and says so. */
const noModel: Model = {
  id: "unknown",
  name: "unknown",
  api: "unknown",
  provider: "unknown",
  baseUrl: "",
  reasoning: false,
  input: [],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 0,
  maxTokens: 0,
};

/** The one place where an event becomes an agent's state. */
export class LiveAgentState {
  systemPrompt: string;
  model: Model;
  #thinkingLevel: ThinkingLevel;
  #tools: AgentTool[];
  #messages: AgentMessage[];
  #run = runState(false);

  constructor(initial: InitialAgentState = {}) {
    this.systemPrompt = initial.systemPrompt ?? "";
    this.model = initial.model ?? noModel;
    this.#thinkingLevel = toThinkingLevel(initial.thinkingLevel);
    this.#tools = initial.tools?.slice() ?? [];
    this.#messages = initial.messages?.slice() ?? [];
  }

  get thinkingLevel(): ThinkingLevel {
    return this.#thinkingLevel;
  }

  set thinkingLevel(level: ThinkingLevel) {
    this.#thinkingLevel = toThinkingLevel(level);
  }

  get tools(): AgentTool[] {
    return this.#tools;
  }

  set tools(tools: AgentTool[]) {
    this.#tools = [...tools];
  }

  get messages(): AgentMessage[] {
    return this.#messages;
  }

  set messages(messages: AgentMessage[]) {
    this.#messages = [...messages];
  }

  get isStreaming(): boolean {
    return this.#run.isStreaming;
  }

  get streamingMessage(): AgentMessage | undefined {
    return this.#run.streamingMessage;
  }

  /** A new set whenever it changed: who holds the old one sees it unchanged. */
  get pendingToolCalls(): ReadonlySet<string> {
    this.#run.pendingToolCalls ??= new Set(this.#run.pendingIds);
    return this.#run.pendingToolCalls;
  }

  get errorMessage(): string | undefined {
    return this.#run.errorMessage;
  }

  begin(): void {
    this.#run = runState(true);
  }

  /** The run is over; why it failed, if it did, stays readable. */
  finish(): void {
    this.#run = runState(false, this.#run.errorMessage);
  }

  /** Forgets the transcript; who is running stays visible. */
  clear(): void {
    this.#messages = [];
    this.#run = runState(this.#run.isStreaming);
  }

  apply(event: AgentEvent): void {
    switch (event.type) {
      case "message_start":
      case "message_update":
        // Assigned in place: a copy for each delta would cost more than the delta.
        this.#run.streamingMessage = event.message;
        return;
      case "message_end":
      case "agent_end":
        this.#run.streamingMessage = undefined;
        if (event.type === "message_end") this.#messages.push(event.message);
        return;
      case "tool_execution_start":
        this.#run.pendingIds = [...this.#run.pendingIds, event.toolCallId];
        this.#run.pendingToolCalls = undefined;
        return;
      case "tool_execution_end":
        this.#run.pendingIds = this.#run.pendingIds.toSpliced(this.#run.pendingIds.indexOf(event.toolCallId), 1);
        this.#run.pendingToolCalls = undefined;
        return;
      case "turn_end":
        if (isAssistant(event.message)) this.#run.errorMessage = toFailure(event.message) ?? this.#run.errorMessage;
        return;
      case "agent_start":
      case "turn_start":
      case "tool_execution_update":
    }
  }
}

/** The state as others see it: a plain object, so that it can be spread and written as JSON, and nothing but its fields. */
export function createView(live: LiveAgentState): AgentState {
  return {
    get systemPrompt() {
      return live.systemPrompt;
    },
    set systemPrompt(systemPrompt) {
      live.systemPrompt = systemPrompt;
    },
    get model() {
      return live.model;
    },
    set model(model) {
      live.model = model;
    },
    get thinkingLevel() {
      return live.thinkingLevel;
    },
    set thinkingLevel(level) {
      live.thinkingLevel = level;
    },
    get tools() {
      return live.tools;
    },
    set tools(tools) {
      live.tools = tools;
    },
    get messages() {
      return live.messages;
    },
    set messages(messages) {
      live.messages = messages;
    },
    get isStreaming() {
      return live.isStreaming;
    },
    get streamingMessage() {
      return live.streamingMessage;
    },
    get pendingToolCalls() {
      return live.pendingToolCalls;
    },
    get errorMessage() {
      return live.errorMessage;
    },
  };
}

/** What only means something during a run. */
interface RunState {
  isStreaming: boolean;
  streamingMessage: AgentMessage | undefined;
  /** One for each call: two may share an id. */
  pendingIds: readonly string[];
  /** Made of `pendingIds` when somebody looks. */
  pendingToolCalls: ReadonlySet<string> | undefined;
  errorMessage: string | undefined;
}

const runState = (isStreaming: boolean, errorMessage?: string): RunState => ({
  isStreaming,
  streamingMessage: undefined,
  pendingIds: [],
  pendingToolCalls: undefined,
  errorMessage,
});

const isAssistant = (message: AgentMessage): message is AssistantMessage =>
  (message as { role: string }).role === "assistant";

const toFailure = ({ errorMessage, stopReason }: AssistantMessage) =>
  errorMessage || (stopReason === "error" ? "The answer failed, and its provider does not say why." : undefined);
