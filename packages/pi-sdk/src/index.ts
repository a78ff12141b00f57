/** pi's module `pi-coding-agent` as a whole: what extensions import, and the session that programs embed. */
export { AgentSession } from "./agent-session/agent-session.ts";
export type { BashResult } from "./agent-session/bash-commands.ts";
export {
  createAgentSession,
  type CreateAgentSessionOptions,
  type CreateAgentSessionResult,
} from "./agent-session/create-agent-session.ts";
export type { ExtensionBindings } from "./agent-session/extension-host.ts";
export type { ResourceSource } from "./agent-session/resource-source.ts";
export type { SessionStats } from "./agent-session/stats.ts";
export type {
  AgentSessionConfig,
  AgentSessionEvent,
  CustomDraft,
  CustomMessageOptions,
  PromptOptions,
  ScopedModel,
} from "./agent-session/types.ts";
export { type AuthCredential, AuthStorage, readStoredCredential } from "./auth/auth-storage.ts";
export { type AuthStorageBackend, FileAuthStorageBackend, InMemoryAuthStorageBackend } from "./auth/backends.ts";
export type { LoadExtensionsResult, PiExtension } from "./extensions/extension.ts";
export { discoverAndLoadExtensions, loadExtensionFromFactory, loadExtensions } from "./extensions/load.ts";
export { type ExtensionError, ExtensionRunner } from "./extensions/runner.ts";
export { createExtensionRuntime } from "./extensions/runtime.ts";
export { wrapRegisteredTool, wrapRegisteredTools } from "./extensions/wrap.ts";
export {
  AgentSessionRuntime,
  createAgentSessionRuntime,
  type CreateAgentSessionRuntimeFactory,
  type CreateAgentSessionRuntimeResult,
  SessionImportFileNotFoundError,
} from "./runtime/agent-session-runtime.ts";
export { type PrintModeOptions, runPrintMode } from "./runtime/print-mode.ts";
export {
  type AgentSessionRuntimeDiagnostic,
  type AgentSessionServices,
  createAgentSessionFromServices,
  type CreateAgentSessionFromServicesOptions,
  createAgentSessionServices,
  type CreateAgentSessionServicesOptions,
} from "./runtime/services.ts";
export { MissingSessionCwdError } from "./runtime/session-directory.ts";
export type { CredentialStore } from "./auth/credential-store.ts";
export {
  type CreateModelRuntimeOptions,
  CredentialSynchronizationError,
  ModelRuntime,
} from "./models/model-runtime.ts";
export {
  resolveCliModel,
  type ResolveCliModelResult,
  resolveModelScopeWithDiagnostics,
  type ResolveModelScopeResult,
} from "./models/resolve-cli-model.ts";
export { type CodemodeExtensionOptions, createCodemodeExtension } from "./features/codemode.ts";
export { createMcpExtension, type McpExtensionOptions } from "./features/mcp.ts";
export { createToolSearchExtension } from "./features/tool-search.ts";
export { ModelRegistry } from "./models/model-registry.ts";
export { DefaultPackageManager, type PackageManagerOptions } from "./packages/package-manager.ts";
export { loadProjectContextFiles } from "./resources/context-files.ts";
export type { PromptTemplate } from "./resources/prompt-templates.ts";
export { DefaultResourceLoader, type DefaultResourceLoaderOptions } from "./resources/resource-loader.ts";
export { SettingsManager } from "./settings/settings-manager.ts";
export type { ExtensionAPI, ExtensionFactory, ToolDefinition } from "@tau/extensions";
export * from "@tau/pi/pi-coding-agent";
