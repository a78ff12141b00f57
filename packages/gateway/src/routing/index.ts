export {
  findLevel,
  peerKinds,
  resolveRoute,
  type Route,
  type RouteBinding,
  type RouteFacts,
  type RouteLevel,
  routeLevels,
  type RouteMatch,
} from "./route.ts";
export { getSessionKey, type IdentityLinks, type SessionScope, sessionScopes } from "./session-key.ts";
