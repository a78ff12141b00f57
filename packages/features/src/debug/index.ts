/** The debugger: the feature, and its client for debug adapters. */
export { builtinAdapters, type DapAdapter, type DapResolvedAdapter, type DapTemplate } from "./adapters.ts";
export { Breakpoints } from "./breakpoints.ts";
export { DapClient, type DapSpawnOptions, type RequestOptions } from "./client.ts";
export { DebugFailure, type DebugFailureKind } from "./failure.ts";
export { debug } from "./feature.ts";
export type { DapStackFrame, DapThread } from "./protocol.ts";
export type { DapBreakpointRecord, DapFunctionBreakpointRecord } from "./session-breakpoints.ts";
export { DapSession, type DapSessionParts, type DapSessionStatus, type DapStopLocation } from "./session.ts";
