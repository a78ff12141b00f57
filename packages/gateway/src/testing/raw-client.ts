/** A client that hides nothing: it shows every frame as it came. */
import {
  createProof,
  type EventFrame,
  type Frame,
  gatewayProtocol,
  importToken,
  type ResponseFrame,
} from "@tau/protocol/gateway";
import { WebSocket } from "ws";

export interface RawClient {
  socket: WebSocket;
  /** All frames so far, in the order they came. */
  frames: Frame[];
  /** Sends a request, and resolves with its response. */
  call(method: string, params?: Record<string, unknown>): Promise<ResponseFrame>;
  /** Calls a method like `call`, and throws for an error. */
  must<T = unknown>(method: string, params?: Record<string, unknown>): Promise<T>;
  events(): EventFrame[];
  /** Resolves when the socket is closed, with the code. */
  closed: Promise<number>;
  close(): void;
}

export interface RawClientOptions {
  token: string;
  deviceId?: string;
  headers?: Record<string, string>;
  /** Besides, in `connect`. */
  connect?: Record<string, unknown>;
}

/** Opens a connection without `connect`. */
export async function openRaw(url: string, headers: Record<string, string> = {}): Promise<RawClient> {
  const socket = new WebSocket(url, { headers, perMessageDeflate: false });
  const frames: Frame[] = [];
  const waiting = new Map<string, { settle: (frame: ResponseFrame) => void; fail: (code: number) => void }>();
  let lastId = 0;
  let onFirst: () => void;
  const first = new Promise<void>((resolve, reject) => {
    onFirst = resolve;
    socket.once("error", reject);
  });
  socket.on("message", (data: Buffer) => {
    const frame = JSON.parse(data.toString()) as Frame;
    frames.push(frame);
    onFirst();
    if (frame.type !== "res") return;
    waiting.get(frame.id)?.settle(frame);
    waiting.delete(frame.id);
  });
  const closed = new Promise<number>((resolve) => socket.once("close", resolve));
  // Once for all calls: one reaction for each would be kept as long as the connection.
  void closed.then((code) => waiting.forEach(({ fail }) => fail(code)));
  const client: RawClient = {
    socket,
    frames,
    call(method, params = {}) {
      const id = String(++lastId);
      const answer = new Promise<ResponseFrame>((settle, reject) => {
        const fail = (code: number) =>
          reject(new Error(`The socket was closed with ${code} before ${method} was answered.`));
        if (socket.readyState === WebSocket.CLOSED) void closed.then(fail);
        else waiting.set(id, { settle, fail });
      });
      socket.send(JSON.stringify({ type: "req", id, method, params }));
      return answer;
    },
    async must<T>(method: string, params?: Record<string, unknown>) {
      const response = await client.call(method, params);
      if (!response.ok) throw Object.assign(new Error(`${method}: ${response.error.message}`), response.error);
      return response.payload as T;
    },
    events: () => frames.filter((frame): frame is EventFrame => frame.type === "event"),
    closed,
    close: () => socket.close(),
  };
  await first;
  return client;
}

/** Opens a connection and says who it is. */
export async function connectRaw(url: string, options: RawClientOptions): Promise<RawClient> {
  const { token, deviceId = "local", headers, connect } = options;
  const client = await openRaw(url, headers);
  const [challenge] = client.events();
  const { nonce } = challenge!.payload as { nonce: string };
  await client.must("connect", {
    minProtocol: gatewayProtocol,
    maxProtocol: gatewayProtocol,
    client: { name: "test", version: "1" },
    deviceId,
    proof: await createProof(await importToken(token), { nonce, deviceId }),
    abilities: { approvals: true },
    ...connect,
  });
  return client;
}
