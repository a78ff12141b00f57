import type { AssistantMessage, Model } from "@tau/ai";
import { toThinkingLevel } from "./thinking-level.ts";
import type { AgentEvent, AgentMessage, AgentState } from "./types.ts";

/** The parts of its state that an agent may be created with. */
export type InitialAgentState = Partial<
  Pick<AgentState, "systemPrompt" | "model" | "thinkingLevel" | "tools" | "messages">
>;

/** Used until an application sets a model; a request to it fails with a message that says so. */
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

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** An agent's state, and the only code that changes it in response to events. */
export class LiveAgentState {
  /** A plain object, so that it can be spread and written as JSON. Applications see its run fields as read-only. */
  readonly fields: Writable<AgentState>;
  /** Ids of the calls that are being executed. Two calls may share an id, which is then in it twice. */
  readonly #pendingIds: string[] = [];

  constructor(initial: InitialAgentState = {}) {
    this.fields = createFields(initial, this.#pendingIds);
  }

  begin(): void {
    this.#resetRun();
    this.fields.isStreaming = true;
    this.fields.errorMessage = undefined;
  }

  /** Ends the run. Why it failed, if it did, stays readable. */
  finish(): void {
    this.#resetRun();
    this.fields.isStreaming = false;
  }

  /** Forgets the transcript and the failure. A run that is still ending stays visible. */
  clear(): void {
    this.#resetRun();
    this.fields.messages = [];
    this.fields.errorMessage = undefined;
  }

  apply(event: AgentEvent): void {
    switch (event.type) {
      case "message_start":
      case "message_update":
        this.fields.streamingMessage = event.message;
        return;
      case "message_end":
        this.fields.streamingMessage = undefined;
        this.fields.messages.push(event.message);
        return;
      case "tool_execution_start":
        this.#pendingIds.push(event.toolCallId);
        return;
      case "tool_execution_end":
        this.#pendingIds.splice(this.#pendingIds.indexOf(event.toolCallId), 1);
        return;
      case "turn_end":
        if (isAssistant(event.message))
          this.fields.errorMessage = toErrorMessage(event.message) ?? this.fields.errorMessage;
        return;
      case "agent_end":
        this.fields.streamingMessage = undefined;
        return;
      case "agent_start":
      case "turn_start":
      case "tool_execution_update":
    }
  }

  #resetRun(): void {
    this.fields.streamingMessage = undefined;
    this.#pendingIds.length = 0;
  }
}

/** Assigning `tools` or `messages` copies the list. */
function createFields(initial: InitialAgentState, pendingIds: readonly string[]): Writable<AgentState> {
  let thinkingLevel = toThinkingLevel(initial.thinkingLevel);
  let tools = [...(initial.tools ?? [])];
  let messages = [...(initial.messages ?? [])];
  return {
    systemPrompt: initial.systemPrompt ?? "",
    model: initial.model ?? noModel,
    get thinkingLevel() {
      return thinkingLevel;
    },
    set thinkingLevel(level) {
      thinkingLevel = toThinkingLevel(level);
    },
    get tools() {
      return tools;
    },
    set tools(list) {
      tools = [...list];
    },
    get messages() {
      return messages;
    },
    set messages(list) {
      messages = [...list];
    },
    isStreaming: false,
    streamingMessage: undefined,
    get pendingToolCalls() {
      return new Set(pendingIds);
    },
    errorMessage: undefined,
  };
}

const isAssistant = (message: AgentMessage): message is AssistantMessage =>
  (message as { role: string }).role === "assistant";

const toErrorMessage = ({ errorMessage, stopReason }: AssistantMessage) =>
  errorMessage || (stopReason === "error" ? "The answer failed, and its provider does not say why." : undefined);
