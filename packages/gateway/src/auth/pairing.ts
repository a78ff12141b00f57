/** Devices that ask to be let in. They are kept in memory for some minutes: who still wants to asks again. */
import { randomBytes } from "node:crypto";
import type { Clock, Ids } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import type { DeviceData, GatewayScope, PairClaimData, PairRequestData } from "@tau/protocol/gateway";
import { GatewayError } from "../errors.ts";
import { RateLimit } from "../server/rate-limit.ts";
import type { Devices, NewDevice } from "./devices.ts";
import type { Guesses } from "./guesses.ts";
import { createToken, isSameSecret } from "./token.ts";

interface PairingOptions {
  devices: Devices;
  guesses: Guesses;
  clock: Clock;
  ids: Ids;
  log: (line: string) => void;
}

interface PairRequest {
  readonly id: string;
  readonly name: string;
  readonly code: string;
  readonly secret: string;
  readonly address: string;
  /** By the clock. */
  readonly createdAt: number;
  readonly cancelTimer: () => void;
  /** A person has typed the code, and the device is being written to the disk. */
  isApproved?: boolean;
  device?: NewDevice;
}

const expiresInMs = 5 * 60_000;
/** In all, and of one address. */
const maxWaiting = 10;
const maxWaitingPerAddress = 3;
const maxNameLength = 60;
const defaultScopes: readonly GatewayScope[] = ["read", "write", "approve"];

interface ApproveOptions {
  code: string;
  /** The scopes of whoever approves. */
  approver: ReadonlySet<GatewayScope>;
  /** Default: to read, to write and to approve, as far as the approver may. */
  scopes?: readonly GatewayScope[];
  /** Default: what the device calls itself. */
  name?: string;
}

export class Pairing {
  readonly #options: PairingOptions;
  readonly #requests = new Map<string, PairRequest>();
  readonly #requestLimit: RateLimit;
  readonly #claimLimit: RateLimit;

  constructor(options: PairingOptions) {
    this.#options = options;
    this.#requestLimit = new RateLimit({ perSecond: 1 / 6, burst: 5 }, options.clock);
    this.#claimLimit = new RateLimit({ perSecond: 5, burst: 30 }, options.clock);
  }

  /** Throws `rate_limited` where too many wait. */
  request(name: string, address: string): PairRequestData {
    mustWait(this.#requestLimit.take(address));
    const waiting = [...this.#requests.values()];
    const ofAddress = waiting.filter((request) => request.address === address).length;
    if (waiting.length >= maxWaiting || ofAddress >= maxWaitingPerAddress) mustWait(expiresInMs);
    const { clock, ids, log } = this.#options;
    const id = ids();
    const cancelTimer = clock.setTimer(expiresInMs, () => void this.#expire(id));
    const request = { id, name: toPlainName(name), code: createCode(), secret: createToken(), address };
    this.#requests.set(id, { ...request, createdAt: clock.now(), cancelTimer });
    log(`A device at ${address} asks to be paired. It calls itself ${JSON.stringify(request.name)}.`);
    return { requestId: id, code: request.code, secret: request.secret, expiresInMs };
  }

  /** Throws `not_found` for a code that no device shows, and `forbidden` for scopes that the approver does not have. */
  async approve({ code, approver, scopes, name }: ApproveOptions): Promise<DeviceData> {
    const typed = normaliseCode(code);
    const request = [...this.#requests.values()].find((each) => !each.isApproved && isSameSecret(each.code, typed));
    if (!request) throw notWaiting();
    const missing = scopes?.filter((scope) => !approver.has(scope)) ?? [];
    if (missing.length > 0) {
      throw new GatewayError("forbidden", `You cannot give what you do not have: ${missing.join(", ")}.`);
    }
    const granted = scopes ?? defaultScopes.filter((scope) => approver.has(scope));
    const { devices, log } = this.#options;
    // A code is valid once, also for two who type it at the same time.
    request.isApproved = true;
    const device = await this.#add(request, { name: toPlainName(name ?? request.name), scopes: [...new Set(granted)] });
    if (!this.#requests.has(request.id)) {
      await devices.revoke(device.id);
      throw notWaiting();
    }
    request.device = device;
    log(`The device ${device.id} at ${request.address} was paired, with the scopes ${granted.join(", ")}.`);
    return devices.describe(device);
  }

  /** Gives out the token once. Throws `not_found` for a request that is over. */
  claim(requestId: string, secret: string, address: string): PairClaimData {
    mustWait(this.#claimLimit.take(address));
    const request = this.#requests.get(requestId);
    const isRight = isSameSecret(request?.secret ?? createToken(), secret);
    if (request && !isRight) {
      mustWait(this.#options.guesses.addWrong(address));
      throw new GatewayError("unauthorized", "The secret is not that of this request.");
    }
    if (!request) throw new GatewayError("not_found", "This request to be paired is over. Make another one.");
    const { device } = request;
    if (!device) return { state: "pending" };
    request.cancelTimer();
    this.#requests.delete(requestId);
    return { state: "paired", deviceId: device.id, token: device.token, scopes: [...device.scopes] };
  }

  /** Lists requests that nobody has approved. */
  list(): DeviceData[] {
    return [...this.#requests.values()].flatMap(({ id, name, createdAt, device }) =>
      device ? [] : [{ id, name, scopes: [], state: "pending" as const, createdAt: new Date(createdAt).toISOString() }],
    );
  }

  /** False if nobody waits with this id. */
  cancel(id: string): boolean {
    const request = this.#requests.get(id);
    if (!request || request.device) return false;
    request.cancelTimer();
    return this.#requests.delete(id);
  }

  close(): void {
    for (const { cancelTimer } of this.#requests.values()) cancelTimer();
    this.#requests.clear();
  }

  /** Writes down an approved device. If that fails, it is not approved. */
  async #add(request: PairRequest, device: { name: string; scopes: readonly GatewayScope[] }): Promise<NewDevice> {
    try {
      return await this.#options.devices.add(device);
    } catch (error) {
      request.isApproved = false;
      throw error;
    }
  }

  /** A device that was approved and never took its token is nobody's. */
  async #expire(id: string): Promise<void> {
    const device = this.#requests.get(id)?.device;
    this.#requests.delete(id);
    const { devices, log } = this.#options;
    try {
      if (device) await devices.revoke(device.id);
    } catch (error) {
      log(`The device ${device?.id} never took its token and could not be removed: ${getErrorMessage(error)}`);
    }
  }
}

function notWaiting(): GatewayError {
  const advice = "Look at the code that it shows now; a code is valid for five minutes.";
  return new GatewayError("not_found", `No device waits with this code. ${advice}`);
}

function mustWait(retryAfterMs: number): void {
  if (retryAfterMs === 0) return;
  const message = "Too many requests to be paired. Try again later.";
  throw new GatewayError("rate_limited", message, { retryAfterMs });
}

/** Without characters that are easily taken for another. */
const codeCharacters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

const createCode = (): string =>
  Array.from(randomBytes(8), (byte) => codeCharacters[byte % codeCharacters.length]).join("");

/** Accepts a code as people type it. */
const normaliseCode = (code: string): string =>
  code.toUpperCase().replaceAll(/[\s-]/g, "").replaceAll(/[IL]/g, "1").replaceAll("O", "0");

/** Makes the name that a stranger gives itself one line that cannot pretend to be something else. */
function toPlainName(name: string): string {
  const plain = name
    .normalize("NFC")
    .replaceAll(/[\p{C}\p{Z}]+/gu, " ")
    .trim()
    .slice(0, maxNameLength);
  return plain === "" ? "A device" : plain;
}
