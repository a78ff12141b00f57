/** A sandbox whose code is loaded with the first command: many sessions run none. */
import type { SessionSandbox, SessionSandboxOptions } from "./session-sandbox.ts";

export function createLateSandbox(getOptions: () => SessionSandboxOptions): SessionSandbox {
  let opened: Promise<SessionSandbox> | undefined;
  const open = () =>
    (opened ??= import("./session-sandbox.ts").then((module) => module.createSessionSandbox(getOptions())));
  return {
    enter: async (request) => (await open()).enter(request),
    widen: async (grant) => (await open()).widen(grant),
    getState: async () => (await open()).getState(),
    findTemporary: async () => (await open()).findTemporary(),
    close: async () => (await opened)?.close(),
  };
}
