/** Says so when the gateway is not there. */
import { useEffect, useState } from "preact/hooks";
import type { GatewayClient } from "@tau/protocol/client";

export function ConnectionBar({ client }: { client: GatewayClient }) {
  const [now, setNow] = useState(Date.now());
  const { state } = client;
  const isWaiting = state.kind === "waiting";
  useEffect(() => {
    if (!isWaiting) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [isWaiting]);
  if (state.kind === "open" || state.kind === "closed") return null;
  const seconds = isWaiting ? Math.max(0, Math.ceil((state.retryAt - now) / 1_000)) : 0;
  return (
    <div class="connection-bar" role="status">
      <span>{isWaiting ? "Not connected." : "Connecting…"}</span>
      {/* Not read aloud each second. */}
      {isWaiting && <span aria-hidden="true">{seconds > 0 ? `Trying again in ${seconds} s.` : "Trying again."}</span>}
      {isWaiting && (
        <button class="text-button" onClick={() => client.wake()}>
          Try now
        </button>
      )}
    </div>
  );
}
