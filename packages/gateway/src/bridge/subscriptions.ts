/** Which client follows which session. */
import type { Cursor, HostEvent } from "@tau/harness/host";
import { wrapEvent } from "@tau/protocol";
import type { EventFrame } from "@tau/protocol/gateway";
import { type Client, encodeFrame } from "../client.ts";
import type { OpenSession } from "../sessions/open-sessions.ts";

export class Subscriptions {
  /** How to stop, by client and session. */
  readonly #stops = new Map<Client, Map<string, () => void>>();

  /** Sends what came after `from`, or a snapshot, and then every event. A second subscription takes the place of the first. */
  add(client: Client, { hosted }: OpenSession, from?: Cursor): void {
    const { sessionId } = hosted.session;
    this.remove(client, sessionId);
    const send = (item: HostEvent) => client.send(encodeFrame(toFrame(sessionId, item)));
    const stop = hosted.subscribe(send, from);
    const ofClient = this.#stops.get(client) ?? new Map<string, () => void>();
    if (!this.#stops.has(client)) client.onClosed(() => this.#removeAll(client));
    this.#stops.set(client, ofClient.set(sessionId, stop));
  }

  remove(client: Client, sessionId: string): void {
    const ofClient = this.#stops.get(client);
    ofClient?.get(sessionId)?.();
    ofClient?.delete(sessionId);
  }

  #removeAll(client: Client): void {
    for (const stop of this.#stops.get(client)?.values() ?? []) stop();
    this.#stops.delete(client);
  }
}

const toFrame = (sessionId: string, item: HostEvent): EventFrame =>
  item.kind === "event"
    ? wrapEvent(item.event, sessionId, item.position)
    : { type: "event", event: "session.snapshot", payload: { sessionId, view: item.view }, ...item.position };
