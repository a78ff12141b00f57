/**
 * When a session is opened, the entries that fill the screen are drawn first, and those before them after the first frame. In
 * the terminal's own scrollback nothing is printed before that, so that the order stays.
 */
import type { Transcript } from "./transcript.ts";

/** Leaves time for what the first frame has caused, such as a key. */
const delayMs = 150;

interface FirstEntriesOptions {
  transcript: Transcript;
  /** Whether the frame that follows is complete. */
  isReady: () => boolean;
  requestRender: () => void;
}

export class FirstEntries {
  readonly #options: FirstEntriesOptions;
  /** Undefined if nothing is scheduled. */
  #cancel: (() => void) | undefined;

  constructor(options: FirstEntriesOptions) {
    this.#options = options;
  }

  /** Before each frame. */
  update(): void {
    const { transcript, isReady } = this.#options;
    if (this.#cancel || !transcript.hasUndrawn || !isReady()) return;
    // The time is measured from the end of the frame.
    const immediate = setImmediate(() => {
      const timeout = setTimeout(() => this.#draw(), delayMs);
      this.#cancel = () => clearTimeout(timeout);
    });
    // Node counts immediates: one that is cleared as such and is a timeout would keep later ones from being called.
    this.#cancel = () => clearImmediate(immediate);
  }

  /** The interface ends. */
  stop(): void {
    this.#cancel?.();
  }

  #draw(): void {
    this.#cancel = undefined;
    this.#options.transcript.drawRest();
    this.#options.requestRender();
  }
}
