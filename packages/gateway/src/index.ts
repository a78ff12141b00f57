/** Sessions served to many. */
export {
  type BroadcastFrame,
  type EventGateway,
  subscribeEmbeddedPiSession,
  translatePiEvent,
} from "./bridge/embedded-session.ts";
export type { Client, ClientAbilities, EncodedFrame } from "./client.ts";
export { GatewayError } from "./errors.ts";
export { type Gateway, type GatewayOptions, startGateway } from "./gateway.ts";
export type { GatewayParts, GatewaySettings } from "./parts.ts";
export type { GatewaySessionParams, OpenDirectory } from "./sessions/open-sessions.ts";
