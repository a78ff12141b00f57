/** The file with the devices. It is read again when it has changed, whoever changed it. */
import { lstatSync } from "node:fs";
import { type Clock, type Ids } from "@tau/ai";
import { getErrorMessage, tryParseJson } from "@tau/ai/internal";
import { namingFile, withFileLease, writeWhole } from "@tau/harness/durable";
import { list, nonEmptyText, object, oneOf, parseFields, wholeNumber } from "@tau/harness/fields";
import { type GatewayScope, gatewayScopes } from "@tau/protocol/gateway";
import { readOwnFile } from "@tau/protocol/node";
import { nodeFileSystem, systemCode } from "@tau/tools/platform";
import { GatewayError } from "../errors.ts";
import { minTokenLength } from "./token.ts";

export interface Device {
  readonly id: string;
  readonly name: string;
  readonly token: string;
  readonly scopes: readonly GatewayScope[];
  /** ISO 8601. */
  readonly createdAt: string;
}

export interface DeviceFilePorts {
  clock: Clock;
  ids: Ids;
}

const device = object({
  id: nonEmptyText,
  name: nonEmptyText,
  token: nonEmptyText,
  scopes: list(oneOf(...gatewayScopes)),
  createdAt: nonEmptyText,
});
const fields = { version: wholeNumber({ min: 1, unit: "versions" }), devices: list(device) };

export class DeviceFile {
  readonly path: string;
  readonly #ports: DeviceFilePorts;
  #mark = "";
  #devices: readonly Device[] = [];

  constructor(path: string, ports: DeviceFilePorts) {
    this.path = path;
    this.#ports = ports;
  }

  /** What the file has now. Looking costs some microseconds. Throws `unavailable` for a file that must not be used. */
  read(): readonly Device[] {
    const mark = getMark(this.path);
    if (mark === this.#mark) return this.#devices;
    this.#devices = mark === "" ? [] : parseDevices(this.path);
    this.#mark = mark;
    return this.#devices;
  }

  /** No other process changes it meanwhile. It is on the disk when this resolves. Throws `unavailable` if it cannot be. */
  async change(update: (devices: readonly Device[]) => readonly Device[]): Promise<void> {
    const { path } = this;
    // A link is refused before anything is written through it.
    this.read();
    const write = () =>
      withFileLease(path, { fileSystem: nodeFileSystem, ...this.#ports }, async () => {
        const devices = update(this.read());
        const bytes = Buffer.from(`${JSON.stringify({ version: 1, devices }, null, 2)}\n`);
        await writeWhole(nodeFileSystem, { path, bytes, ids: this.#ports.ids });
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

function parseDevices(path: string): readonly Device[] {
  let text: string | undefined;
  try {
    text = readOwnFile(path);
  } catch (error) {
    throw new GatewayError("unavailable", getErrorMessage(error));
  }
  const parsed = parseFields(fields, tryParseJson(text ?? ""));
  if (parsed.kind === "parsed" && parsed.values.devices.every(({ token }) => token.length >= minTokenLength)) {
    return parsed.values.devices;
  }
  // What is wrong is not quoted: it may be a token.
  const advice = "Remove it to begin anew; then all devices have to be paired again.";
  throw new GatewayError("unavailable", `${path} is damaged, so nobody can be let in. ${advice}`);
}
