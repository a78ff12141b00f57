/**
 * Several gateways as one. Each serves any client; a session runs on the node that holds its lease, and the requests of
 * other nodes' clients go there. When a node is lost, clients that followed its sessions continue with a snapshot from
 * elsewhere.
 */
import {
  type ClusterGateway,
  type ClusterPort,
  GatewayError,
  type RequestContext,
  type RoutedCall,
  type SessionCall,
} from "@tau/gateway/port";
import type { Storage } from "@tau/harness/session";
import { Catalogue } from "./catalogue.ts";
import { ChannelLog } from "./channel-log.ts";
import { ClusterKeys } from "./cluster-keys.ts";
import { ClusterInbox } from "./inbox-store.ts";
import { type ClusterNode, openNode } from "./open-node.ts";
import type { ClusterOptions } from "./options.ts";
import { ServingNode } from "./serving-node.ts";
import { ClusterSchedules } from "./schedule-store.ts";
import { ClusterSessionKeys } from "./session-keys.ts";

/** Makes this process a node of a cluster. Throws `unavailable` if the servers cannot be used. */
export async function joinCluster(options: ClusterOptions): Promise<Cluster> {
  return new Cluster(options, await openNode(options));
}

export class Cluster implements ClusterPort {
  readonly #options: ClusterOptions;
  readonly #node: ClusterNode;
  readonly inbox: ClusterInbox;
  readonly catalogue: Catalogue;
  readonly channels: ChannelLog;
  readonly requestKeys: ClusterKeys;
  readonly sessionKeys: ClusterSessionKeys;
  readonly schedules: ClusterSchedules;
  /** Undefined before the gateway of this node has started. */
  #serving: ServingNode | undefined;

  constructor(options: ClusterOptions, node: ClusterNode) {
    const { clock, ids, log } = options;
    const { bus, membership, leases, storage, wholeStorage } = node;
    this.#options = options;
    this.#node = node;
    this.inbox = new ClusterInbox({ bus, clock, ids });
    this.catalogue = new Catalogue({ bus, membership, leases, storage, wholeStorage, clock, ids, log });
    this.channels = new ChannelLog({ bus, membership, clock, ids, log });
    this.requestKeys = new ClusterKeys({ bus, membership, clock, ids, log });
    this.schedules = new ClusterSchedules({ bus, membership, ids });
    this.sessionKeys = new ClusterSessionKeys({
      bus,
      storage,
      ids,
      discard: (sessionId) => this.#mustServe().trash.add(sessionId),
    });
  }

  get storage(): Storage {
    return this.#node.storage;
  }

  get nodeId(): string {
    return this.#node.membership.nodeId;
  }

  get node(): ClusterNode {
    return this.#node;
  }

  wasAbandoned(sessionId: string): boolean {
    return this.#node.leases.wasAbandoned(sessionId);
  }

  async start(gateway: ClusterGateway): Promise<void> {
    const { clock, ids, log } = this.#options;
    const { inbox, catalogue, channels } = this;
    this.#serving = new ServingNode({ node: this.#node, inbox, catalogue, channels, gateway, clock, ids, log });
    await this.#serving.start();
  }

  async call(context: RequestContext, call: RoutedCall, here: () => Promise<unknown>): Promise<unknown> {
    return await this.#mustServe().router.call(context, call, here);
  }

  async callSession(context: RequestContext, call: SessionCall, here: () => Promise<unknown>): Promise<unknown> {
    return await this.#mustServe().router.callSession(context, call, here);
  }

  async leaveMessages(sessionId: string): Promise<void> {
    // A node that starts looks at everything that waits.
    await this.#serving?.router.leaveMessages(sessionId);
  }

  leave(): void {
    this.#serving?.leave();
  }

  async close(): Promise<void> {
    this.#serving?.close();
    await this.#node.close();
  }

  #mustServe(): ServingNode {
    if (this.#serving) return this.#serving;
    throw new GatewayError("unavailable", "This node of the cluster is starting. Try again.", { retryAfterMs: 1_000 });
  }
}
