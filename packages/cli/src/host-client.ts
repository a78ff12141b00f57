import type { Host } from "@tau/harness/host";
import type { SessionClient } from "./interactive/session-client.ts";

/** A session of a host in this process, as the interactive terminal sees it. */
export function createHostClient(host: Host, sessionId: string): SessionClient {
  return {
    sessionId,
    execute: (command, options) => host.execute(sessionId, command, options),
    subscribe: (onSnapshot, onEvent) =>
      host.subscribe(sessionId, (item) => (item.kind === "snapshot" ? onSnapshot(item.view) : onEvent(item.event))),
    to: (other) => createHostClient(host, other),
  };
}
