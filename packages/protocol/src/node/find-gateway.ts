/** Where the gateway of this account listens, and the token for it. Both are in files that only this account can read. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** How a client on the same machine and account connects. */
export interface FoundGateway {
  /** Such as `ws://127.0.0.1:7433`. */
  url: string;
  deviceId: string;
  token: string;
}

/** The device of the account itself. */
const ownDeviceId = "local";

/** Undefined if no gateway of this account runs, as far as its files tell. */
export async function findGateway(agentDir: string): Promise<FoundGateway | undefined> {
  const directory = join(agentDir, "gateway");
  const address = await readJson(join(directory, "address.json"));
  const devices = await readJson(join(directory, "devices.json"));
  const listed = (devices as { devices?: { id: string; token?: string }[] } | undefined)?.devices;
  const token = listed?.find(({ id }) => id === ownDeviceId)?.token;
  const url = (address as { url?: unknown } | undefined)?.url;
  return typeof url === "string" && typeof token === "string" ? { url, deviceId: ownDeviceId, token } : undefined;
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return undefined;
    throw error;
  }
}
