import { type GatewayMethod, methodScopes } from "../gateway/methods.ts";

/** They need more than `read`, and change nothing. */
const otherReads: ReadonlySet<GatewayMethod> = new Set([
  "connect",
  "approvals.list",
  "logs.tail",
  "config.get",
  "devices.list",
  "shares.list",
]);

/** Whether calling a method twice could do something twice. */
export const hasEffect = (method: GatewayMethod): boolean => methodScopes[method] !== "read" && !otherReads.has(method);
