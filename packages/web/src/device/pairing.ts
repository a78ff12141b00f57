/** How this device gets a token: it shows a code, a person types it where the gateway runs, and the device claims the token. */
import { importToken, type PairClaimData, type PairRequestData } from "@tau/protocol/gateway";
import type { StoredValues } from "./database.ts";

/** A request that the gateway refused, or that was lost (`unreachable`); the text is for people. */
export class PairingError extends Error {
  override readonly name = "PairingError";
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export const requestPairing = (name: string): Promise<PairRequestData> => post("/pair/request", { name });

/** Undefined while nobody has typed the code. The token is only ever here and in the key. */
export async function claimDevice({ requestId, secret }: PairRequestData): Promise<StoredValues["device"] | undefined> {
  const claim = await post<PairClaimData>("/pair/claim", { requestId, secret });
  if (claim.state === "pending") return undefined;
  return { deviceId: claim.deviceId, key: await importToken(claim.token) };
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
