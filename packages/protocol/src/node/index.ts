/** A client for the program in RPC mode, for Node. */
export { type ClientOptions, type ClientStreams, TauClient } from "./client.ts";
export { TauClientError, type TauClientErrorCode } from "./errors.ts";
export { type RunningTau, type StartTauOptions, startTau } from "./start-tau.ts";
export { connectToGateway, type ConnectToGatewayOptions } from "./connect-to-gateway.ts";
export { findGateway, type FoundGateway } from "./find-gateway.ts";
