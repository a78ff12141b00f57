/** What a gateway and its clients say to each other. */
export {
  type ChallengePayload,
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
  isGatewayMethod,
  type MethodData,
  type MethodParams,
  methodScopes,
  type OnDisconnect,
  type OpenSessionData,
  type QueueMode,
  type SessionStatus,
  type UsageData,
} from "./methods.ts";
export type { PairClaimData, PairClaimParams, PairRequestData, PairRequestParams } from "./pairing.ts";
export { createProof, importToken, type ProofInput } from "./proof.ts";
