/** A WebSocket to a gateway: it authenticates, and notices when the other side has gone without a word. */
import type { Clock } from "@tau/ai";
import { type ChallengePayload, type Frame, gatewayProtocol, type ResponseFrame } from "../gateway/frame.ts";
import type { ConnectParams, HelloData } from "../gateway/methods.ts";
import { createProof, type SigningKey } from "../gateway/proof.ts";
import { GatewayClientError } from "./errors.ts";

/** The part of a WebSocket that a client needs; those of browsers and of `ws` have it. */
export interface ClientSocket {
  send(text: string): void;
  close(code?: number, reason?: string): void;
  /** Only in Node: without waiting for the other side. */
  terminate?(): void;
  addEventListener(type: "message", listener: (event: { data: unknown }) => void): void;
  addEventListener(type: "close" | "error", listener: (event: object) => void): void;
}

interface ConnectionOptions {
  socket: ClientSocket;
  deviceId: string;
  key: SigningKey;
  /** The client's description of itself. */
  greeting: Pick<ConnectParams, "client" | "scopes" | "abilities">;
  clock: Clock;
}

interface ConnectionListener {
  onOpen(hello: HelloData): void;
  onFrame(frame: Frame): void;
  /** Called once, and nothing is called afterwards. Not called after `close`. */
  onLost(error: GatewayClientError): void;
}

/** How long it may take until the gateway has said hello. */
const helloMs = 10_000;
/** How long a gateway that was asked whether it is there may say nothing. */
const probeMs = 10_000;
const connectId = "connect";
const probeId = "probe";

const lost = (code: string, message: string): GatewayClientError =>
  new GatewayClientError({ code, message, retryable: true });

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #listener: ConnectionListener;
  #hello: HelloData | undefined;
  #isOver = false;
  #heardAt: number;
  /** Whether it was asked something since it was last heard. */
  #isAsking = false;
  #cancelTimer: () => void;

  constructor(options: ConnectionOptions, listener: ConnectionListener) {
    this.#options = options;
    this.#listener = listener;
    const { socket, clock } = options;
    this.#heardAt = clock.monotonic();
    this.#cancelTimer = clock.setTimer(helloMs, () =>
      this.#lose(lost("unreachable", "The gateway did not answer in time.")),
    );
    socket.addEventListener("message", ({ data }) => this.#take(data));
    socket.addEventListener("close", () => this.#loseSocket());
    // A `close` follows; without a listener, `ws` would throw.
    socket.addEventListener("error", (event) => this.#loseSocket(getMessage(event)));
  }

  send(text: string): void {
    this.#options.socket.send(text);
  }

  /** Leaves without notifying the listener. */
  close(): void {
    if (this.#isOver) return;
    this.#end();
    this.#options.socket.close(1000, "");
  }

  /** Finds out soon whether the gateway is still there, such as after the machine has slept. */
  probe(): void {
    if (!this.#hello || this.#isOver) return;
    this.#cancelTimer();
    this.#ask();
  }

  #take(data: unknown): void {
    if (this.#isOver) return;
    this.#heardAt = this.#options.clock.monotonic();
    this.#isAsking = false;
    const frame = parseFrame(data);
    if (!frame) return this.#lose(lost("invalid_frame", "The gateway sent something that is not a frame."));
    if (frame.type === "res" && frame.id === probeId) return;
    if (this.#hello) return this.#listener.onFrame(frame);
    if (frame.type === "res" && frame.id === connectId) return this.#takeHello(frame);
    if (frame.type === "event" && frame.event === "connect.challenge") this.#prove(frame.payload);
  }

  #prove(challenge: ChallengePayload): void {
    this.#answer(challenge).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      const message = `The gateway's challenge could not be answered: ${reason}`;
      this.#lose(new GatewayClientError({ code: "no_proof", message, retryable: false }, { cause: error }));
    });
  }

  async #answer({ nonce, protocol }: ChallengePayload): Promise<void> {
    const { key, deviceId, greeting } = this.#options;
    if (protocol.min > gatewayProtocol || protocol.max < gatewayProtocol) {
      const spoken = protocol.min === protocol.max ? protocol.max : `${protocol.min} to ${protocol.max}`;
      const message = `The gateway speaks version ${spoken} of the protocol, and this client version ${gatewayProtocol}. Update the older one.`;
      return this.#lose(new GatewayClientError({ code: "version", message, retryable: false }));
    }
    const proof = await createProof(key, { nonce, deviceId });
    if (this.#isOver) return;
    const versions = { minProtocol: gatewayProtocol, maxProtocol: gatewayProtocol };
    this.#request(connectId, "connect", { ...versions, ...greeting, deviceId, proof });
  }

  #takeHello(frame: ResponseFrame): void {
    if (!frame.ok) return this.#lose(new GatewayClientError(frame.error));
    this.#hello = frame.payload as HelloData;
    this.#listen();
    this.#listener.onOpen(this.#hello);
  }

  /** Browsers do not show pings, so a client that hears nothing for as long as a ping takes has to ask. */
  #listen(): void {
    const { clock } = this.#options;
    const intervalMs = this.#hello!.limits.pingIntervalMs;
    const waitMs = Math.max(1, this.#heardAt + intervalMs - clock.monotonic());
    this.#cancelTimer();
    this.#cancelTimer = clock.setTimer(waitMs, () => {
      if (clock.monotonic() - this.#heardAt >= intervalMs) this.#ask();
      else this.#listen();
    });
  }

  #ask(): void {
    this.#isAsking = true;
    this.#request(probeId, "health", {});
    this.#cancelTimer = this.#options.clock.setTimer(probeMs, () => {
      if (this.#isAsking) this.#lose(lost("unreachable", "The gateway has not been heard of for a while."));
      else this.#listen();
    });
  }

  #request(id: string, method: string, params: object): void {
    this.send(JSON.stringify({ type: "req", id, method, params }));
  }

  /** `detail`: what Node knows, and browsers do not report. */
  #loseSocket(detail = ""): void {
    const reason = detail === "" ? "." : `: ${detail}`;
    if (this.#hello) this.#lose(lost("disconnected", `The connection to the gateway was lost${reason}`));
    else this.#lose(lost("unreachable", `The gateway could not be reached${reason}`));
  }

  #lose(error: GatewayClientError): void {
    if (this.#isOver) return;
    this.#end();
    const { socket } = this.#options;
    // A peer that no longer answers would not answer a closing frame either.
    if (socket.terminate) socket.terminate();
    else socket.close();
    this.#listener.onLost(error);
  }

  #end(): void {
    this.#isOver = true;
    this.#cancelTimer();
  }
}

const getMessage = (event: object): string => ("message" in event ? String(event.message) : "");

function parseFrame(data: unknown): Frame | undefined {
  if (typeof data !== "string") return undefined;
  try {
    const frame = JSON.parse(data) as Frame | null;
    return frame?.type === "res" || frame?.type === "event" ? frame : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
