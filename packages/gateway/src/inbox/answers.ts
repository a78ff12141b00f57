/** Senders of messages that wait for what the session does with them. */
import type { Clock } from "@tau/ai";
import type { Disposition } from "@tau/protocol";

/** `accepted`: it is on the disk, and its turn comes later. */
export interface Answer {
  disposition: Disposition | "accepted";
  /** Notes for the sender, such as that a mentioned file was not read. */
  notices?: string[];
}

interface Waiting {
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
  cancelTimer: () => void;
}

/** The sender of a message gets the answer that it was accepted after this long, whatever the session does. */
const maxAnswerMs = 2_000;

export class Answers {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Waiting>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  has(id: string): boolean {
    return this.#waiting.has(id);
  }

  add(id: string): Promise<Answer> {
    const answer = new Promise<Answer>((resolve, reject) => {
      const cancelTimer = this.#clock.setTimer(maxAnswerMs, () => this.settle(id, { disposition: "accepted" }));
      this.#waiting.set(id, { resolve, reject, cancelTimer });
    });
    // It may fail before anybody waits for it.
    answer.catch(() => {});
    return answer;
  }

  settle(id: string, answer: Answer): void {
    this.#take(id)?.resolve(answer);
  }

  fail(id: string, error: unknown): void {
    this.#take(id)?.reject(error);
  }

  /** All that wait have to wait longer. */
  acceptAll(): void {
    for (const id of this.#waiting.keys()) this.settle(id, { disposition: "accepted" });
  }

  #take(id: string): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    waiting?.cancelTimer();
    return waiting;
  }
}
