/**
 * Several gateways as one. Each serves any client; a session runs on the node that holds its lease, and the requests of
 * other nodes' clients go there. When a node is lost, those who followed its sessions go on with a snapshot from elsewhere.
 */
import { createHash } from "node:crypto";
import type { Clock, Ids } from "@tau/ai";
import { getErrorMessage, sleep, withoutUndefined } from "@tau/ai/internal";
import type { SessionStorage } from "@tau/harness/session";
import { type GatewayMethod, isGatewayMethod, methodScopes } from "@tau/protocol/gateway";
import type { Client } from "../client.ts";
import { GatewayError } from "../errors.ts";
import { nodeCalls } from "../http/node-calls.ts";
import { wakeCallName, wakeSession } from "../inbox/wake-session.ts";
import { createOwnClient } from "../own-client.ts";
import { callMethod } from "../methods/index.ts";
import type { MethodContext } from "../methods/method.ts";
import type { GatewayParts } from "../parts.ts";
import { Catalogue } from "./catalogue.ts";
import { ClusterKeys } from "./cluster-keys.ts";
import { Following } from "./following.ts";
import { RemoteClients } from "./remote-clients.ts";
import { ClusterInbox } from "./inbox-store.ts";
import { NodeLink } from "./node-link.ts";
import { placeLog } from "./names.ts";
import { type ClusterNode, type NodeOptions, openNode } from "./open-node.ts";
import { type Call, findOther, namesOther, type OtherSession, type SessionCall } from "./other-sessions.ts";
import { RemoteClient } from "./remote-client.ts";
import { ClusterSessionKeys } from "./session-keys.ts";
import { ForwardedRequests } from "./forwarded-requests.ts";

export interface ClusterOptions extends NodeOptions {
  clock: Clock;
  ids: Ids;
  getParts: () => GatewayParts;
}

/** How long a request looks for the node that runs its session: a node that died is found after six seconds. */
const searchMs = 15_000;
const pauseMs = 200;
const tellMs = 500;
/** How long other nodes have to answer what is asked of all of them. */
const askAllMs = 2_000;
/** How many sessions are remembered with their nodes. */
const maxOwners = 1_000;
/** How many sessions of a dead node are opened at a time. */
const maxAdopting = 4;

export class Cluster {
  readonly #options: ClusterOptions;
  readonly #node: ClusterNode;
  readonly #link: NodeLink;
  readonly #remoteClients: RemoteClients;
  readonly #forwarded: ForwardedRequests;
  readonly #following: Following;
  readonly inbox: ClusterInbox;
  readonly catalogue: Catalogue;
  readonly keys: ClusterKeys;
  readonly sessionKeys: ClusterSessionKeys;
  /** The node that ran a session when it was last asked. */
  readonly #owners = new Map<string, string>();
  #stopTelling: () => void;
  #isClosed = false;

