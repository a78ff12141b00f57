/** Passes on live output, a few times a second however fast it comes. */
import type { Clock } from "@tau/ai";
import type { StreamName } from "./output.ts";
import { Tail } from "./tail.ts";
import { nextBoundary } from "./code-points.ts";

interface Updates {
  /** Takes whole code points in UTF-8, and keeps a copy. */
  push(stream: StreamName, text: Uint8Array): void;
  /** Emits the rest; nothing is emitted afterwards. */
  finish(): void;
  /** The error of the listener, which was not called again. */
  readonly failure: string | undefined;
}

interface UpdatesOptions {
  clock: Clock;
  /**
   * Gets chunks of the output in order; if it comes faster than it can be shown, the beginning is left out. An error of
   * this function, thrown or rejected, does not affect the command.
   */
  emit: (stream: StreamName, text: string) => unknown;
  /** Default 100. */
  everyMs?: number;
}

const maxPieces = 32;
const maxBytes = 16 * 1024;

export function createUpdates({ clock, emit, everyMs = 100 }: UpdatesOptions): Updates {
  let waiting: { stream: StreamName; tail: Tail }[] = [];
  let cancel: (() => void) | undefined;
  let isFinished = false;
  let failure: string | undefined;
  const report = async (stream: StreamName, text: string) => {
    if (failure !== undefined) return;
    try {
      await emit(stream, text);
    } catch (error) {
      failure ??= String(error);
    }
  };
  const flush = () => {
    const pieces = waiting;
    waiting = [];
    for (const { stream, tail } of pieces) void report(stream, getEnd(tail));
  };
  const tick = () => {
    cancel = undefined;
    if (waiting.length === 0) return;
    flush();
    cancel = clock.setTimer(everyMs, tick);
  };
  return {
    push(stream, text) {
      if (isFinished || failure !== undefined) return;
      const last = waiting.at(-1);
      const tail = last?.stream === stream ? last.tail : new Tail(maxBytes);
      if (tail !== last?.tail) waiting.push({ stream, tail });
      tail.push(text);
      if (waiting.length > maxPieces) waiting.shift();
      if (!cancel) tick();
    },
    finish() {
      if (isFinished) return;
      isFinished = true;
      cancel?.();
      flush();
    },
    get failure() {
      return failure;
    },
  };
}

function getEnd({ bytes }: Tail): string {
  return bytes.toString("utf8", nextBoundary(bytes, Math.max(0, bytes.length - maxBytes)));
}
