/**
 * MCP over streamable HTTP: the sessions of the gateway as tools, in the revisions with a handshake and in the one without. A
 * device needs the scope `write`.
 */
import type { IncomingHttpHeaders } from "node:http";
import { type Incoming, JsonRpcError, type Params, parseValue, toErrorRecord } from "@tau/protocol/json-rpc";
import { answerRequest, getProgressToken, getRevision, hasHandshake } from "@tau/protocol/mcp-server";
import { GatewayError } from "../errors.ts";
import type { DeviceRoute, RouteAnswer } from "../server/route.ts";
import { McpResponse } from "./mcp-response.ts";
import { parseEventId } from "./kept-events.ts";
import { callSessionTool } from "./mcp-tools.ts";

type McpRequest = Parameters<DeviceRoute["run"]>[0];
type McpMessage = Extract<Incoming, { kind: "request" }>;

const path = "/mcp";
const clientHeader = "mcp-session-id";
const revisionHeader = "mcp-protocol-version";
const firstWithEmptyEvents = "2025-11-25";
/** Requests of one client that were not answered yet; they continue without a connection. */
const maxOpenRequests = 100;

const toErrorBody: DeviceRoute["toErrorBody"] = ({ code, message }) => ({
  jsonrpc: "2.0",
  id: null,
  error: { code: -32_000, message, data: { code } },
});

export const mcpRoutes: readonly DeviceRoute[] = [
  { method: "GET", path, auth: "write", toErrorBody, run: resumeStream },
  { method: "POST", path, auth: "write", toErrorBody, run: takeMessage },
  { method: "DELETE", path, auth: "write", toErrorBody, run: endClient },
];

const accepted: RouteAnswer = { status: 202, body: {} };

async function takeMessage(request: McpRequest): Promise<RouteAnswer> {
  const { headers, body } = request;
  const { accept = "*/*" } = headers;
  const takesEvents = /text\/event-stream/i.test(accept);
  if (!takesEvents && !/application\/json|\*\/\*|application\/\*/i.test(accept))
    return { status: 406, body: toFailure(null, new JsonRpcError("invalid_request", "Accept application/json.")) };
  const incoming = parseValue(body);
  switch (incoming.kind) {
    case "malformed":
      return { status: 400, body: toFailure(incoming.id, incoming.error) };
    case "notification":
      if (headers[clientHeader] !== undefined && incoming.method === "notifications/cancelled")
        findClient(request)
          .open.get(incoming.params["requestId"] as McpMessage["id"])
          ?.abort();
      return accepted;
    case "request":
      await answer(request, incoming, takesEvents);
      return "sent";
    case "blank":
    case "response":
    case "error":
      // Nothing is ever asked of the client.
      return accepted;
    default:
      return incoming satisfies never;
  }
}

/**
 * Continues an answer whose connection was lost. There is nothing else to follow: without the id of an event, the method is
 * refused, as the protocol has it for servers that offer no such stream.
 */
function resumeStream(request: McpRequest): RouteAnswer {
  const { parts, headers, response } = request;
  const lastEventId = headers["last-event-id"];
  if (typeof lastEventId !== "string") {
    const error = new JsonRpcError("invalid_request", "GET only continues a stream: send Last-Event-ID, or use POST.");
    return { status: 405, body: toFailure(null, error), headers: { allow: "POST, DELETE" } };
  }
  const { id } = findClient(request);
  const event = parseEventId(lastEventId);
  const stream = event && parts.mcpClients.streams.find(id, event.streamId);
  if (!stream) {
    const message = "The stream of this Last-Event-ID is not kept any more. Call the tool `result` with the session.";
    return { status: 400, body: toFailure(null, new JsonRpcError("invalid_request", message)) };
  }
  stream.resume(response, event.number);
  return "sent";
}

function endClient({ parts, client, headers }: McpRequest): RouteAnswer {
  const id = headers[clientHeader];
  if (typeof id !== "string" || !parts.mcpClients.end(id, client.deviceId)) throw unknownClient();
  return { status: 200, body: {} };
}

async function answer(request: McpRequest, message: McpMessage, takesEvents: boolean): Promise<void> {
  const { parts, client, headers, signal } = request;
  const { id, method, params } = message;
  const hasRevision = getRevision(params) !== undefined;
  if (!hasRevision && method !== "initialize") return await answerClient(request, message, takesEvents);
  const response = new McpResponse(request.response, { takesEvents });
  try {
    if (hasRevision) checkHeaders(headers, message);
    // Without a handshake, a request ends with its connection.
    const result = toSuccess(id, await work(request, message, { response, signal }));
    response.end(result, hasRevision ? {} : { headers: { [clientHeader]: parts.mcpClients.begin(client.deviceId) } });
  } catch (error) {
    fail(response, message, error);
  }
}

