/**
 * Everything that a client may ask of a gateway, in one map: what a method takes and what it answers with. The commands of
 * a session are methods too: `session.<command>`, with the session's id.
 */
import type { ChannelCountsData, ChannelData, ChannelPeerData, ChannelReplyData } from "./channels.ts";
import type { ScheduleData, ScheduleParams, ScheduleRunData } from "./schedules.ts";
import type { Approval } from "../approval.ts";
import {
  type CommandData,
  type CommandName,
  commandNames,
  type CommandParams,
  commandScopes,
  type Disposition,
  type ExportPart,
  type Scope,
} from "../command.ts";
import type { ModelData, SearchData, SearchParams, SessionSummaryData } from "../command-data.ts";
import type { UsageReportData, UsageReportParams } from "../usage-report.ts";
import type { UiAnswer } from "../ui-request.ts";

/** `pair`: devices. Scopes are granted by the gateway; a client can only ask for fewer. */
export type GatewayScope = Scope | "pair";

export const gatewayScopes = ["read", "write", "approve", "admin", "pair"] as const satisfies readonly GatewayScope[];

/** Where a message goes while the session is busy. `collect` gathers messages until nobody has written for a moment. */
export type QueueMode = "steer" | "followup" | "collect" | "interrupt";

export interface ConnectParams {
  minProtocol: number;
  maxProtocol: number;
  client: { name: string; version: string };
  deviceId: string;
  /** See `createProof`. */
  proof: string;
  /** Default: all that the device has. */
  scopes?: GatewayScope[];
  /** Whether this client answers questions of the policy, and dialogs of extensions. Default: neither. */
  abilities?: { approvals?: boolean; ui?: boolean };
}

export interface HelloData {
  type: "hello-ok";
  protocol: number;
  server: { version: string; connectionId: string };
  deviceId: string;
  scopes: GatewayScope[];
  features: { methods: string[]; events: string[] };
  limits: GatewayLimits;
  /** Directories below which this client may create sessions. */
  roots: string[];
  snapshot: { sessions: OpenSessionData[]; approvals: number };
}

export interface GatewayLimits {
  /** Maximum size of one frame. */
  maxPayloadBytes: number;
  /** How much may wait for a client that reads slowly. */
  maxBufferedBytes: number;
  /** How often the gateway sends a ping. */
  pingIntervalMs: number;
}

/** A session that is open in the gateway. */
export interface OpenSessionData {
  sessionId: string;
  cwd: string;
  name?: string;
  /** `waiting`: it has messages, and a run begins when there is a place for it. */
  status: "idle" | "waiting" | "running";
  /** Its place in the line while it waits, from 1. */
  position?: number;
  approvals: number;
}

/** `interrupted`: a run was cut by a crash, and nothing was said since. */
export type SessionStatus = "closed" | "idle" | "waiting" | "running" | "interrupted";

/** A session of a list. `id` is an older name of `sessionId`. */
export interface ListedSessionData extends SessionSummaryData {
  sessionId: string;
  status: SessionStatus;
}

export interface HealthData {
  ok: boolean;
  version: string;
  uptimeMs: number;
  /** How many. */
  connections: number;
  openSessions: number;
  runningSessions: number;
  /** How many messages wait, and how many were given up. */
  inbox: { waiting: number; dead: number };
  memoryBytes: number;
  /** By the name of the account. */
  channels: Record<string, ChannelCountsData>;
}

export interface DeviceData {
  id: string;
  name: string;
  scopes: GatewayScope[];
  /** Whether somebody still has to approve it. */
  state: "pending" | "paired";
  /** ISO 8601. */
  createdAt: string;
  lastSeenAt?: string;
}

/** A message that was accepted and not injected yet, or never will be. */
export interface InboxMessageData {
  id: string;
  sessionId: string;
  /** The first of it. */
  text: string;
  mode: QueueMode;
  state: "waiting" | "dead";
  /** The place of its session in the line of those that wait for a run, from 1. Left out if the session does not wait. */
  position?: number;
  /** Why it was given up. */
  reason?: string;
  /** ISO 8601. */
  acceptedAt: string;
}

/** The outcome of the message of a request with an idempotency key. */
export interface InboxRequestData {
  messageId: string;
  sessionId: string;
  /** `said`: it is in the session's log. `dead`: it was given up, and may be replayed. */
  state: "waiting" | "said" | "cancelled" | "dead";
  /** Why it was cancelled or given up. */
  reason?: string;
  /** ISO 8601. */
  acceptedAt: string;
}

export interface UsageData {
  /** Since when. ISO 8601. */
  since: string;
  sessions: { sessionId: string; tokens: number; cost: number }[];
  tokens: number;
  cost: number;
}

type None = Record<never, never>;
type WithSession = { sessionId: string };

/** Decides what a session does when the last client that watched it has left. `stop` ends its run half a minute later. */
export type OnDisconnect = "continue" | "stop";

