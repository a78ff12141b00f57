/** Which devices may connect, with which key and scopes. The file applies at any moment. */
import { getErrorMessage, Listeners } from "@tau/ai/internal";
import { writeWhole } from "@tau/tools/durable";
import { watchFiles } from "@tau/config/settings";
import { type DeviceData, gatewayScopes, type GatewayScope } from "@tau/protocol/gateway";
import { getGatewayFiles, ownDeviceId } from "@tau/protocol/node";
import { nodeFileSystem } from "@tau/tools/platform";
import type { Storage } from "@tau/harness/session";
import { openGatewayDirectory } from "../life/gateway-directory.ts";
import { type Device, DeviceFile, type DeviceFilePorts, type DeviceStore, readSecretFile } from "./device-file.ts";
import { StoredDevices } from "./stored-devices.ts";
import { createToken, isProof, minTokenLength, toPublicKey } from "./token.ts";

export type { Device } from "./device-file.ts";

/** A device that was just added, with its token, which is not kept. */
export interface NewDevice extends Device {
  readonly token: string;
}

interface DevicesOptions extends DeviceFilePorts {
  /** The token of the account is a file in it, whatever the storage: it is for the other programs of this machine. */
  agentDir: string;
  /** Where devices are kept. Default: a file in `agentDir`. */
  storage?: Storage;
  /** Called with what keeps the file from being read while the gateway runs. */
  log: (line: string) => void;
}

/**
 * Opens the file, or what a storage has. If there is none, it is made, with a new token for the gateway's own account. Tokens in a file of the first
 * version are replaced by the public halves of their keys, and stay valid.
 */
export async function openDevices(options: DevicesOptions): Promise<Devices> {
  const { agentDir, storage, clock } = options;
  await openGatewayDirectory(agentDir);
  const file = storage
    ? await StoredDevices.open({ storage, clock })
    : new DeviceFile(getGatewayFiles(agentDir).devices, options);
  if (!isWhole(file, agentDir)) {
    await file.change(async ({ devices, oldToken }) => {
      const token = readOwnToken(agentDir) ?? oldToken ?? createToken();
      return [await keepOwnToken(token, options), ...devices.filter(({ id }) => id !== ownDeviceId)];
    });
  }
  return new Devices(file, options);
}

/** Whether the account has its token, the devices have its public half, and no file has anything else that is secret. */
function isWhole(file: DeviceStore, agentDir: string): boolean {
  const { devices, oldToken } = file.read();
  const token = readOwnToken(agentDir);
  const own = devices.find(({ id }) => id === ownDeviceId);
  return oldToken === undefined && token !== undefined && own?.publicKey === toPublicKey(token);
}

/** Undefined if there is none that `createToken` made. */
function readOwnToken(agentDir: string): string | undefined {
  const token = readSecretFile(getGatewayFiles(agentDir).token)?.trim() ?? "";
  return token.length >= minTokenLength ? token : undefined;
}

/** Writes the token of the account for its other programs. Answers with its device. */
async function keepOwnToken(token: string, { agentDir, clock, ids }: DevicesOptions): Promise<Device> {
  const path = getGatewayFiles(agentDir).token;
  await writeWhole(nodeFileSystem, { path, bytes: Buffer.from(`${token}\n`), ids });
  return {
    id: ownDeviceId,
    name: "This account",
    publicKey: toPublicKey(token),
    scopes: gatewayScopes,
    createdAt: new Date(clock.now()).toISOString(),
  };
}

/** For proofs of devices that do not exist: there is as much to compute. */
const nobodysKey = toPublicKey(createToken());

export class Devices {
  readonly #file: DeviceStore;
  readonly #options: DevicesOptions;
  readonly #removed: Listeners<string>;
  /** By id; the time is the clock's. */
  readonly #lastSeen = new Map<string, number>();
  /** The tokens that this process has seen, by the ids of their devices: they are kept out of logs. */
  readonly #seenTokens = new Map<string, string>();
  #known: ReadonlyMap<string, Device>;
  #problem: string | undefined;

