/** Messages of extensions that wait for the model. They are in memory only: an extension sends them again if it has to. */
import type { Clock } from "@tau/ai";
import type { CustomMessage } from "@tau/protocol";
import type { CustomMessageDraft } from "../events.ts";

export type QueueName = "steer" | "followUp" | "nextTurn";

export class MessageQueue {
  readonly #clock: Clock;
  readonly #waiting: Record<QueueName, CustomMessageDraft[]> = { steer: [], followUp: [], nextTurn: [] };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether a run that would stop has something to go on with. What waits for the next prompt does not count. */
  get isEmpty(): boolean {
    return this.#waiting.steer.length + this.#waiting.followUp.length === 0;
  }

  add(name: QueueName, message: CustomMessageDraft): void {
    this.#waiting[name].push(message);
  }

  take(name: QueueName): CustomMessage[] {
    return this.#waiting[name].splice(0).map((draft) => toCustomMessage(draft, this.#clock.now()));
  }
}

export const toCustomMessage = (
  { customType, content, display, details }: CustomMessageDraft,
  timestamp: number,
): CustomMessage => ({
  role: "custom",
  customType,
  content,
  display,
  ...(details !== undefined && { details }),
  timestamp,
});
