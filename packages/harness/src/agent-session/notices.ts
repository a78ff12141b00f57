/** Notices for the user. They are kept, since the first come before any surface listens. */
import type { Publisher } from "../run/publisher.ts";

/** `code` is for programs, `message` a whole sentence for people. */
export interface Notice {
  code: string;
  message: string;
}

const maxNotices = 100;

export class Notices {
  readonly #publisher: Publisher;
  #list: readonly Notice[] = [];

  constructor(publisher: Publisher) {
    this.#publisher = publisher;
  }

  /** The latest last. */
  get list(): readonly Notice[] {
    return this.#list;
  }

  /** Adds a notice unless it is there already. */
  addNew(code: string, message: string): void {
    if (!this.#list.some((notice) => notice.message === message)) this.add(code, message);
  }

  add(code: string, message: string): void {
    this.#list = [...this.#list, { code, message }].slice(-maxNotices);
    this.#publisher.fact({ type: "notice", code, message });
  }
}
