import type { OpenRoute } from "./route.ts";

/** For who watches over the process. It says nothing but that it runs; the method `health` says more. */
export const healthRoutes: readonly OpenRoute[] = [
  { method: "GET", path: "/health", auth: "none", run: () => ({ status: 200, body: { ok: true } }) },
];
