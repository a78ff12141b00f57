import { join } from "node:path";

/** The device of the gateway's own account on the same machine. */
export const ownDeviceId = "local";

/** The files of a gateway. Only its user may look into the directory. */
export interface GatewayFiles {
  directory: string;
  /** Where a running gateway listens: `{ url, pid, fingerprint? }`. */
  address: string;
  /** The devices that may connect, with the public halves of their keys. */
  devices: string;
  /** The token of the account's own device. It is the only secret here, and no session can read it. */
  token: string;
  /** Names the process of the running gateway. */
  lease: string;
  /** A Unix socket for the commands of the same account. */
  control: string;
  log: string;
}

/** `agentDir` is the directory with the user's settings, credentials and sessions. */
export function getGatewayFiles(agentDir: string): GatewayFiles {
  const directory = join(agentDir, "gateway");
  return {
    directory,
    address: join(directory, "address.json"),
    devices: join(directory, "devices.json"),
    token: join(directory, `${ownDeviceId}.token`),
    lease: join(directory, "gateway.lease"),
    control: join(directory, "control.sock"),
    log: join(directory, "gateway.log"),
  };
}
