/** Acts when a node is declared dead: its sessions are opened on others, and clients that follow them continue. */
import { createHash } from "node:crypto";
import { getErrorMessage } from "@tau/ai/internal";
import type { ClusterGateway } from "@tau/gateway/port";
import type { Following } from "./following.ts";
import type { ForwardedRequests } from "./forwarded-requests.ts";
import type { ChannelLog } from "./channel-log.ts";
import type { ClusterInbox } from "./inbox-store.ts";
import type { SessionLeases } from "./leases.ts";
import type { Membership } from "./membership.ts";
import type { NodeLink } from "./node-link.ts";
import type { SessionOwners } from "./owners.ts";
import type { RemoteClients } from "./remote-clients.ts";

interface FailoverParts {
  membership: Membership;
  leases: SessionLeases;
  inbox: ClusterInbox;
  channels: ChannelLog;
  sessions: ClusterGateway["sessions"];
  link: NodeLink;
  owners: SessionOwners;
  forwarded: ForwardedRequests;
  following: Following;
  remoteClients: RemoteClients;
  giveAway: (sessionId: string) => void;
  log: (line: string) => void;
}

/** How many sessions of a dead node are opened at a time. */
const maxAdopting = 4;

export class Failover {
  readonly #parts: FailoverParts;
  #isClosed = false;

  constructor(parts: FailoverParts) {
    this.#parts = parts;
  }

  /** Acts on every death from now on, and continues with what waits for sessions that no node runs. */
  async start(): Promise<void> {
    const { membership, inbox, leases, log } = this.#parts;
    membership.onLost = () => this.#loseAll();
    membership.onDead = (nodeId) => this.#loseNode(nodeId);
    // Nodes that died since this node has joined.
    for (const nodeId of membership.deadNodes) this.#loseNode(nodeId);
    try {
      const waiting = await inbox.listAll({ state: "waiting" });
      const free = [];
      for (const sessionId of new Set(waiting.map((message) => message.sessionId))) {
        if ((await leases.findOwner(sessionId)) === undefined) free.push(sessionId);
      }
      await this.#adopt(free);
    } catch (error) {
      log(`What waits in the inbox was not read: ${getErrorMessage(error)}`);
    }
  }

  /** Opens no more sessions of others. */
  close(): void {
    this.#isClosed = true;
  }

  /** This node was declared dead: nothing here may continue. */
  #loseAll(): void {
    const { inbox, remoteClients, link, owners, forwarded, following, sessions, giveAway } = this.#parts;
    inbox.unloadAll();
    remoteClients.leave();
    link.forget();
    owners.clear();
    for (const { client, sessionId } of forwarded.lose()) void following.followAgain(client, sessionId);
    for (const { hosted } of sessions.all) giveAway(hosted.session.sessionId);
  }

  #loseNode(nodeId: string): void {
    const { remoteClients, link, owners, forwarded, following, leases, log } = this.#parts;
    log(`The node ${nodeId} is dead.`);
    remoteClients.leave(nodeId);
    link.forget(nodeId);
    owners.forgetNode(nodeId);
    for (const { client, sessionId } of forwarded.lose(nodeId)) void following.followAgain(client, sessionId);
    if (this.#isClosed) return;
    const adopted = leases.listHeldBy(nodeId).then((sessionIds) => this.#adopt(sessionIds));
    adopted.catch((error: unknown) => log(`Sessions of ${nodeId} were not taken: ${getErrorMessage(error)}`));
  }

  /** Opens those of these sessions that fall to this node, so that what was cut is closed and continues. */
  async #adopt(sessionIds: readonly string[]): Promise<void> {
    const { sessions, membership, channels, log } = this.#parts;
    const nodeIds = membership.liveNodes;
    await channels.refresh();
    // The node that connects the accounts of channels opens the sessions that answer there.
    const isFree = (id: string) => channels.table.getConversation(id) === undefined;
    const mine = sessionIds.filter((id) => chooseNode(id, nodeIds) === membership.nodeId && isFree(id));
    const work = async () => {
      for (let id = mine.shift(); id !== undefined && !this.#isClosed; id = mine.shift()) {
        await sessions
          .open(id)
          .catch((error: unknown) => log(`The session ${id} was not taken: ${getErrorMessage(error)}`));
      }
    };
    await Promise.all(Array.from({ length: maxAdopting }, work));
  }
}

/** Chooses the same node everywhere where the same nodes are known. */
function chooseNode(sessionId: string, nodeIds: readonly string[]): string | undefined {
  const weigh = (nodeId: string) => createHash("sha256").update(`${sessionId}\n${nodeId}`).digest("hex");
  return nodeIds.toSorted((a, b) => (weigh(a) < weigh(b) ? -1 : 1))[0];
}
