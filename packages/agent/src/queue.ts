import type { AgentMessage } from "./types.ts";

/** `all` hands everything over at once, `one-at-a-time` only the oldest message. */
export type QueueMode = "all" | "one-at-a-time";

/** Messages that wait for their moment. */
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

  /** Takes what the mode hands over; an empty list when there is nothing. */
  drain(): AgentMessage[] {
    if (this.isEmpty) return [];
    return this.#messages.splice(0, this.mode === "all" ? this.#messages.length : 1);
  }

  clear(): void {
    this.#messages = [];
  }
}