/** An entry of a session's log, as a tree shows it. */
export interface TreeEntryData {
  id: string;
  /** The entry before it, shown or not; null for a root. */
  parentId: string | null;
  /** Left out for an entry that is not shown: it only connects others. */
  kind?: "user" | "assistant" | "bash" | "summary" | "other";
  /** Whole for `user`, who may want to say it again; else its beginning. Left out with `kind`. */
  text?: string;
  label?: string;
}

/** A page of a session that whoever has its address may read. */
export interface ShareData {
  id: string;
  sessionId: string;
  title: string;
  /** ISO 8601. */
  createdAt: string;
  expiresAt: string;
}

interface OwnMethods {
  connect: { params: ConnectParams; data: HelloData };
  health: { params: None; data: HealthData };

  "sessions.list": {
    params: CommandParams<"list_sessions">;
    data: { sessions: ListedSessionData[]; cursor?: string };
  };
  /** Messages of all sessions. */
  "sessions.search": { params: SearchParams; data: SearchData };
  /** `cwd` must lie below a directory that the settings name. */
  "sessions.create": {
    params: { cwd: string; agent?: string; name?: string; onDisconnect?: OnDisconnect };
    data: OpenSessionData;
  };
  "sessions.open": { params: WithSession & { onDisconnect?: OnDisconnect }; data: OpenSessionData };
  "sessions.close": { params: WithSession; data: null };
  /**
   * Every event of the session from then on. With `resume`, those after the last one that the client has seen; where they
   * are gone, a snapshot comes first. The frames follow the response.
   */
  "sessions.subscribe": {
    params: WithSession & { resume?: { epoch: string; lastSeq: number } };
    data: { epoch: string; seq: number; stateVersion: number; resumed: boolean };
  };
  "sessions.unsubscribe": { params: WithSession; data: null };
  /** All entries, in the order they were written, without outputs, images and thinking. */
  "sessions.tree": { params: WithSession; data: { entries: TreeEntryData[]; leafId: string | null } };
  /** `sessions.changed` from then on, as long as the connection lasts. */
  "sessions.watch": { params: None; data: null };

  /**
   * Shares a page of the session, without secrets. `path` is the only place that has its token. `origin` is where people outside reach
   * the gateway, if its settings say so.
   */
  "shares.create": {
    params: WithSession & { leaveOut?: ExportPart[] };
    data: ShareData & { path: string; origin?: string };
  };
  "shares.list": { params: None; data: { shares: ShareData[] } };
  "shares.revoke": { params: { id: string }; data: { revoked: boolean } };
  "approvals.list": { params: None; data: { approvals: { sessionId: string; approval: Approval }[] } };
  /** A dialog of an extension, see `DialogFrame`. The first answer applies; `accepted` is false for every later one. */
  "dialogs.answer": { params: WithSession & { id: string; answer: UiAnswer }; data: { accepted: boolean } };
  "models.list": { params: { cwd?: string }; data: { models: ModelData[] } };
  "usage.get": { params: { sessionId?: string; since?: string }; data: UsageData };
  /** Adds up what all sessions of the gateway's user have used, those of other programs included. */
  "usage.report": { params: UsageReportParams; data: UsageReportData };
  /** `channel`: only lines about that account. */
  "logs.tail": { params: { limit?: number; channel?: string }; data: { lines: string[] } };
  /** `hash` identifies the content that a change was made for. */
  "config.get": { params: None; data: { settings: Record<string, unknown>; hash: string } };
  /** Without `value`, the setting is removed. */
  "config.set": { params: { key: string; value?: unknown; baseHash: string }; data: { hash: string } };
  /**
   * Reads the settings again without dropping clients. What is wrong in their file keeps its last valid value; those in
   * `needsRestart` were changed, and take effect when the gateway is started again.
   */
  "gateway.reload": { params: None; data: { changed: string[]; problems: string[]; needsRestart: string[] } };
  /** Ends a run when the calls that are running have ended; `session.abort` ends it at once. */
  "agent.interrupt": { params: WithSession; data: null };

  "devices.list": { params: None; data: { devices: DeviceData[] } };
  /** `code` is what the device shows. It gets at most the scopes of who approves. */
  "devices.approve": { params: { code: string; scopes?: GatewayScope[]; name?: string }; data: DeviceData };
  "devices.revoke": { params: { deviceId: string }; data: null };

