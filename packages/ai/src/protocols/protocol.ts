import type { Clock } from "../clock.ts";
import type { Context } from "../context.ts";
import type { AssistantMessageEvent } from "../event.ts";
import type { Failure } from "../failure.ts";
import type { Api, Model } from "../model.ts";
import type { SimpleStreamOptions, StreamOptions } from "../options.ts";
import type { Env } from "../platform/platform.ts";
import type { HttpRequest } from "../transport/http.ts";
import type { Draft } from "./draft.ts";

/** One message of a provider's stream. `data` is parsed JSON; `event` is the name it came under, if any. */
export interface Frame {
  event?: string;
  data: unknown;
}

/**
 * How a body is cut into frames. With `text` nothing is parsed: a frame is the data of a server-sent event, without a
 * name, or a whole body that is no stream, named `document`.
 */
export type Framing = "sse" | "aws-event-stream" | "text";

/** A request before credentials: what `encode` decides, and nothing that has to be looked up. */
export interface EncodedRequest {
  /** Appended to the model's base URL. Starts with `/`, or is empty. */
  path: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  payload: Record<string, unknown>;
  /** What could not be expressed and was left out. */
  notes: EncodeNote[];
}

/** Becomes a diagnostic of the answer. */
export interface EncodeNote {
  type: string;
  message: string;
  details?: Record<string, unknown>;
}

/** What `authorize` may look up. */
export interface AuthContext<TOptions extends StreamOptions = StreamOptions> {
  model: Model;
  options: TOptions;
  /** From the options or the provider's environment variable. */
  apiKey: string | undefined;
  /** One environment variable: the request's own `env` first, then the process's. */
  env: Env;
  clock: Clock;
}

/**
 * A wire protocol. `encode` and `step` are pure in the sense that matters: no I/O, no clock, no hidden state; the same
 * inputs give the same outputs. `step` writes into the state's draft, which owns the one live message.
 */
export interface Protocol<TOptions extends StreamOptions = StreamOptions, TState = unknown> {
  readonly api: Api;
  readonly framing: Framing;
  /** The options that every provider understands, in this protocol's own terms. Decides how the model thinks. */
  resolveOptions(model: Model, options: SimpleStreamOptions): TOptions;
  encode(model: Model, context: Context, options: TOptions): EncodedRequest;
  /** Where requests go, without a slash at the end. Default: the model's base URL, filled from the environment. */
  baseUrl?(model: Model, options: TOptions, env: Env): string;
  /** Adds credentials; may change the URL where they decide it. Throws `MissingCredentials` when there are none. */
  authorize(request: HttpRequest, auth: AuthContext<TOptions>): HttpRequest | Promise<HttpRequest>;
  /** A fresh state for one response. */
  start(draft: Draft): TState;
  /** Takes in one frame and returns what it means. Unknown frames mean nothing. Never throws on what a server sends. */
  step(state: TState, frame: Frame): AssistantMessageEvent[];
  /** What a person should read of a failure, where the protocol knows better words; its kind stays. */
  explain?(failure: Failure): string | undefined;
}

/** What is asked of a protocol. */
export interface ProtocolRequest {
  model: Model;
  context: Context;
  /** In the protocol's own terms, which may only be known once it is loaded. */
  options: (protocol: Protocol) => StreamOptions;
  clock: Clock | undefined;
}

/** Keeps a protocol's own types inside while callers see the general ones. */
export function defineProtocol<TOptions extends StreamOptions, TState>(
  protocol: Protocol<TOptions, TState>,
): Protocol<TOptions, TState> {
  return protocol;
}

/** No key was given or found. The text tells the person where to put one. */
export class MissingCredentials extends Error {
  override readonly name = "MissingCredentials";
}
