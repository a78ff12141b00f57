/** A cluster of gateways, as one of them sees it. `@tau/cluster` implements it on NATS. */
import type { Clock, Ids } from "@tau/ai";
import type { HostedSession } from "@tau/harness/host";
import type { SessionFilter, Storage } from "@tau/harness/session";
import type { GatewayMethod, InboxRequestData, MethodData } from "@tau/protocol/gateway";
import type { Subscriptions } from "../bridge/subscriptions.ts";
import type { ClusterChannels } from "../channels/store.ts";
import type { SessionKeys } from "../http/session-keys.ts";
import type { RequestKeys } from "../idempotency/idempotency-keys.ts";
import type { InboxStore } from "../inbox/inbox-store.ts";
import type { StoredMessage } from "../inbox/message.ts";
import type { RequestContext } from "../request-context.ts";
import type { ScheduleStore } from "../schedules/index.ts";
import type { OpenSessions } from "../sessions/open-sessions.ts";
import type { PageOptions } from "../sessions/session-page.ts";
import type { MethodRoute } from "./method-route.ts";

/** Makes this process a node of a cluster. Throws `unavailable` if that is not possible now. */
export type JoinCluster = (options: JoinOptions) => Promise<ClusterPort>;

export interface JoinOptions {
  /** The directory of tau's own files, where a node keeps what it may lose. */
  agentDir: string;
  clock: Clock;
  ids: Ids;
  log: (line: string) => void;
}

export interface ClusterPort {
  /** The logs of the cluster's sessions. One process at a time may write to each. */
  readonly storage: Storage;
  readonly inbox: ClusterInboxStore;
  readonly requestKeys: RequestKeys;
  readonly sessionKeys: SessionKeys;
  readonly catalogue: ClusterCatalogue;
  /** The schedules of all nodes. */
  readonly schedules: ScheduleStore;
  readonly channels: ClusterChannels;
  /** Whether the node that ran a session before this one was lost. */
  wasAbandoned(sessionId: string): boolean;
  /** Serves other nodes from now on, and continues with what waits for sessions that no node runs. Called once. */
  start(gateway: ClusterGateway): Promise<void>;
  /** Runs a method where its route says. `here` runs it at this node. */
  call(context: RequestContext, call: RoutedCall, here: () => Promise<unknown>): Promise<unknown>;
  /** Runs a call where its session is. Tries again while no node has the session, and nothing has happened. */
  callSession(context: RequestContext, call: SessionCall, here: () => Promise<unknown>): Promise<unknown>;
  /** Lets the node that runs a session look at what waits for it; opens the session here if no node does. */
  leaveMessages(sessionId: string): Promise<void>;
  /** Ends what clients of other nodes get from here, before sessions are closed: their nodes look for the sessions elsewhere. */
  leave(): void;
  /** All sessions have to be closed before. */
  close(): Promise<void>;
}

/** Requests of clients, as nodes send them to each other. */
export interface MethodCall {
  method: string;
  params: Record<string, unknown>;
}

/** A method as a client calls it, without its key. */
export interface RoutedCall extends MethodCall {
  method: GatewayMethod;
  route: MethodRoute;
}

/** A method of clients, or one of `ClusterGateway.nodeCalls`, for a session. */
export interface SessionCall extends MethodCall {
  sessionId: string;
  /** See `MethodRoute`. */
  follow?: "begin" | "end";
}

/** Runs what only nodes ask of each other. Throws `invalid_parameters` for other parameters than those of this version. */
export type NodeCall = (context: RequestContext, params: unknown) => Promise<unknown>;

/** The part of this node's gateway that a cluster uses. */
export interface ClusterGateway {
  readonly sessions: Pick<OpenSessions, "all" | "find" | "list" | "open" | "close">;
  readonly subscriptions: Pick<Subscriptions, "listClients" | "remove" | "tellClosed">;
  /** By name. */
  readonly nodeCalls: Readonly<Record<string, NodeCall>>;
  /** Calls a method for a client, of this node or of another. Throws as the method does. */
  callMethod(context: RequestContext, call: MethodCall): Promise<unknown>;
}

/** The name of the node call that looks again at what waits for a session. */
export const wakeCallName = "inbox.wake";

export interface MessageFilter {
  sessionId?: string;
  state?: StoredMessage["state"];
}

/** Keeps the messages of all nodes. Only those of sessions that were loaded here are in `messages`. */
export interface ClusterInboxStore extends InboxStore {
  /** Reads what waits for a session. Another node may have written since it was read last. */
  load(sessionId: string): Promise<void>;
  /** Forgets a session that was closed, unless something waits for it or is listed as given up. */
  unload(sessionId: string): Promise<void>;
  /** Lists the messages of all sessions, whichever node runs them. */
  listAll(filter?: MessageFilter): Promise<StoredMessage[]>;
  /** Finds the message that a request with this key brought, whichever node runs its session. */
  findRequest(requestKey: string): Promise<InboxRequestData | undefined>;
}

export interface SessionQuery extends SessionFilter, Partial<PageOptions> {
  /** Only sessions of this directory. */
  cwd?: string;
}

/** Lists the sessions of all nodes. The node that runs a session says what is new about it. */
export interface ClusterCatalogue {
  /** Writes down what becomes of a session that was opened here. */
  watch(hosted: HostedSession): void;
  /** Lists a new session of this node that was stored. Before, there was nothing to list. */
  add(sessionId: string): void;
  /** Writes down that a session of this node was closed. */
  close(sessionId: string): void;
  list(query: SessionQuery): Promise<MethodData<"sessions.list">>;
  /** Lists sessions that were used since, the last used first. */
  listUsedSince(from: Date): Promise<string[]>;
  /** Sums up what a session has used since, without opening it. Undefined if there is none. */
  readUsage(sessionId: string, from: Date): Promise<{ tokens: number; cost: number } | undefined>;
}
