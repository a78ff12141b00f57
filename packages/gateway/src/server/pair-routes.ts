/** How a device without a token gets one: it asks, a person types its code, and it claims the token. */
import { nonEmptyText } from "@tau/config/fields";
import { mustParse } from "../must-parse.ts";
import type { OpenRoute } from "./route.ts";

export const pairRoutes: readonly OpenRoute[] = [
  {
    method: "POST",
    path: "/pair/request",
    auth: "none",
    run: ({ parts, body, address }) => {
      const { name } = mustParse({ name: nonEmptyText }, body);
      return { status: 200, body: parts.pairing.request(name, address) };
    },
  },
  {
    method: "POST",
    path: "/pair/claim",
    auth: "none",
    run: ({ parts, body, address }) => {
      const { requestId, secret } = mustParse({ requestId: nonEmptyText, secret: nonEmptyText }, body);
      const data = parts.pairing.claim(requestId, secret, address);
      return { status: data.state === "pending" ? 202 : 200, body: data };
    },
  },
];
