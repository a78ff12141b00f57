/** Sessions served to many. */
export type { Client, EncodedFrame } from "./client.ts";
export { GatewayError } from "./errors.ts";
export { type Gateway, type GatewayOptions, startGateway } from "./gateway.ts";
export { SessionExecutionQueue } from "./lanes/session-execution-queue.ts";
export type { GatewayParts, GatewaySettings } from "./parts.ts";
export type { GatewaySessionParams, OpenDirectory } from "./sessions/open-sessions.ts";
