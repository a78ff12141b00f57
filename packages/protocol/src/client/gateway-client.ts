/** A client of a gateway that stays connected: it comes back after any disconnect, and nothing is lost or done twice. */
import type { Clock, Ids, Random } from "@tau/ai";
import { WebSocket } from "#web-socket";
import type {
  DialogFrame,
  EventFrame,
  Frame,
  GatewayEventFrame,
  RequestFrame,
  SessionEventFrame,
  SnapshotFrame,
} from "../gateway/frame.ts";
import type { ConnectParams, GatewayMethod, HelloData, MethodData, MethodParams } from "../gateway/methods.ts";
import { importToken, type SigningKey } from "../gateway/proof.ts";
import { getRetryDelayMs } from "./backoff.ts";
import { type CallOptions, Calls } from "./calls.ts";
import { type ClientSocket, Connection } from "./connection.ts";
import { hasEffect } from "./effects.ts";
import { GatewayClientError } from "./errors.ts";
import { RemoteSession, type SessionPort } from "./remote-session.ts";
import { Signal } from "./signal.ts";
import { ownClock } from "./timers.ts";

export interface GatewayClientOptions {
  /** Such as `ws://127.0.0.1:7433`; `http:` and `https:` are read as `ws:` and `wss:`. */
  url: string;
  deviceId: string;
  /** The device's token, or the key that it was imported as. */
  key: SigningKey | string;
  /** The name of this client in the gateway's log. Default: `tau-client`. */
  client?: ConnectParams["client"];
  /** Default: all that the device has. */
  scopes?: NonNullable<ConnectParams["scopes"]>;
  /** Whether this client answers questions of the policy, and dialogs of extensions. Default: neither. */
  abilities?: NonNullable<ConnectParams["abilities"]>;
  clock?: Clock;
  random?: Random;
  /** Makes idempotency keys. */
  ids?: Ids;
  /** Default: the platform's WebSocket. */
  createSocket?: (url: string) => ClientSocket;
}

/** The state that an interface shows. Times are in milliseconds since the epoch. */
export type ClientState =
  | { readonly kind: "connecting" }
  | { readonly kind: "open"; readonly hello: HelloData }
  /** The connection was lost or did not come about; it is tried again. */
  | { readonly kind: "waiting"; readonly retryAt: number; readonly reason: GatewayClientError }
  /** Trying again would not help: the device is not known, or speaks another version. */
  | { readonly kind: "refused"; readonly reason: GatewayClientError }
  | { readonly kind: "closed" };

/** A method may be called without parameters when it needs none. */
export type CallArgs<Name extends GatewayMethod> =
  Record<never, never> extends MethodParams<Name>
    ? [params?: MethodParams<Name>, options?: CallOptions]
    : [params: MethodParams<Name>, options?: CallOptions];

/** A connection that lasted this long was a good one: the next failure is the first. */
const stableMs = 10_000;

const closedError = (): GatewayClientError =>
  new GatewayClientError({ code: "closed", message: "The client was closed.", retryable: false });
const disconnectedError = (): GatewayClientError =>
  new GatewayClientError({ code: "disconnected", message: "There is no connection to the gateway.", retryable: true });

export class GatewayClient {
  readonly #options: Required<Omit<GatewayClientOptions, "key" | "scopes" | "abilities">>;
  #greeting: Pick<ConnectParams, "client" | "scopes" | "abilities">;
  readonly #key: SigningKey | string;
  /** The key of a token, which is made for the first connection. */
  #imported: Promise<SigningKey> | undefined;
  readonly #calls = new Calls();
  readonly #sessions = new Map<string, RemoteSession>();
  readonly #states = new Signal<ClientState>();
  readonly #events = new Signal<GatewayEventFrame>();
  #state: ClientState = { kind: "closed" };
  #connection: Connection | undefined;
  /** Tries that failed in a row. */
  #failures = 0;
  #openedAt: number | undefined;
  /** The time until a stopping gateway is back, as it announced it. */
  #restartMs: number | undefined;
  #cancelRetry = () => {};

