import type { Platform } from "./platform.ts";
import { platform as browser } from "./browser.ts";

/** A server at the edge (Cloudflare's workerd, Vercel's edge-light) is a browser, but may have an environment with keys. */
export const platform: Platform = {
  ...browser,
  env: (name) => globalThis.process?.env?.[name] || undefined,
  openSocket: () => Promise.resolve({ kind: "refused", reason: "this server cannot send the key with it" }),
};
