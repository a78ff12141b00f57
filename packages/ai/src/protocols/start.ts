import { AssistantMessageEventStream } from "../event-stream.ts";
import type { Protocol, ProtocolRequest } from "./protocol.ts";

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
