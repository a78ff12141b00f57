/** A WebSocket connection: the client proves who it is, then its requests are answered until it leaves. */
import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { getErrorMessage } from "@tau/ai/internal";
import { wireEventNames } from "@tau/protocol";
import {
  gatewayEventNames,
  gatewayMethods,
  gatewayProtocol,
  type GatewayScope,
  type HelloData,
  isGatewayMethod,
  methodScopes,
  type RequestFrame,
  type ResponseFrame,
} from "@tau/protocol/gateway";
import type { RawData, WebSocket } from "ws";
import { createWrongTokenError } from "../auth/guesses.ts";
import type { Rounds } from "../rounds.ts";
import { callSoon, type Client, maxBufferedBytes } from "../client.ts";
import { type EncodedFrame, encodeFrame } from "../encoded-frame.ts";
import { GatewayError, toFault } from "../errors.ts";
import { createStoppingError, mayBeginWork } from "../life/drain.ts";
import { callMethod } from "../methods/index.ts";
import type { GatewayParts } from "../parts.ts";
import { parseConnect, parseFrame } from "./connect-params.ts";
import {
  closeMs,
  connectMs,
  limits,
  maxConnectBytes,
  maxMissedPings,
  maxReadsAtATime,
  maxRequestsAtATime,
} from "./limits.ts";
import { HeldWrites } from "./held-writes.ts";
import { RequestQueue } from "./request-queue.ts";

interface SocketClientOptions {
  webSocket: WebSocket;
  /** The connection below the WebSocket. */
  tcp: Socket;
  /** The key that limits apply to; see `toLimitKey`. */
  address: string;
  parts: GatewayParts;
  /** When what waited is written, for all clients together. */
  writes: Rounds;
  /** Called when it has said who it is. */
  onKnown: (client: SocketClient) => void;
}

interface Known {
  readonly deviceId: string;
  /** The scopes that it asked for; the device may have fewer now than it had then. */
  readonly wanted: readonly GatewayScope[];
  readonly abilities: Client["abilities"];
}

const noScopes: ReadonlySet<GatewayScope> = new Set();

export class SocketClient implements Client {
  readonly connectionId: string;
  readonly #options: SocketClientOptions;
  readonly #nonce = randomBytes(32).toString("hex");
  /** Ends the time in which it has to say who it is. */
  readonly #endConnect: () => void;
  #known: Known | undefined;
  readonly #requests: RequestQueue<RequestFrame>;
  readonly #writes: HeldWrites;
  #missedPings = 0;
  /** How much the client had been sent at the last ping. */
  #sentBytes = 0;

