/** The sandbox in which commands run. */
export { createSessionSandbox } from "./session-sandbox.ts";
export type { SessionSandbox, SessionSandboxOptions } from "./port.ts";
export { defaultSandboxSettings, type SandboxMode, type SandboxNetwork, type SandboxSettings } from "./settings.ts";
export type { ProgramHosts } from "./network/session-network.ts";
export { type InsideProcess, openInside } from "./spawn-inside.ts";
export type { SandboxState } from "./state.ts";
