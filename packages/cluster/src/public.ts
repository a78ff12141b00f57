/**
 * The functions for programs. Their declarations lead to no type of NATS: its own do not pass a compiler that checks optional
 * properties exactly.
 */
import type { ClusterPort } from "@tau/gateway/port";
import type { Storage } from "@tau/harness/session";
import { joinCluster as join } from "./cluster.ts";
import { openNode as open } from "./open-node.ts";
import type { ClusterOptions, NodeOptions } from "./options.ts";

/** Makes this process a node of a cluster. Throws `unavailable` if the servers cannot be used. */
export async function joinCluster(options: ClusterOptions): Promise<ClusterPort> {
  return await join(options);
}

/** A node without a gateway. */
export interface ClusterNode {
  readonly name: string;
  readonly storage: Storage;
  /** With the sessions in the trash. */
  readonly wholeStorage: Storage;
  /** All sessions have to be closed before. */
  close(): Promise<void>;
}

/** Opens a node without a gateway, for programs that look at a cluster's sessions. Throws as `joinCluster`. */
export async function openNode(options: NodeOptions): Promise<ClusterNode> {
  return await open(options);
}
