/** For Node: a client for the program in RPC mode, and one for the gateway of this account. */
export { type ClientOptions, type ClientStreams, TauClient } from "./client.ts";
export { findGateway, type FoundGateway } from "./find-gateway.ts";
export { type GatewayFiles, getGatewayFiles, ownDeviceId } from "./gateway-files.ts";
export { readOwnFile } from "./own-file.ts";
export { TauClientError, type TauClientErrorCode } from "./errors.ts";
export { type RunningTau, type StartTauOptions, startTau } from "./start-tau.ts";
export { connectToGateway, type ConnectToGatewayOptions } from "./connect-to-gateway.ts";
