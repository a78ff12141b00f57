/** The interface of a cluster of gateways, and what an implementation uses of this package. */
export { type ChannelRecord, ChannelTable } from "../channels/records.ts";
export type { ChannelLeader, ClusterChannels } from "../channels/store.ts";
export { callSoon, type Client, type ClientAbilities } from "../client.ts";
export { encodeJson, type EncodedFrame } from "../encoded-frame.ts";
export { GatewayError, isGatewayError, toFault } from "../errors.ts";
export type { SessionKeys } from "../http/session-keys.ts";
export {
  isAnswer,
  maxAgeMs,
  mustBeSame,
  replay,
  type RequestKeys,
  type RequestWork,
  type StoredAnswer,
  toAnswer,
  toFailure,
} from "../idempotency/idempotency-keys.ts";
export type { InboxStore } from "../inbox/inbox-store.ts";
export { type StoredMessage, toRequestData } from "../inbox/message.ts";
export { type InboxRecord, MessageTable } from "../inbox/records.ts";
export { mustParse } from "../must-parse.ts";
export { createOwnClient } from "../own-client.ts";
export type { RequestContext } from "../request-context.ts";
export { type ScheduleRecord, type ScheduleStore, ScheduleTable } from "../schedules/index.ts";
export { cutPage } from "../sessions/session-page.ts";
export { toListedSession } from "../sessions/session-status.ts";
export {
  type ClusterCatalogue,
  type ClusterGateway,
  type ClusterInboxStore,
  type ClusterPort,
  type JoinCluster,
  type JoinOptions,
  type MessageFilter,
  type MethodCall,
  type NodeCall,
  type RoutedCall,
  type SessionCall,
  type SessionQuery,
  wakeCallName,
} from "./cluster.ts";
export { type MethodRoute, namingCommands, type NamingMethod } from "./method-route.ts";
