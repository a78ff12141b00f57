/** Reads the messages of a client: JSON-RPC 2.0. Pure. */
import { isRecord } from "@tau/ai/internal";
import { JsonRpcError } from "./errors.ts";

export type RequestId = string | number | null;

export type Params = Readonly<Record<string, unknown>>;

export type Incoming =
  | { kind: "blank" }
  | { kind: "request"; id: RequestId; method: string; params: Params }
  | { kind: "notification"; method: string; params: Params }
  | { kind: "response"; id: RequestId; result: unknown }
  | { kind: "error"; id: RequestId; error: { code: number; message: string } }
  /** Answered with the error; `id` is null where the line does not have a valid one. */
  | { kind: "malformed"; id: RequestId; error: JsonRpcError };

export function parseMessage(line: string): Incoming {
  if (line.trim() === "") return { kind: "blank" };
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return refuse(null, `This line is not JSON: ${(error as Error).message}`, "parse_error");
  }
  return parseValue(value);
}

/** Parses a message that was read from JSON. */
export function parseValue(value: unknown): Incoming {
  if (!isRecord(value)) return refuse(null, "A message is one JSON object on one line; there are no batches.");
  const { jsonrpc, method, params = {} } = value;
  const id = isId(value["id"]) ? value["id"] : null;
  if (jsonrpc !== "2.0") return refuse(id, '"jsonrpc" has to be "2.0".');
  if (value["id"] !== undefined && !isId(value["id"])) return refuse(null, '"id" has to be a string or a number.');
  if (method === undefined && Object.hasOwn(value, "result")) return { kind: "response", id, result: value["result"] };
  if (method === undefined && Object.hasOwn(value, "error")) return { kind: "error", id, error: toError(value) };
  if (typeof method !== "string") return refuse(id, '"method" has to be the name of a method.');
  if (value["id"] === undefined) return { kind: "notification", method, params: isRecord(params) ? params : {} };
  if (!isRecord(params ?? {})) return refuse(id, '"params" has to be an object.', "invalid_params");
  return { kind: "request", id, method, params: (params ?? {}) as Params };
}

const isId = (id: unknown): id is RequestId =>
  id === null || typeof id === "string" || (typeof id === "number" && Number.isFinite(id));

function toError({ error }: Record<string, unknown>): { code: number; message: string } {
  const { code, message } = isRecord(error) ? error : {};
  return {
    code: typeof code === "number" ? code : 0,
    message: typeof message === "string" ? message : "The client gave no reason.",
  };
}

const refuse = (id: RequestId, message: string, code: JsonRpcError["code"] = "invalid_request"): Incoming => ({
  kind: "malformed",
  id,
  error: new JsonRpcError(code, message),
});
