/** The file with the devices. It is read again when it has changed, whoever changed it. */
import { lstatSync } from "node:fs";
import { type Clock, type Ids } from "@tau/ai";
import { getErrorMessage, tryParseJson } from "@tau/ai/internal";
import { namingFile, withFileLease, writeWhole } from "@tau/tools/durable";
import { list, nonEmptyText, object, oneOf, parseFields, wholeNumber } from "@tau/config/fields";
import { type GatewayScope, gatewayScopes } from "@tau/protocol/gateway";
import { ownDeviceId, readOwnFile } from "@tau/protocol/node";
import { nodeFileSystem, systemCode } from "@tau/tools/platform";
import { GatewayError } from "../errors.ts";
import { isPublicKey, minTokenLength, toPublicKey } from "./token.ts";

export interface Device {
  readonly id: string;
  readonly name: string;
  /** The public half of its key; see `toPublicKey`. Nobody can connect with it. */
  readonly publicKey: string;
  readonly scopes: readonly GatewayScope[];
  /** ISO 8601. */
  readonly createdAt: string;
}

export interface DeviceFilePorts {
  clock: Clock;
  ids: Ids;
}

const shared = {
  id: nonEmptyText,
  name: nonEmptyText,
  scopes: list(oneOf(...gatewayScopes)),
  createdAt: nonEmptyText,
};
const version = wholeNumber({ min: 1, unit: "versions" });
const fields = { version, devices: list(object({ ...shared, publicKey: nonEmptyText })) };
/** The first version kept the tokens themselves. */
const firstFields = { version, devices: list(object({ ...shared, token: nonEmptyText })) };

/** The content of the file. */
export interface DeviceList {
  readonly devices: readonly Device[];
  /** The account's own token, in a file of the first version. Writing the file again removes it. */
  readonly oldToken?: string;
}

/** Where the devices are kept. */
export interface DeviceStore {
  /** The file that somebody else may change. Undefined if there is none. */
  readonly path: string | undefined;
  /** Returns the present list, in some microseconds. Throws `unavailable` if it must not be used. */
  read(): DeviceList;
  /** No other process changes it meanwhile. It is durable when this resolves. Throws `unavailable` if it cannot be. */
  change(update: (list: DeviceList) => Promise<readonly Device[]> | readonly Device[]): Promise<void>;
}

export class DeviceFile implements DeviceStore {
  readonly path: string;
  readonly #ports: DeviceFilePorts;
  #mark = "";
  #list: DeviceList = { devices: [] };

  constructor(path: string, ports: DeviceFilePorts) {
    this.path = path;
    this.#ports = ports;
  }

  read(): DeviceList {
    const mark = getMark(this.path);
    if (mark === this.#mark) return this.#list;
    this.#list = mark === "" ? { devices: [] } : parseDevices(this.path, readSecretFile(this.path) ?? "");
    this.#mark = mark;
    return this.#list;
  }

  async change(update: (list: DeviceList) => Promise<readonly Device[]> | readonly Device[]): Promise<void> {
    const { path } = this;
    // A link is refused before anything is written through it.
    this.read();
    const write = () =>
      withFileLease(path, { fileSystem: nodeFileSystem, ...this.#ports }, async () => {
        const devices = await update(this.read());
        await writeWhole(nodeFileSystem, { path, bytes: formatDevices(devices), ids: this.#ports.ids });
      });
    try {
      await namingFile(path, write);
    } catch (error) {
      // A full disk, or another process that holds the file: both may pass.
      if (systemCode(error) === undefined) throw error;
      throw new GatewayError("unavailable", getErrorMessage(error));
    }
    this.read();
  }
}

/** Differs whenever the file does. Empty where there is none. */
function getMark(path: string): string {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stats ? `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}` : "";
}

export const formatDevices = (devices: readonly Device[]): Buffer =>
  Buffer.from(`${JSON.stringify({ version: 2, devices }, null, 2)}\n`);

/** Throws `unavailable` for a text that is damaged. `name` says where it is. */
export function parseDevices(name: string, content: string): DeviceList {
  const value = tryParseJson(content);
  const parsed = parseFields(fields, value);
  if (parsed.kind === "parsed" && parsed.values.devices.every(({ publicKey }) => isPublicKey(publicKey))) {
    return { devices: parsed.values.devices };
  }
  const first = parseFields(firstFields, value);
  if (first.kind === "parsed" && first.values.devices.every(({ token }) => token.length >= minTokenLength)) {
    const devices = first.values.devices.map(({ token, ...rest }) => ({ ...rest, publicKey: toPublicKey(token) }));
    const own = first.values.devices.find(({ id }) => id === ownDeviceId);
    return { devices, ...(own && { oldToken: own.token }) };
  }
  // What is wrong is not quoted: it may be a token.
  const advice = "Remove it to begin anew; then all devices have to be paired again.";
  throw new GatewayError("unavailable", `${name} is damaged, so nobody can be let in. ${advice}`);
}

/** Undefined if there is none. Throws `unavailable` for a file that must not be used. */
export function readSecretFile(path: string): string | undefined {
  try {
    return readOwnFile(path);
  } catch (error) {
    throw new GatewayError("unavailable", getErrorMessage(error));
  }
}
