/** The devices that may connect. A new one shows a code, which is typed here. */
import { useState } from "preact/hooks";
import type { GatewayClient } from "@tau/protocol/client";
import { formatAge } from "@tau/protocol/surface";
import { useAttempt } from "../app/attempt.ts";
import { Dialog } from "../app/dialog.tsx";
import { useLoaded } from "../app/loaded.ts";
import { Name } from "../text/name.tsx";
import { toSafeName } from "../text/visible-text.ts";

interface DevicesPanelProps {
  client: GatewayClient;
  onClose: () => void;
  /** This device forgets who it is. */
  onForget: () => void;
}

export function DevicesPanel({ client, onClose, onForget }: DevicesPanelProps) {
  const [devices, reload] = useLoaded(() => client.call("devices.list"), [client]);
  const [code, setCode] = useState("");
  const attempt = useAttempt();
  const ownId = client.hello?.deviceId;
  const approve = async (event: Event) => {
    event.preventDefault();
    const isDone = await attempt.run(() => client.call("devices.approve", { code: code.trim() }));
    if (isDone) setCode("");
    reload();
  };
  const revoke = (deviceId: string) =>
    attempt.run(async () => {
      await client.call("devices.revoke", { deviceId });
      if (deviceId === ownId) onForget();
      else reload();
    });
  return (
    <Dialog title="Devices" onClose={onClose}>
      <form class="form row-form" onSubmit={(event) => void approve(event)}>
        <input
          placeholder="Code of a new device"
          aria-label="Code of a new device"
          value={code}
          required
          autofocus
          autocapitalize="characters"
          spellcheck={false}
          onInput={(event) => setCode(event.currentTarget.value)}
        />
        <button class="button primary" disabled={attempt.isBusy}>
          Pair
        </button>
      </form>
      {(attempt.problem !== "" || devices.kind === "failed") && (
        <p class="problem" role="alert">
          {attempt.problem || (devices.kind === "failed" ? devices.message : "")}
        </p>
      )}
      <ul class="options">
        {(devices.kind === "loaded" ? devices.value.devices : []).map((device) => (
          <li class="device" key={device.id}>
            <span>
              <Name text={device.name} />
              {device.id === ownId && <span class="tag">this device</span>}
              {device.state === "pending" && <span class="tag">waits for its code</span>}
              <span class="muted small block">
                {device.scopes.join(", ")}
                {device.lastSeenAt !== undefined && ` · seen ${formatAge(device.lastSeenAt, Date.now())}`}
              </span>
            </span>
            {device.state === "paired" && (
              <button
                class="button danger"
                aria-label={`Revoke ${toSafeName(device.name)}`}
                disabled={attempt.isBusy}
                onClick={() => void revoke(device.id)}
              >
                Revoke
              </button>
            )}
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
