import type { GatewayLimits } from "@tau/protocol/gateway";
import { maxBufferedBytes } from "../client.ts";

/** Limits that are reported to clients. */
export const limits: GatewayLimits = {
  maxPayloadBytes: 1024 * 1024,
  maxBufferedBytes,
  pingIntervalMs: 15_000,
};

/** Limits for clients that have not shown who they are, and for all clients together. */
export interface ServerLimits {
  /** Open WebSockets that have not said who they are, of all addresses together and of one. The oldest gives way to a new one. */
  maxUnknownSockets: number;
  maxUnknownSocketsPerAddress: number;
  /** TCP connections. */
  maxConnections: number;
}

export const defaultServerLimits: ServerLimits = {
  maxUnknownSockets: 512,
  maxUnknownSocketsPerAddress: 256,
  maxConnections: 16_384,
};

/** How long a WebSocket may take to say who it is, and how much it may send until then. */
export const connectMs = 5_000;
export const maxConnectBytes = 16 * 1024;

/** How long a client has to answer that the connection ends. */
export const closeMs = 1_000;

/** A client that has not answered so many pings is gone. */
export const maxMissedPings = 2;

/** How many requests of one client are answered at a time. Those after them wait in the connection. */
export const maxRequestsAtATime = 256;

/** How many of them only read. */
export const maxReadsAtATime = 8;