  constructor(options: SocketClientOptions) {
    const { webSocket, tcp, parts } = options;
    this.#options = options;
    this.#writes = new HeldWrites(tcp, options.writes);
    this.connectionId = parts.ids();
    const cancelTimer = parts.clock.setTimer(connectMs, () => this.close(1008, "connect did not come in time"));
    const bytesBefore = tcp.bytesRead;
    const onData = () => {
      if (tcp.bytesRead - bytesBefore > maxConnectBytes) this.terminate();
    };
    tcp.on("data", onData);
    this.#endConnect = () => {
      cancelTimer();
      tcp.off("data", onData);
    };
    this.#requests = new RequestQueue<RequestFrame>({
      maxRunning: maxRequestsAtATime,
      maxReading: maxReadsAtATime,
      isReading: ({ method }) => isGatewayMethod(method) && methodScopes[method] === "read",
      isFull: () => this.bufferedBytes > maxBufferedBytes,
      run: (frame) => this.#serve(frame),
      setPaused: (isPaused) => (isPaused ? webSocket.pause() : webSocket.resume()),
    });
    webSocket.on("message", (data, isBinary) => this.#take(data, isBinary));
    // Each is answered, which a client that does not read makes us keep.
    webSocket.on("ping", () => this.#requests.advance());
    tcp.on("drain", () => this.#requests.advance());
    webSocket.on("pong", () => (this.#missedPings = 0));
    webSocket.on("close", this.#endConnect);
    // It is closed with the code that the error asks for: 1002, 1007 or 1009. What strangers send would fill the log.
    webSocket.on("error", (error) => {
      if (this.#known) parts.log(`${this.deviceId} sent a faulty frame: ${getErrorMessage(error)}`);
    });
    const payload = { nonce: this.#nonce, protocol: { min: gatewayProtocol, max: gatewayProtocol } };
    this.send(encodeFrame({ type: "event", event: "connect.challenge", payload }));
  }

  get deviceId(): string {
    return this.#known?.deviceId ?? "";
  }

  get scopes(): ReadonlySet<GatewayScope> {
    const known = this.#known;
    const device = known && this.#options.parts.devices.get(known.deviceId);
    return device ? new Set(device.scopes.filter((scope) => known.wanted.includes(scope))) : noScopes;
  }

  get abilities(): Client["abilities"] {
    return this.#known?.abilities ?? { approvals: false, ui: false };
  }

  setAbilities(abilities: Client["abilities"]): void {
    if (this.#known) this.#known = { ...this.#known, abilities };
  }

  get bufferedBytes(): number {
    return this.#options.webSocket.bufferedAmount;
  }

  /** `ws` writes whole frames too, and at once: nothing is compressed. So ours stand before or after them. */
  send({ message }: EncodedFrame, canWait = false): void {
    if (!this.#isOpen) return;
    this.#options.tcp.write(message);
    if (canWait) this.#writes.hold();
    else this.#writes.flush();
  }

  close(code: number, reason: string): void {
    const { webSocket, parts } = this.#options;
    webSocket.close(code, reason);
    this.#writes.flush();
    // A client that does not read does not answer either.
    const cancel = parts.clock.setTimer(closeMs, () => this.terminate());
    webSocket.once("close", cancel);
  }

  /** Without waiting for the client. */
  terminate(): void {
    this.#options.webSocket.terminate();
  }

  /** Ends a connection whose other end has not answered for a while: it may be gone without a word. */
  ping(): void {
    if (this.#missedPings >= maxMissedPings) return this.terminate();
    this.#missedPings = this.#isReading() ? 0 : this.#missedPings + 1;
    if (this.#isOpen) this.#options.webSocket.ping();
  }

  onClosed(listener: () => void): () => void {
    const { webSocket } = this.#options;
    if (webSocket.readyState === webSocket.CLOSED) return callSoon(listener);
    webSocket.once("close", listener);
    return () => webSocket.off("close", listener);
  }

  /** While nothing is read of the connection, its pongs are not either. Then it matters whether the client reads. */
  #isReading(): boolean {
    const { tcp } = this.#options;
    const before = this.#sentBytes;
    this.#sentBytes = tcp.bytesWritten - tcp.writableLength;
    return this.#requests.isPaused && (tcp.writableLength === 0 || this.#sentBytes !== before);
  }

  #take(data: RawData, isBinary: boolean): void {
    this.#missedPings = 0;
    // In one piece, because `binaryType` is that of Node.
    const frame = isBinary ? undefined : parseFrame((data as Buffer).toString());
    if (frame) this.#requests.add(frame);
    else if (this.#isOpen) this.close(1008, "not a frame of the protocol");
  }

  async #serve(frame: RequestFrame): Promise<void> {
    const { parts } = this.#options;
    if (!this.#isOpen) return;
    const afterResponse: (() => void)[] = [];
    try {
      const payload = this.#known ? await this.#call(frame, afterResponse) : await this.#connect(frame);
      this.#answer({ type: "res", id: frame.id, ok: true, payload });
      for (const act of afterResponse) act();
    } catch (error) {
      const fault = toFault(error);
      if (fault.code === "internal") parts.log(`${frame.method}: ${getErrorMessage(error)}`);
      this.#answer({ type: "res", id: frame.id, ok: false, error: fault });
      if (!this.#known) this.close(1008, fault.code);
    }
  }

  get #isOpen(): boolean {
    const { webSocket } = this.#options;
    return webSocket.readyState === webSocket.OPEN;
  }

  #answer(frame: ResponseFrame): void {
    this.send(encodeFrame(frame));
  }

  async #call(frame: RequestFrame, later: (() => void)[]): Promise<unknown> {
    const { parts } = this.#options;
    // Closes clients whose device was removed a moment ago: they have no scopes.
    parts.devices.refresh();
    if (parts.isStopping() && mayBeginWork(frame.method)) throw createStoppingError();
    const afterResponse = (act: () => void) => void later.push(act);
    return await callMethod({ client: this, requestId: frame.id, afterResponse, parts }, frame);
  }

  async #connect({ method, params }: RequestFrame): Promise<HelloData> {
    const { parts, address, onKnown } = this.#options;
    if (method !== "connect") throw new GatewayError("unauthorized", "Before `connect`, nothing else is answered.");
    const wanted = parseConnect(params ?? {});
    const device = parts.devices.checkProof(wanted.deviceId, this.#nonce, wanted.proof);
    if (!device) throw createWrongTokenError(parts.guesses, address);
    this.#endConnect();
    const scopes = device.scopes.filter((scope) => wanted.scopes?.includes(scope) ?? true);
    const { approvals = false, ui = false } = wanted.abilities ?? {};
    this.#known = { deviceId: device.id, wanted: wanted.scopes ?? device.scopes, abilities: { approvals, ui } };
    onKnown(this);
    parts.connections.add(this);
    const sessions = scopes.includes("read") ? parts.sessions.list() : [];
    return {
      type: "hello-ok",
      protocol: gatewayProtocol,
      server: { version: parts.version, connectionId: this.connectionId },
      deviceId: device.id,
      scopes,
      features: { methods: [...gatewayMethods], events: [...gatewayEventNames, ...wireEventNames] },
      limits,
      roots: scopes.includes("write") ? [...parts.sessions.roots] : [],
      snapshot: { sessions, approvals: sessions.reduce((sum, { approvals: open }) => sum + open, 0) },
    };
  }
}
