/** Which devices may connect, with which token and scopes. One JSON file, which only its user can read. */
import { timingSafeEqual } from "node:crypto";
import { createHmac } from "node:crypto";
import { type GatewayScope, gatewayScopes } from "@tau/protocol/gateway";

export interface Device {
  readonly id: string;
  readonly name: string;
  readonly token: string;
  readonly scopes: readonly GatewayScope[];
}

/** The device of the gateway's own user on the same machine. */
export const ownDeviceId = "local";

export class Devices {
  readonly #devices = new Map<string, Device>();

  constructor(devices: readonly Device[]) {
    for (const device of devices) this.#devices.set(device.id, device);
  }

  /** The device that made a proof for this nonce; undefined if there is none. */
  checkProof(deviceId: string, nonce: string, proof: string): Device | undefined {
    const device = this.#devices.get(deviceId);
    const text = `tau-gateway-connect-1\n${deviceId}\n${nonce}`;
    const expected = createHmac("sha256", device?.token ?? "")
      .update(text)
      .digest();
    const given = Buffer.from(proof, "hex");
    const isRight = given.length === expected.length && timingSafeEqual(given, expected);
    return isRight ? device : undefined;
  }
}

export const createOwnDevice = (token: string): Device => ({
  id: ownDeviceId,
  name: "This account",
  token,
  scopes: gatewayScopes,
});
