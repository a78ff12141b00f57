/**
 * When a session is opened, the entries that fill the screen are drawn first, and those before them after the first frame. In
 * the terminal's own scrollback nothing is printed before that, so that the order stays.
 */
import type { Transcript } from "./transcript.ts";

/** What the first frame has caused comes first, such as a key. */
const delayMs = 150;

export interface FirstEntriesOptions {
  transcript: Transcript;
  /** Whether the frame that follows is complete. */
  isReady: () => boolean;
  requestRender: () => void;
}

export class FirstEntries {
  readonly #options: FirstEntriesOptions;
  #scheduled: NodeJS.Immediate | NodeJS.Timeout | undefined;

  constructor(options: FirstEntriesOptions) {
    this.#options = options;
  }

  /** Before each frame. */
  update(): void {
    const { transcript, isReady } = this.#options;
    if (this.#scheduled !== undefined || !transcript.hasUndrawn || !isReady()) return;
    // The time counts from the end of the frame.
    this.#scheduled = setImmediate(() => (this.#scheduled = setTimeout(() => this.#draw(), delayMs)));
  }

  /** The interface ends. */
  stop(): void {
    clearImmediate(this.#scheduled as NodeJS.Immediate | undefined);
    clearTimeout(this.#scheduled as NodeJS.Timeout | undefined);
  }

  #draw(): void {
    this.#scheduled = undefined;
    this.#options.transcript.drawRest();
    this.#options.requestRender();
  }
}