  constructor(file: DeviceStore, options: DevicesOptions) {
    this.#file = file;
    this.#options = options;
    this.#removed = new Listeners((error) => options.log(getErrorMessage(error)));
    this.#known = toMap(file.read().devices);
    this.getOwnToken();
  }

  /** Finds a device as it was when the file was last read. */
  get(id: string): Device | undefined {
    return this.#known.get(id);
  }

  list(): DeviceData[] {
    this.refresh();
    return [...this.#known.values()].map((device) => this.describe(device));
  }

  /** The account's own token, for its other programs. Undefined if its file is gone. */
  getOwnToken(): string | undefined {
    const token = readOwnToken(this.#options.agentDir);
    if (token !== undefined) this.#seenTokens.set(ownDeviceId, token);
    return token;
  }

  /** The tokens that this process has seen, for who keeps them out of logs. */
  listSeenTokens(): string[] {
    return [...this.#seenTokens.values()];
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

  /**
   * Reads the file if it changed. One that cannot be used lets nobody in. Listeners are called with devices that were
   * removed.
   */
  refresh(): void {
    const before = this.#known;
    this.#known = toMap(this.#read());
    if (before === this.#known) return;
    for (const [id, { publicKey }] of before) {
      if (this.#known.get(id)?.publicKey === publicKey) continue;
      this.#seenTokens.delete(id);
      this.#removed.emit(id);
    }
  }

  /** The device that made a proof for this nonce; undefined if there is none. */
  checkProof(deviceId: string, nonce: string, proof: string): Device | undefined {
    this.refresh();
    const device = this.#known.get(deviceId);
    const isRight = isProof(device?.publicKey ?? nobodysKey, { nonce, deviceId }, proof);
    return isRight && device ? this.#seen(device) : undefined;
  }

  /** The device whose token it is; undefined if there is none. */
  checkToken(token: string): Device | undefined {
    this.refresh();
    const publicKey = toPublicKey(token);
    const device = [...this.#known.values()].find((each) => each.publicKey === publicKey);
    if (!device) return undefined;
    this.#seenTokens.set(device.id, token);
    return this.#seen(device);
  }

  /** With a new id and token. The token is not kept. */
  async add({ name, scopes }: { name: string; scopes: readonly GatewayScope[] }): Promise<NewDevice> {
    const { clock, ids } = this.#options;
    const createdAt = new Date(clock.now()).toISOString();
    const token = createToken();
    const device = { id: ids(), name, publicKey: toPublicKey(token), scopes, createdAt };
    await this.#file.change(({ devices }) => [...devices, device]);
    this.refresh();
    this.#seenTokens.set(device.id, token);
    return { ...device, token };
  }

  /** False if there is none. The own account is not removed: it gets a new token, and the old one is no longer valid. */
  async revoke(id: string): Promise<boolean> {
    this.refresh();
    if (!this.#known.has(id)) return false;
    await this.#file.change(async ({ devices }) => [
      ...(id === ownDeviceId ? [await keepOwnToken(createToken(), this.#options)] : []),
      ...devices.filter((device) => device.id !== id),
    ]);
    this.refresh();
    return true;
  }

  /** Called with the id of each device whose token is no longer valid. Returns how to stop. */
  onRemoved(listener: (id: string) => void): () => void {
    return this.#removed.add(listener);
  }

  /** Notices changes of the file soon, also while nobody asks anything. Returns how to stop. */
  watch(): () => void {
    const { clock, log } = this.#options;
    const { path } = this.#file;
    if (path === undefined) return () => {};
    const onError = (message: string) => log(`${message} Changes of the devices take effect with the next request.`);
    return watchFiles([path], { clock, onChange: () => this.refresh(), onError }).close;
  }

  #seen(device: Device): Device {
    this.#lastSeen.set(device.id, this.#options.clock.now());
    return device;
  }

  #read(): readonly Device[] {
    try {
      const { devices } = this.#file.read();
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

/** Keeps the map of each list. */
const maps = new WeakMap<readonly Device[], ReadonlyMap<string, Device>>();

function toMap(devices: readonly Device[]): ReadonlyMap<string, Device> {
  const known = maps.get(devices) ?? new Map(devices.map((device) => [device.id, device]));
  maps.set(devices, known);
  return known;
}
