/**
 * The texts that people see of replies that are still being written. They are only in memory: after a restart the complete reply
 * is edited in, whatever is there.
 */
import type { Clock } from "@tau/ai";
import type { Delivery } from "@tau/extensions";

interface ShownDraft {
  /** The text that was written so far. */
  newest: string;
  /** The text that people see; undefined if that is not known. */
  shown?: string;
  /** By the clock. */
  shownAtMs?: number;
  /** The edit that is in progress. Never rejects. */
  edit: Promise<unknown>;
}

export class ShownDrafts {
  readonly #clock: Clock;
  readonly #drafts = new Map<string, ShownDraft>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  write(id: string, text: string): void {
    const draft = this.#drafts.get(id);
    if (draft) draft.newest = text;
    else this.#drafts.set(id, { newest: text, edit: Promise.resolve() });
  }

  getNewest(id: string): string | undefined {
    return this.#drafts.get(id)?.newest;
  }

  /** Undefined: it is not known. */
  getShown(id: string): string | undefined {
    return this.#drafts.get(id)?.shown;
  }

  setShown(id: string, text: string): void {
    const draft = this.#drafts.get(id);
    if (draft) Object.assign(draft, { shown: text, shownAtMs: this.#clock.monotonic() });
  }

  /** How long the platform wants nobody to edit the message again. */
  getWaitMs(id: string, minEditIntervalMs: number): number {
    const shownAtMs = this.#drafts.get(id)?.shownAtMs;
    return shownAtMs === undefined ? 0 : Math.max(0, shownAtMs + minEditIntervalMs - this.#clock.monotonic());
  }

  /** Makes one edit after the other, so that an older text never comes last. */
  async edit(id: string, text: string, send: () => Promise<Delivery>): Promise<Delivery> {
    const draft: ShownDraft = this.#drafts.get(id) ?? { newest: text, edit: Promise.resolve() };
    this.#drafts.set(id, draft);
    const edited = draft.edit.then(send);
    draft.edit = edited.catch(() => {});
    const delivery = await edited;
    if (delivery.kind === "sent") this.setShown(id, text);
    else delete draft.shown;
    return delivery;
  }

  forget(id: string): void {
    this.#drafts.delete(id);
  }
}
