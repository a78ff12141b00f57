/** This process as a node of a cluster: its connection, its membership, and the sessions that it may open. */
import { join } from "node:path";
import { systemClock, systemIds } from "@tau/ai";
import type { Storage } from "@tau/harness/session";
import { parseClusterUrl } from "./address.ts";
import type { Bus } from "./bus.ts";
import { connectCluster } from "./connection.ts";
import { createIndexCache } from "./index-cache.ts";
import { SessionLeases } from "./leases.ts";
import { Membership } from "./membership.ts";
import type { NodeOptions } from "./options.ts";
import { createClusterStorage } from "./storage.ts";

export interface ClusterNode {
  readonly name: string;
  readonly bus: Bus;
  readonly membership: Membership;
  readonly leases: SessionLeases;
  readonly storage: Storage;
  /** With the sessions in the trash. */
  readonly wholeStorage: Storage;
  /** All sessions have to be closed before. */
  close(): Promise<void>;
}

export async function openNode(options: NodeOptions): Promise<ClusterNode> {
  const { url, agentDir, log, clock = systemClock, ids = systemIds, timing } = options;
  const address = parseClusterUrl(url);
  const { name } = address;
  const bus = await connectCluster(address, { clock, log });
  try {
    const membership = await Membership.open({ bus, name, clock, ids, log, ...(timing && { timing }) });
    const leases = new SessionLeases({ bus, membership, ids });
    const cache = createIndexCache(join(agentDir, "gateway", "cluster"), ids);
    const stores = { bus, leases, cache, ids };
    return {
      name,
      bus,
      membership,
      leases,
      storage: createClusterStorage(stores),
      wholeStorage: createClusterStorage({ ...stores, includesTrash: true }),
      async close() {
        await membership.close();
        await bus.nats.close();
      },
    };
  } catch (error) {
    await bus.nats.close();
    throw error;
  }
}
