/** Pairs the device, then shows the page. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { GatewayClient } from "@tau/protocol/client";
import { type StoredValues, writeValue } from "../device/database.ts";
import { PairingView } from "../device/pairing-view.tsx";
import { reportProblem } from "./problems.tsx";
import { useRedraw } from "./redraw.ts";
import { Shell } from "./shell.tsx";

type Device = StoredValues["device"];

export function App({ device: known }: { device: Device | undefined }) {
  const [device, setDevice] = useState(known);
  if (!isSecureContext) return <Insecure />;
  if (!device) return <PairingView onPaired={setDevice} />;
  const forget = () =>
    void writeValue("device", undefined)
      .catch(reportProblem)
      .then(() => setDevice(undefined));
  return <Connected key={device.deviceId} device={device} onForget={forget} />;
}

function Connected({ device, onForget }: { device: Device; onForget: () => void }) {
  const client = useMemo(() => createClient(device), [device]);
  useEffect(() => {
    // How it went is in the client's state.
    client.connect().catch(() => undefined);
    const wake = () => document.visibilityState === "visible" && client.wake();
    window.addEventListener("online", wake);
    document.addEventListener("visibilitychange", wake);
    return () => {
      window.removeEventListener("online", wake);
      document.removeEventListener("visibilitychange", wake);
      client.close();
    };
  }, [client]);
  useRedraw((listener) => client.onState(listener), [client]);
  const { state } = client;
  if (state.kind === "refused")
    return <Refused message={state.reason.message} onForget={onForget} onRetry={() => client.wake()} />;
  return <Shell client={client} onForget={onForget} />;
}

/** Only to where the page came from: nothing in the address decides it. */
const createClient = ({ deviceId, key }: Device): GatewayClient =>
  new GatewayClient({
    url: location.origin,
    deviceId,
    key,
    client: { name: "tau-web", version: "1" },
    abilities: { approvals: true, ui: true },
  });

function Refused({ message, onForget, onRetry }: { message: string; onForget: () => void; onRetry: () => void }) {
  return (
    <main class="pairing">
      <div class="pairing-card">
        <h1>The gateway does not let this device in</h1>
        <p role="alert">{message}</p>
        <p class="muted">Somebody may have revoked it. It can be paired again.</p>
        <div class="buttons">
          <button class="button" onClick={onRetry}>
            Try again
          </button>
          <button class="button primary" onClick={onForget}>
            Pair again
          </button>
        </div>
      </div>
    </main>
  );
}

const Insecure = () => (
  <main class="pairing">
    <div class="pairing-card">
      <h1>This connection is not private</h1>
      <p role="alert">
        Keys can only be used on a page that came over HTTPS, or from this machine. Open the gateway with{" "}
        <code>https:</code>, or as <code>localhost</code>.
      </p>
    </div>
  </main>
);
