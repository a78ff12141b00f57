import type { Platform } from "./platform.ts";

export const platform: Platform = {
  env: (name) => process.env[name] || undefined,
  // The first use of `performance` costs 1.3 ms, that of `process.uptime` nothing.
  monotonic: () => process.uptime() * 1e3,
  // Loaded with the first id: a program that asks for none is spared 5 ms.
  uuid: () => process.getBuiltinModule("node:crypto").randomUUID(),
  send: async (request, options) => (await import("../transport/node-http.ts")).send(request, options),
  openSocket: async (request, options) => (await import("../transport/node-socket.ts")).openSocket(request, options),
  awsCredentials: async (env, profile) => (await import("../auth/aws/load.ts")).load(env, profile),
  googleAccessToken: async (env) => (await import("../auth/google-credentials-node.ts")).accessToken(env),
};
