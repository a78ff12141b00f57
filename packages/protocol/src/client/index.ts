/** A client for the gateway, for browsers and Node. */
export type { CallOptions } from "./calls.ts";
export type { ClientSocket } from "./connection.ts";
export { type ClientErrorCode, GatewayClientError, isGatewayClientError } from "./errors.ts";
export { type CallArgs, type ClientState, GatewayClient, type GatewayClientOptions } from "./gateway-client.ts";
export {
  RemoteSession,
  type RemoteSessionState,
  type SessionCallArgs,
  type SessionMethodParams,
} from "./remote-session.ts";
