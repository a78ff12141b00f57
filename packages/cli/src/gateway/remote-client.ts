import type { CommandData, CommandName, SessionEvent, View } from "@tau/protocol";
import { type GatewayClient, GatewayClientError, type RemoteSession } from "@tau/protocol/client";
import { methodScopes } from "@tau/protocol/gateway";
import type { SessionClient } from "../interactive/session-client.ts";
import { createRemoteExtensions } from "./remote-extensions.ts";
import { HarnessError } from "@tau/protocol";

/** A session of a gateway, as the interactive terminal sees it. */
export function createRemoteClient(gateway: GatewayClient, sessionId: string): SessionClient {
  return {
    sessionId,
    execute: async <Name extends CommandName>({ type, ...params }: { type: Name }, options: object = {}) => {
      // It would wait unseen, and apply minutes later, when the person may want something else.
      if (gateway.state.kind !== "open" && methodScopes[`session.${type}`] !== "read") throw createAwayError();
      return (await gateway.session(sessionId).call(type, params as never, options)) as CommandData<Name>;
    },
    subscribe: (onSnapshot, onEvent) => follow(gateway.session(sessionId), onSnapshot, onEvent),
    to: (other) => createRemoteClient(gateway, other),
    extensions: createRemoteExtensions(() => gateway.session(sessionId)),
    outlivesTerminal: true,
  };
}

const createAwayError = () =>
  new GatewayClientError({
    code: "disconnected",
    message: "There is no connection to the gateway now. Nothing was sent; try again when it is back.",
    retryable: true,
  });

function follow(
  session: RemoteSession,
  onSnapshot: (view: View) => void,
  onEvent: (event: SessionEvent) => void,
): () => void {
  const stops = [session.onSnapshot(onSnapshot), session.onEvent(onEvent)];
  if (session.isLoaded) onSnapshot(session.view);
  return () => {
    for (const stop of stops) stop();
    session.close();
  };
}

/** Resolves when the session can be drawn. Rejects if it cannot be opened. */
export async function waitUntilLoaded(session: RemoteSession): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const look = () => {
      const { state } = session;
      if (!session.isLoaded && state.kind !== "closed") return;
      stop();
      if (session.isLoaded) resolve();
      else if (state.kind === "closed") reject(new HarnessError("unavailable", state.reason));
    };
    const stop = session.onChange(look);
    look();
  });
}
