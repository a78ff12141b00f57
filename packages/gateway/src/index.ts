/** Sessions served to many. */
export type { Client, EncodedFrame } from "./client.ts";
export { GatewayError } from "./errors.ts";
export { type Gateway, type GatewayOptions, startGateway } from "./gateway.ts";
export type { GatewayParts, GatewaySettings } from "./parts.ts";
export type { OpenDirectory } from "./sessions/open-sessions.ts";
