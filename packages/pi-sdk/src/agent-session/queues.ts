/** The texts of messages that wait in an agent's queues, so that they can be shown and taken back. */
import type { AgentMessage } from "@tau/agent";
import { contentText } from "@tau/pi/internal";

export class WaitingTexts {
  #steering: string[] = [];
  #followUps: string[] = [];
  readonly #onChange: (texts: { steering: readonly string[]; followUp: readonly string[] }) => void;

  constructor(onChange: (texts: { steering: readonly string[]; followUp: readonly string[] }) => void) {
    this.#onChange = onChange;
  }

  get steering(): readonly string[] {
    return this.#steering;
  }

  get followUps(): readonly string[] {
    return this.#followUps;
  }

  add(kind: "steer" | "followUp", text: string): void {
    (kind === "steer" ? this.#steering : this.#followUps).push(text);
    this.#tell();
  }

  /** A message that was delivered waits no longer. */
  remove(message: AgentMessage): void {
    if (message.role !== "user") return;
    const text = contentText(message.content);
    for (const list of [this.#steering, this.#followUps]) {
      const index = list.indexOf(text);
      if (index < 0) continue;
      list.splice(index, 1);
      this.#tell();
      return;
    }
  }

  clear(): { steering: string[]; followUp: string[] } {
    const texts = { steering: this.#steering, followUp: this.#followUps };
    this.#steering = [];
    this.#followUps = [];
    if (texts.steering.length + texts.followUp.length > 0) this.#tell();
    return texts;
  }

  #tell(): void {
    this.#onChange({ steering: [...this.#steering], followUp: [...this.#followUps] });
  }
}
