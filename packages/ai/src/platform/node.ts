import { createRequire } from "node:module";
import type * as Crypto from "node:crypto";
import type { Platform } from "./platform.ts";

const load = createRequire(import.meta.url);

export const platform: Platform = {
  env: (name) => process.env[name] || undefined,
  // The first use of `performance` costs 1.3 ms, that of `process.uptime` nothing.
  monotonic: () => process.uptime() * 1e3,
  // Loaded with the first id: a program that asks for none is spared 5 ms.
  uuid: () => (load("node:crypto") as typeof Crypto).randomUUID(),
  send: async (request, options) => (await import("../transport/node-http.ts")).send(request, options),
  openSocket: async (request, options) => (await import("../transport/node-socket.ts")).openSocket(request, options),
  readCatalog(provider) {
    // The name becomes a file's: anything but a plain provider id has no file.
    if (!/^[a-z0-9][a-z0-9-]*$/.test(provider)) return undefined;
    try {
      return load(`#catalog/${provider}.json`);
    } catch (error) {
      if (isMissingModule(error)) return undefined;
      throw error;
    }
  },
  readRetiredModels: () => load("#catalog/retired.json"),
  awsCredentials: async (env, profile) => (await import("../auth/aws/load.ts")).load(env, profile),
  googleAccessToken: async (env) => (await import("../auth/google-credentials-node.ts")).accessToken(env),
};

const isMissingModule = (error: unknown) =>
  error instanceof Error && (error as NodeJS.ErrnoException).code === "MODULE_NOT_FOUND";
