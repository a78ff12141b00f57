/** The registrations of an extension, as data. The functions stay in its process; the host forwards calls to them. */
import type { ToolParameters } from "@tau/ai";
import type { FlagDefinition, ProviderConfig, ToolDefinition } from "../api/api.ts";
import type { ExtensionEventName } from "../api/events.ts";
import type { VirtualModel } from "../api/virtual-model.ts";
import type { Capability } from "@tau/policy";

/** The methods of a tool that accompany its calls. */
export const lifecyclePhases = ["onLoad", "beforeInvoke", "afterInvoke", "onUnload"] as const;
export type LifecyclePhase = (typeof lifecyclePhases)[number];

/** A tool without its functions. */
export type ToolData = Pick<
  ToolDefinition,
  | "name"
  | "label"
  | "description"
  | "promptSnippet"
  | "promptGuidelines"
  | "executionMode"
  | "exposure"
  | "defaultActive"
  | "namespace"
  | "annotations"
  | "constrainedSampling"
  | "outputSchema"
  | "readOnly"
  | "shows"
  | "parameterNeeds"
> & {
  parameters: ToolParameters;
  /** A function does not leave its process: then a person is asked about every call. */
  needsApproval?: boolean;
};

export const toolDataKeys = [
  "name",
  "label",
  "description",
  "parameters",
  "promptSnippet",
  "promptGuidelines",
  "executionMode",
  "exposure",
  "defaultActive",
  "namespace",
  "annotations",
  "constrainedSampling",
  "outputSchema",
  "readOnly",
  "shows",
  "parameterNeeds",
  "needsApproval",
] as const satisfies readonly (keyof ToolData)[];

export type ProviderData = Omit<ProviderConfig, "streamSimple" | "oauth" | "refreshModels">;

export const providerDataKeys = [
  "name",
  "baseUrl",
  "apiKey",
  "api",
  "headers",
  "authHeader",
  "models",
] as const satisfies readonly (keyof ProviderData)[];

/** A virtual model without its `route`. */
export type VirtualModelData = Omit<VirtualModel, "route">;

export const virtualModelDataKeys = [
  "provider",
  "id",
  "name",
  "thinkingLevels",
  "contextWindow",
  "maxTokens",
  "input",
] as const satisfies readonly (keyof VirtualModelData)[];

export interface Manifest {
  /** The handlers of each event, by their numbers. */
  handlers: readonly (readonly [ExtensionEventName, readonly number[]])[];
  tools: readonly { tool: ToolData; phases: readonly LifecyclePhase[] }[];
  commands: readonly { name: string; description?: string; completes: boolean }[];
  shortcuts: readonly { key: string; description?: string }[];
  flags: readonly { name: string; flag: FlagDefinition }[];
  providers: readonly { name: string; provider: ProviderData }[];
  virtualModels: readonly VirtualModelData[];
  /** Sentences about what works only in a trusted extension. */
  needsTrust: readonly string[];
  /** The capabilities that it declared to need; all others are denied. Absent: it declared nothing. */
  capabilities?: readonly Capability[];
}
