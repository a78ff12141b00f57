/** Runs requests where their sessions are: at this node, or at another. */
import type { Clock } from "@tau/ai";
import { getErrorMessage, sleep, withoutUndefined } from "@tau/ai/internal";
import {
  type Client,
  type ClusterGateway,
  createOwnClient,
  GatewayError,
  type MethodRoute,
  type RequestContext,
  type RoutedCall,
  type SessionCall,
  wakeCallName,
} from "@tau/gateway/port";
import { isGatewayMethod, methodScopes } from "@tau/protocol/gateway";
import type { Catalogue } from "./catalogue.ts";
import type { Following } from "./following.ts";
import type { ForwardedRequests, ForwardOutcome } from "./forwarded-requests.ts";
import type { ClusterInbox } from "./inbox-store.ts";
import type { Membership } from "./membership.ts";
import { findNamed, type NamedSession } from "./named-sessions.ts";
import type { SessionOwners } from "./owners.ts";
import { RemoteClient } from "./remote-client.ts";
import type { RemoteRequest } from "./remote-clients.ts";
import type { SessionTrash } from "./trash.ts";

interface RouterParts {
  gateway: ClusterGateway;
  membership: Membership;
  inbox: ClusterInbox;
  catalogue: Catalogue;
  trash: SessionTrash;
  owners: SessionOwners;
  forwarded: ForwardedRequests;
  following: Following;
  /** See `giveAway`. */
  giveAway: (sessionId: string) => void;
  clock: Clock;
  log: (line: string) => void;
}

/** How long a request looks for the node that runs its session: a node that died is found after six seconds. */
const searchMs = 15_000;
const pauseMs = 200;
/** How long other nodes have to answer what is asked of all of them. */
const askAllMs = 2_000;
const minRetryMs = 1_000;
const maxRetryMs = 30_000;

type Here = () => Promise<unknown>;

export class Router {
  readonly #parts: RouterParts;
  #isClosed = false;

  constructor(parts: RouterParts) {
    this.#parts = parts;
  }

  /** See `ClusterPort.call`. */
  async call(context: RequestContext, call: RoutedCall, here: Here): Promise<unknown> {
    const { catalogue, following } = this.#parts;
    const { route } = call;
    if (context.client instanceof RemoteClient) return await this.#serveRouted(call, here);
    switch (route.kind) {
      case "here":
        return await here();
      case "named_session":
        return await this.#callNamed(context, await findNamed(catalogue, route.method, call.params));
      case "all":
        return await this.#callAll(context, call, route, here);
      case "message":
        return await this.#callMessage(context, call, here);
      case "session": {
        const sessionId = getSessionId(call);
        if (sessionId === undefined) return await here();
        if (route.follow === "end") following.cancel(context.client, sessionId);
        return await this.callSession(
          context,
          { ...call, sessionId, ...withoutUndefined({ follow: route.follow }) },
          here,
        );
      }
    }
  }

  /** See `ClusterPort.callSession`. */
  async callSession(context: RequestContext, call: SessionCall, here: Here): Promise<unknown> {
    const { gateway, membership, owners, forwarded, clock } = this.#parts;
    const { client } = context;
    const { method, sessionId } = call;
    const deadline = clock.monotonic() + searchMs;
    do {
      const ownerId = gateway.sessions.find(sessionId) ? membership.nodeId : await this.#findOwner(client, call);
      if (ownerId === undefined || ownerId === membership.nodeId) {
        try {
          const payload = await this.#runHere(sessionId, here);
          forwarded.unfollow(client, sessionId);
          return payload;
        } catch (error) {
          if ((error as { code?: unknown }).code !== "moved") throw error;
        }
      } else {
        const outcome = await this.#forward(ownerId, context, call);
        if (outcome.kind === "answered") return outcome.payload;
        owners.forget(sessionId);
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

  /** See `ClusterPort.leaveMessages`. */
  async leaveMessages(sessionId: string): Promise<void> {
    const { gateway, inbox, clock, log } = this.#parts;
    inbox.forget(sessionId);
    const context = { client: createOwnClient(`inbox ${sessionId}`), requestId: "inbox" };
    const params = { sessionId };
    const wake = () => gateway.nodeCalls[wakeCallName]!(context, params);
    for (let retryMs = minRetryMs; !this.#isClosed; retryMs = Math.min(2 * retryMs, maxRetryMs)) {
      try {
        return void (await this.callSession(context, { method: wakeCallName, sessionId, params }, wake));
      } catch (error) {
        // It was deleted: its messages are listed until somebody restores it or cancels them.
        if (isNotFound(error)) return;
        log(`What waits for the session ${sessionId} waits longer: ${getErrorMessage(error)}`);
      }
      await sleep(clock, retryMs);
    }
  }

  /** Serves a request of another node's client that the other node has found to be for this one. */
  async serve({ method, params, ...context }: RemoteRequest): Promise<unknown> {
    const { nodeCalls, callMethod } = this.#parts.gateway;
    const nodeCall = Object.hasOwn(nodeCalls, method) ? nodeCalls[method] : undefined;
    if (nodeCall) return await this.#runHere(String(params["sessionId"]), () => nodeCall(context, params));
    return await callMethod(context, { method, params });
  }

  /** Searches no longer for nodes that cannot be reached. */
  close(): void {
    this.#isClosed = true;
  }

  async #serveRouted(call: RoutedCall, here: Here): Promise<unknown> {
    const { method, params, route } = call;
    // The other commands that name a session are answered there, or become calls for that session.
    if (method === "session.delete_session") return await this.#parts.trash.add(String(params["session"]));
    const isForSession = route.kind === "session" || route.kind === "named_session";
    const sessionId = isForSession ? getSessionId(call) : undefined;
    return sessionId === undefined ? await here() : await this.#runHere(sessionId, here);
  }

  /** Closes a session here that was overtaken, or could not be written for a while, so that it is opened anew. */
  async #runHere(sessionId: string, here: Here): Promise<unknown> {
    try {
      return await here();
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (code === "overtaken" || code === "read_only") this.#parts.giveAway(sessionId);
      if (code !== "read_only") throw error;
      // It was refused before it had an effect.
      throw new GatewayError("moved", getErrorMessage(error));
    }
  }

  async #callNamed(context: RequestContext, named: NamedSession): Promise<unknown> {
    const { gateway, trash } = this.#parts;
    switch (named.kind) {
      case "answer":
        return named.payload;
      case "call": {
        const payload = await gateway.callMethod(context, named.call);
        return named.answer ?? payload;
      }
      case "trash":
        return await this.callSession(context, named.call, () => trash.add(named.call.sessionId));
      case "restore":
        return await trash.restore(named.call.sessionId);
    }
  }

