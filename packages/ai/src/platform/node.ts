import { closeSync, openSync, readSync } from "node:fs";
import { createRequire } from "node:module";
import type * as Crypto from "node:crypto";
import type { Platform } from "./platform.ts";

const load = createRequire(import.meta.url);

export const platform: Platform = {
  env: (name) => process.env[name] || undefined,
  // The first use of `performance` costs 1.3 ms, that of `process.uptime` nothing.
  monotonic: () => process.uptime() * 1e3,
  uuid,
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
  awsCredentials: async (env, profile) => (await import("../auth/aws-credentials-node.ts")).load(env, profile),
  googleAccessToken: async (env) => (await import("../auth/google-credentials-node.ts")).accessToken(env),
};

/** Random bytes for the next ids; undefined when all are used. */
let bytes: Buffer | undefined;
let hasBegun = false;
/** Set when `node:crypto` is loaded. */
let randomUuid: typeof Crypto.randomUUID | undefined;

/**
 * A random id. Loading `node:crypto` costs 5 ms, so the first 64 ids use bytes from `/dev/urandom`, where it exists. Later
 * ids use `randomUUID`.
 */
function uuid(): string {
  if (!hasBegun) bytes = randomBytes();
  hasBegun = true;
  if (bytes === undefined) return (randomUuid ??= (load("node:crypto") as typeof Crypto).randomUUID)();
  const own = Buffer.from(bytes.subarray(0, 16));
  bytes = bytes.length > 16 ? bytes.subarray(16) : undefined;
  own[6] = (own[6]! & 0x0f) | 0x40;
  own[8] = (own[8]! & 0x3f) | 0x80;
  const hex = own.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

function randomBytes(): Buffer {
  const some = Buffer.alloc(1_024);
  try {
    const source = openSync("/dev/urandom", "r");
    try {
      if (readSync(source, some) === some.length) return some;
    } finally {
      closeSync(source);
    }
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
  }
  return (load("node:crypto") as typeof Crypto).randomBytes(some.length);
}

const isMissingModule = (error: unknown) =>
  error instanceof Error && (error as NodeJS.ErrnoException).code === "MODULE_NOT_FOUND";
