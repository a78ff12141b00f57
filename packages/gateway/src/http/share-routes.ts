/** Shared pages. The token is in the address, which is the one exception to the rule that no token is: see docs/security.md. */
import { GatewayError } from "../errors.ts";
import { endResponse } from "../server/end-response.ts";
import type { OpenRoute } from "../server/route.ts";
import { safeHeaders } from "../server/safe-headers.ts";

export const shareRoutes: readonly OpenRoute[] = [
  {
    method: "GET",
    path: "/share/:token",
    auth: "none",
    run: async ({ parts, names, address, response }) => {
      const page = parts.getSettings().shares ? await parts.shares.open(names["token"] ?? "") : undefined;
      if (!page) {
        const retryAfterMs = parts.guesses.addWrong(address);
        if (retryAfterMs === 0) throw new GatewayError("not_found", "Nothing is shared at this address.");
        throw new GatewayError("rate_limited", "Too many wrong addresses came from here.", { retryAfterMs });
      }
      response.writeHead(200, { ...pageHeaders, "content-length": String(page.length) });
      endResponse(response, page);
      return "sent" as const;
    },
  },
];

/**
 * The page is of an origin of its own, without scripts: it can reach nothing of the gateway, whatever is in it. It is kept
 * nowhere, so that a share that was taken back is gone.
 */
const pageHeaders = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": [
    "sandbox",
    "default-src 'none'",
    "img-src data:",
    "style-src 'unsafe-inline'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "cache-control": "no-store",
  "cross-origin-opener-policy": "same-origin",
  "x-frame-options": "DENY",
  "x-robots-tag": "noindex, nofollow, noarchive",
  ...safeHeaders,
};
