/** Requests of this node's own clients that are served by other nodes, and the frames that come back. */
import type { Ids } from "@tau/ai";
import { tryParseJson } from "@tau/ai/internal";
import { type Client, encodeJson, GatewayError } from "@tau/gateway/port";
import type { NodeLink } from "./node-link.ts";
import type { NodeMessage } from "./node-message.ts";

/** The outcome of a request at another node. */
export type ForwardOutcome =
  | { kind: "answered"; payload: unknown }
  /** The session is not there any more, or the node is not: nothing has happened. */
  | { kind: "moved" }
  /** The node was lost while it worked. */
  | { kind: "lost" };

/** A client with requests or subscriptions elsewhere. */
interface ForwardedClient {
  readonly client: Client;
  readonly nodeIds: Set<string>;
  /** By session, the node that sends its frames. */
  readonly follows: Map<string, string>;
  /** How many responses that announce frames are about to be sent. */
  holds: number;
  /** Frames that came meanwhile. */
  readonly held: Buffer[];
  /** Bytes of frames by node, and how many of them that node knows to be taken. */
  readonly bytes: Map<string, { received: number; reported: number }>;
}

interface PendingCall {
  nodeId: string;
  /** Called before anything else that comes from the node is looked at. */
  onAnswer: () => void;
  settle: (outcome: ForwardOutcome) => void;
  fail: (error: GatewayError) => void;
}

/** Taken bytes are reported to the sender after this many. */
const reportAfterBytes = 64 * 1024;

interface ForwardedRequestsParts {
  link: NodeLink;
  ids: Ids;
  /** Called when a node has given a session away that a client followed there. */
  onMoved: (client: Client, sessionId: string) => void;
}

export class ForwardedRequests {
  readonly #parts: ForwardedRequestsParts;
  readonly #clients = new Map<string, ForwardedClient>();
  readonly #calls = new Map<string, PendingCall>();

  constructor(parts: ForwardedRequestsParts) {
    this.#parts = parts;
  }

  /** Sends a request to another node. Throws what the node answers with. `onAnswer` is called before the frames that follow. */
  async call(
    nodeId: string,
    client: Client,
    { params, ...request }: { method: string; requestId: string; requestKey?: string; params: Record<string, unknown> },
    onAnswer = () => {},
  ): Promise<ForwardOutcome> {
    const forwarded = this.#getForwarded(client);
    forwarded.nodeIds.add(nodeId);
    const callId = this.#parts.ids();
    const { connectionId, deviceId, scopes, abilities } = client;
    const message: NodeMessage = {
      kind: "call",
      callId,
      client: { connectionId, deviceId, scopes: [...scopes], abilities },
      ...request,
    };
    const answer = new Promise<ForwardOutcome>((settle, fail) =>
      this.#calls.set(callId, { nodeId, onAnswer, settle, fail }),
    );
    // It may be rejected before it is awaited.
    answer.catch(() => undefined);
    try {
      const content = Buffer.from(JSON.stringify(params));
      const sent = await this.#parts.link.sendCall(nodeId, message, content);
      if (sent === "too_large") {
        const text = `This request has ${content.length} bytes, more than the cluster's servers carry. Raise max_payload there.`;
        throw new GatewayError("too_large", text);
      }
      return sent === "absent" ? { kind: "moved" } : await answer;
    } finally {
      this.#calls.delete(callId);
    }
  }

  /** Frames for a client wait from now on, until the returned function is called. */
  hold(client: Client): () => void {
    const forwarded = this.#getForwarded(client);
    forwarded.holds++;
    return () => {
      if (--forwarded.holds > 0) return;
      for (const frame of forwarded.held.splice(0)) client.send(encodeJson(frame));
    };
  }

  follow(client: Client, sessionId: string, nodeId: string): void {
    this.#getForwarded(client).follows.set(sessionId, nodeId);
  }

  /** Which node sends the frames of a session to a client; undefined: none. */
  getFollowed(client: Client, sessionId: string): string | undefined {
    return this.#clients.get(client.connectionId)?.follows.get(sessionId);
  }

  unfollow(client: Client, sessionId: string): void {
    this.#clients.get(client.connectionId)?.follows.delete(sessionId);
  }

