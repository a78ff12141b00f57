/** Shared by the packages of tau; users do not need it. It may change in any version. */
export type { BashResult } from "../api/bash-result.ts";
export { type DefinedTool, defineTool, type ToolCallScope, type ToolOptions } from "../api/define-tool.ts";
export type { CompactionTrigger, SessionEnd } from "../api/events.ts";
export type { SessionWriter } from "../api/session-writer.ts";
export type { OpenExtensionsParts } from "../load/open-extensions.ts";
export { adaptTool, getName, getProblem } from "../pipeline/adapt-tool.ts";
export { toToolBinding } from "../pipeline/channel.ts";
export { choiceProblems } from "../pipeline/choices.ts";
export { harnessToolNames } from "../pipeline/harness-tools.ts";
export type {
  ChannelBinding,
  DroppedTool,
  GivenTool,
  InputSchemaTool,
  HarnessActions,
  PipelineInput,
  PipelineTool,
  ToolSandbox,
} from "../pipeline/layer.ts";
export { buildPipeline } from "../pipeline/pipeline.ts";
export { keepOrder, toolPrefix, toolsPrefix } from "../pipeline/stable-order.ts";
export { wireSchema } from "../pipeline/wire-schema.ts";
export { ToolLifecycles } from "../pipeline/tool-lifecycles.ts";
export { createTouches, type TouchesParts } from "../pipeline/touches.ts";
export type { ModelAccess } from "../api/model-access.ts";
export { createWaits, type Waits } from "../runner/waits.ts";
export { isCustomType, isMessageDraft, isPromptOptions, isValidChange } from "../runner/parse-results.ts";
export { createRequestUi, findMisfit, OpenDialogs, type OpenDialogsOptions } from "../runner/ui-requests.ts";
export { processResources, SharedResources } from "../runner/shared-resources.ts";
export { ExtensionSlot, type SessionStart } from "../session/extension-slot.ts";
export { describeTool, type FoundTool } from "../session/found-tool.ts";
export { SessionFeatures } from "../session/session-features.ts";
export { SessionTools } from "../session/session-tools.ts";
export { isEveryTool } from "../session/tool-reach.ts";
export { toCustomMessage } from "../session/message-queue.ts";
export { replaceSession } from "../session/replace-session.ts";
export { mustBeData } from "../api/must-be-data.ts";
export type { ModelRouteRequest } from "../api/virtual-model.ts";
export type { RunExtensions } from "../session/run-extensions.ts";
export { describePrompts } from "../session/session-extensions.ts";
export type { ExtensionHost } from "../session/surface.ts";
