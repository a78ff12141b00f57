/** Answers of MCP that clients can continue on another connection, while they arrive and for a while after their end. */
import { randomBytes } from "node:crypto";
import { KeptEvents } from "./kept-events.ts";
import type { McpResponse } from "./mcp-response.ts";

interface Stream {
  readonly clientId: string;
  readonly kept: KeptEvents;
  readonly response: McpResponse;
}

interface NewStream {
  response: McpResponse;
  /** The last event is there. */
  end: () => void;
}

/** Limits of all streams that have ended. Above them the one that ended first is forgotten. */
const maxEndedBytes = 16 * 1024 * 1024;
const maxEnded = 1_000;

export class McpStreams {
  readonly #streams = new Map<string, Stream>();
  /** In the order of their ends. */
  readonly #ended = new Map<string, Stream>();
  #endedBytes = 0;

  open(clientId: string, create: (kept: KeptEvents) => McpResponse): NewStream {
    const kept = new KeptEvents(randomBytes(12).toString("hex"));
    const stream = { clientId, kept, response: create(kept) };
    this.#streams.set(kept.streamId, stream);
    return { response: stream.response, end: () => this.#end(stream) };
  }

  /** Undefined for a stream that is not kept, or that is another client's. */
  find(clientId: string, streamId: string): McpResponse | undefined {
    const stream = this.#streams.get(streamId);
    return stream?.clientId === clientId ? stream.response : undefined;
  }

  /** Forgets all streams of a client. */
  forget(clientId: string): void {
    for (const stream of this.#streams.values()) if (stream.clientId === clientId) this.#remove(stream);
  }

  #end(stream: Stream): void {
    const { streamId, bytes } = stream.kept;
    if (!this.#streams.has(streamId)) return;
    this.#ended.set(streamId, stream);
    this.#endedBytes += bytes;
    for (const oldest of this.#ended.values()) {
      if (this.#endedBytes <= maxEndedBytes && this.#ended.size <= maxEnded) return;
      this.#remove(oldest);
    }
  }

  #remove({ kept }: Stream): void {
    this.#streams.delete(kept.streamId);
    if (this.#ended.delete(kept.streamId)) this.#endedBytes -= kept.bytes;
  }
}
