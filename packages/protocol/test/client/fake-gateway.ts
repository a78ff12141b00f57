/** A gateway without a network, whose connections can be cut at any frame. */
import { emptyView, type EventPosition, reduce, type SessionEvent, type View, wrapEvent } from "../../src/index.ts";
import type { ClientSocket } from "../../src/client/index.ts";
import type { Frame, HelloData, RequestFrame, ResponseFrame } from "../../src/gateway/index.ts";

type Listener = (event: { data: unknown } & object) => void;

/** An end of a connection. Frames are delivered one after the other, each in a microtask of its own. */
export class FakeSocket implements ClientSocket {
  readonly #server: FakeGateway;
  readonly #listeners = new Map<string, Listener[]>();
  /** How many frames, in both directions, get through before the connection is cut. */
  framesLeft: number;
  isOpen = true;
  /** Neither frames nor the end of the connection get through. */
  isSilent = false;
  isFollowing = false;

  constructor(server: FakeGateway, framesLeft: number) {
    this.#server = server;
    this.framesLeft = framesLeft;
  }

  addEventListener(type: string, listener: Listener): void {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener]);
  }

  send(text: string): void {
    queueMicrotask(() => {
      if (this.#passes()) this.#server.take(this, JSON.parse(text) as RequestFrame);
    });
  }

  close(): void {
    this.isOpen = false;
  }

  deliver(frame: Frame): void {
    const data = JSON.stringify(frame);
    queueMicrotask(() => {
      if (this.#passes()) this.emit("message", data);
    });
  }

  cut(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.emit("close");
  }

  emit(type: string, data?: unknown): void {
    if (this.isSilent) return;
    for (const listener of this.#listeners.get(type) ?? []) listener({ data });
  }

  #passes(): boolean {
    if (!this.isOpen || this.isSilent) return false;
    if (this.framesLeft-- > 0) return true;
    this.cut();
    return false;
  }
}

export class FakeGateway {
  readonly sockets: FakeSocket[] = [];
  /** The next connections are cut after so many frames; later ones never. */
  cuts: number[] = [];
  /** How a proof is answered; undefined accepts it. */
  refusal: (ResponseFrame & { ok: false })["error"] | undefined;
  protocol = { min: 2, max: 2 };
  /** How many events are kept for clients that were away. */
  ringSize = 5;
  /** Every message that a prompt has brought in. */
  readonly prompts: string[] = [];
  /** Every request that came through. */
  readonly requests: RequestFrame[] = [];
  view: View = emptyView;
  #epoch = 1;
  #events: { event: SessionEvent; position: EventPosition }[] = [];
  readonly #answers = new Map<string, unknown>();

  connect = (): FakeSocket => {
    const socket = new FakeSocket(this, this.cuts.shift() ?? Number.POSITIVE_INFINITY);
    this.sockets.push(socket);
    const payload = { nonce: String(this.sockets.length), protocol: this.protocol };
    socket.deliver({ type: "event", event: "connect.challenge", payload });
    return socket;
  };

  emit(event: SessionEvent): void {
    this.view = reduce(this.view, event);
    const position = { epoch: String(this.#epoch), seq: this.#events.length + 1, stateVersion: 0 };
    this.#events.push({ event, position });
    for (const socket of this.sockets) if (socket.isFollowing) socket.deliver(wrapEvent(event, "s", position));
  }

  /** Another process takes over: what was live is gone, and numbers begin again. */
  restart(): void {
    this.#epoch++;
    this.#events = [];
    this.view = { ...emptyView, log: this.view.log };
    for (const socket of this.sockets) {
      socket.isFollowing = false;
      socket.cut();
    }
  }

  take(socket: FakeSocket, { id, method, params = {} }: RequestFrame): void {
    this.requests.push({ type: "req", id, method, params });
    if (method === "connect" && this.refusal) {
      socket.deliver({ type: "res", id, ok: false, error: this.refusal });
      return queueMicrotask(() => socket.cut());
    }
    socket.deliver({ type: "res", id, ok: true, payload: this.#answer(method, params) });
    if (method === "sessions.subscribe") this.#follow(socket, params["resume"] as Cursor | undefined);
  }

  #answer(method: string, params: Record<string, unknown>): unknown {
    if (method === "connect") return hello;
    if (method === "sessions.subscribe") return { resumed: this.#canResume(params["resume"] as Cursor | undefined) };
    const key = params["idempotencyKey"];
    if (typeof key !== "string") return {};
    if (!this.#answers.has(key)) {
      this.prompts.push(String(params["message"]));
      this.emit({ type: "notice", code: "prompt", message: String(params["message"]) });
      this.#answers.set(key, { messageId: key });
    }
    return this.#answers.get(key);
  }

  #canResume(from: Cursor | undefined): boolean {
    return from?.epoch === String(this.#epoch) && this.#events.length - from.lastSeq <= this.ringSize;
  }

  #follow(socket: FakeSocket, from: Cursor | undefined): void {
    const epoch = String(this.#epoch);
    if (this.#canResume(from)) {
      for (const { event, position } of this.#events.slice(from!.lastSeq)) {
        socket.deliver(wrapEvent(event, "s", position));
      }
    } else {
      const position = { epoch, seq: this.#events.length, stateVersion: 0 };
      const payload = { sessionId: "s", view: this.view };
      socket.deliver({ type: "event", event: "session.snapshot", payload, ...position });
    }
    socket.isFollowing = true;
  }
}

type Cursor = { epoch: string; lastSeq: number };

const hello: HelloData = {
  type: "hello-ok",
  protocol: 2,
  server: { version: "1", connectionId: "c" },
  deviceId: "local",
  scopes: ["read", "write"],
  features: { methods: [], events: [] },
  limits: { maxPayloadBytes: 1_000, maxBufferedBytes: 1_000, pingIntervalMs: 15_000 },
  roots: [],
  snapshot: { sessions: [], approvals: 0 },
};
