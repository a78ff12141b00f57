/** Requests of platforms to the accounts of channels. Each account checks for itself where a request comes from. */
import type { OpenRoute } from "../server/route.ts";

export const channelRoutes: readonly OpenRoute[] = [
  {
    method: "POST",
    path: "/channels/:name",
    auth: "none",
    body: "any",
    run: async ({ parts, names, headers, body }) => {
      const { status, body: answer = null } = await parts.channels.receiveRequest(names["name"] ?? "", {
        headers,
        body: body as Buffer,
      });
      return { status, body: answer };
    },
  },
];
