/** The reports of background tasks that the model does not know yet. */
import type { TaskReport } from "./reports.ts";

export class Outbox {
  readonly #send: (reports: readonly TaskReport[]) => void;
  #pending: TaskReport[] = [];
  #holders = 0;
  #isScheduled = false;

  /** `send` gets the reports that arrived together, unless somebody holds them. */
  constructor(send: (reports: readonly TaskReport[]) => void) {
    this.#send = send;
  }

  get isEmpty(): boolean {
    return this.#pending.length === 0;
  }

  add(report: TaskReport): void {
    this.#pending.push(report);
    this.#schedule();
  }

  /** Takes the reports of these tasks, or all. */
  take(ids?: ReadonlySet<string>): TaskReport[] {
    const taken = this.#pending.filter(({ id }) => ids?.has(id) ?? true);
    this.#pending = this.#pending.filter((report) => !taken.includes(report));
    return taken;
  }

  /** Reports are not sent as long as `work` lasts, which may take them. */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    this.#holders++;
    try {
      return await work();
    } finally {
      this.#holders--;
      this.#schedule();
    }
  }

  /** After what is ready now, so that tasks which end together are one message. */
  #schedule(): void {
    if (this.#isScheduled || this.isEmpty) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      if (this.#holders === 0 && !this.isEmpty) this.#send(this.take());
    });
  }
}
