/** Ends a run. Only now: without a connection it is refused, because it would end another run later. */
import type { GatewayClient, RemoteSession } from "@tau/protocol/client";
import { StopIcon, StopLaterIcon } from "../app/icons.tsx";
import { reportFailure } from "../app/problems.tsx";

export const stopRun = (session: RemoteSession): void => reportFailure(session.call("abort", {}, { isLasting: false }));

const stopAfterStep = (client: GatewayClient, sessionId: string): void =>
  reportFailure(client.call("agent.interrupt", { sessionId }, { isLasting: false }));

export const StopButtons = ({ client, session }: { client: GatewayClient; session: RemoteSession }) => (
  <>
    <button
      type="button"
      class="text-button stop-later"
      aria-label="Stop after step"
      title="Ends the run when the calls that are running have ended"
      onClick={() => stopAfterStep(client, session.id)}
    >
      <StopLaterIcon />
      <span>Stop after step</span>
    </button>
    <button type="button" class="stop" aria-label="Stop now" onClick={() => stopRun(session)}>
      <StopIcon />
    </button>
  </>
);
