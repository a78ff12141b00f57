/** Sessions served to many. */
export { type Device, type Devices, openDevices } from "./auth/devices.ts";
export {
  type BroadcastFrame,
  type EventGateway,
  subscribeEmbeddedPiSession,
  translatePiEvent,
} from "./bridge/embedded-session.ts";
export type {
  Channel,
  ChannelAddress,
  ChannelButton,
  ChannelEvents,
  ChannelFile,
  ChannelLimits,
  ChannelOptions,
  ChannelPress,
  ChannelSender,
  ChannelSettings,
  ChannelState,
  ChannelType,
  Delivery,
  IncomingMessage,
  OutgoingFile,
  OutgoingText,
  Peer,
  PeerKind,
} from "@tau/extensions";
export { type ChannelTypes, ownChannelTypes } from "./channels/channel-types.ts";
export { getSecretName } from "./channels/open-channel-parts.ts";
export type { Client, ClientAbilities } from "./client.ts";
export type { EncodedFrame } from "./encoded-frame.ts";
export { GatewayError, isGatewayError } from "./errors.ts";
export { type Gateway, type GatewayOptions, startGateway } from "./gateway.ts";
export { askControl, type ControlAnswer } from "./life/control-socket.ts";
export type { DrainOptions } from "./life/drain.ts";
export { parseLogText, readLogLines } from "./life/log-file.ts";
export { type GatewayStatus, type ServedGateway, serveGateway, type ServeOptions } from "./life/serve.ts";
export { findHookToken } from "./http/hook-token.ts";
export {
  peerKinds,
  resolveRoute,
  type RouteBinding,
  type RouteFacts,
  type RouteLevel,
  type RouteMatch,
} from "./routing/index.ts";
export { findOutsideOrigin } from "./shares/origin.ts";
export { type NewShare, type Share, Shares } from "./shares/shares.ts";
export { SessionExecutionQueue } from "./lanes/session-execution-queue.ts";
export type { GatewayParts } from "./parts.ts";
export type { ClusterPort, JoinCluster, JoinOptions } from "./port/cluster.ts";
export type { DeviceRoute, OpenRoute, Route, RouteAnswer, RouteRequest } from "./server/route.ts";
export type { ServerLimits } from "./server/limits.ts";
export type { GatewaySettings } from "./settings.ts";
export type { GatewaySessionParams, OpenDirectory } from "./sessions/open-sessions.ts";
