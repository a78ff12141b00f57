import type { Client } from "./client.ts";

/** The client that sent a request, and what its response waits for. */
export interface RequestContext {
  client: Client;
  /** The id of the request's frame. */
  requestId: string;
  /** Names the request among those of all devices; undefined for one without an idempotency key. */
  requestKey?: string;
  /** Does something when the response was sent, such as sending the frames that it announces. Default: at once. */
  afterResponse?: (act: () => void) => void;
}
