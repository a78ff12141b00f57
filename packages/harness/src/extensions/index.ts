/** Extensions: what they can do, and what runs them. */
export type {
  CommandDefinition,
  Completion,
  EntryRenderer,
  EventBus,
  ExecOptions,
  ExecResult,
  ExtensionAPI,
  ExtensionFactory,
  ExtensionHandler,
  FlagDefinition,
  MarkdownTransformer,
  MessageRenderer,
  ProviderConfig,
  ShortcutDefinition,
  SourceInfo,
  ToolDefinition,
  ToolExposure,
  ToolInfo,
  ToolRendererResolver,
  ToolRenderers,
} from "./api.ts";
export type {
  ContextUsage,
  ExtensionCommandContext,
  ExtensionContext,
  ExtensionMode,
  ExtensionToolContext,
  ReplacedSessionContext,
  ScopedModel,
  SendMessageOptions,
  SendUserMessageOptions,
  ToolCallOutcome,
} from "./context.ts";
export {
  type BashOperations,
  type BoundaryResult,
  type BoundaryState,
  type CompactionPreparation,
  type CustomMessageDraft,
  type EntryDraft,
  type ExtensionCompaction,
  type ExtensionEvent,
  type ExtensionEventName,
  extensionEventNames,
  type ExtensionResult,
  type InputSource,
  type TreePreparation,
} from "./events.ts";
export { askProjectTrust, type AskProjectTrustParts } from "./ask-project-trust.ts";
export { createEventBus } from "./create-api.ts";
export { execProgram } from "./exec.ts";
export type { ExtensionOrigin, ExtensionProblem, ExtensionSource, Registrations } from "./extension.ts";
export { type Entries, type Entry, findAt, findInDirectory } from "@tau/config/internal";
export { loadExtensionModule, type LoadModuleOptions } from "./load/load-module.ts";
export { resolveExtensionState } from "./extension-state.ts";
export {
  findExtensions,
  type FindExtensionsOptions,
  type FoundExtension,
  type FoundExtensions,
} from "./find-extensions.ts";
export {
  type ChildProgram,
  type ExtensionPlace,
  type ExtensionsParams,
  hasExtensions,
  type NamedPackage,
} from "./has-extensions.ts";
export type { IdleExtension } from "./idle-extensions.ts";
export { type ListedRegistrations, listRegistrations } from "./list-registrations.ts";
export type { BuiltIns, Owned, ResolvedRegistrations } from "./load/conflicts.ts";
export type { LoadedModule, LoadSharedModule } from "./load/loaded-module.ts";
export { existsNamed } from "./load/discover.ts";
export { describeErrorOrigin } from "./load/stray-errors.ts";
export { loadTypeboxModule } from "./load/shared-modules.ts";
export type { LoadedExtension } from "./loaded-extension.ts";
export type { Extension, LifecycleHook, LifecycleHooks, Tool, ToolContext } from "./authoring.ts";
export type { HookContext } from "./object-form.ts";
export { isNativeProvider, toProviderConfig } from "./native-provider.ts";
export { createProviders, registerProviders } from "./providers.ts";
export { type ExtensionHooks, ExtensionRunner } from "./runner.ts";
export type { ExtensionSessionPort } from "./session-port.ts";
export type { SessionExtensions } from "./session/session-extensions.ts";
export type { ExtensionSurface } from "./session/surface.ts";
export type { SessionReader } from "./session-reader.ts";
export type { SystemPromptOptions } from "./system-prompt-options.ts";
export { type DialogOptions, type ExtensionUi, noUi, type UiComponent, type UiFactory } from "./ui.ts";
export { isDefinition, registerWithExtension } from "./provider-definition.ts";
