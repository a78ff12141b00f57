/** Everything that the gateway answers over HTTP, besides the files of the page. */
import { channelRoutes } from "../http/channel-routes.ts";
import { chatRoutes } from "../http/chat-routes.ts";
import { hookRoutes } from "../http/hook-routes.ts";
import { mcpRoutes } from "../http/mcp-routes.ts";
import { shareRoutes } from "../http/share-routes.ts";
import { healthRoutes } from "./health-route.ts";
import { pairRoutes } from "./pair-routes.ts";
import type { Route } from "./route.ts";

export const ownRoutes: readonly Route[] = [
  ...healthRoutes,
  ...pairRoutes,
  ...chatRoutes,
  ...hookRoutes,
  ...channelRoutes,
  ...mcpRoutes,
  ...shareRoutes,
];

type RouteMatch =
  | { kind: "route"; route: Route; names: Record<string, string> }
  /** The path exists for other methods. */
  | { kind: "wrong_method"; allowed: readonly string[] }
  | { kind: "none" };

/** Pure. `path` has no query. */
export function findRoute(table: readonly Route[], method: string, path: string): RouteMatch {
  const matches = table.flatMap((route) => {
    const names = matchPath(route.path, path);
    return names ? [{ route, names }] : [];
  });
  const match = matches.find(({ route }) => route.method === method);
  if (match) return { kind: "route", ...match };
  if (matches.length === 0) return { kind: "none" };
  return { kind: "wrong_method", allowed: matches.map(({ route }) => route.method) };
}

function matchPath(pattern: string, path: string): Record<string, string> | undefined {
  const [wanted, parts] = [pattern.split("/"), path.split("/")];
  if (wanted.length !== parts.length) return undefined;
  const names: Record<string, string> = {};
  for (const [index, want] of wanted.entries()) {
    const part = parts[index]!;
    if (want.startsWith(":") && /^[\w.-]+$/.test(part)) names[want.slice(1)] = part;
    else if (want !== part) return undefined;
  }
  return names;
}
