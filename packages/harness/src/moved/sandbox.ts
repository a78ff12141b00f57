/** The former place of these names, kept for one version. New code imports them from the packages below. */
export {
  type InsideProcess,
  type SandboxMode,
  type SandboxNetwork,
  type SandboxSettings,
  type SandboxState,
  type SessionSandbox,
  type SessionSandboxOptions,
  createSessionSandbox,
  openInside,
} from "@tau/sandbox";
