/** Several gateways as one, on NATS. */
export type { ClusterOptions, ClusterTiming, NodeOptions } from "./options.ts";
export { type ClusterNode, joinCluster, openNode } from "./public.ts";
