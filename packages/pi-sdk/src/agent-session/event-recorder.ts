/** Passes the events of the agent to extensions and listeners, and writes its messages into the session. */
import type { AgentEvent, AgentMessage } from "@tau/agent";
import type { Listeners } from "@tau/ai/internal";
import type { SessionManager } from "@tau/pi/internal";
import type { CurrentRunner } from "./current-runner.ts";
import type { Recovery } from "./recovery.ts";
import type { AgentSessionEvent } from "./types.ts";

interface RecorderParts {
  sessionManager: SessionManager;
  extensions: CurrentRunner;
  recovery: Recovery;
  listeners: Listeners<AgentSessionEvent>;
}

export class EventRecorder {
  readonly #parts: RecorderParts;
  #turnIndex = 0;

  constructor(parts: RecorderParts) {
    this.#parts = parts;
  }

  async handle(event: AgentEvent): Promise<void> {
    const { extensions, listeners, recovery } = this.#parts;
    if (event.type === "message_end") await this.#letExtensionsChange(event.message);
    else await extensions.runner.emit(this.#countTurns(event) as never);
    listeners.emit(event);
    if (event.type !== "message_end") return;
    this.#save(event.message);
    recovery.handleMessage(event.message);
  }

  /** Changes the message in place, since the agent has added it already. */
  async #letExtensionsChange(message: AgentMessage): Promise<void> {
    const replacement = await this.#parts.extensions.runner.emitMessageEnd({ type: "message_end", message });
    if (!replacement || replacement === message) return;
    for (const key of Object.keys(message)) Reflect.deleteProperty(message, key);
    Object.assign(message, replacement);
  }

  /** Adds the number of the turn in its run, from 0, which extensions get. */
  #countTurns(event: AgentEvent): object {
    if (event.type === "agent_start") this.#turnIndex = 0;
    if (event.type === "turn_start") return { ...event, turnIndex: this.#turnIndex, timestamp: Date.now() };
    if (event.type === "turn_end") return { ...event, turnIndex: this.#turnIndex++ };
    return event;
  }

  #save(message: AgentMessage): void {
    const { sessionManager } = this.#parts;
    if (message.role === "custom") {
      const { customType, content, display, details } = message;
      sessionManager.appendCustomMessageEntry(customType, content, display, details);
    } else sessionManager.appendMessage(message);
  }
}
