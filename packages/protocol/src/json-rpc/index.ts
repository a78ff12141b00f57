/** JSON-RPC 2.0: messages of clients, and errors as they are sent. */
export { errorCodes, type ErrorRecord, JsonRpcError, type JsonRpcErrorCode, toErrorRecord } from "./errors.ts";
export { type Incoming, type Params, parseMessage, parseValue, type RequestId } from "./message.ts";
