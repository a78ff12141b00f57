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
import { callSessionTool } from "./mcp-tools.ts";

type McpRequest = Parameters<DeviceRoute["run"]>[0];
type McpMessage = Extract<Incoming, { kind: "request" }>;

const path = "/mcp";
const clientHeader = "mcp-session-id";
const revisionHeader = "mcp-protocol-version";

const toErrorBody: DeviceRoute["toErrorBody"] = ({ code, message }) => ({
  jsonrpc: "2.0",
  id: null,
  error: { code: -32_000, message, data: { code } },
});

export const mcpRoutes: readonly DeviceRoute[] = [
  { method: "POST", path, auth: "write", toErrorBody, run: takeMessage },
  { method: "DELETE", path, auth: "write", toErrorBody, run: endClient },
];

const accepted: RouteAnswer = { status: 202, body: {} };

async function takeMessage(request: McpRequest): Promise<RouteAnswer> {
  const { headers, body, response } = request;
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
          .get(incoming.params["requestId"] as McpMessage["id"])
          ?.abort();
      return accepted;
    case "request":
      await answer(request, incoming, new McpResponse(response, takesEvents));
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

function endClient({ parts, client, headers }: McpRequest): RouteAnswer {
  const id = headers[clientHeader];
  if (typeof id !== "string" || !parts.mcpClients.end(id, client.deviceId)) throw unknownClient();
  return { status: 200, body: {} };
}

/** A request without a handshake ends with its connection. One after a handshake is cancelled by a notification. */
async function answer(request: McpRequest, message: McpMessage, response: McpResponse): Promise<void> {
  const { parts, client, headers, signal } = request;
  const { id, method, params } = message;
  try {
    if (getRevision(params) !== undefined) {
      checkHeaders(headers, message);
      return response.end(toSuccess(id, await work(request, message, { response, signal })));
    }
    if (method === "initialize") {
      const result = toSuccess(id, await work(request, message, { response, signal }));
      return response.end(result, { headers: { [clientHeader]: parts.mcpClients.begin(client.deviceId) } });
    }
    const open = findClient(request);
    const revision = headers[revisionHeader];
    if (typeof revision === "string" && !hasHandshake(revision))
      throw new JsonRpcError("unsupported_revision", `The revision ${revision} is not spoken here.`);
    if (open.has(id))
      throw new JsonRpcError("invalid_request", `A request with the id ${JSON.stringify(id)} is not answered yet.`);
    const controller = new AbortController();
    open.set(id, controller);
    try {
      const result = await work(request, message, { response, signal: controller.signal });
      // Nobody reads an answer to a request that was cancelled, and the connection must end.
      response.end(toSuccess(id, result));
    } finally {
      open.delete(id);
    }
  } catch (error) {
    if (!(error instanceof JsonRpcError) && !response.hasBegun) throw error;
    response.end(toFailure(id, error), { status: getStatus(error, params) });
  }
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

/** The open requests of the client that a request names. Throws `not_found` for one that has to begin again. */
function findClient({ parts, client, headers }: McpRequest) {
  const id = headers[clientHeader];
  if (typeof id !== "string") {
    const message = "Begin with initialize, and send the header Mcp-Session-Id of its answer with each request.";
    throw new JsonRpcError("invalid_request", message);
  }
  const open = parts.mcpClients.find(id, client.deviceId);
  if (!open) throw unknownClient();
  return open;
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
