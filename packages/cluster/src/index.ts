/** Several gateways as one, on NATS. */
export { type ClusterOptions, joinCluster } from "./cluster.ts";
export type { ClusterTiming } from "./membership.ts";
/** A node without a gateway, for programs that look at a cluster's sessions. */
export { type ClusterNode, type NodeOptions, openNode } from "./open-node.ts";
