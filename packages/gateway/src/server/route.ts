/** A route: a path, who may use it, and what it does. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { GatewayFault, GatewayScope } from "@tau/protocol/gateway";
import type { Client } from "../client.ts";
import type { GatewayParts } from "../parts.ts";

interface RouteBase {
  /** `GET` has no effect: everybody's browser can be made to send it. */
  method: "GET" | "POST" | "DELETE";
  /** A part that begins with a colon stands for any name: `/hooks/:name`. */
  path: string;
  /** The content of `POST`; `DELETE` has none. Default `json`, which no page of another origin can send without asking. `any` comes as bytes. */
  body?: "json" | "any";
  /** The body of an answer to what failed, where clients expect another one than `{ error }`. */
  toErrorBody?(fault: GatewayFault): unknown;
}

/** `auth` is the scope that the device of the bearer token needs. */
export interface DeviceRoute extends RouteBase {
  auth: GatewayScope;
  run(request: RouteRequest & { client: Client }): RouteAnswer | Promise<RouteAnswer>;
}

/** For what has no token yet, and for routes that check one of their own; see `mustHaveToken` of the request. */
export interface OpenRoute extends RouteBase {
  auth: "none";
  /** Called before the body is read. Throws what the request is refused for. */
  check?(request: Omit<RouteRequest, "body">): void;
  run(request: RouteRequest): RouteAnswer | Promise<RouteAnswer>;
}

export type Route = DeviceRoute | OpenRoute;

export interface RouteRequest {
  parts: GatewayParts;
  /** The values of the path's names. */
  names: Readonly<Record<string, string>>;
  headers: IncomingMessage["headers"];
  /** Parsed JSON, or a `Buffer` for `any`. Undefined for `GET`. */
  body: unknown;
  /** The key that limits apply to; see `toLimitKey`. */
  address: string;
  /** Aborted when the client is gone before it was answered. */
  signal: AbortSignal;
  /** For an answer that is written piece by piece. */
  response: ServerResponse;
  /** Throws `unauthorized`, or `rate_limited` after many wrong ones, unless the bearer token of the request is right. */
  mustHaveToken(isRight: (token: string) => boolean): void;
}

/** `sent`: the route has written to `response` itself. Errors that are thrown are answered by their code. */
export type RouteAnswer = { status: number; body: unknown; headers?: Record<string, string> } | "sent";
