/** How this device gets a token: it shows a code, a person types it where the gateway runs, and the device claims the token. */
import { deriveKey, importToken, type PairClaimData, type PairRequestData } from "@tau/protocol/gateway";
import { readValue, type StoredValues, writeValue } from "./database.ts";

/** A request that the gateway refused, or that was lost (`unreachable`); the text is for people. */
export class PairingError extends Error {
  override readonly name = "PairingError";
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Throws before anything is asked in a browser that could not use the token. */
export async function requestPairing(name: string): Promise<PairRequestData> {
  await importToken(name).catch((error: unknown) => {
    const message = "This browser is too old: it cannot sign with Ed25519. Update it, or use another one.";
    throw new PairingError("unsupported", message, { cause: error });
  });
  return await post("/pair/request", { name });
}

/** Undefined while nobody has typed the code. The token is only ever here and in the key. */
export async function claimDevice({ requestId, secret }: PairRequestData): Promise<StoredValues["device"] | undefined> {
  const claim = await post<PairClaimData>("/pair/claim", { requestId, secret });
  if (claim.state === "pending") return undefined;
  return { deviceId: claim.deviceId, key: await importToken(claim.token) };
}

/** The device of this page; undefined if it has to be paired. Earlier versions stored the token as a key for HMAC. */
export async function readDevice(): Promise<StoredValues["device"] | undefined> {
  const device = await readValue("device");
  if (device?.key.algorithm.name !== "HMAC") return device;
  const upgraded = { ...device, key: await deriveKey(device.key) };
  await writeValue("device", upgraded);
  return upgraded;
}

async function post<Data>(path: string, body: object): Promise<Data> {
  const { response, answer } = await send(path, body).catch((error: unknown) => {
    throw new PairingError("unreachable", "The gateway could not be reached.", { cause: error });
  });
  if (response.ok) return answer as Data;
  const { code, message } = answer.error ?? { code: "internal", message: `The gateway answered ${response.status}.` };
  throw new PairingError(code, message);
}

async function send(path: string, body: object) {
  const response = await fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    credentials: "omit",
    redirect: "error",
  });
  // Something between the page and the gateway may answer with a page of its own.
  return { response, answer: (await response.json()) as { error?: { code: string; message: string } } };
}

/** Such as `Firefox on Linux`: what the person sees in the list of devices. */
export function nameThisDevice(userAgent: string): string {
  const browser = /Firefox|Edg|OPR|Chrome|Safari/.exec(userAgent)?.[0] ?? "A browser";
  const system = /iPhone|iPad|Android|Windows|Mac OS|Linux|CrOS/.exec(userAgent)?.[0];
  const names: Record<string, string> = { Edg: "Edge", OPR: "Opera", "Mac OS": "macOS", CrOS: "ChromeOS" };
  const name = names[browser] ?? browser;
  return system === undefined ? name : `${name} on ${names[system] ?? system}`;
}
