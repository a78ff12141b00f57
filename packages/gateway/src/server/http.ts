/** Answers an HTTP request: checks where it came from, which route it means and who sends it. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { getErrorMessage } from "@tau/ai/internal";
import type { GatewayFault } from "@tau/protocol/gateway";
import { createWrongTokenError } from "../auth/guesses.ts";
import { GatewayError, toFault } from "../errors.ts";
import { createStoppingError } from "../life/drain.ts";
import type { GatewayParts } from "../parts.ts";
import { toLimitKey } from "./address.ts";
import { checkEffect, checkAddresses, isJson, type AllowedAddresses } from "./check-request.ts";
import { endResponse } from "./end-response.ts";
import { createHttpClient } from "./http-client.ts";
import { isTooDeep } from "./json-depth.ts";
import { limits } from "./limits.ts";
import type { PageFiles } from "./page-files.ts";
import type { Route, RouteAnswer, RouteRequest } from "./route.ts";
import { findRoute } from "./routes.ts";
import { safeHeaders } from "./safe-headers.ts";

interface HttpOptions {
  parts: GatewayParts;
  getAddresses: () => AllowedAddresses;
  /** Called with an origin whose pages may not use the gateway. */
  onWrongOrigin: (origin: string) => void;
  routes: readonly Route[];
  page: PageFiles;
}

/** The HTTP status of each error code. Default 400. */
export const errorStatuses: Readonly<Record<string, number>> = {
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  session_not_found: 404,
  model_not_found: 404,
  conflict: 409,
  too_large: 413,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
  write_failed: 503,
  // The session is on another node of the cluster, or was taken over by one.
  moved: 503,
  overtaken: 503,
};

export async function answerHttp(
  request: IncomingMessage,
  response: ServerResponse,
  options: HttpOptions,
): Promise<void> {
  const { parts, routes } = options;
  // A request that was not read whole has none any more.
  const { socket } = request;
  try {
    const answer = await findAnswer(request, response, options);
    if (answer !== "sent") send(response, answer);
  } catch (error) {
    // The client is gone.
    if (socket.destroyed) return;
    const fault = toFault(error);
    if (fault.code === "internal")
      parts.log(`${request.method} ${hideToken(getPath(request))}: ${getErrorMessage(error)}`);
    if (response.headersSent) return void response.destroy();
    send(response, { ...toErrorAnswer(fault), body: toErrorBody(routes, getPath(request), fault) });
  } finally {
    // What was not read of a refused body must not be taken for the next request.
    if (!request.complete) response.once("finish", () => request.destroy());
  }
}

export const toErrorAnswer = (fault: GatewayFault): Exclude<RouteAnswer, "sent"> => ({
  status: errorStatuses[fault.code] ?? 400,
  body: { error: fault },
  ...(fault.retryAfterMs !== undefined && {
    headers: { "retry-after": String(Math.ceil(fault.retryAfterMs / 1_000)) },
  }),
});

