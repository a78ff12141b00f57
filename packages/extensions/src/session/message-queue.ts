/** Messages of extensions that wait for the model. They are in memory only: an extension sends them again if it has to. */
import type { Clock } from "@tau/ai";
import type { CustomMessage } from "@tau/protocol";
import type { CustomMessageDraft } from "../api/events.ts";

type QueueName = "steer" | "followUp" | "nextTurn";

/** The messages that no run has taken, and whether one of them asks for an answer. */
export interface LeftMessages {
  readonly drafts: readonly CustomMessageDraft[];
  readonly triggersTurn: boolean;
}

export class MessageQueue {
  readonly #clock: Clock;
  readonly #waiting: Record<QueueName, CustomMessageDraft[]> = { steer: [], followUp: [], nextTurn: [] };
  readonly #triggering = new WeakSet<CustomMessageDraft>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether a run that would stop has something to continue with. What waits for the next prompt is not included. */
  get isEmpty(): boolean {
    return this.#waiting.steer.length + this.#waiting.followUp.length === 0;
  }

  /** `triggersTurn`: the message is answered also if the run is over before it is taken. */
  add(name: QueueName, message: CustomMessageDraft, triggersTurn = false): void {
    this.#waiting[name].push(message);
    if (triggersTurn) this.#triggering.add(message);
  }

  take(name: QueueName): CustomMessage[] {
    return this.#waiting[name].splice(0).map((draft) => toCustomMessage(draft, this.#clock.now()));
  }

  /** Takes the messages that came too late for a run. Messages that wait for the next prompt stay. */
  takeLeft(): LeftMessages {
    const { steer, followUp } = this.#waiting;
    const drafts = [...steer.splice(0), ...followUp.splice(0)];
    return { drafts, triggersTurn: drafts.some((draft) => this.#triggering.has(draft)) };
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
