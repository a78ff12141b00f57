/** One WebSocket. It is asked who it is; then its requests are answered until it goes. */
import { randomBytes } from "node:crypto";
import { getErrorMessage } from "@tau/ai/internal";
import {
  flag,
  jsonObject,
  list,
  nonEmptyText,
  object,
  oneOf,
  optional,
  parseFields,
  text,
  wholeNumber,
} from "@tau/harness/fields";
import {
  type ConnectParams,
  gatewayMethods,
  gatewayProtocol,
  type GatewayLimits,
  type GatewayScope,
  gatewayScopes,
  type HelloData,
  type RequestFrame,
  type ResponseFrame,
} from "@tau/protocol/gateway";
import type { RawData, WebSocket } from "ws";
import { type Client, type EncodedFrame, encodeFrame, maxBufferedBytes } from "../client.ts";
import { GatewayError, toFault } from "../errors.ts";
import { callMethod } from "../methods/index.ts";
import type { GatewayParts } from "../parts.ts";

export const limits: GatewayLimits = {
  maxPayloadBytes: 1024 * 1024,
  maxBufferedBytes,
  pingIntervalMs: 15_000,
};

/** How long a connection may take to say who it is. */
const connectMs = 5_000;

const frameFields = {
  type: oneOf("req"),
  id: nonEmptyText,
  method: nonEmptyText,
  params: optional(jsonObject),
};

const connectFields = {
  minProtocol: wholeNumber({ min: 1, unit: "versions" }),
  maxProtocol: wholeNumber({ min: 1, unit: "versions" }),
  client: object({ name: nonEmptyText, version: nonEmptyText }),
  deviceId: nonEmptyText,
  proof: text,
  scopes: optional(list(oneOf(...gatewayScopes))),
  abilities: optional(object({ approvals: optional(flag), ui: optional(flag) })),
};

export class SocketClient implements Client {
  readonly connectionId: string;
  readonly #socket: WebSocket;
  readonly #parts: GatewayParts;
  readonly #nonce = randomBytes(32).toString("hex");
  readonly #connectTimer: NodeJS.Timeout;
  #known: { deviceId: string; scopes: ReadonlySet<GatewayScope>; abilities: Client["abilities"] } | undefined;

  constructor(socket: WebSocket, parts: GatewayParts) {
    this.#socket = socket;
    this.#parts = parts;
    this.connectionId = parts.ids();
    this.#connectTimer = setTimeout(() => this.close(1008, "connect did not come in time"), connectMs);
    socket.on("message", (data, isBinary) => void this.#take(data, isBinary));
    socket.on("close", () => clearTimeout(this.#connectTimer));
    const payload = { nonce: this.#nonce, protocol: { min: gatewayProtocol, max: gatewayProtocol } };
    this.send(encodeFrame({ type: "event", event: "connect.challenge", payload }));
  }

  get deviceId(): string {
    return this.#known?.deviceId ?? "";
  }

  get scopes(): ReadonlySet<GatewayScope> {
    return this.#known?.scopes ?? new Set();
  }

  get abilities(): Client["abilities"] {
    return this.#known?.abilities ?? { approvals: false, ui: false };
  }

  setAbilities(abilities: Client["abilities"]): void {
    if (this.#known) this.#known = { ...this.#known, abilities };
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  send(frame: EncodedFrame): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(frame, { binary: false });
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
  }

  onClosed(listener: () => void): () => void {
    this.#socket.once("close", listener);
    return () => this.#socket.off("close", listener);
  }

  async #take(data: RawData, isBinary: boolean): Promise<void> {
    const frame = isBinary ? undefined : parseFrame(data);
    if (!frame) return this.close(1008, "not a frame of the protocol");
    const afterResponse: (() => void)[] = [];
    try {
      const payload = this.#known ? await this.#call(frame, afterResponse) : await this.#connect(frame);
      this.#answer({ type: "res", id: frame.id, ok: true, payload });
      for (const act of afterResponse) act();
    } catch (error) {
      const fault = toFault(error);
      if (fault.code === "internal") this.#parts.log(`${frame.method}: ${getErrorMessage(error)}`);
      this.#answer({ type: "res", id: frame.id, ok: false, error: fault });
      if (!this.#known) this.close(1008, fault.code);
    }
  }

  #answer(frame: ResponseFrame): void {
    this.send(encodeFrame(frame));
  }

  #call(frame: RequestFrame, later: (() => void)[]): Promise<unknown> {
    const afterResponse = (act: () => void) => void later.push(act);
    return callMethod({ client: this, requestId: frame.id, afterResponse, parts: this.#parts }, frame);
  }

  async #connect({ method, params }: RequestFrame): Promise<HelloData> {
    if (method !== "connect") throw new GatewayError("unauthorized", "Before `connect`, nothing else is answered.");
    const parsed = parseFields(connectFields, params ?? {}, { isClosed: true });
    if (parsed.kind === "wrong") throw new GatewayError("invalid_parameters", parsed.message);
    const given = parsed.values as ConnectParams;
    if (given.minProtocol > gatewayProtocol || given.maxProtocol < gatewayProtocol) {
      throw new GatewayError("unavailable", `This gateway speaks version ${gatewayProtocol} of the protocol.`);
    }
    const device = this.#parts.devices.checkProof(given.deviceId, this.#nonce, given.proof);
    if (!device) throw new GatewayError("unauthorized", "The proof is not right for this device.");
    clearTimeout(this.#connectTimer);
    const scopes = device.scopes.filter((scope) => given.scopes?.includes(scope) ?? true);
    const { approvals = false, ui = false } = given.abilities ?? {};
    this.#known = { deviceId: device.id, scopes: new Set(scopes), abilities: { approvals, ui } };
    this.#parts.connections.add(this);
    const sessions = scopes.includes("read") ? this.#parts.sessions.list() : [];
    return {
      type: "hello-ok",
      protocol: gatewayProtocol,
      server: { version: this.#parts.version, connectionId: this.connectionId },
      deviceId: device.id,
      scopes,
      features: { methods: [...gatewayMethods], events: [] },
      limits,
      snapshot: { sessions, approvals: sessions.reduce((sum, { approvals: open }) => sum + open, 0) },
    };
  }
}

function parseFrame(data: RawData): RequestFrame | undefined {
  try {
    const parsed = parseFields(frameFields, JSON.parse(data.toString()), { isClosed: true });
    return parsed.kind === "parsed" ? (parsed.values as RequestFrame) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