async function findAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  { parts, getAddresses, onWrongOrigin, routes, page }: HttpOptions,
): Promise<RouteAnswer> {
  const refusal = checkAddresses(request.rawHeaders, getAddresses());
  if (refusal?.origin !== undefined) onWrongOrigin(refusal.origin);
  if (refusal) throw new GatewayError("forbidden", refusal.message);
  const { method = "", headers, socket } = request;
  const path = getPath(request);
  const match = findRoute(routes, method, path);
  if (match.kind === "wrong_method") {
    const allow = match.allowed.join(", ");
    const fault = toFault(new GatewayError("invalid_parameters", `${path} takes ${allow}.`));
    return { status: 405, body: toErrorBody(routes, path, fault), headers: { allow } };
  }
  if (match.kind === "none") {
    if ((method === "GET" || method === "HEAD") && (await page.send(path, request, response))) return "sent";
    throw new GatewayError("not_found", `There is nothing at ${JSON.stringify(path.slice(0, 80))}.`);
  }
  const { route, names } = match;
  if (parts.isStopping() && route.method === "POST") throw createStoppingError();
  const address = toLimitKey(socket.remoteAddress);
  const mustHaveToken: RouteRequest["mustHaveToken"] = (isRight) => {
    const token = /^bearer ([\w~+/.=-]+)$/i.exec(headers.authorization ?? "")?.[1];
    if (token === undefined)
      throw new GatewayError("unauthorized", "This needs a token: `Authorization: Bearer TOKEN`.");
    if (!isRight(token)) throw createWrongTokenError(parts.guesses, address);
  };
  const abort = new AbortController();
  response.once("close", () => abort.abort());
  const given = { parts, names, headers, address, signal: abort.signal, response, mustHaveToken };
  // Authenticates before the body is read: that of a stranger is not.
  if (route.auth === "none") {
    route.check?.(given);
    return await route.run({ ...given, body: await readBody(route, request) });
  }
  let deviceId = "";
  mustHaveToken((token) => (deviceId = parts.devices.checkToken(token)?.id ?? "") !== "");
  const device = parts.devices.get(deviceId);
  if (!device?.scopes.includes(route.auth)) {
    throw new GatewayError("forbidden", `${path} needs the scope ${route.auth}, which this device does not have.`);
  }
  const client = createHttpClient({ connectionId: parts.ids(), deviceId, scopes: device.scopes }, response);
  parts.connections.add(client);
  return await route.run({ ...given, client, body: await readBody(route, request) });
}

/** Errors of all paths below the same first part have the same form, also where a path or a method does not exist. */
function toErrorBody(routes: readonly Route[], path: string, fault: GatewayFault): unknown {
  const getFirstPart = (each: string) => each.split("/", 2)[1];
  const neighbour = routes.find((route) => getFirstPart(route.path) === getFirstPart(path));
  return neighbour?.toErrorBody?.(fault) ?? { error: fault };
}

/** Without the query, which means nothing here. */
function getPath({ url = "" }: IncomingMessage): string {
  return url.startsWith("/") ? url.replace(/[?#].*$/s, "") : "";
}

/** The address of a shared page has its token in it, which no log may have. */
const hideToken = (path: string): string => path.replace(/^(\/share\/).*$/s, "$1…");

async function readBody({ method, body = "json" }: Route, request: IncomingMessage): Promise<unknown> {
  if (method === "GET") return undefined;
  const refusal = checkEffect(request.headers as Record<string, string>);
  if (refusal) throw new GatewayError("forbidden", refusal.message);
  if (method === "DELETE") return undefined;
  if (body === "json" && !isJson(request.headers["content-type"])) {
    throw new GatewayError("invalid_parameters", "The body has to be JSON: `Content-Type: application/json`.");
  }
  const bytes = await readBytes(request);
  if (body === "any") return bytes;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (isTooDeep(text)) throw new GatewayError("invalid_parameters", "The JSON of the body is too deep.");
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError) && !(error instanceof TypeError)) throw error;
    throw new GatewayError("invalid_parameters", "The body is not JSON.");
  }
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const tooLarge = () =>
    new GatewayError("too_large", `The body has more than ${limits.maxPayloadBytes} bytes, which is the limit.`);
  if (Number(request.headers["content-length"] ?? 0) > limits.maxPayloadBytes) throw tooLarge();
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > limits.maxPayloadBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function send(response: ServerResponse, { status, body, headers }: Exclude<RouteAnswer, "sent">): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, {
    "content-type": "application/json; charset=utf-8",
    "content-length": String(bytes.length),
    "cache-control": "no-store",
    // The connection is cut when the body was not read, so that the client must not send another request on it.
    ...(!response.req.complete && { connection: "close" }),
    ...safeHeaders,
    ...headers,
  });
  endResponse(response, bytes);
}
