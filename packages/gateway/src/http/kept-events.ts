/** The last events of one stream, numbered, for a client that lost its connection. */

/** Progress that is older than this is not sent again: later progress includes it. */
const maxEvents = 100;
const maxBytes = 256 * 1024;

interface KeptEvent {
  number: number;
  /** The text that is sent. */
  text: string;
}

export class KeptEvents {
  /** Part of the ids of events, so that a client can name the stream by one of them. */
  readonly streamId: string;
  readonly #events: KeptEvent[] = [];
  #count = 0;
  #bytes = 0;

  constructor(streamId: string) {
    this.streamId = streamId;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Returns the event as it is sent. `data` is empty for one that only has an id. The last event is kept whatever its size. */
  add(data: string): string {
    const number = this.#count++;
    const text = `id: ${this.streamId}.${number}\nevent: message\ndata: ${data}\n\n`;
    this.#events.push({ number, text });
    this.#bytes += text.length;
    while (this.#events.length > 1 && (this.#events.length > maxEvents || this.#bytes > maxBytes)) {
      this.#bytes -= this.#events.shift()!.text.length;
    }
    return text;
  }

  /** Returns what came after an event, as it was sent. */
  after(number: number): string {
    return this.#events
      .filter((event) => event.number > number)
      .map(({ text }) => text)
      .join("");
  }
}

/** Reads the value of `Last-Event-ID`. Undefined if no stream can have such an event. */
export function parseEventId(value: string): { streamId: string; number: number } | undefined {
  const [, streamId, number] = /^(\w{1,32})\.(\d{1,15})$/.exec(value) ?? [];
  return streamId === undefined ? undefined : { streamId, number: Number(number) };
}
