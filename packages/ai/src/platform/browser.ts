import { send } from "../transport/browser-fetch.ts";
import type { Platform } from "./platform.ts";

/** A page has no environment and no disk: keys are passed in. */
export const platform: Platform = {
  env: () => undefined,
  monotonic: () => performance.now(),
  uuid: () => globalThis.crypto.randomUUID(),
  send,
  openSocket: () => Promise.resolve({ kind: "refused", reason: "a page cannot send the key with it" }),
  awsCredentials: () => Promise.resolve(undefined),
  googleAccessToken: () => Promise.resolve(undefined),
};
