/** Which devices may connect, with which token and scopes. What the file says counts, at any moment. */
import { getErrorMessage, Listeners } from "@tau/ai/internal";
import { watchFiles } from "@tau/harness/settings";
import { type DeviceData, gatewayScopes, type GatewayScope } from "@tau/protocol/gateway";
import { getGatewayFiles, ownDeviceId } from "@tau/protocol/node";
import { openGatewayDirectory } from "../life/gateway-directory.ts";
import { type Device, DeviceFile, type DeviceFilePorts } from "./device-file.ts";
import { createToken, isProof, isSameSecret } from "./token.ts";

export type { Device } from "./device-file.ts";

export interface DevicesOptions extends DeviceFilePorts {
  agentDir: string;
  /** Told what keeps the file from being read while the gateway runs. */
  log: (line: string) => void;
}

/** Opens the file. If there is none, it is made, with a new token for the gateway's own account. */
export async function openDevices(options: DevicesOptions): Promise<Devices> {
  const { agentDir, clock } = options;
  await openGatewayDirectory(agentDir);
  const file = new DeviceFile(getGatewayFiles(agentDir).devices, options);
  if (!file.read().some(({ id }) => id === ownDeviceId)) {
    await file.change((devices) => [createOwnDevice(clock.now()), ...devices.filter(({ id }) => id !== ownDeviceId)]);
  }
  return new Devices(file, options);
}

const createOwnDevice = (now: number): Device => ({
  id: ownDeviceId,
  name: "This account",
  token: createToken(),
  scopes: gatewayScopes,
  createdAt: new Date(now).toISOString(),
});

export class Devices {
  readonly #file: DeviceFile;
  readonly #options: DevicesOptions;
  readonly #removed: Listeners<string>;
  /** By id; the time is the clock's. */
  readonly #lastSeen = new Map<string, number>();
  #known: ReadonlyMap<string, Device>;
  #problem: string | undefined;

  constructor(file: DeviceFile, options: DevicesOptions) {
    this.#file = file;
    this.#options = options;
    this.#removed = new Listeners((error) => options.log(getErrorMessage(error)));
    this.#known = toMap(file.read());
  }

  /** As it was when the file was last looked at. */
  get(id: string): Device | undefined {
    return this.#known.get(id);
  }

  list(): DeviceData[] {
    this.refresh();
    return [...this.#known.values()].map((device) => this.describe(device));
  }

  /** All that count now, for who keeps them out of logs. */
  listTokens(): string[] {
    return [...this.#known.values()].map(({ token }) => token);
  }

  describe({ id, name, scopes, createdAt }: Device): DeviceData {
    const seen = this.#lastSeen.get(id);
    const lastSeenAt = seen === undefined ? undefined : new Date(seen).toISOString();
    return {
      id,
      name,
      scopes: [...scopes],
      state: "paired",
      createdAt,
      ...(lastSeenAt !== undefined && { lastSeenAt }),
    };
  }

  /** Looks at the file. One that cannot be used lets nobody in. Listeners are told who was there and is not any more. */
  refresh(): void {
    const before = this.#known;
    this.#known = toMap(this.#read());
    if (before === this.#known) return;
    for (const [id, { token }] of before) if (this.#known.get(id)?.token !== token) this.#removed.emit(id);
  }

  /** The device that made a proof for this nonce; undefined if there is none. */
  checkProof(deviceId: string, nonce: string, proof: string): Device | undefined {
    this.refresh();
    const device = this.#known.get(deviceId);
    // Without a device there is as much to compute.
    const isRight = isProof(device?.token ?? createToken(), { nonce, deviceId }, proof);
    return isRight && device ? this.#seen(device) : undefined;
  }

  /** The device whose token it is; undefined if there is none. */
  checkToken(token: string): Device | undefined {
    this.refresh();
    const matches = [...this.#known.values()].filter((device) => isSameSecret(device.token, token));
    return matches[0] && this.#seen(matches[0]);
  }

  /** With a new id and token. */
  async add({ name, scopes }: { name: string; scopes: readonly GatewayScope[] }): Promise<Device> {
    const { clock, ids } = this.#options;
    const createdAt = new Date(clock.now()).toISOString();
    const device = { id: ids(), name, token: createToken(), scopes, createdAt };
    await this.#file.change((devices) => [...devices, device]);
    this.refresh();
    return device;
  }

  /** False if there is none. The own account is not removed: it gets a new token, and the old one counts no more. */
  async revoke(id: string): Promise<boolean> {
    this.refresh();
    if (!this.#known.has(id)) return false;
    const { clock } = this.#options;
    await this.#file.change((devices) => [
      ...(id === ownDeviceId ? [createOwnDevice(clock.now())] : []),
      ...devices.filter((device) => device.id !== id),
    ]);
    this.refresh();
    return true;
  }

  /** Called with the id of each device whose token counts no more. Returns how to stop. */
  onRemoved(listener: (id: string) => void): () => void {
    return this.#removed.add(listener);
  }

  /** Notices changes of the file soon, also while nobody asks anything. Returns how to stop. */
  watch(): () => void {
    const { clock, log } = this.#options;
    const onError = (message: string) => log(`${message} Changes of the devices count with the next request.`);
    return watchFiles([this.#file.path], { clock, onChange: () => this.refresh(), onError }).close;
  }

  #seen(device: Device): Device {
    this.#lastSeen.set(device.id, this.#options.clock.now());
    return device;
  }

  #read(): readonly Device[] {
    try {
      const devices = this.#file.read();
      this.#problem = undefined;
      return devices;
    } catch (error) {
      const problem = getErrorMessage(error);
      if (problem !== this.#problem) this.#options.log(problem);
      this.#problem = problem;
      return noDevices;
    }
  }
}

const noDevices: readonly Device[] = [];

/** The same map for the same list. */
const maps = new WeakMap<readonly Device[], ReadonlyMap<string, Device>>();

function toMap(devices: readonly Device[]): ReadonlyMap<string, Device> {
  const known = maps.get(devices) ?? new Map(devices.map((device) => [device.id, device]));
  maps.set(devices, known);
  return known;
}
