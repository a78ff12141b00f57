/** Waits until a session has nothing to do: here, or at the node of the cluster that runs it. Follows events, and asks nobody. */
import { callSoon, type Client } from "../client.ts";
import { encodeJson } from "../encoded-frame.ts";
import type { GatewayParts } from "../parts.ts";

interface WaitContext {
  parts: GatewayParts;
  client: Client;
  /** Nobody waits any more. */
  signal: AbortSignal;
  /** Called every 15 s while nothing else happens. */
  onWait: () => void;
}

/** The name of `waitUntilIdle` between nodes. */
export const waitCallName = "http.wait";

const waitMs = 15_000;

export async function waitAnywhere(context: WaitContext, sessionId: string): Promise<void> {
  const { parts, client, signal, onWait } = context;
  const here = () => waitUntilIdle(context, sessionId);
  if (!parts.cluster) return await here();
  // The other node sends a frame each time it would call `onWait`.
  const receiver: Client = { ...client, send: onWait, onClosed: (listener) => onAbort(signal, listener) };
  const request = { client: receiver, requestId: client.connectionId };
  await parts.cluster.callSession(request, { method: waitCallName, sessionId, params: { sessionId } }, here);
}

/** Runs `waitUntilIdle` for a client of another node. */
export async function waitForNode(
  { parts, client }: Pick<WaitContext, "parts" | "client">,
  sessionId: string,
): Promise<void> {
  const gone = new AbortController();
  const stop = client.onClosed(() => gone.abort());
  const onWait = () => client.send(encodeJson("{}"));
  await waitUntilIdle({ parts, client, signal: gone.signal, onWait }, sessionId).finally(stop);
}

/** Resolves when no run is in progress and no message waits, when the session is closed, and when `signal` is aborted. */
async function waitUntilIdle({ parts, client, signal, onWait }: WaitContext, sessionId: string): Promise<void> {
  await parts.sessions.use(sessionId, client.deviceId, async (open) => {
    const { host, hosted } = open;
    const stops: (() => void)[] = [];
    let stopTimer = () => {};
    await new Promise<void>((resolve) => {
      const look = () => {
        const waits = parts.inbox.hasUnsettled(sessionId);
        if (open.describe().status === "idle" && !waits) resolve();
      };
      const startTimer = () => {
        stopTimer = parts.clock.setTimer(waitMs, () => {
          onWait();
          // A run that was given up before it began has no event.
          look();
          startTimer();
        });
      };
      stops.push(
        hosted.subscribe((item) => {
          if (item.kind === "event" && item.event.type === "agent_end") look();
        }, hosted.position),
        host.watch({ onOpened: () => {}, onClosed: (id) => id === sessionId && resolve() }),
        parts.inbox.onEmpty(sessionId, look),
        onAbort(signal, resolve),
      );
      startTimer();
      look();
    }).finally(() => {
      stopTimer();
      for (const stop of stops) stop();
    });
  });
}

/** Calls the listener a moment later if the signal is aborted already. Returns how to stop. */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) return callSoon(listener);
  signal.addEventListener("abort", listener, { once: true });
  return () => signal.removeEventListener("abort", listener);
}
