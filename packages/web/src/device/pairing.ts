/** How this device gets a token: it shows a code, a person types it where the gateway runs, and the device claims the token. */
import { importToken, type PairClaimData, type PairRequestData } from "@tau/protocol/gateway";
import { writeValue } from "./database.ts";

/** A request that the gateway refused; the text is for people. */
export class PairingError extends Error {
  override readonly name = "PairingError";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export const requestPairing = (name: string): Promise<PairRequestData> => post("/pair/request", { name });

/** Undefined while nobody has typed the code. The token is only ever here and in the key that is stored. */
export async function claimDevice({
  requestId,
  secret,
}: PairRequestData): Promise<{ deviceId: string; key: CryptoKey } | undefined> {
  const claim = await post<PairClaimData>("/pair/claim", { requestId, secret });
  if (claim.state === "pending") return undefined;
  const device = { deviceId: claim.deviceId, key: await importToken(claim.token) };
  await writeValue("device", device);
  return device;
}

async function post<Data>(path: string, body: object): Promise<Data> {
  const response = await fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    credentials: "omit",
    redirect: "error",
  });
  const answer = (await response.json()) as { error?: { code: string; message: string } };
  if (response.ok) return answer as Data;
  const { code, message } = answer.error ?? { code: "internal", message: `The gateway answered ${response.status}.` };
  throw new PairingError(code, message);
}

/** Such as `Firefox on Linux`: what the person sees in the list of devices. */
export function nameThisDevice(userAgent: string): string {
  const browser = /Firefox|Edg|OPR|Chrome|Safari/.exec(userAgent)?.[0] ?? "A browser";
  const system = /iPhone|iPad|Android|Windows|Mac OS|Linux|CrOS/.exec(userAgent)?.[0];
  const names: Record<string, string> = { Edg: "Edge", OPR: "Opera", "Mac OS": "macOS", CrOS: "ChromeOS" };
  const name = names[browser] ?? browser;
  return system === undefined ? name : `${name} on ${names[system] ?? system}`;
}