  /** Leaves out nodes that fail or do not answer in time. */
  async #callAll(
    { client, requestId }: RequestContext,
    { method, params }: RoutedCall,
    { join }: MethodRoute & { kind: "all" },
    here: Here,
  ): Promise<unknown> {
    const { membership, forwarded, clock, log } = this.#parts;
    const others = membership.liveNodes.filter((nodeId) => nodeId !== membership.nodeId);
    const answers = others.map(async (nodeId): Promise<unknown[]> => {
      try {
        const outcome = await forwarded.call(nodeId, client, { method, requestId, params });
        return outcome.kind === "answered" ? [outcome.payload] : [];
      } catch (error) {
        log(`The node ${nodeId} does not answer ${method}: ${getErrorMessage(error)}`);
        return [];
      }
    });
    const late = sleep(clock, askAllMs).then((): unknown[] => []);
    const own = await here();
    const received = await Promise.all(answers.map((answer) => Promise.race([answer, late])));
    return join([own, ...received.flat()]);
  }

  async #callMessage(context: RequestContext, call: RoutedCall, here: Here): Promise<unknown> {
    const { inbox } = this.#parts;
    const message = (await inbox.listAll()).find(({ id }) => id === call.params["id"]);
    if (!message) return await here();
    const { sessionId } = message;
    return await this.callSession(context, { ...call, sessionId }, async () => {
      await inbox.load(sessionId);
      return await here();
    });
  }

  async #forward(nodeId: string, context: RequestContext, call: SessionCall): Promise<ForwardOutcome> {
    const { membership, forwarded } = this.#parts;
    const { client, requestId, requestKey, afterResponse } = context;
    const { method, params, sessionId, follow } = call;
    // Between being declared dead and joining again, this node is nobody.
    if (!membership.isSelf(membership.nodeId)) return { kind: "moved" };
    const request = { method, requestId, params, ...withoutUndefined({ requestKey }) };
    if (follow !== "begin") {
      const outcome = await forwarded.call(nodeId, client, request);
      if (follow === "end") forwarded.unfollow(client, sessionId);
      return outcome;
    }
    forwarded.follow(client, sessionId, nodeId);
    // The frames follow the response.
    let release = () => {};
    const outcome = await forwarded.call(nodeId, client, request, () => (release = forwarded.hold(client)));
    if (outcome.kind !== "answered") forwarded.unfollow(client, sessionId);
    if (outcome.kind === "answered" && afterResponse) afterResponse(release);
    else release();
    return outcome;
  }

  async #findOwner(client: Client, { sessionId, follow }: SessionCall): Promise<string | undefined> {
    const { owners, forwarded, membership } = this.#parts;
    if (follow === "end") return forwarded.getFollowed(client, sessionId);
    return await owners.find(sessionId, membership.nodeId);
  }
}

const isNotFound = (error: unknown) =>
  ["not_found", "session_not_found"].includes(String((error as { code?: unknown }).code));

/** The session that a call is for; undefined where the parameters are wrong, which any node can answer. */
function getSessionId({ params }: RoutedCall): string | undefined {
  const { sessionId } = params;
  return typeof sessionId === "string" ? sessionId : undefined;
}