  take(nodeId: string, message: NodeMessage, content: Buffer): void {
    if (message.kind === "answer") {
      const payload = tryParseJson(content.toString());
      const call = this.#calls.get(message.callId);
      if (payload === undefined) {
        call?.fail(new GatewayError("unknown_outcome", `The answer of the node ${nodeId} is not JSON.`));
        return;
      }
      call?.onAnswer();
      call?.settle({ kind: "answered", payload });
    } else if (message.kind === "fault") {
      const { code, message: text, retryAfterMs } = message.fault;
      const call = this.#calls.get(message.callId);
      if (code === "moved") call?.settle({ kind: "moved" });
      else call?.fail(new GatewayError(code, text, retryAfterMs === undefined ? {} : { retryAfterMs }));
    } else if ("connectionId" in message) {
      const forwarded = this.#clients.get(message.connectionId);
      if (!forwarded) return;
      if (message.kind === "frame") this.#deliver(nodeId, forwarded, content);
      if (message.kind === "abilities") forwarded.client.setAbilities(message.abilities);
      if (message.kind === "close") forwarded.client.close(message.code, message.reason);
    }
  }

  /** A node is gone, or all are. Answers with what its clients followed there. */
  lose(nodeId?: string): { client: Client; sessionId: string }[] {
    for (const call of this.#calls.values()) {
      if (nodeId === undefined || call.nodeId === nodeId) call.settle({ kind: "lost" });
    }
    const lost = [];
    for (const { client, follows, bytes, nodeIds } of this.#clients.values()) {
      for (const [sessionId, followed] of follows) {
        if (nodeId !== undefined && followed !== nodeId) continue;
        follows.delete(sessionId);
        lost.push({ client, sessionId });
      }
      for (const each of nodeId === undefined ? [...nodeIds] : [nodeId]) {
        nodeIds.delete(each);
        bytes.delete(each);
      }
    }
    return lost;
  }

  #deliver(nodeId: string, forwarded: ForwardedClient, frame: Buffer): void {
    this.#pass(nodeId, forwarded, frame);
    // Also one that the client does not get: the other node counts it.
    const counts = forwarded.bytes.get(nodeId) ?? { received: 0, reported: 0 };
    forwarded.bytes.set(nodeId, counts);
    counts.received += frame.length;
    this.#report(nodeId, forwarded);
  }

  #pass(nodeId: string, { client, holds, held, follows }: ForwardedClient, frame: Buffer): void {
    const closed = readClosed(frame);
    if (closed) {
      // One that was followed elsewhere in the meantime is not closed for its client.
      if (follows.get(closed.sessionId) !== nodeId) return;
      follows.delete(closed.sessionId);
      if (closed.reason === "moved") return this.#parts.onMoved(client, closed.sessionId);
    }
    if (holds > 0) held.push(frame);
    else client.send(encodeJson(frame));
  }

  /** A client that reads slowly is known to be slow where its frames come from. */
  #report(nodeId: string, { client, bytes }: ForwardedClient): void {
    const counts = bytes.get(nodeId);
    if (!counts) return;
    const taken = counts.received - client.bufferedBytes;
    const isWorthIt =
      taken - counts.reported >= reportAfterBytes || (client.bufferedBytes === 0 && taken > counts.reported);
    if (!isWorthIt) return;
    counts.reported = taken;
    this.#parts.link.send(nodeId, { kind: "taken", connectionId: client.connectionId, bytes: taken });
  }

  /** Reports what slow clients have read meanwhile to the nodes that send to them. Called now and then. */
  reportAll(): void {
    for (const forwarded of this.#clients.values()) {
      for (const nodeId of forwarded.bytes.keys()) this.#report(nodeId, forwarded);
    }
  }

  #getForwarded(client: Client): ForwardedClient {
    const { connectionId } = client;
    const known = this.#clients.get(connectionId);
    if (known) return known;
    const forwarded: ForwardedClient = {
      client,
      nodeIds: new Set(),
      follows: new Map(),
      holds: 0,
      held: [],
      bytes: new Map(),
    };
    this.#clients.set(connectionId, forwarded);
    client.onClosed(() => {
      this.#clients.delete(connectionId);
      for (const nodeId of forwarded.nodeIds) this.#parts.link.send(nodeId, { kind: "gone", connectionId });
    });
    return forwarded;
  }
}

const closedStart = '{"type":"event","event":"session.closed"';

/** Reads a frame that closes a session; undefined for every other frame. */
function readClosed(frame: Buffer): { sessionId: string; reason: string } | undefined {
  if (frame.subarray(0, closedStart.length).toString("latin1") !== closedStart) return undefined;
  return (JSON.parse(frame.toString()) as { payload: { sessionId: string; reason: string } }).payload;
}
