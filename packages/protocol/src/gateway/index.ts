/** Frames, methods and proofs that a gateway and its clients exchange. */
export type { ChannelCountsData, ChannelData, ChannelPeerData, ChannelReplyData } from "./channels.ts";
export {
  type ChallengePayload,
  type DialogFrame,
  type EventFrame,
  type Frame,
  type GatewayErrorCode,
  type GatewayEventFrame,
  gatewayEventNames,
  type GatewayFault,
  gatewayProtocol,
  type RequestFrame,
  type ResponseFrame,
  type SessionEventFrame,
  type SnapshotFrame,
} from "./frame.ts";
export {
  type ConnectParams,
  type DeviceData,
  type GatewayLimits,
  type GatewayMethod,
  gatewayMethods,
  type GatewayMethods,
  type GatewayScope,
  gatewayScopes,
  type HealthData,
  type HelloData,
  type InboxMessageData,
  type InboxRequestData,
  type ListedSessionData,
  isGatewayMethod,
  type MethodData,
  type MethodParams,
  methodScopes,
  type OnDisconnect,
  type OpenSessionData,
  type QueueMode,
  type SessionStatus,
  type ShareData,
  type TreeEntryData,
  type UsageData,
} from "./methods.ts";
export type { PairClaimData, PairClaimParams, PairRequestData, PairRequestParams } from "./pairing.ts";
export type { ScheduleData, ScheduleParams, ScheduleRunData } from "./schedules.ts";
export { createProof, deriveKey, importToken, type ProofInput, seedPrefix, seedText, toProofText } from "./proof.ts";
