import type { AgentSession } from "@tau/harness";
import type { Host } from "@tau/harness/host";
import { receiveMessages } from "./receive-messages.ts";
import { leaveSession } from "./leave-session.ts";
import type { SessionClient } from "../interactive/session-client.ts";

/**
 * A session of a host in this process, as the interactive terminal sees it. `getSession` finds the sessions of all hosts by
 * their ids.
 */
export function createHostClient(
  host: Host,
  sessionId: string,
  getSession: (sessionId: string) => AgentSession,
): SessionClient {
  return {
    sessionId,
    execute: (command, options) => host.execute(sessionId, command, options),
    subscribe: (onSnapshot, onEvent) =>
      host.subscribe(sessionId, (item) => (item.kind === "snapshot" ? onSnapshot(item.view) : onEvent(item.event))),
    to: (other) => createHostClient(host, other, getSession),
    extensions: {
      get loaded() {
        // A frame may be drawn after the session was closed and before another one is shown.
        return host.sessionIds.includes(sessionId) ? host.get(sessionId).session.extensions : undefined;
      },
      attach: (surface) => host.get(sessionId).session.attachSurface(surface),
      onFirst: (listener) => host.get(sessionId).session.onFirstExtension(listener),
      onToolUpdate: (listener) =>
        host.get(sessionId).session.subscribe((event) => {
          if (event.type === "tool_execution_update") listener(event.toolCallId, event.partialResult);
        }),
      waitForIdle: () => host.get(sessionId).session.waitForIdle(),
    },
    listOtherJobs: () => host.sessionIds.flatMap((id) => (id === sessionId ? [] : host.get(id).view.live.jobs)),
    receiveMessages: () => receiveMessages(host.get(sessionId), host.agentDir),
    async leaveFor(next) {
      if (getSession(sessionId).extensions) await leaveSession(host, sessionId, getSession(next.sessionId));
    },
  };
}
