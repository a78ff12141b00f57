import type { HostEvent } from "@tau/harness/host";
import { isDelta, wrapEvent } from "@tau/protocol";
import type { EventFrame } from "@tau/protocol/gateway";
import { type EncodedFrame, encodeJson } from "../encoded-frame.ts";

/** A frame of a session. It is encoded when the first client needs it, and all clients share the bytes. */
export class SharedFrame {
  readonly #sessionId: string;
  readonly #item: HostEvent;
  readonly #redactLine: (line: string) => string;
  #encoded: EncodedFrame | undefined;

  /** `redactLine` removes keys from a line of JSON. */
  constructor(sessionId: string, item: HostEvent, redactLine: (line: string) => string) {
    this.#sessionId = sessionId;
    this.#item = item;
    this.#redactLine = redactLine;
  }

  get isDelta(): boolean {
    return this.#item.kind === "event" && isDelta(this.#item.event);
  }

  get encoded(): EncodedFrame {
    this.#encoded ??= encodeJson(this.#redactLine(JSON.stringify(toFrame(this.#sessionId, this.#item))));
    return this.#encoded;
  }
}

const toFrame = (sessionId: string, item: HostEvent): EventFrame =>
  item.kind === "event"
    ? wrapEvent(item.event, sessionId, item.position)
    : { type: "event", event: "session.snapshot", payload: { sessionId, view: item.view }, ...item.position };
