/** The devices of a gateway whose state is in a storage. One gateway at a time has them, so they are read once. */
import type { Clock } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import type { LogKey, Storage } from "@tau/harness/session";
import { readLog, withLog } from "@tau/tools/storage";
import { GatewayError } from "../errors.ts";
import { type Device, type DeviceList, type DeviceStore, formatDevices, parseDevices } from "./device-file.ts";

const key: LogKey = "gateway/devices";

export class StoredDevices implements DeviceStore {
  readonly path = undefined;
  readonly #options: { storage: Storage; clock: Clock };
  #list: DeviceList;

  private constructor(options: { storage: Storage; clock: Clock }, list: DeviceList) {
    this.#options = options;
    this.#list = list;
  }

  /** Throws `unavailable` if they are damaged. */
  static async open(options: { storage: Storage; clock: Clock }): Promise<StoredDevices> {
    const bytes = await readLog(options.storage, key);
    const name = `${options.storage.name} ${key}`;
    return new StoredDevices(options, bytes ? parseDevices(name, bytes.toString("utf8")) : { devices: [] });
  }

  read(): DeviceList {
    return this.#list;
  }

  async change(update: (list: DeviceList) => Promise<readonly Device[]> | readonly Device[]): Promise<void> {
    let devices: readonly Device[] = [];
    try {
      await withLog({ ...this.#options, key }, async (store) => {
        devices = await update(this.#list);
        return await store.replace(formatDevices(devices));
      });
    } catch (error) {
      throw new GatewayError("unavailable", getErrorMessage(error));
    }
    this.#list = { devices };
  }
}
