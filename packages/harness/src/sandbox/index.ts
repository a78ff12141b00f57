/** The sandbox: where the commands of a session run, and what they cannot change. */
export { isProtectedPath, protectedNames, type ProtectedRoots } from "./protected-names.ts";
export { createSessionSandbox, type SessionSandbox, type SessionSandboxOptions } from "./session-sandbox.ts";
export { defaultSandboxSettings, type SandboxMode, type SandboxNetwork, type SandboxSettings } from "./settings.ts";
export type { SandboxState } from "./state.ts";