  constructor({ key, scopes, abilities, ...options }: GatewayClientOptions) {
    this.#options = {
      client: { name: "tau-client", version: "1" },
      clock: ownClock,
      random: Math.random,
      ids: () => crypto.randomUUID(),
      createSocket: (url) => new WebSocket(url) as ClientSocket,
      ...options,
      url: toSocketUrl(options.url),
    };
    this.#greeting = { client: this.#options.client, ...(scopes && { scopes }), ...(abilities && { abilities }) };
    this.#key = key;
  }

  get state(): ClientState {
    return this.#state;
  }

  /** Undefined while there is no connection. */
  get hello(): HelloData | undefined {
    return this.#state.kind === "open" ? this.#state.hello : undefined;
  }

  onState(listener: (state: ClientState) => void): () => void {
    return this.#states.add(listener);
  }

  /** Adds a listener for events of the gateway itself, not of a session that this client follows. */
  onGatewayEvent(listener: (frame: GatewayEventFrame) => void): () => void {
    return this.#events.add(listener);
  }

  /**
   * Connects, and stays connected until `close`. Resolves with the first hello; rejects if the first try fails, after which
   * the client continues trying unless it was refused. A connection that there is already is left for a new one.
   */
  connect(): Promise<HelloData> {
    return new Promise((resolve, reject) => {
      const stop = this.onState((state) => {
        if (state.kind === "connecting") return;
        stop();
        if (state.kind === "open") resolve(state.hello);
        else reject(state.kind === "closed" ? closedError() : state.reason);
      });
      this.#open();
    });
  }

  /** Tries again now, or finds out whether the connection still holds: after the machine slept, or somebody asked for it. */
  wake(): void {
    if (this.#state.kind === "waiting" || this.#state.kind === "refused") this.#open();
    else this.#connection?.probe();
  }

  /**
   * Asks something. Without a connection it waits for one, unless `isLasting` is false. What was sent and not answered when
   * the connection was lost is sent again; if it has an effect, with the same key, so that it has it once.
   */
  call<Name extends GatewayMethod>(method: Name, ...[params, options]: CallArgs<Name>): Promise<MethodData<Name>> {
    return this.#call(method, { ...params }, options) as Promise<MethodData<Name>>;
  }

  /** A session, which is followed from now on until its `close`. Two calls with the same id get the same object. */
  session(id: string): RemoteSession {
    const known = this.#sessions.get(id);
    if (known) return known;
    const session = new RemoteSession(id, this.#port);
    this.#sessions.set(id, session);
    if (this.#state.kind === "open") void session.subscribe();
    return session;
  }

  /** Leaves. What waits for an answer is rejected. */
  close(): void {
    this.#cancelRetry();
    this.#connection?.close();
    this.#connection = undefined;
    for (const session of this.#sessions.values()) session.suspend();
    this.#calls.failAll(closedError());
    this.#set({ kind: "closed" });
  }

  readonly #port: SessionPort = {
    call: (method, params, options) => this.#call(method as GatewayMethod, params, options),
    setTimer: (afterMs, fire) => this.#options.clock.setTimer(afterMs, fire),
    release: (sessionId) => {
      this.#sessions.delete(sessionId);
      // Without an answer that anybody waits for: a lost connection ends the subscription too.
      this.#call("sessions.unsubscribe", { sessionId }, { isLasting: false }).catch(ignoreLoss);
    },
  };

  #call(method: GatewayMethod, params: Record<string, unknown>, options: CallOptions = {}): Promise<unknown> {
    const state = this.#state;
    if (state.kind === "closed") return Promise.reject(closedError());
    if (state.kind !== "open" && options.isLasting === false) return Promise.reject(disconnectedError());
    if (state.kind === "refused") return Promise.reject(state.reason);
    const keyed = hasEffect(method) ? { idempotencyKey: this.#options.ids(), ...params } : params;
    const { frame, answer } = this.#calls.add(method, keyed, options);
    if (state.kind === "open") this.#send(frame);
    return method === "session.initialize" ? this.#keepAbilities(answer) : answer;
  }

  /** The gateway forgets what a client can do when the connection is lost, so the next one begins with it. */
  async #keepAbilities(answer: Promise<unknown>): Promise<unknown> {
    const abilities = (await answer) as MethodData<"session.initialize">;
    this.#greeting = { ...this.#greeting, abilities };
    return abilities;
  }

  #send(frame: RequestFrame): void {
    const { hello } = this;
    // Its caller may have given up.
    if (!hello || !this.#calls.has(frame.id)) return;
    const text = JSON.stringify(frame);
    const { maxPayloadBytes } = hello.limits;
    // The gateway would close the connection, and the next one too.
    if (new TextEncoder().encode(text).length > maxPayloadBytes) {
      const message = `${frame.method} is larger than the ${maxPayloadBytes} bytes that the gateway takes.`;
      return this.#calls.fail(frame.id, { code: "too_large", message, retryable: false });
    }
    this.#connection?.send(text);
  }

  #open(): void {
    this.#cancelRetry();
    if (this.#connection) {
      this.#connection.close();
      this.#connection = undefined;
      for (const session of this.#sessions.values()) session.suspend();
      this.#calls.suspend(disconnectedError());
    }
    this.#openedAt = undefined;
    this.#set({ kind: "connecting" });
    void this.#openSocket();
  }

  async #openSocket(): Promise<void> {
    const { url, createSocket, deviceId, clock } = this.#options;
    // `close` or another try came first.
    const isOver = () => this.#state.kind !== "connecting" || this.#connection !== undefined;
    try {
      const key = typeof this.#key === "string" ? await (this.#imported ??= importToken(this.#key)) : this.#key;
      if (isOver()) return;
      this.#connection = new Connection(
        { socket: createSocket(url), deviceId, key, greeting: this.#greeting, clock },
        {
          onOpen: (hello) => this.#takeHello(hello),
          onFrame: (frame) => this.#take(frame),
          onLost: (error) => this.#takeLoss(error),
        },
      );
    } catch (error) {
      if (isOver()) return;
      const message = `The gateway ${url} cannot be connected to: ${error instanceof Error ? error.message : String(error)}`;
      this.#refuse(new GatewayClientError({ code: "unreachable", message, retryable: false }, { cause: error }));
    }
  }

  #refuse(reason: GatewayClientError): void {
    this.#calls.failAll(reason);
    this.#set({ kind: "refused", reason });
  }

  #takeHello(hello: HelloData): void {
    this.#openedAt = this.#options.clock.monotonic();
    this.#restartMs = undefined;
    this.#set({ kind: "open", hello });
    // First, so that what the calls below cause is seen.
    for (const session of this.#sessions.values()) if (session.state.kind !== "closed") void session.subscribe();
    for (const frame of this.#calls.getLasting()) this.#send(frame);
  }

  #takeLoss(error: GatewayClientError): void {
    this.#connection = undefined;
    const { clock, random } = this.#options;
    for (const session of this.#sessions.values()) session.suspend();
    if (!error.retryable) return this.#refuse(error);
    this.#calls.suspend(disconnectedError());
    const wasStable = this.#openedAt !== undefined && clock.monotonic() - this.#openedAt >= stableMs;
    this.#failures = wasStable ? 1 : this.#failures + 1;
    const retryAfterMs = error.retryAfterMs ?? this.#restartMs;
    const delayMs = getRetryDelayMs({ failures: this.#failures, retryAfterMs, random: random() });
    this.#cancelRetry = clock.setTimer(delayMs, () => this.#open());
    this.#set({ kind: "waiting", retryAt: clock.now() + delayMs, reason: error });
  }

  #take(frame: Frame): void {
    if (frame.type === "res") return this.#calls.take(frame);
    if (frame.type === "req") return;
    if (isSessionFrame(frame)) return this.#sessions.get(String(frame.payload.sessionId))?.take(frame);
    if (isDialogFrame(frame)) return this.#sessions.get(frame.payload.sessionId)?.takeUi(frame);
    if (frame.event === "session.closed") this.#sessions.get(frame.payload.sessionId)?.takeClosed(frame.payload.reason);
    if (frame.event === "session.waiting") {
      this.#sessions.get(frame.payload.sessionId)?.takePlaceInLine(frame.payload.position);
    }
    if (frame.event === "session.bash.output") this.#calls.takeOutput(frame.payload.id, frame.payload.delta);
    if (frame.event === "gateway.stopping") this.#restartMs = frame.payload.restartExpectedMs;
    this.#events.emit(frame);
  }

  #set(state: ClientState): void {
    this.#state = state;
    this.#states.emit(state);
  }
}

const isSessionFrame = (frame: EventFrame): frame is SessionEventFrame | SnapshotFrame => "seq" in frame;

const isDialogFrame = (frame: GatewayEventFrame): frame is DialogFrame => frame.event.startsWith("session.dialog.");

function ignoreLoss(error: unknown): void {
  if (!(error instanceof GatewayClientError)) throw error;
}

function toSocketUrl(url: string): string {
  const parsed = new URL(url);
  if (parsed.protocol === "http:") parsed.protocol = "ws:";
  if (parsed.protocol === "https:") parsed.protocol = "wss:";
  return parsed.href;
}
