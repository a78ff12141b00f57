import type { AgentMessage } from "./types.ts";

/** `all` hands over all messages at once, `one-at-a-time` only the oldest. */
export type QueueMode = "all" | "one-at-a-time";

/** Messages that wait until the run polls for them. */
export class MessageQueue {
  mode: QueueMode;
  #messages: AgentMessage[] = [];

  constructor(mode: QueueMode) {
    this.mode = mode;
  }

  get isEmpty(): boolean {
    return this.#messages.length === 0;
  }

  add(message: AgentMessage): void {
    this.#messages.push(message);
  }

  /** Removes and returns the messages that the mode hands over. */
  drain(): AgentMessage[] {
    if (this.isEmpty) return [];
    return this.#messages.splice(0, this.mode === "all" ? this.#messages.length : 1);
  }

  clear(): void {
    this.#messages = [];
  }
}
