/** Live output, a few times a second however fast it comes. */
import type { Clock } from "@tau/ai";
import type { StreamName } from "./output.ts";

export interface Updates {
  push(stream: StreamName, text: string): void;
  /** Gives out what is waiting; nothing comes afterwards. */
  finish(): void;
}

export interface UpdatesOptions {
  clock: Clock;
  /** Gets pieces of the output in order; what came faster than it can be shown is left out at the front. */
  emit: (stream: StreamName, text: string) => void;
  /** Default 100. */
  everyMs?: number;
}

const mostPieces = 32;
const mostChars = 16 * 1024;

export function createUpdates({ clock, emit, everyMs = 100 }: UpdatesOptions): Updates {
  let waiting: { stream: StreamName; text: string }[] = [];
  let cancel: (() => void) | undefined;
  let isFinished = false;
  const flush = () => {
    const pieces = waiting;
    waiting = [];
    for (const { stream, text } of pieces) emit(stream, text);
  };
  const tick = () => {
    cancel = undefined;
    if (waiting.length === 0) return;
    flush();
    cancel = clock.setTimer(everyMs, tick);
  };
  return {
    push(stream, text) {
      if (isFinished) return;
      const last = waiting.at(-1);
      if (last?.stream === stream) last.text = (last.text + text).slice(-mostChars);
      else waiting.push({ stream, text: text.slice(-mostChars) });
      if (waiting.length > mostPieces) waiting.shift();
      if (!cancel) tick();
    },
    finish() {
      if (isFinished) return;
      isFinished = true;
      cancel?.();
      flush();
    },
  };
}
