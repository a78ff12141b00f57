/** Extensions: what they can do, and what runs them. */
export type {
  AccessOptions,
  AccessVerdict,
  AuditEntry,
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
  SharedHost,
  SharedResource,
  ShortcutDefinition,
  SourceInfo,
  SessionNameOptions,
  SpawnOptions,
  ToolDefinition,
  ToolInfo,
  ToolRendererResolver,
  ToolRenderers,
} from "./api/api.ts";
export type { ToolExposure, ToolLoadout, ToolLoadoutChanges } from "./api/loadout.ts";
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
} from "./api/context.ts";
export type { AgentInfo, ChildOptions, ChildOutcome, ChildSession } from "./api/child.ts";
export type {
  Channel,
  ChannelAddress,
  ChannelButton,
  ChannelEvents,
  ChannelFile,
  ChannelLimits,
  ChannelOptions,
  ChannelPosition,
  ChannelPress,
  ChannelSender,
  ChannelSettings,
  ChannelState,
  ChannelType,
  ConversationFacts,
  Delivery,
  IncomingMessage,
  OutgoingFile,
  OutgoingText,
  Peer,
  PeerKind,
  ReceivedRequest,
} from "./api/channel.ts";
export type { ToolCallOutcome } from "@tau/agent";
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
} from "./api/events.ts";
export {
  type DoctorCheck,
  type DoctorResult,
  type Feature,
  type FeatureCommand,
  type FeaturePlace,
  type DescribeBeside,
  type FeatureSyntax,
  type FeatureTool,
  getFeatureSettings,
  type ProgramCommand,
  type ProgramContext,
  type SessionPlace,
  type ToolCategory,
} from "./api/feature.ts";
export {
  type DefinedTool,
  defineTool,
  type InputOf,
  type InputSchema,
  type ToolCallScope,
  type ToolOptions,
} from "./api/define-tool.ts";
export { askProjectTrust, type AskProjectTrustParts } from "./load/ask-project-trust.ts";
export { createEventBus } from "./runner/create-api.ts";
export { execProgram, execSpawned } from "./api/exec.ts";
export { ExtensionError, type ExtensionErrorCode } from "./errors.ts";
export type { ExtensionOrigin, ExtensionProblem, ExtensionSource, Registrations } from "./api/extension.ts";
export { type Entries, type Entry, findAt, findInDirectory } from "@tau/config/internal";
export { loadExtensionModule, type LoadModuleOptions } from "./load/load-module.ts";
export { resolveExtensionState } from "./load/extension-state.ts";
export {
  findExtensions,
  type FindExtensionsOptions,
  type FoundExtension,
  type FoundExtensions,
} from "./load/find-extensions.ts";
export {
  type ChildProgram,
  type ExtensionPlace,
  type ExtensionsParams,
  hasExtensions,
  type NamedPackage,
} from "./load/has-extensions.ts";
export type { IdleExtension } from "./load/idle-extensions.ts";
export { type LoadedChannel, loadChannelType } from "./load/load-channel.ts";
export { type ListedRegistrations, listRegistrations } from "./load/list-registrations.ts";
export type { BuiltIns, Owned, ResolvedRegistrations } from "./load/conflicts.ts";
export type { LoadedModule, LoadSharedModule, LocateSharedModule } from "./load/loaded-module.ts";
export { existsNamed } from "./load/discover.ts";
export { describeErrorOrigin } from "./load/stray-errors.ts";
export { loadTypeboxModule } from "./load/shared-modules.ts";
export type { LoadedExtension } from "./api/loaded-extension.ts";
export type { Extension, LifecycleHook, LifecycleHooks, Tool, ToolContext } from "./api/authoring.ts";
export type { HookContext } from "./api/object-form.ts";
export { isNativeProvider, toProviderConfig } from "./providers/native-provider.ts";
export { createProviders, registerProviders } from "./providers/providers.ts";
export { type ExtensionHooks, ExtensionRunner } from "./runner/runner.ts";
export type { ExtensionSessionPort } from "./api/session-port.ts";
export type { SessionExtensions } from "./session/session-extensions.ts";
export type { ExtensionSurface } from "./session/surface.ts";
export type { SessionReader } from "./api/session-reader.ts";
export type { SystemPromptOptions } from "./api/system-prompt-options.ts";
export { type DialogOptions, type ExtensionUi, noUi, type UiComponent, type UiFactory } from "./api/ui.ts";
export type { ModelRoute, ModelRouteReason, ModelRouteRequest, VirtualModel } from "./api/virtual-model.ts";
export { isDefinition, registerWithExtension } from "./providers/provider-definition.ts";
