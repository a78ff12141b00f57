/** Finds the gateway that runs on this machine for this account. Nothing has to be typed. */
import { getGatewayFiles, ownDeviceId } from "./gateway-files.ts";
import { readOwnFile } from "./own-file.ts";

export interface FoundGateway {
  /** Such as `ws://127.0.0.1:7433`. */
  url: string;
  pid: number;
  deviceId: string;
  token: string;
}

/**
 * Undefined if none is running. Throws for files that others could have written or read. `agentDir` is the directory with
 * the user's settings, credentials and sessions.
 */
export async function findGateway(agentDir: string): Promise<FoundGateway | undefined> {
  const files = getGatewayFiles(agentDir);
  const { url, pid } = parseObject(files.address);
  if (typeof url !== "string" || typeof pid !== "number" || !isRunning(pid)) return undefined;
  const token = readOwnFile(files.token)?.trim();
  return token ? { url, pid, deviceId: ownDeviceId, token } : undefined;
}

interface OwnAddress {
  /** Undefined while no gateway runs. */
  url: string | undefined;
  /** SHA-256 of the certificate that it shows; undefined where it runs without TLS. */
  fingerprint: string | undefined;
}

/** Where the gateway of this account listens now. */
export function readAddress(agentDir: string): OwnAddress {
  const { url, fingerprint } = parseObject(getGatewayFiles(agentDir).address);
  return {
    url: typeof url === "string" ? url : undefined,
    fingerprint: typeof fingerprint === "string" ? fingerprint : undefined,
  };
}

/** Empty for a file that does not exist, or that is only half there. */
function parseObject(path: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(readOwnFile(path) ?? "{}")) as Record<string, unknown>;
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It runs as another user.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
