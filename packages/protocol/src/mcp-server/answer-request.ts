/** Answers requests of a client of MCP to a server whose tools are sessions. */
import { HarnessError } from "../errors.ts";
import { JsonRpcError } from "../json-rpc/errors.ts";
import type { Params } from "../json-rpc/message.ts";
import { checkRevision, discover, initialize, listTools, toResult } from "./revisions.ts";
import { type SessionReport, toolDefinitions, type ToolName, toToolError, toToolResult } from "./tools.ts";

type CallTool = (name: ToolName, args: Params) => Promise<SessionReport>;

/** Resolves with the result. Rejects with an error of the protocol; what the calling model can mend is a result. */
export async function answerRequest(method: string, params: Params, callTool: CallTool): Promise<object> {
  checkRevision(params);
  return toResult(await findResult(method, params, callTool), params);
}

async function findResult(method: string, params: Params, callTool: CallTool): Promise<object> {
  switch (method) {
    case "initialize":
      return initialize(params);
    case "server/discover":
      return discover();
    case "ping":
      return {};
    case "tools/list":
      return listTools(toolDefinitions);
    case "tools/call":
      return await call(params, callTool);
    default:
      throw new JsonRpcError("unknown_method", `There is no method ${JSON.stringify(method)}.`);
  }
}

async function call(params: Params, callTool: CallTool): Promise<object> {
  const tool = toolDefinitions.find(({ name }) => name === params["name"]);
  if (!tool) throw new JsonRpcError("invalid_params", `There is no tool ${JSON.stringify(params["name"])}.`);
  try {
    return toToolResult(await callTool(tool.name, (params["arguments"] ?? {}) as Params));
  } catch (error) {
    if (error instanceof HarnessError) return toToolError(error.message);
    throw error;
  }
}

/** Throws `invalid_parameters` unless an argument is a text. */
export function readText(args: Params, name: string): string {
  const value = args[name];
  if (typeof value === "string" && value.trim() !== "") return value;
  throw new HarnessError("invalid_parameters", `"${name}" has to be a text that is not empty.`);
}
