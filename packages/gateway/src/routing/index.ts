export {
  peerKinds,
  resolveRoute,
  type Route,
  type RouteBinding,
  type RouteFacts,
  type RouteLevel,
  type RouteMatch,
} from "./route.ts";
export { getSessionKey } from "./session-key.ts";
