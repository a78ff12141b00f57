import type { Clock } from "../clock.ts";
import type { Context } from "../context.ts";
import type { AssistantMessageEvent } from "../event.ts";
import type { Failure } from "../failure.ts";
import type { Api, Model } from "../model.ts";
import type { SimpleStreamOptions, StreamOptions } from "../options.ts";
import type { Env } from "../platform/platform.ts";
import type { HttpRequest, HttpResponse } from "../transport/http.ts";
import type { Draft } from "./draft.ts";

/** A message of a provider's stream. `data` is parsed JSON; `event` is the event name, if there is one. */
export interface Frame {
  event?: string;
  data: unknown;
}

/**
 * How a response body is split into frames: as server-sent events with JSON, or by a framer of the protocol's own. With `text`
 * nothing is parsed: a frame is the data of a server-sent event, without an event name, or, if the body is not a stream, the whole
 * body as event `document`.
 */
export type Framing = "sse" | "text" | (() => Framer);

export interface Framer {
  push(chunk: Uint8Array): Frame[];
  end(): Frame[];
  /** Why the rest of the stream cannot be read, if it is damaged. */
  readonly damage: string | undefined;
}

/** A request without credentials and base URL. */
export interface EncodedRequest {
  /** Appended to the model's base URL. Starts with `/`, or is empty. */
  path: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  payload: Record<string, unknown>;
  /** A note for each thing that could not be expressed and was left out. */
  notes: EncodeNote[];
}

/** A note that becomes a diagnostic of the answer. */
export interface EncodeNote {
  type: string;
  message: string;
  details?: Record<string, unknown>;
}

/** How a request is sent over a WebSocket. */
export interface SocketRequest {
  /** The payload that HTTP would send as the body. */
  payload: unknown;
  /** Keeps the connection for the next request of the session. */
  isKept: boolean;
  sessionId: string | undefined;
  /** Headers in place of those of the HTTP request. */
  headers?: Record<string, string>;
  signal: AbortSignal;
  env: Env;
  clock: Clock;
}

/** `unavailable`: nothing of an answer has arrived, and the request can be sent over HTTP. `reason` is a part of a sentence. */
export type SocketAnswer = { kind: "answer"; response: HttpResponse } | { kind: "unavailable"; reason: string };

/** The data that `authorize` may use. */
export interface AuthContext<TOptions extends StreamOptions = StreamOptions> {
  model: Model;
  options: TOptions;
  /** The key from the options or the provider's environment variable. */
  apiKey: string | undefined;
  /** Looks up an environment variable: first in the request's `env`, then in the process's environment. */
  env: Env;
  clock: Clock;
}

/**
 * A wire protocol. `encode` and `step` use no I/O, no clock and no hidden state: the same inputs give the same outputs.
 * `step` writes into the draft of its state, which owns the live message.
 */
export interface Protocol<TOptions extends StreamOptions = StreamOptions, TState = unknown> {
  readonly api: Api;
  readonly framing: Framing;
  /** Turns the shared options into this protocol's options. Resolves the thinking level. */
  resolveOptions(model: Model, options: SimpleStreamOptions): TOptions;
  encode(model: Model, context: Context, options: TOptions): EncodedRequest;
  /** The base URL, without a trailing slash. Default: the model's base URL, filled from the environment. */
  baseUrl?(model: Model, options: TOptions, env: Env): string;
  /** Adds credentials; may change the URL if it depends on them. Throws `MissingCredentials` if there are none. */
  authorize(request: HttpRequest, auth: AuthContext<TOptions>): HttpRequest | Promise<HttpRequest>;
  /** Sends a request over a WebSocket, with the frames of the answer as server-sent events. Absent if there is no such API. */
  sendOverSocket?(request: HttpRequest, options: SocketRequest): Promise<SocketAnswer>;
  /** Creates the state for one response. */
  start(draft: Draft): TState;
  /** Processes one frame and returns its events. Unknown frames give no events. Never throws, whatever the frame. */
  step(state: TState, frame: Frame): AssistantMessageEvent[];
  /** Completes an answer whose body ended without damage and without a stop reason. Absent: such an answer fails. */
  finish?(state: TState): AssistantMessageEvent[];
  /** A better message for a failure, shown to the user. Undefined keeps the message. */
  explain?(failure: Failure): string | undefined;
}

export interface ProtocolRequest {
  model: Model;
  context: Context;
  /** Returns the protocol's options. A function, because resolving them may need the loaded protocol. */
  options: (protocol: Protocol) => StreamOptions;
  clock: Clock | undefined;
}

/** Checks the types of a protocol's options and state. */
export function defineProtocol<TOptions extends StreamOptions, TState>(
  protocol: Protocol<TOptions, TState>,
): Protocol<TOptions, TState> {
  return protocol;
}

/** Thrown if credentials are missing or unusable. The message tells the user what to set. */
export class MissingCredentials extends Error {
  override readonly name = "MissingCredentials";
}