  private constructor(options: ClusterOptions, node: ClusterNode) {
    const { getParts, log } = options;
    this.#options = options;
    this.#node = node;
    const getLink = () => this.#link;
    this.inbox = new ClusterInbox({ ...node, ...options });
    this.catalogue = new Catalogue({ ...node, ...options });
    this.keys = new ClusterKeys({ ...node, ...options });
    this.sessionKeys = new ClusterSessionKeys({
      ...node,
      ...options,
      discard: (sessionId) => this.#trash(getParts(), sessionId),
    });
    this.#following = new Following(options);
    this.#forwarded = new ForwardedRequests(getLink, options.ids, (client, sessionId) => {
      this.#owners.delete(sessionId);
      void this.#following.followAgain(client, sessionId);
    });
    this.#remoteClients = new RemoteClients({
      getLink,
      log,
      run: ({ method, params, ...rest }) => this.#serve({ ...rest, parts: getParts() }, method, params),
    });
    const { bus, membership, name } = node;
    this.#link = new NodeLink({
      bus,
      membership,
      name,
      log,
      clock: options.clock,
      take: (...args) => {
        this.#remoteClients.take(...args);
        this.#forwarded.take(...args);
      },
    });
    this.#stopTelling = this.#tellLater();
  }

  /** Takes part from now on, when the gateway is complete, and goes on with what waits for sessions that nobody runs. */
  async start(): Promise<void> {
    const { membership, leases } = this.#node;
    membership.onLost = () => this.#loseAll();
    membership.onDead = (nodeId) => this.#loseNode(nodeId);
    // Those that died since this node has joined.
    for (const nodeId of membership.deadNodes) this.#loseNode(nodeId);
    try {
      const waiting = await this.inbox.listAll({ state: "waiting" });
      const free = [];
      for (const sessionId of new Set(waiting.map((message) => message.sessionId))) {
        if ((await leases.findOwner(sessionId)) === undefined) free.push(sessionId);
      }
      await this.#adoptAll(free);
    } catch (error) {
      this.#options.log(`What waits in the inbox was not read: ${getErrorMessage(error)}`);
    }
  }

  /** Throws `unavailable` if the servers cannot be used. */
  static async open(options: ClusterOptions): Promise<Cluster> {
    return new Cluster(options, await openNode(options));
  }

  get storage(): SessionStorage {
    return this.#node.storage;
  }

  /** Whether the node that ran a session before this one was lost. */
  wasAbandoned(sessionId: string): boolean {
    return this.#node.leases.wasAbandoned(sessionId);
  }

  get nodeId(): string {
    return this.#node.membership.nodeId;
  }

  get node(): ClusterNode {
    return this.#node;
  }

  /** Runs a method where its session is: here, or at another node. */
  async call(context: MethodContext, call: Call, here: () => Promise<unknown>): Promise<unknown> {
    if (context.client instanceof RemoteClient) return await this.#serveRemote(context, call, here);
    if (namesOther(call.method)) {
      return await this.#callOther(context, await findOther(this.catalogue, call.method, call.params));
    }
    if (call.method === "approvals.list") return await this.#listApprovals(context, here);
    if (call.method === "inbox.replay" || call.method === "inbox.cancel")
      return await this.#callInbox(context, call, here);
    const sessionId = getSessionId(call);
    if (sessionId === undefined) return await here();
    if (call.method === "sessions.unsubscribe") this.#following.cancel(context.client, sessionId);
    return await this.callSession(context, { ...call, sessionId }, here);
  }

  /**
   * What other nodes' clients get from here ends: their nodes look for the sessions elsewhere. Before sessions are closed.
   * The node that opens a running session next says that its run was cut off, as after a crash.
   */
  leave(): void {
    this.#isClosed = true;
    for (const { sessionId, status } of this.#options.getParts().sessions.list()) {
      if (status !== "running") continue;
      this.#node.leases.keep(sessionId);
      this.catalogue.leave(sessionId);
    }
    this.#following.close();
    this.#remoteClients.leave();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#following.close();
    this.#stopTelling();
    this.#link.close();
    await this.#node.close();
  }

  async #serve(context: MethodContext, method: string, params: Record<string, unknown>): Promise<unknown> {
    const nodeCall = Object.hasOwn(nodeCalls, method) ? nodeCalls[method] : undefined;
    if (nodeCall) return await this.#runHere(String(params["sessionId"]), () => nodeCall(context, params));
    return await callMethod(context, { type: "req", id: context.requestId, method, params });
  }

  /** A call that another node has found to be for this one. */
  async #serveRemote(context: MethodContext, call: Call, here: () => Promise<unknown>): Promise<unknown> {
    const { method, params } = call;
    if (method === "session.delete_session") return await this.#trash(context.parts, String(params["session"]));
    const sessionId = getSessionId(call);
    return sessionId === undefined ? await here() : await this.#runHere(sessionId, here);
  }

  /** A session that was overtaken, or could not be written for a while, is closed here, so that it is opened anew. */
  async #runHere(sessionId: string, here: () => Promise<unknown>): Promise<unknown> {
    try {
      return await here();
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (code === "overtaken" || code === "read_only") this.#giveAway(sessionId);
      if (code !== "read_only") throw error;
      // It was refused before it had an effect.
      throw new GatewayError("moved", getErrorMessage(error));
    }
  }

  async #callOther(context: MethodContext, other: OtherSession): Promise<unknown> {
    switch (other.kind) {
      case "answer":
        return other.payload;
      case "call": {
        const { method, params } = other.call;
        const payload = await callMethod(context, { type: "req", id: context.requestId, method, params });
        return other.answer ?? payload;
      }
      case "trash":
        return await this.callSession(context, other.call, () => this.#trash(context.parts, other.call.sessionId));
      case "restore":
        return await this.#restore(other.call.sessionId);
    }
  }

  async #trash({ sessions }: GatewayParts, sessionId: string): Promise<{ id: string }> {
    const { storage, leases } = this.#node;
    if (!(await storage.findStore(sessionId))) throw notFound(sessionId);
    if (sessions.find(sessionId)?.hosted.session.hasWork) {
      throw new GatewayError("busy", `The session ${sessionId} is running. Abort it before you delete it.`);
    }
    await sessions.close(sessionId, "deleted");
    const trashed = await leases.trash(sessionId);
    if (!trashed) throw new GatewayError("moved", `The session ${sessionId} runs on another node.`);
    await this.catalogue.setTrashed(sessionId, true, trashed.epoch);
    return { id: sessionId };
  }

  async #restore(sessionId: string): Promise<{ id: string; path: string }> {
    const restored = await this.#node.leases.restore(sessionId);
    if (!restored) throw notFound(sessionId);
    await this.catalogue.setTrashed(sessionId, false, restored.epoch);
    return { id: sessionId, path: `${placeLog(sessionId).stream}/${sessionId}` };
  }

  /** Runs a call where its session is. Tries again while no node has the session, and nothing has happened. */
  async callSession(context: MethodContext, call: SessionCall, here: () => Promise<unknown>): Promise<unknown> {
    const { clock, sessions } = context.parts;
    const { client } = context;
    const { method, sessionId } = call;
    const deadline = clock.monotonic() + searchMs;
    do {
      const ownerId = sessions.find(sessionId) ? this.nodeId : await this.#findOwner(client, call);
      if (ownerId === undefined || ownerId === this.nodeId) {
        try {
          const payload = await this.#runHere(sessionId, here);
          this.#forwarded.unfollow(client, sessionId);
          return payload;
        } catch (error) {
          if ((error as { code?: unknown }).code !== "moved") throw error;
        }
      } else {
        const outcome = await this.#forward(ownerId, context, call);
        if (outcome.kind === "answered") return outcome.payload;
        this.#owners.delete(sessionId);
        if (outcome.kind === "lost" && !(isGatewayMethod(method) && methodScopes[method] === "read")) {
          const text = `The node that runs the session ${sessionId} was lost before it answered. Look at the session before you try again.`;
          throw new GatewayError("unknown_outcome", text);
        }
      }
      await sleep(clock, pauseMs);
    } while (clock.monotonic() < deadline && !this.#isClosed);
    const text = `The session ${sessionId} is on a node that cannot be reached. Try again in a moment.`;
    throw new GatewayError("unavailable", text, { retryAfterMs: 2_000 });
  }

  async #forward(nodeId: string, context: MethodContext, { method, params, sessionId }: SessionCall) {
    const { client, requestId, requestKey, afterResponse } = context;
    // Between being declared dead and joining again, this node is nobody.
    if (!this.#node.membership.isSelf(this.nodeId)) return { kind: "moved" } as const;
    const request = { method, requestId, params, ...withoutUndefined({ requestKey }) };
    if (method !== "sessions.subscribe") {
      const outcome = await this.#forwarded.call(nodeId, client, request);
      if (method === "sessions.unsubscribe") this.#forwarded.unfollow(client, sessionId);
      return outcome;
    }
    this.#forwarded.follow(client, sessionId, nodeId);
    // The frames follow the response.
    let release = () => {};
    const outcome = await this.#forwarded.call(nodeId, client, request, () => (release = this.#forwarded.hold(client)));
    if (outcome.kind !== "answered") this.#forwarded.unfollow(client, sessionId);
    if (outcome.kind === "answered" && afterResponse) afterResponse(release);
    else release();
    return outcome;
  }

  async #findOwner(client: Client, { method, sessionId }: SessionCall): Promise<string | undefined> {
    if (method === "sessions.unsubscribe") return this.#forwarded.getFollowed(client, sessionId);
    const known = this.#owners.get(sessionId);
    if (known !== undefined) return known;
    const ownerId = await this.#node.leases.findOwner(sessionId);
    if (this.#owners.size >= maxOwners) this.#owners.clear();
    if (ownerId !== undefined && ownerId !== this.nodeId) this.#owners.set(sessionId, ownerId);
    return ownerId;
  }

  /** Lets the node that runs a session look at what waits for it; opens the session here if no node does. */
  async leaveMessages(sessionId: string): Promise<void> {
    const { getParts, clock, log } = this.#options;
    const parts = getParts();
    this.inbox.forget(sessionId);
    const context = { client: createOwnClient(`inbox ${sessionId}`), requestId: "inbox", parts };
    const call = { method: wakeCallName, sessionId, params: { sessionId } };
    const here = () => wakeSession(parts, sessionId);
    for (let pauseMs = minRetryMs; !this.#isClosed; pauseMs = Math.min(2 * pauseMs, maxRetryMs)) {
      try {
        return void (await this.callSession(context, call, here));
      } catch (error) {
        // It was deleted: its messages are listed until somebody restores it or cancels them.
        if (isNotFound(error)) return;
        log(`What waits for the session ${sessionId} waits longer: ${getErrorMessage(error)}`);
      }
      await sleep(clock, pauseMs);
    }
  }

  /** A message is dealt with where its session is. */
  async #callInbox(context: MethodContext, call: Call, here: () => Promise<unknown>): Promise<unknown> {
    const message = (await this.inbox.listAll()).find(({ id }) => id === call.params["id"]);
    if (!message) return await here();
    const { sessionId } = message;
    return await this.callSession(context, { ...call, sessionId }, async () => {
      await this.inbox.load(sessionId);
      return await here();
    });
  }

  /** The questions of all nodes. One that does not answer in time, or that fails, is left out. */
  async #listApprovals({ client, requestId, parts }: MethodContext, here: () => Promise<unknown>): Promise<unknown> {
    type Approvals = { approvals: unknown[] };
    const others = this.#node.membership.liveNodes.filter((nodeId) => nodeId !== this.nodeId);
    const answers = others.map(async (nodeId): Promise<Approvals> => {
      try {
        const call = { method: "approvals.list", requestId, params: {} };
        const outcome = await this.#forwarded.call(nodeId, client, call);
        if (outcome.kind === "answered") return outcome.payload as Approvals;
      } catch (error) {
        parts.log(`The questions of the node ${nodeId} are not listed: ${getErrorMessage(error)}`);
      }
      return { approvals: [] };
    });
    const late = sleep(parts.clock, askAllMs).then((): Approvals => ({ approvals: [] }));
    const own = (await here()) as Approvals;
    const lists = await Promise.all(answers.map((answer) => Promise.race([answer, late])));
    return { approvals: [...own.approvals, ...lists.flatMap(({ approvals }) => approvals)] };
  }

  /** This node was declared dead: nothing here may go on. */
  #loseAll(): void {
    const { sessions } = this.#options.getParts();
    this.inbox.unloadAll();
    this.#remoteClients.leave();
    this.#link.forget();
    this.#owners.clear();
    for (const { client, sessionId } of this.#forwarded.lose()) void this.#following.followAgain(client, sessionId);
    for (const { hosted } of sessions.all) this.#giveAway(hosted.session.sessionId);
  }

  /** Closes a session that is lost to this node. Who follows it goes on with it wherever it is opened next. */
  #giveAway(sessionId: string): void {
    const { sessions, subscriptions, log } = this.#options.getParts();
    const open = sessions.find(sessionId);
    if (!open) return;
    const clients = subscriptions.listClients(sessionId);
    for (const client of clients) {
      subscriptions.remove(client, sessionId);
      // Its own node follows it again.
      if (client instanceof RemoteClient) subscriptions.tellClosed(client, sessionId, "moved");
    }
    const tell = (error: unknown) => log(`The session ${sessionId} was lost: ${getErrorMessage(error)}`);
    const closing = open.hosted.abort("gateway_disconnected").then(() => sessions.close(sessionId, "moved"));
    const closed = closing.catch(tell);
    for (const client of clients) void this.#following.followAgain(client, sessionId, closed);
  }

  #loseNode(nodeId: string): void {
    const { log } = this.#options;
    log(`The node ${nodeId} is dead.`);
    this.#remoteClients.leave(nodeId);
    this.#link.forget(nodeId);
    for (const [sessionId, ownerId] of this.#owners) if (ownerId === nodeId) this.#owners.delete(sessionId);
    for (const { client, sessionId } of this.#forwarded.lose(nodeId))
      void this.#following.followAgain(client, sessionId);
    if (!this.#isClosed) {
      this.#adopt(nodeId).catch((error: unknown) =>
        log(`Sessions of ${nodeId} were not taken: ${getErrorMessage(error)}`),
      );
    }
  }

  /** Opens the sessions that a dead node ran, each on one of the others, so that what was cut is closed and goes on. */
  async #adopt(nodeId: string): Promise<void> {
    await this.#adoptAll(await this.#node.leases.listHeldBy(nodeId));
  }

  async #adoptAll(sessionIds: readonly string[]): Promise<void> {
    const { sessions, log } = this.#options.getParts();
    const nodeIds = this.#node.membership.liveNodes;
    const mine = sessionIds.filter((id) => chooseNode(id, nodeIds) === this.nodeId);
    const work = async () => {
      for (let id = mine.shift(); id !== undefined && !this.#isClosed; id = mine.shift()) {
        await sessions
          .open(id)
          .catch((error: unknown) => log(`The session ${id} was not taken: ${getErrorMessage(error)}`));
      }
    };
    await Promise.all(Array.from({ length: maxAdopting }, work));
  }

  #tellLater(): () => void {
    return this.#options.clock.setTimer(tellMs, () => {
      this.#forwarded.tellAll();
      if (!this.#isClosed) this.#stopTelling = this.#tellLater();
    });
  }
}

const minRetryMs = 1_000;
const maxRetryMs = 30_000;

const isNotFound = (error: unknown) =>
  ["not_found", "session_not_found"].includes(String((error as { code?: unknown }).code));

const notFound = (sessionId: string) =>
  new GatewayError("session_not_found", `There is no session ${JSON.stringify(sessionId.slice(0, 128))}.`);

const sessionMethods: readonly string[] = [
  "sessions.open",
  "sessions.close",
  "sessions.subscribe",
  "sessions.unsubscribe",
  "sessions.tree",
  "agent.interrupt",
] satisfies GatewayMethod[];

/** The session that a method is for; undefined if any node can answer. */
function getSessionId({ method, params }: Call): string | undefined {
  const { sessionId } = params;
  if (typeof sessionId !== "string") return undefined;
  return method.startsWith("session.") || sessionMethods.includes(method) ? sessionId : undefined;
}

/** The same on every node that knows the same nodes. */
export function chooseNode(sessionId: string, nodeIds: readonly string[]): string | undefined {
  const weigh = (nodeId: string) => createHash("sha256").update(`${sessionId}\n${nodeId}`).digest("hex");
  return nodeIds.toSorted((a, b) => (weigh(a) < weigh(b) ? -1 : 1))[0];
}
