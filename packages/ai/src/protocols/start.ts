import type { Clock } from "../clock.ts";
import type { Context } from "../context.ts";
import { AssistantMessageEventStream } from "../event-stream.ts";
import type { Model } from "../model.ts";
import type { StreamOptions } from "../options.ts";
import type { Protocol } from "./protocol.ts";

/** What is asked of a protocol. */
export interface ProtocolRequest {
  model: Model;
  context: Context;
  /** In the protocol's own terms, which may only be known once it is loaded. */
  options: (protocol: Protocol) => StreamOptions;
  clock: Clock | undefined;
}

/**
 * Starts a request and returns its stream at once. The protocol and the code that runs it are loaded behind it, with
 * the first request: a program that only looks up models never needs them.
 */
export function startRequest(load: () => Promise<Protocol>, request: ProtocolRequest): AssistantMessageEventStream {
  const stream = new AssistantMessageEventStream();
  const run = async () => (await import("./run.ts")).runRequest(load, request, stream);
  run().catch((error: unknown) => stream.fail(error));
  return stream;
}
