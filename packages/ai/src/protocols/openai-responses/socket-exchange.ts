/**
 * Sends requests of the Responses API over a WebSocket. A request is a message `response.create` with the payload of an HTTP
 * request, and the answer is the events that HTTP would stream, one a message. A connection that is kept remembers its last
 * answer, so that the next request of the session only needs the input that is new.
 */
import { platform } from "#platform";
import type { Clock } from "../../clock.ts";
import { toShortHash } from "../../hash.ts";
import { followSignal } from "../../internal/follow-signal.ts";
import { asRecord, asString, isRecord, tryParseJson } from "../../json.ts";
import type { HttpRequest, HttpResponse } from "../../transport/http.ts";
import type { Socket } from "../../transport/socket.ts";
import type { SocketAnswer, SocketRequest } from "../protocol.ts";
import { continueFrom, type Exchange } from "./continue.ts";

interface Connection {
  readonly socket: Socket;
  readonly openedAtMs: number;
  isBusy: boolean;
  last: Exchange | undefined;
}

/** The connections that are kept, by session; the one used last comes last. */
const connections = new Map<string, Connection>();
const maxConnections = 32;
/** OpenAI closes a connection after an hour. */
const maxAgeMs = 55 * 60_000;
/** How long the upgrade may take before HTTP is used instead. */
const handshakeMs = 15_000;

/** Addresses whose server has no WebSocket. */
const refusals = new Map<string, string>();
const isPermanent = (status: number | undefined) =>
  status !== undefined && [200, 400, 404, 405, 410, 415, 426, 501].includes(status);

export async function sendOverSocket(request: HttpRequest, options: SocketRequest): Promise<SocketAnswer> {
  const known = refusals.get(request.url);
  if (known !== undefined) return { kind: "unavailable", reason: known };
  const payload = toPayload(options.payload);
  if (!payload) return { kind: "unavailable", reason: "the payload is not an object" };
  const key = options.isKept && options.sessionId ? getKey(request, options.sessionId) : undefined;
  const kept = key === undefined ? undefined : findKept(key, options.clock);
  if (kept) {
    const answer = await continueOn(kept, payload, options);
    if (answer) return answer;
    drop(kept);
  }
  const opened = await open(request, options);
  if (opened.kind === "refused") {
    if (isPermanent(opened.status)) refusals.set(request.url, opened.reason);
    return { kind: "unavailable", reason: opened.reason };
  }
  const connection: Connection = {
    socket: opened.socket,
    openedAtMs: options.clock.monotonic(),
    isBusy: true,
    last: undefined,
  };
  // Another request of the session may use the one that is kept at the same time.
  const keeps = key !== undefined && !connections.has(key);
  if (keeps) keep(key, connection);
  const answer = await ask(connection, payload, payload, { ...options, isKept: keeps });
  return answer.kind === "closed" ? { kind: "unavailable", reason: `it was closed (${answer.reason})` } : answer.answer;
}

/** The transport of the answer is not a part of the payload. */
function toPayload(payload: unknown): Record<string, unknown> | undefined {
  if (!isRecord(payload)) return undefined;
  const { stream: _stream, background: _background, ...rest } = payload;
  return rest;
}

/** A session with another key or account has another connection. */
function getKey({ url, headers }: HttpRequest, sessionId: string): string {
  const own = Object.entries(headers).filter(([name]) => !/^(?:x|copilot)-/.test(name));
  return `${sessionId} ${url} ${toShortHash(JSON.stringify(own))}`;
}

function findKept(key: string, clock: Clock): Connection | undefined {
  const connection = connections.get(key);
  if (!connection || connection.isBusy) return undefined;
  if (connection.socket.isOpen && clock.monotonic() - connection.openedAtMs < maxAgeMs) {
    connections.delete(key);
    connections.set(key, connection);
    return connection;
  }
  drop(connection);
  return undefined;
}

function keep(key: string, connection: Connection): void {
  connections.set(key, connection);
  for (const other of connections.values()) {
    if (connections.size <= maxConnections) return;
    if (!other.isBusy) drop(other);
  }
}

function drop(connection: Connection): void {
  for (const [key, other] of connections) if (other === connection) connections.delete(key);
  connection.socket.close();
}

/** Undefined if the connection turns out to be of no use: it was closed meanwhile, or is too old for the server. */
async function continueOn(
  connection: Connection,
  payload: Record<string, unknown>,
  options: SocketRequest,
): Promise<SocketAnswer | undefined> {
  connection.isBusy = true;
  const continued = connection.last && continueFrom(connection.last, payload);
  let answer = await ask(connection, continued ?? payload, payload, options);
  if (answer.kind === "first" && answer.code === "previous_response_not_found")
    answer = await ask(connection, payload, payload, options);
  if (answer.kind === "closed" || answer.code === "websocket_connection_limit_reached") return undefined;
  return answer.answer;
}

