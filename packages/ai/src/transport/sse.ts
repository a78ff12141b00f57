import { createParser } from "eventsource-parser";

/** One server-sent event. `data` keeps its inner line breaks. */
export interface ServerSentEvent {
  event?: string;
  data: string;
}

/** The longest line we hold in memory while waiting for its end. */
export const maxLineBytes = 64 * 1024 * 1024;

/**
 * Cuts bytes into server-sent events. Where the bytes are split makes no difference, also inside a UTF-8 character.
 * An event whose closing blank line never came is delivered by `end`, as servers that omit it mean it to be.
 */
export class SseFramer {
  readonly #decoder = new TextDecoder();
  readonly #parser: ReturnType<typeof createParser>;
  #events: ServerSentEvent[] = [];
  #damage: string | undefined;

  constructor() {
    this.#parser = createParser({
      maxBufferSize: maxLineBytes,
      onError: ({ type }) => {
        if (type === "max-buffer-size-exceeded") this.#damage = `A line is longer than ${maxLineBytes} characters.`;
      },
      onEvent: ({ event, data }) => this.#events.push(event === undefined ? { data } : { event, data }),
    });
  }

  /** Why nothing more can be read, if that is so. */
  get damage(): string | undefined {
    return this.#damage;
  }

  push(chunk: Uint8Array): ServerSentEvent[] {
    return this.#feed(this.#decoder.decode(chunk, { stream: true }));
  }

  end(): ServerSentEvent[] {
    return this.#feed(`${this.#decoder.decode()}\n\n`);
  }

  #feed(text: string): ServerSentEvent[] {
    if (text && this.#damage === undefined) this.#parser.feed(text);
    const events = this.#events;
    if (events.length > 0) this.#events = [];
    return events;
  }
}
