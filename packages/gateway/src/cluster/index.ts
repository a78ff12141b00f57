/** A node of a cluster without a gateway, for programs that look at a cluster's sessions. */
export { type ClusterNode, type NodeOptions, openNode } from "./open-node.ts";
