/** The sandbox in which commands run. */
export { createSessionSandbox, type SessionSandbox, type SessionSandboxOptions } from "./session-sandbox.ts";
export type { SandboxMode, SandboxNetwork, SandboxSettings } from "./settings.ts";
export { type InsideProcess, openInside } from "./spawn-inside.ts";
export type { SandboxState } from "./state.ts";