/** A request after a handshake is cancelled by a notification. Its answer can be continued on another connection. */
async function answerClient(request: McpRequest, message: McpMessage, takesEvents: boolean): Promise<void> {
  const { parts, headers } = request;
  const { id, method } = message;
  let response = new McpResponse(request.response, { takesEvents });
  let close = () => {};
  try {
    const client = findClient(request);
    const { open } = client;
    const revision = headers[revisionHeader];
    if (typeof revision === "string" && !hasHandshake(revision))
      throw new JsonRpcError("unsupported_revision", `The revision ${revision} is not spoken here.`);
    if (open.has(id))
      throw new JsonRpcError("invalid_request", `A request with the id ${JSON.stringify(id)} is not answered yet.`);
    if (open.size >= maxOpenRequests)
      throw new JsonRpcError("invalid_request", `${maxOpenRequests} requests are not answered yet. Wait for one.`);
    const controller = new AbortController();
    open.set(id, controller);
    close = () => open.delete(id);
    if (method === "tools/call" && takesEvents) {
      const stream = parts.mcpClients.streams.open(
        client.id,
        (kept) => new McpResponse(request.response, { takesEvents: true, kept }),
      );
      response = stream.response;
      close = () => (open.delete(id), stream.end());
      // Clients of older revisions take an event without data for an error.
      if (typeof revision === "string" && revision >= firstWithEmptyEvents) response.begin();
    }
    // Nobody reads an answer to a request that was cancelled, and the connection must end.
    response.end(toSuccess(id, await work(request, message, { response, signal: controller.signal })));
  } catch (error) {
    fail(response, message, error);
  } finally {
    close();
  }
}

/** Throws errors that are no errors of the protocol while nothing was sent: they have a status of their own. */
function fail(response: McpResponse, { id, params }: McpMessage, error: unknown): void {
  if (!(error instanceof JsonRpcError) && !response.hasBegun) throw error;
  response.end(toFailure(id, error), { status: getStatus(error, params) });
}

interface Work {
  response: McpResponse;
  signal: AbortSignal;
}

async function work(
  { parts, client }: McpRequest,
  { method, params }: McpMessage,
  { response, signal }: Work,
): Promise<object> {
  const token = getProgressToken(params);
  let progress = 0;
  return await answerRequest(method, params, (name, args) =>
    callSessionTool(
      {
        parts,
        client,
        signal,
        onStep(step) {
          if (step.kind === "wait") return response.keepAlive();
          if (step.kind !== "activity" || token === undefined || signal.aborted) return;
          const values = { progressToken: token, progress: ++progress, message: step.text };
          response.notify({ jsonrpc: "2.0", method: "notifications/progress", params: values });
        },
      },
      name,
      args,
    ),
  );
}

/** The client that a request names. Throws `not_found` for one that has to begin again. */
function findClient({ parts, client, headers }: McpRequest) {
  const id = headers[clientHeader];
  if (typeof id !== "string") {
    const message = "Begin with initialize, and send the header Mcp-Session-Id of its answer with each request.";
    throw new JsonRpcError("invalid_request", message);
  }
  const found = parts.mcpClients.find(id, client.deviceId);
  if (!found) throw unknownClient();
  return found;
}

const unknownClient = (): GatewayError =>
  new GatewayError("not_found", "There is no such Mcp-Session-Id any more. Begin again with initialize.");

/** Without a handshake, headers repeat what servers between may want to know; they must not lie. */
function checkHeaders(headers: IncomingHttpHeaders, { method, params }: McpMessage): void {
  const expected: readonly (readonly [string, unknown])[] = [
    [revisionHeader, getRevision(params)],
    ["mcp-method", method],
    ...(method === "tools/call" ? [["mcp-name", params["name"]] as const] : []),
  ];
  for (const [name, value] of expected) {
    if (headers[name] === value) continue;
    throw new JsonRpcError("header_mismatch", `The header ${name} has to be ${JSON.stringify(value)}.`);
  }
}

function getStatus(error: unknown, params: Params): number {
  if (!(error instanceof JsonRpcError) || error.code === "invalid_params") return 200;
  if (error.code === "unknown_method") return getRevision(params) === undefined ? 200 : 404;
  return 400;
}

const toSuccess = (id: McpMessage["id"], result: object) => ({ jsonrpc: "2.0", id, result });

const toFailure = (id: McpMessage["id"], error: unknown) => ({ jsonrpc: "2.0", id, error: toErrorRecord(error) });