async function open(request: HttpRequest, { signal, env, clock, headers }: SocketRequest) {
  const abort = new AbortController();
  const stop = followSignal(signal, (reason) => abort.abort(reason));
  let isLate = false;
  const cancelTimer = clock.setTimer(handshakeMs, () => {
    isLate = true;
    abort.abort();
  });
  try {
    const { "content-type": _type, accept: _accept, ...others } = request.headers;
    const target = { url: request.url, headers: { ...others, ...headers } };
    return await platform.openSocket(target, { signal: abort.signal, env });
  } catch (error) {
    if (!isLate) throw error;
    return { kind: "refused" as const, reason: `no answer within ${handshakeMs / 1_000} s`, status: undefined };
  } finally {
    cancelTimer();
    stop();
  }
}

type FirstMessage =
  | { kind: "closed"; reason: string }
  /** `code` is that of an error. */
  | { kind: "first"; code: string; answer: Extract<SocketAnswer, { kind: "answer" }> };

/** Sends a payload and waits for the first message of the answer. `whole` is the payload with all of its input. */
async function ask(
  connection: Connection,
  payload: Record<string, unknown>,
  whole: Record<string, unknown>,
  { signal, isKept }: SocketRequest,
): Promise<FirstMessage> {
  const { socket } = connection;
  connection.last = undefined;
  const messages = new MessageQueue();
  socket.listen(messages);
  socket.keepAlive(true);
  const stop = followSignal(signal, () => drop(connection));
  socket.send(JSON.stringify({ type: "response.create", ...payload }));
  const first = await messages.next();
  if (first === undefined) {
    stop();
    drop(connection);
    return { kind: "closed", reason: messages.closeReason };
  }
  const release = (exchange: Exchange | undefined) => {
    stop();
    connection.isBusy = false;
    connection.last = exchange;
    socket.listen({ message: () => undefined, close: () => drop(connection) });
    if (isKept && exchange) socket.keepAlive(false);
    else drop(connection);
  };
  const body = readAnswer(first, messages, { payload: whole, release });
  const response: HttpResponse = {
    status: 200,
    headers: {},
    body,
    discard: () => undefined,
    cut: () => drop(connection),
  };
  return { kind: "first", code: readErrorCode(first), answer: { kind: "answer", response } };
}

const readErrorCode = (message: string): string => {
  const data = lastEvent.test(message) ? asRecord(tryParseJson(message)) : {};
  return data["type"] === "error" ? asString(asRecord(data["error"])["code"]) : "";
};

const lastEvent = /"type":\s*"(?:error|response\.(?:completed|done|incomplete|failed|cancelled))"/;
const itemEvent = /"type":\s*"response\.output_item\.done"/;

/** The messages as server-sent events, until the last one of the answer. */
async function* readAnswer(
  first: string,
  messages: MessageQueue,
  { payload, release }: { payload: Record<string, unknown>; release: (exchange: Exchange | undefined) => void },
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  const output: Record<string, unknown>[] = [];
  let isReleased = false;
  try {
    for (let message: string | undefined = first; message !== undefined; message = await messages.next()) {
      if (itemEvent.test(message)) output.push(asRecord(asRecord(tryParseJson(message))["item"]));
      const isLast = lastEvent.test(message);
      if (isLast) {
        isReleased = true;
        release(toExchange(payload, message, output));
      }
      // Line breaks are only between the tokens of JSON.
      yield encoder.encode(`data: ${message.replace(/[\r\n]+/g, " ")}\n\n`);
      if (isLast) return;
    }
  } finally {
    if (!isReleased) release(undefined);
  }
}

/** Undefined if the server cannot continue from this answer. */
function toExchange(
  payload: Record<string, unknown>,
  message: string,
  output: readonly Record<string, unknown>[],
): Exchange | undefined {
  const { type, response } = asRecord(tryParseJson(message));
  const responseId = asString(asRecord(response)["id"]);
  const isComplete = type === "response.completed" || type === "response.done";
  return isComplete && responseId !== "" ? { payload, responseId, output } : undefined;
}

/** Messages that have arrived and were not read yet. */
class MessageQueue {
  readonly #waiting: string[] = [];
  #wake: () => void = () => undefined;
  #isClosed = false;
  closeReason = "";

  message(text: string): void {
    this.#waiting.push(text);
    this.#wake();
  }

  close(reason: string): void {
    this.#isClosed = true;
    this.closeReason = reason;
    this.#wake();
  }

  /** Undefined once the socket is closed. */
  async next(): Promise<string | undefined> {
    while (this.#waiting.length === 0 && !this.#isClosed) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    return this.#waiting.shift();
  }
}
