/** A node whose gateway runs: it serves the clients of other nodes, and sends its own clients' requests to them. */
import type { Clock, Ids } from "@tau/ai";
import type { ClusterGateway } from "@tau/gateway/port";
import type { Catalogue } from "./catalogue.ts";
import type { ChannelLog } from "./channel-log.ts";
import { Failover } from "./failover.ts";
import { Following } from "./following.ts";
import { ForwardedRequests } from "./forwarded-requests.ts";
import { giveAway } from "./give-away.ts";
import type { ClusterInbox } from "./inbox-store.ts";
import { NodeLink } from "./node-link.ts";
import type { ClusterNode } from "./open-node.ts";
import { SessionOwners } from "./owners.ts";
import { RemoteClients } from "./remote-clients.ts";
import { Router } from "./router.ts";
import { SessionTrash } from "./trash.ts";

interface ServingNodeParts {
  node: ClusterNode;
  inbox: ClusterInbox;
  catalogue: Catalogue;
  channels: ChannelLog;
  gateway: ClusterGateway;
  clock: Clock;
  ids: Ids;
  log: (line: string) => void;
}

/** How often other nodes learn how much slow clients have read. */
const reportMs = 500;

export class ServingNode {
  readonly #parts: ServingNodeParts;
  readonly trash: SessionTrash;
  readonly router: Router;
  readonly #link: NodeLink;
  readonly #following: Following;
  readonly #forwarded: ForwardedRequests;
  readonly #remoteClients: RemoteClients;
  readonly #failover: Failover;
  #cancelReport = () => {};

  constructor(parts: ServingNodeParts) {
    const { node, inbox, catalogue, channels, gateway, clock, ids, log } = parts;
    const { bus, membership, leases, storage, name } = node;
    const { sessions, subscriptions } = gateway;
    this.#parts = parts;
    this.trash = new SessionTrash({ storage, leases, catalogue, sessions });
    const owners = new SessionOwners(leases);
    const following = new Following({ gateway, clock, log });
    const giveSessionAway = (sessionId: string) => giveAway({ sessions, subscriptions, following, log }, sessionId);
    const link = new NodeLink({ bus, membership, name, clock, log });
    const forwarded = new ForwardedRequests({
      link,
      ids,
      onMoved: (client, sessionId) => {
        owners.forget(sessionId);
        void following.followAgain(client, sessionId);
      },
    });
    const router = new Router({
      gateway,
      membership,
      inbox,
      catalogue,
      trash: this.trash,
      owners,
      forwarded,
      following,
      giveAway: giveSessionAway,
      clock,
      log,
    });
    const remoteClients = new RemoteClients({ link, log, run: (request) => router.serve(request) });
    this.#failover = new Failover({
      membership,
      leases,
      inbox,
      channels,
      sessions,
      link,
      owners,
      forwarded,
      following,
      remoteClients,
      giveAway: giveSessionAway,
      log,
    });
    this.router = router;
    this.#link = link;
    this.#following = following;
    this.#forwarded = forwarded;
    this.#remoteClients = remoteClients;
  }

  async start(): Promise<void> {
    this.#link.listen((...message) => {
      this.#remoteClients.take(...message);
      this.#forwarded.take(...message);
    });
    this.#reportLater();
    await this.#failover.start();
  }

  /** See `ClusterPort.leave`. The node that opens a running session next says that its run was cut off, as after a crash. */
  leave(): void {
    const { node, catalogue, gateway } = this.#parts;
    this.#stopWork();
    for (const { sessionId, status } of gateway.sessions.list()) {
      if (status !== "running") continue;
      node.leases.keep(sessionId);
      catalogue.leave(sessionId);
    }
    this.#remoteClients.leave();
  }

  close(): void {
    this.#stopWork();
    this.#cancelReport();
    this.#link.close();
  }

  #stopWork(): void {
    this.router.close();
    this.#failover.close();
    this.#following.close();
  }

  #reportLater(): void {
    this.#cancelReport = this.#parts.clock.setTimer(reportMs, () => {
      this.#forwarded.reportAll();
      this.#reportLater();
    });
  }
}