  "channels.list": { params: None; data: { channels: ChannelData[] } };
  /** Sends a short message to a conversation that the account has had. */
  "channels.test": { params: { channel: string }; data: { sent: boolean; to?: string; reason?: string } };
  "channels.peers": { params: None; data: { peers: ChannelPeerData[] } };
  "channels.pair": { params: { code: string }; data: ChannelPeerData };
  "channels.unpair": { params: { channel: string; id: string }; data: null };
  /** Replies that are not delivered, oldest first. */
  "channels.outbox": { params: { channel?: string }; data: { replies: ChannelReplyData[] } };
  /** Only replies that were refused or are uncertain. */
  "channels.resend": { params: { id: string }; data: null };
  "channels.drop": { params: { id: string }; data: null };
  "schedules.list": { params: None; data: { schedules: ScheduleData[] } };
  /** Refuses a time that is over or never comes. */
  "schedules.add": { params: ScheduleParams; data: ScheduleData };
  "schedules.remove": { params: { id: string }; data: null };
  "schedules.pause": { params: { id: string }; data: null };
  /** Due times while it was paused are left out. */
  "schedules.resume": { params: { id: string }; data: null };
  /** Begins a run now. */
  "schedules.run": { params: { id: string }; data: ScheduleRunData };
  /** The latest first; without `id`, those of all schedules. Default limit 50. */
  "schedules.runs": { params: { id?: string; limit?: number }; data: { runs: ScheduleRunData[] } };
  "inbox.list": { params: { sessionId?: string; state?: "waiting" | "dead" }; data: { messages: InboxMessageData[] } };
  /** The message that a request of this device with that key brought, for 24 hours. */
  "inbox.get": { params: { idempotencyKey: string }; data: InboxRequestData };
  /** A message that was given up is accepted again. */
  "inbox.replay": { params: { id: string }; data: InboxMessageData };
  "inbox.cancel": { params: { id: string }; data: { cancelled: boolean } };
}

/**
 * A message that the gateway has accepted is on its disk, and is injected when its turn comes. A request that is repeated
 * after a crash is also answered with what became of the message.
 */
interface Accepted {
  params: { queueMode?: QueueMode };
  data: { disposition: Disposition | "accepted"; messageId: string; notices?: string[] } & Partial<
    Omit<InboxRequestData, "messageId">
  >;
}

type SessionMethods = {
  [Name in CommandName as `session.${Name}`]: {
    params: CommandParams<Name> & WithSession & (Name extends "prompt" ? Accepted["params"] : None);
    data: Name extends "prompt" | "steer" | "follow_up" ? Accepted["data"] : CommandData<Name>;
  };
};

export type GatewayMethods = OwnMethods & SessionMethods;
export type GatewayMethod = keyof GatewayMethods;
/**
 * Parameters of a method. A request that has an effect may carry a key: the same request with the same key has its
 * effect once.
 */
export type MethodParams<Name extends GatewayMethod> = GatewayMethods[Name]["params"] & { idempotencyKey?: string };
export type MethodData<Name extends GatewayMethod> = GatewayMethods[Name]["data"];

const ownScopes = {
  // What a connection begins with; the proof in it is the permission.
  connect: "none",
  health: "read",
  "sessions.list": "read",
  "sessions.search": "read",
  "sessions.create": "write",
  "sessions.open": "read",
  "sessions.close": "write",
  "sessions.subscribe": "read",
  "sessions.unsubscribe": "read",
  "sessions.tree": "read",
  "sessions.watch": "read",
  "shares.create": "admin",
  "shares.list": "admin",
  "shares.revoke": "admin",
  "approvals.list": "approve",
  // An extension may ask whether a call is allowed.
  "dialogs.answer": "approve",
  "models.list": "read",
  "usage.get": "read",
  // It names every directory that the user works in.
  "usage.report": "admin",
  "logs.tail": "admin",
  "config.get": "admin",
  "config.set": "admin",
  "gateway.reload": "admin",
  "agent.interrupt": "write",
  "devices.list": "pair",
  "devices.approve": "pair",
  "devices.revoke": "pair",
  "channels.list": "read",
  "channels.test": "admin",
  "channels.peers": "pair",
  "channels.pair": "pair",
  "channels.unpair": "pair",
  "channels.outbox": "admin",
  "channels.resend": "admin",
  "channels.drop": "admin",
  "schedules.list": "read",
  "schedules.add": "write",
  "schedules.remove": "write",
  "schedules.pause": "write",
  "schedules.resume": "write",
  "schedules.run": "write",
  "schedules.runs": "read",
  "inbox.list": "read",
  "inbox.get": "read",
  "inbox.replay": "write",
  "inbox.cancel": "write",
} as const satisfies Record<keyof OwnMethods, GatewayScope | "none">;

const sessionScopes = Object.fromEntries(
  commandNames.map((name) => [`session.${name}`, commandScopes[name]]),
) as Record<`session.${CommandName}`, Scope>;

/** The scope that each method needs. */
export const methodScopes: Readonly<Record<GatewayMethod, GatewayScope | "none">> = { ...ownScopes, ...sessionScopes };

export const gatewayMethods = Object.keys(methodScopes) as readonly GatewayMethod[];

export const isGatewayMethod = (name: string): name is GatewayMethod => Object.hasOwn(methodScopes, name);
