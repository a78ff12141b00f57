import { AssistantMessageEventStream } from "../event-stream.ts";
import type { Protocol, ProtocolRequest } from "./protocol.ts";

/**
 * Starts a request and returns its stream immediately. The protocol and `run.ts` are loaded with the first request,
 * because a program that only looks up models does not need them.
 */
export function startRequest(load: () => Promise<Protocol>, request: ProtocolRequest): AssistantMessageEventStream {
  const stream = new AssistantMessageEventStream();
  const run = async () => (await import("./run.ts")).runRequest(load, request, stream);
  run().catch((error: unknown) => stream.fail(error));
  return stream;
}
