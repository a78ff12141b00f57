/** pi's SDK: its `AgentSession`, the managers that it works with, and the tools that programs give to it. */
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
export { ModelRegistry } from "./models/model-registry.ts";
export { DefaultPackageManager, type PackageManagerOptions } from "./packages/package-manager.ts";
export { loadProjectContextFiles } from "./resources/context-files.ts";
export type { PromptTemplate } from "./resources/prompt-templates.ts";
export { DefaultResourceLoader, type DefaultResourceLoaderOptions } from "./resources/resource-loader.ts";
export { SettingsManager } from "./settings/settings-manager.ts";
export type { ExtensionAPI, ExtensionFactory, ToolDefinition } from "@tau/extensions";
export {
  bashTool,
  codingTools,
  type CompactionResult,
  createAllTools,
  createBashTool,
  createCodingTools,
  createEditTool,
  createEventBus,
  createFindTool,
  createGrepTool,
  createLsTool,
  createReadOnlyTools,
  createReadTool,
  createWriteTool,
  defineTool,
  editTool,
  findTool,
  getAgentDir,
  grepTool,
  lsTool,
  readOnlyTools,
  readTool,
  SessionManager,
  type Skill,
  writeTool,
} from "@tau/pi/pi-coding-agent";
