import { createParser } from "eventsource-parser";

/** A server-sent event. `data` keeps its inner line breaks. */
export interface ServerSentEvent {
  event?: string;
  data: string;
}

/** Maximum length of a line that is held in memory until its end arrives. */
const maxLineBytes = 64 * 1024 * 1024;

/** Maximum length of the text outside of events that is kept. */
const maxStrayLength = 64 * 1024;

/**
 * Splits bytes into server-sent events. It makes no difference how the bytes are split into chunks, even inside a UTF-8
 * character. `end` also delivers a last event without a closing blank line, because some servers omit it.
 *
 * Some servers report an error outside of the events: llama.cpp sent it in a field `error`, which becomes an event of
 * that name, and Google sends it as bare JSON, which `end` delivers as an event.
 */
export class SseFramer {
  readonly #decoder = new TextDecoder();
  readonly #parser: ReturnType<typeof createParser>;
  #events: ServerSentEvent[] = [];
  #damage: string | undefined;
  /** The lines that belong to no event. */
  #stray = "";

  constructor() {
    this.#parser = createParser({
      maxBufferSize: maxLineBytes,
      onError: ({ type, field, value = "", line = "" }) => {
        if (type === "max-buffer-size-exceeded") this.#damage = `A line is longer than ${maxLineBytes} characters.`;
        else if (field === "error" && value !== "") this.#events.push({ event: "error", data: value });
        else if (type === "unknown-field" && this.#stray.length + line.length < maxStrayLength)
          this.#stray += `${line}\n`;
      },
      onEvent: ({ event, data }) => this.#events.push(event === undefined ? { data } : { event, data }),
    });
  }

  /** Why the rest of the stream cannot be read, if it is damaged. */
  get damage(): string | undefined {
    return this.#damage;
  }

  push(chunk: Uint8Array): ServerSentEvent[] {
    return this.#feed(this.#decoder.decode(chunk, { stream: true }));
  }

  end(): ServerSentEvent[] {
    const events = this.#feed(`${this.#decoder.decode()}\n\n`);
    return this.#stray.startsWith("{") ? [...events, { data: this.#stray }] : events;
  }

  #feed(text: string): ServerSentEvent[] {
    if (text && this.#damage === undefined) this.#parser.feed(text);
    const events = this.#events;
    if (events.length > 0) this.#events = [];
    return events;
  }
}
