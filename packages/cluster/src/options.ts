import type { Clock, Ids } from "@tau/ai";

export interface ClusterTiming {
  /** How often a node renews its key. */
  beatMs: number;
  /** A node whose key has not changed for this long is dead, if the cluster was available all the time. */
  deadAfterMs: number;
  /** A node that could not renew its key for this long gives up its sessions. */
  holdMs: number;
}

export interface NodeOptions {
  /** Such as `nats://127.0.0.1:4222`; see `parseClusterUrl`. */
  url: string;
  /** The directory of tau's own files, where indexes are kept. */
  agentDir: string;
  log: (line: string) => void;
  clock?: Clock;
  ids?: Ids;
  timing?: ClusterTiming;
}

export interface ClusterOptions extends NodeOptions {
  clock: Clock;
  ids: Ids;
}
