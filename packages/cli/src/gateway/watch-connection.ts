import type { ClientState, GatewayClient } from "@tau/protocol/client";

const stopped = "The gateway was stopped. This terminal connects again when it runs.";
const lost = "The connection to the gateway is lost. This terminal connects again when the gateway can be reached.";

/** Says once that the connection is lost, also if it is lost already, and once that it is there again. */
export function watchConnection(gateway: GatewayClient, notify: (message: string) => void): () => void {
  let isLost = false;
  let isStopping = false;
  const take = (state: ClientState) => {
    if (state.kind === "open") {
      if (isLost) notify("The connection to the gateway is there again.");
      isLost = false;
      isStopping = false;
    } else if (state.kind === "refused") notify(`The gateway refuses this terminal: ${state.reason.message}`);
    else if (state.kind !== "closed" && !isLost) {
      isLost = true;
      notify(isStopping ? stopped : lost);
    }
  };
  take(gateway.state);
  const stops = [
    gateway.onGatewayEvent(({ event }) => void (event === "gateway.stopping" && (isStopping = true))),
    gateway.onState(take),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}
